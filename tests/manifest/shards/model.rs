//! Shards with missing and wrong mounts, failures, reruns and renames: whatever happens, no record has a silent hole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::edit;
use crate::harness::{Dir, Mounted, Run, bytes, sha256};
use crate::manifest::records::Manifest;

/// The number of shards.
const SHARDS: u32 = 3;

/// Random numbers of one round.
struct Random(std::vec::IntoIter<u8>);

impl Random {
    /// Returns a number below `n`.
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.0.next().expect("a round needs fewer numbers")) % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// What is wrong while a shard is recorded.
#[derive(Debug)]
enum Trouble {
    /// An empty directory stands in place of the root, or of the mount point below it.
    EmptyRoot,
    OtherRoot,
    EmptyMount,
    /// Another file system is mounted below the root.
    OtherMount,
    /// A directory cannot be listed, or a file cannot be read.
    Locked(String),
    /// Before the shard is recorded, and for all that follow.
    Renamed(String, String),
    /// The same for a directory with everything in it.
    RenamedDir(String, String),
    /// The part is that of a run of yesterday, when this file was not there.
    Yesterday(String),
}

/// A protection that a round does without, to show that the others do not make up for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// Merges parts whatever the time between their runs.
    Span,
    /// Does not hear what is said about renames.
    Warnings,
    /// Does not know what could not be read.
    Failed,
}

/// How long ago a part of yesterday was recorded.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The last one is the mount point.
const DIRS: [&str; 6] = ["a", "a/e", "b", "b/c", "d", "disk"];

struct Round {
    /// Another file system, which is bound to `root/disk` for each run. Unmounted before the directory is removed.
    _disk: Mounted,
    dir: Dir,
    random: Random,
    has_plan: bool,
    /// Those of the root, without the mount point.
    dirs: Vec<String>,
    files: BTreeSet<String>,
    /// The paths that each file had, by its content.
    paths: BTreeMap<String, Vec<String>>,
    log: Vec<String>,
}

impl Round {
    fn new(seed: u64) -> Option<Self> {
        let mut random = Random(bytes(seed, 4096).into_iter());
        let dir = Dir::on_disk();
        DIRS.iter().for_each(|name| _ = dir.dir(format!("root/{name}")));
        dir.dir("disk").dir("other").dir("parts").dir("empty").dir("foreign");
        let disk = Mounted::at(&dir.path("disk"), ["-t", "tmpfs", "none"])?;
        let (mut files, mut paths) = (BTreeSet::new(), BTreeMap::new());
        for nth in 0..8 + random.below(10) {
            let path = format!("{}/{nth}", DIRS[random.below(DIRS.len())]);
            let real =
                path.strip_prefix("disk/").map_or(format!("root/{path}"), |name| format!("disk/{name}"));
            let content = format!("{nth},").repeat(80);
            dir.file(real, content.as_bytes());
            paths.insert(sha256(content.as_bytes()), vec![path.clone()]);
            files.insert(path);
        }
        ["parts", ".", "disk"].iter().for_each(|path| open_for_all(&dir, path));
        age(&dir.path("root"));
        age(&dir.path("disk"));
        DIRS.iter().for_each(|name| age(&dir.path("root").join(name)));
        let has_plan = random.one_in(2);
        let dirs = DIRS[..DIRS.len() - 1].iter().map(ToString::to_string).collect();
        Some(Self { _disk: disk, dir, random, has_plan, dirs, files, paths, log: Vec::new() })
    }

    fn run(&mut self, args: &[&str]) -> Run {
        let run = self.dir.ftk(["manifest"]).args(args).unprivileged(&self.dir).run();
        self.log.push(format!("{args:?}: {} {}", run.code(), run.err));
        run
    }

    fn mount(&self) -> Option<Mounted> {
        Mounted::at(&self.dir.path("root/disk"), ["--bind".as_ref(), self.dir.path("disk").as_os_str()])
    }

    fn trouble(&mut self, number: u32) -> Option<Trouble> {
        let any =
            |random: &mut Random, all: &BTreeSet<String>| all.iter().nth(random.below(all.len())).cloned();
        Some(match self.random.below(17) {
            0 => Trouble::EmptyRoot,
            1 => Trouble::OtherRoot,
            2 => Trouble::EmptyMount,
            3 | 4 => Trouble::Locked(match self.random.one_in(3) {
                true => any(&mut self.random, &self.files)?,
                false => self.any_dir(),
            }),
            5 | 6 => {
                let from = any(&mut self.random, &self.files).filter(|path| !path.starts_with("disk/"))?;
                Trouble::Renamed(from, format!("{}/renamed{number}", self.any_dir()))
            }
            7 => self.yesterday()?,
            8 => Trouble::OtherMount,
            9 | 10 => {
                let (from, name) = (self.any_dir(), self.random.below(100));
                let above = if self.random.one_in(2) { String::new() } else { self.any_dir() + "/" };
                if above.starts_with(&format!("{from}/")) {
                    return None;
                }
                Trouble::RenamedDir(from, format!("{above}renamed{number}-{name}"))
            }
            _ => return None,
        })
    }

