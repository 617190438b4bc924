//! Histories of random changes of a Btrfs subvolume. After each round, an update since the last snapshot is compared with
//! an update of the whole tree. With `FTK_TEST_ROUNDS`, there are so many rounds.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path as FsPath, PathBuf};
use std::process::Command;

use ftk_file::{ChangedInode, FsId, Identity, Subvolume, TreeSearch};
use ftk_harness::{Dir as Outer, Image, Mounted};
use ftk_hash::Algorithm;
use ftk_manifest::{Examination, Header, Kinship, Manifest, RootIdentity, Snapshot, UpdateOptions};
use ftk_select::Checks;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::model::open;
use crate::trees::Dir;
use crate::update::{Run, later, run_to};

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// The number of rounds in CI.
const ROUNDS: u64 = 30;

/// Returns the number of rounds of a random test.
pub(crate) fn rounds() -> u32 {
    std::env::var("FTK_TEST_ROUNDS").map_or(ROUNDS as u32, |rounds| rounds.parse().unwrap())
}

/// A file system with the subvolume `tree` and its snapshots.
struct History {
    outer: Outer,
    _mounted: Mounted,
    dice: fastrand::Rng,
}

impl History {
    fn new(seed: u64) -> Option<Self> {
        let outer = Outer::new();
        let image = Image::new(&outer, "btrfs", 1 << 30)?;
        let history =
            Self { _mounted: image.mount(&outer, "point")?, outer, dice: fastrand::Rng::with_seed(seed) };
        history.btrfs(&["subvolume", "create", "tree"]);
        Some(history)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.outer.path("point").join(path)
    }

    fn btrfs(&self, args: &[&str]) {
        let run = Command::new("btrfs").arg("-q").args(args).current_dir(self.at("")).output().unwrap();
        assert!(run.status.success(), "{args:?}: {run:?}");
    }

    fn snapshot(&self, name: &str) -> Dir {
        self.btrfs(&["subvolume", "snapshot", "-r", "tree", name]);
        Dir::existing(self.at(name))
    }

    /// Returns a path in the tree that may exist.
    fn path(&mut self) -> String {
        let depth = self.dice.usize(1..4);
        let name =
            |dice: &mut fastrand::Rng| format!("{}{}", dice.choice(['a', 'b', '!']).unwrap(), dice.u8(..6));
        (0..depth).map(|_| name(&mut self.dice)).collect::<Vec<_>>().join("/")
    }

    /// Makes a random change, if it is possible.
    fn change(&mut self, round: u64) {
        let [one, two] = [self.path(), self.path()].map(|path| self.at("tree").join(path));
        let content = self.dice.u64(..).to_string().repeat(self.dice.usize(..400));
        let is_file = one.symlink_metadata().is_ok_and(|it| it.is_file());
        let above = |path: &FsPath| fs::create_dir_all(path.parent().unwrap());
        let tool = |command: &str, args: &[&FsPath]| {
            let mut words = command.split(' ');
            _ = Command::new(words.next().unwrap()).args(words).args(args).output().unwrap();
        };
        let keeping_times = |change: &mut dyn FnMut()| {
            let Ok(before) = one.symlink_metadata() else { return };
            change();
            let times = fs::FileTimes::new().set_modified(before.modified().unwrap());
            _ = File::options().write(true).open(&one).and_then(|file| file.set_times(times));
        };
        match self.dice.u8(..22) {
            0..=2 => _ = above(&one).and_then(|()| fs::write(&one, &content)),
            3 if is_file => _ = File::options().append(true).open(&one).and_then(|mut it| it.write_all(b"+")),
            4 if is_file => keeping_times(&mut || fs::write(&one, &content).unwrap()),
            5 if is_file => keeping_times(&mut || {
                // Damage, if the length stays the same.
                let mut file = File::options().write(true).open(&one).unwrap();
                file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&[round as u8])).unwrap();
            }),
            6 => _ = fs::create_dir_all(&one),
            7 => _ = fs::remove_file(&one),
            // The tree must not become small.
            8 if self.dice.u8(..4) == 0 => _ = fs::remove_dir_all(&one),
            9 | 10 => _ = above(&two).and_then(|()| fs::rename(&one, &two)),
            11 | 12 if is_file => _ = above(&two).and_then(|()| fs::hard_link(&one, &two)),
            13 => _ = above(&one).and_then(|()| symlink(&content[..content.len().min(9)], &one)),
            14 => tool(if round.is_multiple_of(2) { "chmod 700" } else { "chmod 755" }, &[&one]),
            15 => tool("setfattr -n user.x -v y", &[&one]),
            16 => tool("chattr +A", &[&one]),
            17 => tool("cp --reflink=always", &[&one, &two]),
            18 => tool("fallocate -p -l 4096", &[&one]),
            19 if is_file => tool("truncate -s 77777", &[&one]),
            20 => _ = renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE),
            21 => tool("btrfs -q filesystem defragment -czstd", &[&one]),
            _ => {}
        }
    }
}

