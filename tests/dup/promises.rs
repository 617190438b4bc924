//! Random trees, links, sidecars, rules in every spelling, decisions and stale reports, compared with a model of the
//! promises:
//!
//! 1. Nothing that a rule protects changes, nor anything in an earlier quarantine or on a read-only mount.
//! 2. Of every content, as many copies stay as the rules ask for, or all if there are fewer. Files in a quarantine do not
//!    count as copies. Those on a read-only mount do not count for a removal.
//! 3. If a directory must keep a copy and has one, it has one afterwards.
//! 4. If a copy that the user chose is not there any more, its group stays as it is.
//! 5. If a rule that was to protect files matches nothing, nothing changes.
//! 6. The plan, the script and the run remove the same files.
//! 7. On request, a sidecar goes if and only if all its files go. One without files stays.
//! 8. A directory goes if and only if that was requested, the run removed everything in it, and it is no starting point.
//! 9. What is moved away is in the quarantine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use super::apply::sealed;
use super::tree::Dice;
use crate::harness::{Dir, Ftk, Run, skip};

/// A regular file: its inode and content.
type File = (u64, Vec<u8>);

/// All regular files by their paths.
type Files = BTreeMap<String, File>;

/// All directories by their paths, with the names in them.
type Dirs = BTreeMap<String, BTreeSet<String>>;

const DIRS: [&str; 9] =
    ["d0", "d1", "d1/keep", "d2", "d2/.hidden", "d2/#recycle", "d2/away", "d3/A.app/in", "d4"];

const CONTENTS: [&[u8]; 4] = [b"one", b"two", b"six", b"three hundred"];

/// The mark of an earlier quarantine, which may be in one of the directories.
const MARK: &str = "d2/away/FTK-QUARANTINE.TAG";

fn plant(dir: &Dir, dice: &mut Dice) {
    DIRS.iter().for_each(|path| _ = dir.dir(path));
    dir.dir("empty").symlink("d1", "alias");
    let mut paths: Vec<String> = Vec::new();
    for nth in 0..6 + dice.below(14) {
        let (place, form) = (*dice.pick(&DIRS), dice.below(6));
        let path = format!("{place}/f{nth}.raw");
        match form {
            0 if !paths.is_empty() => {
                let to = dice.pick(&paths).clone();
                dir.hard_link(&to, &path);
            }
            _ => {
                let content = *dice.pick(&CONTENTS);
                dir.file(&path, content);
            }
        }
        // Sidecars of one file, or of two.
        let (sidecar, form) = (*dice.pick(&[b"edits 1", b"edits 1", b"edits 2"]), dice.below(6));
        if form < 4 {
            let stem = if form < 3 { &path } else { path.trim_end_matches(".raw") };
            dir.file(format!("{stem}.xmp"), sidecar);
        }
        if form == 3 {
            let content = *dice.pick(&CONTENTS);
            dir.file(format!("{place}/f{nth}.jpg"), content);
        }
        paths.push(path);
    }
    if dice.below(3) == 0 {
        dir.file(MARK, b"mark");
    }
    dir.symlink("../d0/f0.raw", "d1/link")
        .symlink(&format!("../{}", paths[0]), "d2/link")
        .symlink("f1.raw", "d0/link");
}

fn files(dir: &Dir) -> Files {
    state(dir).0
}

fn state(dir: &Dir) -> (Files, Dirs) {
    let (mut files, mut dirs, mut waiting) = (Files::new(), Dirs::new(), vec![dir.path("")]);
    let relative = |path: &Path| path.strip_prefix(dir.path("")).unwrap().to_str().unwrap().to_owned();
    while let Some(directory) = waiting.pop() {
        let names = dirs.entry(relative(&directory)).or_default();
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            names.insert(path.file_name().unwrap().to_str().unwrap().to_owned());
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_dir() {
                waiting.push(path);
            } else if metadata.is_file() {
                files.insert(relative(&path), (metadata.ino(), fs::read(&path).unwrap()));
            }
        }
    }
    (files, dirs)
}

fn below<'f>(files: &'f Files, place: &str) -> impl Iterator<Item = (&'f String, &'f File)> {
    let place = format!("{place}/");
    files.iter().filter(move |(path, _)| path.starts_with(&place))
}

/// Returns how many files have each content.
fn copies<'f>(files: impl Iterator<Item = (&'f String, &'f File)>) -> BTreeMap<&'f [u8], BTreeSet<u64>> {
    let mut copies: BTreeMap<&[u8], BTreeSet<u64>> = BTreeMap::new();
    files.for_each(|(_, (ino, content))| _ = copies.entry(content).or_default().insert(*ino));
    copies
}