    fn yesterday(&mut self) -> Option<Trouble> {
        let file = self.files.iter().nth(self.random.below(self.files.len()))?;
        (!file.starts_with("disk/")).then(|| Trouble::Yesterday(file.clone()))
    }

    fn any_dir(&mut self) -> String {
        self.dirs[self.random.below(self.dirs.len())].clone()
    }

    /// Renames a file, or a directory with everything in it.
    fn rename(&mut self, from: &str, to: &str) {
        let path = |name: &str| self.dir.path("root").join(name);
        fs::rename(path(from), path(to)).unwrap();
        let moved = |old: &str| match old.strip_prefix(from)? {
            rest if rest.is_empty() || rest.starts_with('/') => Some(format!("{to}{rest}")),
            _ => None,
        };
        let now = |old: &String| moved(old).unwrap_or_else(|| old.clone());
        self.files = self.files.iter().map(now).collect();
        self.dirs = self.dirs.iter().map(now).collect();
        for paths in self.paths.values_mut() {
            paths.extend(paths.last().and_then(|last| moved(last)));
        }
    }

    /// Records a shard. Whatever is wrong is mended afterwards, except renames.
    fn record(&mut self, number: u32, trouble: Option<Trouble>) -> Option<()> {
        let (shard, part) = (format!("{number}/{SHARDS}"), format!("parts/{number}.jsonl"));
        let mut args = vec!["create", "-q", "--no-xattrs", "--shard", &shard, "root", "-o", &part, "--force"];
        if self.has_plan {
            args.extend(["--plan", "plan"]);
        }
        let path = |name: &str| self.dir.path(name);
        let (mut mounted, mut foreign) = (Some(self.mount()?), None);
        let swap = |with: &str| {
            fs::rename(path("root"), path("away")).unwrap();
            fs::rename(path(with), path("root")).unwrap();
        };
        self.log.push(format!("{number}: {trouble:?}"));
        match &trouble {
            None => {}
            Some(Trouble::Yesterday(file)) => {
                let file = path(&format!("root/{file}"));
                fs::rename(&file, path("hidden")).unwrap();
                age(file.parent().unwrap());
            }
            Some(Trouble::EmptyMount) => drop(mounted.take()),
            Some(Trouble::OtherMount) => {
                drop(mounted.take());
                foreign = Some(Mounted::at(&path("root/disk"), ["-t", "ramfs", "none"])?);
                self.dir.file("root/disk/foreign", b"not of this tree");
            }
            Some(Trouble::EmptyRoot | Trouble::OtherRoot) => {
                drop(mounted.take());
                swap(if matches!(trouble, Some(Trouble::EmptyRoot)) { "empty" } else { "other" });
            }
            Some(Trouble::Locked(name)) => _ = self.dir.lock(&format!("root/{name}")),
            Some(Trouble::Renamed(from, to) | Trouble::RenamedDir(from, to)) => self.rename(from, to),
        }
        let run = self.run(&args);
        drop(foreign);
        let path = |name: &str| self.dir.path(name);
        if let Some(Trouble::Yesterday(file)) = &trouble {
            fs::rename(path("hidden"), path(&format!("root/{file}"))).unwrap();
        }
        match &trouble {
            Some(Trouble::Locked(name)) => open_for_all(&self.dir, &format!("root/{name}")),
            Some(Trouble::EmptyRoot | Trouble::OtherRoot) => {
                fs::rename(
                    path("root"),
                    path(if matches!(trouble, Some(Trouble::EmptyRoot)) { "empty" } else { "other" }),
                )
                .unwrap();
                fs::rename(path("away"), path("root")).unwrap();
            }
            Some(Trouble::Yesterday(_)) if run.code() == 0 => {
                let lines = fs::read_to_string(path(&part)).unwrap();
                let start = Manifest::read(&path(&part)).header["start_ns"].as_i64().unwrap();
                fs::write(self.dir.aside("part"), lines).unwrap();
                let earlier = start - DAY.as_nanos() as i64;
                edit(&self.dir, "part", &format!("\"start_ns\":{start}"), &format!("\"start_ns\":{earlier}"));
                fs::copy(self.dir.aside("part"), path(&part)).unwrap();
            }
            _ => {}
        }
        Some(())
    }