/// Returns the header of a new manifest of a snapshot.
fn header(dir: &Dir) -> Header {
    let top = File::open(dir.path()).unwrap();
    let metadata = top.metadata().unwrap();
    let fs = FsId::of(&top).unwrap();
    let identity = Identity {
        fs,
        dev: metadata.dev(),
        ino: metadata.ino(),
        birth_ns: None,
        file_type: ftk_file::FileType::Directory,
        uid: 0,
    };
    let root_identity = Some(RootIdentity { path: b"/".to_vec(), fs_type: 0, identity });
    let subvolume = Subvolume::of(&top);
    let provenance =
        ftk_manifest::Provenance::of(subvolume.as_ref(), subvolume.and_then(|it| it.mounted_lineage(&top)));
    // As if the files were older than the snapshot.
    let provenance = ftk_manifest::Provenance { settled_ns: None, ..provenance };
    Header { root_identity, provenance, xattrs: true, ..later(XXH3) }
}

fn snapshot_of(dir: &Dir) -> Snapshot {
    let top = File::open(dir.path()).unwrap();
    let subvolume = Subvolume::of(&top);
    let lineage = subvolume.and_then(|it| it.mounted_lineage(&top));
    Snapshot { subvolume, lineage, fs: FsId::of(&top).unwrap() }
}

/// Updates the manifest of the snapshot `then` to one of `now`, with what `choose` makes of the search.
fn since(then: &Dir, now: &Dir, old: &Manifest, choose: &mut dyn FnMut(&mut Vec<ChangedInode>)) -> [Run; 2] {
    let (snapshots, ino) = ([then, now].map(snapshot_of), fs::metadata(now.path()).unwrap().ino());
    assert_eq!(snapshots[0].unproven(old.header(), &snapshots[1], ino), None);
    let search = TreeSearch::new(File::open(now.path()).unwrap().as_fd()).unwrap();
    let mut changed = search.changed_since(snapshots[0].subvolume.unwrap().made).unwrap();
    choose(&mut changed);
    let examination = Examination::of_changes(&search, ino, &changed, &old.header().options).unwrap();
    updates(now, old, examination)
}

/// Updates a manifest to one of `now`, with an examination and in full.
fn updates(now: &Dir, old: &Manifest, mut examination: Examination) -> [Run; 2] {
    examination.add_uncertain(old, None).unwrap();
    if examination.is_much() {
        examination.add(b".");
    }
    let examined = loop {
        let walked = now.walk_examined(&examination);
        if !examination.add_related(old, &walked.tree()).unwrap() {
            break walked;
        }
    };
    let fs = old.header().root_identity.as_ref().unwrap().identity.fs.unwrap();
    let kinship = Kinship::History { fs, dev: fs::metadata(now.path()).unwrap().dev() };
    let (accept, checks) = (Default::default(), Checks::default());
    let options = UpdateOptions {
        check: None,
        accept: &accept,
        append_only: false,
        checks: &checks,
        kinship,
        examination: None,
    };
    // Both start as if long after.
    let new = header(now);
    let full = run_to(&new, &now.walk(true), old, &options);
    let options = UpdateOptions { examination: Some(&examination).filter(|it| !it.is_all()), ..options };
    [run_to(&new, &examined, old, &options), full]
}

/// What a control does to what is found.
type Control<'c> = &'c mut dyn FnMut(&Dir, &Dir, &Manifest) -> [Run; 2];