/// Random options, and what they promise.
#[derive(Debug, Default)]
struct Rules {
    /// What is done, with its options.
    action: Vec<String>,
    /// Options of the search.
    search: Vec<String>,
    /// Options that choose what stays.
    keep: Vec<String>,
    /// Directories that must not change.
    protected: Vec<&'static str>,
    /// Directories that the search does not see.
    excluded: Vec<&'static str>,
    /// A read-only mount, if the action removes files.
    read_only: Option<&'static str>,
    with_sidecars: bool,
    removes_directories: bool,
    one_per: Vec<&'static str>,
    min_copies: usize,
    /// Whether a rule protects nothing.
    is_unused: bool,
}

/// Returns a path in one of many spellings.
fn spelled(dir: &Dir, dice: &mut Dice, place: &str) -> String {
    match dice.below(7) {
        0 => format!("./{place}"),
        1 => format!("{place}/"),
        2 => format!("{place}/."),
        3 => dir.path(place).display().to_string(),
        4 => place.replace('/', "//"),
        _ => place.to_owned(),
    }
}

/// Returns random rules. `by_report`: whether a rule for members must match one of a report. `by_script`: whether a script
/// carries them out.
fn rules(dir: &Dir, dice: &mut Dice, files: &Files, by_report: bool, by_script: bool) -> Rules {
    let mut rules = Rules { min_copies: 1 + dice.below(3), ..Rules::default() };
    rules.keep.extend(["--min-copies".into(), rules.min_copies.to_string()]);
    if files.contains_key(MARK) {
        rules.excluded.push("d2/away");
        rules.protected.push("d2/away");
    }
    if dice.below(3) == 0 {
        let place = *dice.pick(&["d2/.hidden", "d1/keep", "d2/#recycle"]);
        rules.search.extend(["-E".into(), spelled(dir, dice, place)]);
        rules.excluded.push(place);
        rules.protected.push(place);
    }
    let seen: Files = files.iter().filter(|(path, _)| !is_in(path, &rules.excluded)).map(owned).collect();
    let groups = copies(seen.iter());
    // What a rule can match: any file of the search, or any member of a report.
    let matchable = |place: &str| {
        below(&seen, place).any(|(_, (_, content))| !by_report || groups[&content[..]].len() > 1)
    };
    if dice.below(4) == 0 {
        let unit = *dice.pick(&["*.app", "A.app/", "d3/A.app", "./d3/A.app/."]);
        rules.search.extend(["--unit".into(), unit.into()]);
        rules.protected.push("d3/A.app");
    }
    if dice.below(2) == 0 {
        let place = *dice.pick(&["d0", "d1", "d1/keep", "d2", "empty"]);
        let link = if place == "d1" && dice.below(3) == 0 { Some("alias".to_owned()) } else { None };
        rules.keep.extend(["--reference".into(), link.unwrap_or_else(|| spelled(dir, dice, place))]);
        rules.protected.push(place);
        // A reference is a starting point of a search, and those are never excluded.
        rules.is_unused |= !matchable(place) || (!by_report && rules.excluded.contains(&place));
    }
    if dice.below(3) == 0 {
        let place = *dice.pick(&["d0", "d1", "d2", "d2/.hidden", "empty"]);
        rules.keep.extend(["--keep-one-per".into(), spelled(dir, dice, place)]);
        rules.one_per.push(place);
        rules.is_unused |= !matchable(place);
    }
    if dice.below(5) == 0 {
        rules.keep.push("--isolate".into());
        rules.is_unused |= by_report && groups.values().all(|files| files.len() < 2);
    }
    for _ in 0..dice.below(3) {
        let rule = *dice.pick(&["first", "oldest", "newest", "shortest", "deepest"]);
        rules.keep.extend(["--keep".into(), rule.into()]);
    }
    if dice.below(8) == 0 {
        let rule = *dice.pick(&[["-E", "nothing"], ["--unit", "d1/nothing"], ["-E", "./d1/nothing/"]]);
        rules.search.extend(rule.map(String::from));
        rules.is_unused = true;
    }
    // Symbolic links are for single files only, so not with units.
    let has_units = rules.search.iter().any(|word| word == "--unit");
    let actions = ["delete", "delete --quarantine q", "move=q", "hardlink", "symlink"];
    let action = *dice.pick(&actions[..if has_units { 4 } else { 5 }]);
    rules.action = action.split(' ').map(str::to_owned).collect();
    if !action.ends_with("link") {
        rules.removes_directories = dice.below(2) == 0;
        rules.with_sidecars = !by_script && dice.below(2) == 0;
        rules.read_only = (dice.below(3) == 0 && can_mount()).then_some("d4");
        rules.protected.extend(rules.read_only);
    }
    let options =
        [(rules.removes_directories, "--remove-empty-dirs"), (rules.with_sidecars, "--with-sidecars=xmp")];
    let given = options.into_iter().filter(|(is_given, _)| *is_given);
    rules.action.extend(given.map(|(_, option)| option.to_owned()));
    rules
}