    /// Checks that everything that is there is recorded once, unless something was said about it. Returns what is wrong.
    fn check(&mut self, before: &BTreeSet<String>, without: Without) -> Result<(), String> {
        let parts: Vec<_> = (1..=SHARDS).map(|number| format!("parts/{number}.jsonl")).collect();
        let mut args = vec!["merge", "-o", "merged.jsonl", "--force"];
        if without == Without::Span {
            args.extend(["--max-span", "999d"]);
        }
        args.extend(parts.iter().map(String::as_str));
        let merge = self.run(&args);
        if merge.code() == 2 && !merge.err.contains("could not be read when its shard was recorded") {
            return Ok(()); // refused, and the message says why
        }
        let hears = without != Without::Warnings;
        let says_changes = hears && merge.err.contains("changed while the shards were recorded");
        let merged = Manifest::read(&self.dir.path("merged.jsonl"));
        let failed = merged.header["failed"].as_array().cloned().unwrap_or_default();
        let failed: Vec<_> = failed.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect();
        holds((merge.code() == 2) != failed.is_empty(), "the status of merge")?;
        let is_below = |path: &str, dir: &str| {
            dir == "." || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_failed =
            |path: &str| without != Without::Failed && failed.iter().any(|failed| is_below(path, failed));
        // A reader of the parts says the same, without reading their lines. It has no `--max-span`.
        let read = self.run(&["unique", "before.jsonl", "parts"]);
        let readers_say_changes = read.err.contains("changed while the shards were recorded")
            || without == Without::Span && read.code() == 2;
        // Each part shows the time at which it was recorded, so a file may still have its path of that time.
        for (content, paths) in &self.paths {
            let is_of = |(_, entry): &(&Vec<u8>, &serde_json::Value)| entry["digests"]["sha256"] == **content;
            let recorded: Vec<_> =
                merged.entries.iter().filter(is_of).map(|(path, _)| path.clone()).collect();
            let is_known = recorded.iter().all(|path| paths.iter().any(|it| it.as_bytes() == path));
            holds(is_known, &format!("{recorded:?}, {paths:?}"))?;
            let is_unknown = paths.iter().any(|path| is_failed(path));
            let is_once = recorded.len() == 1 || recorded.is_empty() && is_unknown;
            holds(is_once || says_changes, &format!("{paths:?}, in a silent hole or twice"))?;
            holds(is_once || readers_say_changes, &format!("{paths:?}, for a reader of the parts"))?;
        }
        // A comparison with the time before says nothing that is not so.
        let diff = self.run(&["diff", "--mode", "content", "before.jsonl", "merged.jsonl"]);
        for line in diff.text().lines() {
            let (change, path) = line.split_once('\t').unwrap();
            let path = path.split('\t').next().unwrap();
            let is_so = match change {
                "removed" => !self.files.contains(path) || says_changes,
                "added" => !before.contains(path) || says_changes,
                "unknown" => is_failed(path) && diff.code() == 2,
                "moved" => !self.files.contains(path),
                _ => true,
            };
            holds(is_so, line)?;
        }
        let unique = self.run(&["unique", "merged.jsonl", "before.jsonl"]);
        holds(failed.is_empty() || unique.code() == 2, "the status of unique")
    }
}

/// Makes a directory look as if it had not changed since yesterday.
fn age(dir: &Path) {
    let before = FileTimes::new().set_modified(SystemTime::now() - 2 * DAY);
    File::open(dir).unwrap().set_times(before).unwrap();
}

fn holds(is_so: bool, what: &str) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(what.to_owned()) }
}

/// Lets everyone read and write a file or directory.
fn open_for_all(dir: &Dir, path: &str) {
    fs::set_permissions(dir.path(path), Permissions::from_mode(0o777)).unwrap();
}

/// Runs a round. Returns what is wrong with its record, or `None` if nothing can be mounted.
fn round(seed: u64, without: Without) -> Option<Result<(), String>> {
    let mut round = Round::new(seed)?;
    let mounted = round.mount()?;
    round.run(&["create", "-q", "--no-xattrs", "root", "-o", "before.jsonl"]).status(0);
    round.run(&["plan", "-q", "--shards", &SHARDS.to_string(), "before.jsonl", "-o", "plan"]).status(0);
    drop(mounted);
    let before = round.files.clone();
    let first = round.random.below(SHARDS as usize) as u32;
    for nth in 0..SHARDS {
        let number = (first + nth) % SHARDS + 1;
        let trouble = match without {
            // Few random rounds have an old part and nothing else that says so.
            Without::Span => {
                if nth + 1 == SHARDS {
                    round.yesterday()
                } else {
                    None
                }
            }
            _ => round.trouble(number),
        };
        round.record(number, trouble)?;
        if without == Without::Span {
            continue;
        }
        // A shard is recorded again, by whom whatever.
        if round.random.one_in(4) {
            let number = round.random.below(SHARDS as usize) as u32 + 1;
            let trouble = round.trouble(number);
            round.record(number, trouble)?;
        }
    }
    let found = round.check(&before, without);
    Some(found.map_err(|what| format!("round {seed}: {what}: {:#?}", round.log)))
}

/// `FTK_TEST_ROUNDS` changes the number of rounds; `cargo xtask soak holes` runs 1,000.
#[test]
fn no_record_has_a_silent_hole() {
    let rounds = std::env::var("FTK_TEST_ROUNDS").map_or(25, |rounds| rounds.parse().unwrap());
    for seed in 0..rounds {
        match round(seed, Without::Nothing) {
            None => return,
            Some(found) => found.unwrap_or_else(|what| panic!("{what}")),
        }
    }
}

/// The model finds a hole where one of the protections is missing.
#[test]
fn without_a_protection_records_have_holes() {
    for without in [Without::Span, Without::Warnings, Without::Failed] {
        for seed in 0.. {
            match round(seed, without) {
                None => return,
                Some(Err(_)) => break,
                Some(Ok(())) => assert!(seed < 100, "no hole without {without:?}"),
            }
        }
    }
}