/// Plays some rounds, and returns in how many of them both updates differed.
fn play(seed: u64, rounds: u64, control: Control<'_>) -> Option<u64> {
    let mut history = History::new(seed)?;
    for _ in 0..600 {
        let path = history.path();
        let path = history.at("tree").join(path);
        _ = fs::create_dir_all(path.parent().unwrap())
            .and_then(|()| fs::write(&path, history.dice.u64(..).to_string()));
    }
    let mut then = history.snapshot("0");
    let mut old = then.manifest(&header(&then));
    let mut different = 0;
    for round in 1..=rounds {
        (0..history.dice.usize(..9)).for_each(|_| history.change(round));
        if round % 16 == 0 {
            history.btrfs(&["balance", "start", "--full-balance", "."]);
        }
        let now = history.snapshot(&round.to_string());
        let [partial, full] = control(&then, &now, &old);
        different += u64::from(partial.bytes != full.bytes);
        old = open(&full.bytes).unwrap();
        history.btrfs(&["subvolume", "delete", &(round - 1).to_string()]);
        then = now;
    }
    Some(different)
}

#[test]
fn an_update_since_a_snapshot_is_a_full_update() {
    let rounds = rounds().into();
    let seed = std::env::var("FTK_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut paths = [0, 0];
    let mut examine = |then: &Dir, now: &Dir, old: &Manifest| {
        let both = since(then, now, old, &mut |_| ());
        let [partial, full] = &both;
        paths[0] += partial.updated.entries - partial.updated.not_examined;
        paths[1] += full.updated.entries;
        assert_eq!(str::from_utf8(&partial.bytes), str::from_utf8(&full.bytes), "seed {seed}");
        assert_eq!(partial.said, full.said, "seed {seed}");
        both
    };
    let Some(different) = play(seed, rounds, &mut examine) else { return };
    assert_eq!(different, 0);
    assert!(paths[0] * 3 < paths[1], "{paths:?}");
}

/// The controls: three ways to miss something, which the comparison notices.
#[test]
fn incomplete_searches_are_noticed() {
    let mut dice = fastrand::Rng::with_seed(7);
    let Some(different) = play(1, ROUNDS, &mut |then, now, old| {
        since(then, now, old, &mut |changed| {
            if !changed.is_empty() {
                changed.swap_remove(dice.usize(..changed.len()));
            }
        })
    }) else {
        return;
    };
    assert!(different > 3, "one inode is missing: {different}");
    // Files with new extents, which `find-new` lists.
    let by_find_new = |then: &Dir, now: &Dir, old: &Manifest| {
        let since = snapshot_of(then).subvolume.unwrap().made.to_string();
        let run = Command::new("btrfs")
            .args(["subvolume", "find-new"])
            .arg(now.path())
            .arg(since)
            .output()
            .unwrap();
        let mut examination = Examination::new();
        for line in String::from_utf8(run.stdout).unwrap().lines().filter(|line| line.starts_with("inode ")) {
            examination.add(line.split(' ').next_back().unwrap().as_bytes());
        }
        updates(now, old, examination)
    };
    let different = entries_differ(1, ROUNDS, &by_find_new).unwrap();
    assert!(different > 3, "find-new: {different}");
    // Files in directories with new times.
    let by_times = |_: &Dir, now: &Dir, old: &Manifest| {
        let recorded = crate::model::read(old).unwrap();
        let mut examination = Examination::new();
        let mut dirs = vec![PathBuf::new()];
        while let Some(dir) = dirs.pop() {
            let at = now.path().join(&dir);
            let metadata = at.metadata().unwrap();
            let mtime_ns = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
            let path = dir.to_str().unwrap();
            let name = if path.is_empty() { "." } else { path };
            let is_new =
                recorded.get(&crate::model::Path::new(name)).is_none_or(|it| it.stat.mtime_ns != mtime_ns);
            for entry in fs::read_dir(at).unwrap().flatten() {
                let below = dir.join(entry.file_name());
                if entry.file_type().unwrap().is_dir() {
                    dirs.push(below);
                } else if is_new {
                    examination.add(below.to_str().unwrap().as_bytes());
                }
            }
        }
        updates(now, old, examination)
    };
    let different = entries_differ(1, ROUNDS, &by_times).unwrap();
    assert!(different > 3, "times of directories: {different}");
}

/// Like [`play`], but compares only entries: the header says how they were found.
fn entries_differ(
    seed: u64,
    rounds: u64,
    control: &dyn Fn(&Dir, &Dir, &Manifest) -> [Run; 2],
) -> Option<u64> {
    let mut different = 0;
    play(seed, rounds, &mut |then, now, old| {
        let [partial, full] = control(then, now, old);
        let [by_list, by_walk] = [&partial, &full].map(|run| crate::model::read(&run.new).unwrap());
        different += u64::from(by_list != by_walk);
        [partial, full]
    })?;
    Some(different)
}