/// Returns whether this process may mount file systems.
fn can_mount() -> bool {
    static CAN_MOUNT: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
        let bound = Command::new("unshare").args(["-m", "mount", "--bind", "/tmp", "/tmp"]).output();
        let can_mount = bound.is_ok_and(|output| output.status.success());
        if !can_mount {
            skip("no mounts are possible here, so there is no read-only one");
        }
        can_mount
    });
    *CAN_MOUNT
}

impl Rules {
    /// Returns the command as it runs with the read-only mount, if there is one.
    fn mounted(&self, dir: &Dir, ftk: Ftk) -> Ftk {
        match self.read_only {
            Some(place) => {
                let mount = "mount --bind $0 $0 && mount -o remount,bind,ro $0 && exec \"$@\"";
                ftk.under(dir, ["unshare", "-m", "sh", "-c", mount, place])
            }
            None => ftk,
        }
    }
}

fn owned((path, file): (&String, &File)) -> (String, File) {
    (path.clone(), file.clone())
}

fn is_in(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| Path::new(path).starts_with(place))
}

/// Changes some files, as other programs might after a scan.
fn disturb(dir: &Dir, dice: &mut Dice, files: &Files) {
    let paths: Vec<_> = files.keys().collect();
    for _ in 0..dice.below(4) {
        let path = dir.path(dice.pick(&paths));
        if path.symlink_metadata().is_err() {
            continue;
        }
        match dice.below(5) {
            0 => fs::remove_file(path).unwrap(),
            1 => fs::write(path, dice.pick(&CONTENTS)).unwrap(),
            2 => fs::rename(&path, path.with_extension("renamed")).unwrap(),
            3 => {
                fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink(dir.path(paths[0]), &path).unwrap();
            }
            _ => {
                let other = dir.path(dice.pick(&paths));
                if other.is_file() && other != path {
                    fs::remove_file(&path).unwrap();
                    fs::hard_link(fs::canonicalize(other).unwrap_or_default(), &path).unwrap_or_default();
                }
            }
        }
    }
}

/// Checks all promises but 4 and 6. `starts` are the starting points.
fn check(run: &Run, rules: &Rules, starts: &[&str], [before, after]: [&(Files, Dirs); 2], what: &str) {
    if rules.is_unused {
        run.check(before == after, &format!("{what}: a rule protects nothing, so nothing changes"));
        return;
    }
    let ((before, dirs_before), (after, dirs_after)) = (before, after);
    for place in &rules.protected {
        let [before, after] = [before, after].map(|files| below(files, place).collect::<Vec<_>>());
        run.check(before == after, &format!("{what}: {place} is protected"));
    }
    let no_copies: Vec<_> = rules.excluded.iter().copied().chain(rules.read_only).chain(["q"]).collect();
    let seen = |files: &Files| -> Files {
        files.iter().filter(|(path, _)| !is_in(path, &no_copies)).map(owned).collect()
    };
    let left = seen(after);
    let n_left = copies(left.iter());
    for (content, files) in copies(seen(before).iter()) {
        let n = n_left.get(content).map_or(0, BTreeSet::len);
        let least = files.len().min(rules.min_copies);
        run.check(n >= least, &format!("{what}: {n} of {} copies are left", files.len()));
    }
    for place in &rules.one_per {
        let (had, has) = (seen(before), copies(below(&left, place)));
        let had = copies(below(&had, place));
        run.check(had.keys().all(|content| has.contains_key(content)), &format!("{what}: one in {place}"));
    }
    let is_gone = |path: &str| before.contains_key(path) && !after.contains_key(path);
    if rules.with_sidecars {
        for (sidecar, base) in before.keys().filter_map(|path| Some((path, path.strip_suffix(".xmp")?))) {
            let (place, base) = base.rsplit_once('/').unwrap();
            let is_owner = |name: &&String| {
                !name.ends_with(".xmp")
                    && (*name == base || name.rsplit_once('.').is_some_and(|it| it.0 == base))
            };
            let mut owners = dirs_before[place].iter().filter(is_owner).peekable();
            let goes = owners.peek().is_some() && owners.all(|name| is_gone(&format!("{place}/{name}")));
            run.check(is_gone(sidecar) == goes, &format!("{what}: {sidecar} goes with its files"));
        }
    }
    let mut gone: BTreeSet<_> = before.keys().filter(|path| is_gone(path)).cloned().collect();
    if rules.removes_directories {
        // A directory comes before those in it.
        for (path, names) in dirs_before.iter().rev().filter(|(path, _)| !starts.contains(&path.as_str())) {
            if !names.is_empty() && names.iter().all(|name| gone.contains(&format!("{path}/{name}"))) {
                gone.insert(path.clone());
            }
        }
    }
    for path in dirs_before.keys().filter(|path| !path.is_empty()) {
        run.check(dirs_after.contains_key(path) != gone.contains(path), &format!("{what}: directory {path}"));
    }
    if rules.action.iter().any(|word| word.ends_with('q')) {
        let moved = below(after, "q").filter(|(path, _)| !path.ends_with("FTK-QUARANTINE.TAG"));
        let moved: BTreeSet<_> = moved.map(|(_, file)| file).collect();
        let gone: BTreeSet<_> =
            before.iter().filter(|(path, _)| is_gone(path)).map(|(_, file)| file).collect();
        run.check(moved == gone, &format!("{what}: what was removed is in the quarantine"));
    }
}

/// Returns the victims of a plan or run in JSON, with status 0, or of a script.
fn victims(run: &Run) -> BTreeSet<String> {
    let steps = run.text().lines().filter_map(|line| {
        if line.starts_with('{') {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let is_step = line.get("keeper").is_some();
            return is_step.then(|| line["path"].as_str().unwrap().to_owned());
        }
        let step = line.rsplit(" && ").next().unwrap();
        let words: Vec<_> = step.split(' ').collect();
        match words[..] {
            ["ftk_delete" | "ftk_hardlink" | "ftk_symlink", _, _, victim] | ["ftk_move", _, _, victim, _] => {
                Some(victim.trim_matches('\'').to_owned())
            }
            _ => None,
        }
    });
    steps.map(|path| path.trim_start_matches("./").to_owned()).collect()
}

const SEEDS: std::ops::Range<u64> = 9000..9160;

#[test]
fn a_run_keeps_the_promises_and_does_what_plan_and_script_say() {
    let (mut removed, mut stopped, mut emptied, mut sidecars) = (0, 0, 0, 0);
    for seed in SEEDS {
        let mut dice = Dice::new(seed);
        let dir = Dir::new();
        plant(&dir, &mut dice);
        let before = state(&dir);
        let rules = rules(&dir, &mut dice, &before.0, false, false);
        let paths =
            *dice.pick(&[&["."][..], &["d0", "d1", "d2", "d3", "d4"], &["d4", "d3", "d2", "./d1", "d0"]]);
        let prune = |how: &[&str]| {
            let ftk = dir.ftk(["dup", "prune", "--action"]).args(&rules.action).args(&rules.search);
            rules.mounted(&dir, ftk.args(&rules.keep).args(how).args(paths)).run()
        };
        let plan = prune(&["--json"]);
        let script = (!rules.with_sidecars).then(|| prune(&["--script"]));
        plan.check(state(&dir) == before, "a plan changes nothing");
        let run = prune(&["--json", "--yes"]);
        let after = state(&dir);
        let starts: Vec<_> = paths.iter().map(|path| path.trim_start_matches("./")).collect();
        check(&run, &rules, &starts, [&before, &after], &format!("{seed} {rules:?}"));
        run.check((run.code() == 2) == rules.is_unused, &format!("{seed}: status {} {rules:?}", run.code()));
        if !rules.is_unused {
            run.check(victims(&plan) == victims(&run), &format!("{seed}: the plan says the same"));
            let is_same = script.is_none_or(|script| victims(&script) == victims(&run));
            run.check(is_same, &format!("{seed}: the script says the same"));
        }
        stopped += usize::from(rules.is_unused);
        removed += victims(&run).len();
        emptied += before.1.keys().filter(|path| !after.1.contains_key(*path)).count();
        let gone = before.0.keys().filter(|path| rules.with_sidecars && !after.0.contains_key(*path));
        sidecars += gone.filter(|path| path.ends_with(".xmp")).count();
    }
    let counts = [removed, stopped, emptied, sidecars];
    assert!(counts.iter().zip([300, 20, 10, 5]).all(|(n, least)| *n > least), "{counts:?}");
}

#[test]
fn stale_reports_and_scripts_keep_the_promises() {
    let mut removed = 0;
    for seed in SEEDS {
        let mut dice = Dice::new(seed + 1000);
        let dir = Dir::new();
        plant(&dir, &mut dice);
        let (scanned, by_script) = (files(&dir), dice.below(3) == 0);
        let rules = rules(&dir, &mut dice, &scanned, !by_script, by_script);
        let aside = dir.aside("report or script");
        if by_script {
            let ftk = dir.ftk(["dup", "prune", "--script", ".", "--action"]).args(&rules.action);
            let script = rules.mounted(&dir, ftk.args(&rules.search).args(&rules.keep)).run();
            fs::write(&aside, &script.out).unwrap();
        } else {
            let ftk = dir.ftk(["dup", "--json", ".", "-o"]).arg(&aside);
            ftk.args(&rules.search).run().status(0);
        }
        disturb(&dir, &mut dice, &scanned);
        let before = state(&dir);
        let ftk = if by_script {
            dir.ftk([""; 0]).instead(&dir, ["sh".as_ref(), aside.as_os_str()])
        } else {
            let ftk = dir.ftk(["dup", "apply", "--yes"]).arg(&aside).arg("--action");
            ftk.args(&rules.action).args(&rules.keep)
        };
        let run = rules.mounted(&dir, ftk).run();
        let after = state(&dir);
        check(&run, &rules, &["."], [&before, &after], &format!("{seed} script {by_script} {rules:?}"));
        removed += before.0.keys().filter(|path| !after.0.contains_key(*path)).count();
    }
    assert!(removed > 50, "{removed} removed");
}

#[test]
fn decisions_keep_the_promises() {
    let mut removed = 0;
    for seed in SEEDS {
        let mut dice = Dice::new(seed + 2000);
        let dir = Dir::new();
        plant(&dir, &mut dice);
        let scanned = files(&dir);
        let aside = dir.aside("report");
        dir.ftk(["dup", "--json", ".", "-o"]).arg(&aside).run().status(0);
        let text = fs::read_to_string(&aside).unwrap();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.pop();
        lines[0] = lines[0].replace("dup-report", "dup-decisions");
        // The paths of each group, and those that the user chose.
        let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
        for line in &mut lines[1..] {
            let group: serde_json::Value = serde_json::from_str(line).unwrap();
            let members = group["members"].as_array().unwrap();
            let files: BTreeSet<_> = members.iter().map(|it| it["cluster"].as_u64().unwrap()).collect();
            let files: Vec<_> = files.into_iter().collect();
            let keep: BTreeSet<_> = (0..1 + dice.below(3)).map(|_| *dice.pick(&files)).collect();
            let list: Vec<_> = keep.iter().map(u64::to_string).collect();
            *line = line.replace("\"members\":", &format!("\"keep\":[{}],\"members\":", list.join(",")));
            let path =
                |it: &serde_json::Value| it["path"].as_str().unwrap().trim_start_matches("./").to_owned();
            let chosen =
                members.iter().filter(|it| keep.contains(&it["cluster"].as_u64().unwrap())).map(path);
            groups.push((members.iter().map(path).collect(), chosen.collect()));
        }
        fs::write(&aside, sealed(&lines)).unwrap();
        disturb(&dir, &mut dice, &scanned);
        let before = files(&dir);
        let run = dir.ftk(["dup", "apply", "--yes", "--action", "delete"]).arg(&aside).run();
        let after = files(&dir);
        for (members, chosen) in groups {
            // 4. A file is chosen with all its names, one of which is proven.
            let inodes = |files: &Files, names: &[String]| -> BTreeSet<u64> {
                names.iter().filter_map(|name| Some(files.get(name)?.0)).collect()
            };
            let is_lost = inodes(&before, &chosen).len() < inodes(&scanned, &chosen).len();
            let intact = members.iter().filter(|name| before.contains_key(*name));
            for name in intact.filter(|name| is_lost || chosen.contains(name)) {
                run.check(after.get(name) == before.get(name), &format!("{seed}: {name} stays"));
            }
        }
        removed += before.len() - after.len();
    }
    assert!(removed > 100, "{removed} removed");
}
