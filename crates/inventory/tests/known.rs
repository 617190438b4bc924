//! Metadata in tables of real trees, compared with a `stat` of each path.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use ftk_file::Stat;
use ftk_inventory::{Budget, Collect, FileNo, Full, Inventory, Keep, Skipped};
use ftk_walk::{Directory, Entry, FileType, Follow, Op, Step, Visitor, WalkError, Walker};
use rustix::fs::{CWD, Mode, mknodat};

fn merge(
    roots: &[&Path],
    threads: usize,
    follow: Follow,
    collect: impl Fn(usize) -> Collect,
) -> Result<Inventory, Full> {
    Inventory::merge(Walker::new(roots).threads(threads).follow(follow).run(collect))
}

fn walk(roots: &[&Path], threads: usize, keep: Keep) -> Inventory {
    merge(roots, threads, Follow::Roots, |worker| Collect::new(worker, keep)).unwrap()
}

/// Makes a tree with all types of entries, random sizes, names in random order, and hard links.
fn tree() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let mut random = Rng::with_seed(7);
    let mut random = |below: u64| random.u64(..below);
    let mut dirs = vec![temp.path().to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    for i in 0..400 {
        let dir = &dirs[random(dirs.len() as u64) as usize];
        let path = dir.join(format!("{}-{i}", random(1_000)));
        match random(12) {
            0 | 1 => {
                fs::create_dir(&path).unwrap();
                dirs.push(path);
            }
            2 if !files.is_empty() => {
                fs::hard_link(&files[random(files.len() as u64) as usize], path).unwrap()
            }
            3 => symlink(format!("{}nowhere{i}", "../".repeat(random(9) as usize)), path).unwrap(),
            4 => mknodat(CWD, path, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap(),
            _ => {
                fs::write(&path, vec![7; random(5_000) as usize]).unwrap();
                files.push(path);
            }
        }
    }
    temp
}

/// Adds `root` and every path below it to `all`.
fn below(root: &Path, all: &mut BTreeMap<Vec<u8>, fs::Metadata>) {
    let metadata = root.symlink_metadata().unwrap();
    let is_dir = metadata.is_dir();
    all.insert(root.as_os_str().as_bytes().to_vec(), metadata);
    if is_dir {
        fs::read_dir(root).unwrap().for_each(|entry| below(&entry.unwrap().path(), all));
    }
}

fn as_kept(metadata: &fs::Metadata) -> Stat {
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    Stat {
        file_type: ftk_walk::FileType::from_mode(metadata.mode()),
        mode: metadata.mode() & 0o7777,
        uid: metadata.uid(),
        gid: metadata.gid(),
        dev: metadata.dev(),
        // For other types some file systems report the number of their own device here.
        rdev: if metadata.file_type().is_char_device() { metadata.rdev() } else { 0 },
        ino: metadata.ino(),
        nlink: metadata.nlink(),
        size: metadata.size(),
        blocks: metadata.blocks(),
        mtime_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
        ctime_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
        birth_ns: metadata
            .created()
            .ok()
            .map(|time| time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i128),
    }
}

/// Checks that every file of a table with sizes has the size and identity of its path, with links followed.
fn check_sizes(inventory: &Inventory) {
    let mut path = Vec::new();
    for file in (0..inventory.files()).map(FileNo) {
        path.clear();
        inventory.push_path(file, &mut path);
        let metadata = fs::metadata(OsStr::from_bytes(&path)).unwrap();
        let dir = inventory.dir_of(file);
        assert_eq!(inventory.size(dir, file), metadata.size());
        assert_eq!(inventory.identity(dir, file), (metadata.dev(), metadata.ino()));
        assert_eq!(inventory.ino(dir, file), metadata.ino());
        assert_eq!(inventory.is_linked(dir, file), metadata.nlink() > 1);
    }
}

#[test]
fn sizes_identities_and_links_match_the_files() {
    let temp = tree();
    let mut all = BTreeMap::new();
    below(temp.path(), &mut all);
    let files = all.values().filter(|metadata| metadata.is_file()).count();
    for threads in [1, 2, 5] {
        let mut inventory = walk(&[temp.path()], threads, Keep::Sizes);
        assert!(inventory.has_sizes() && inventory.take_errors().is_empty());
        assert_eq!(inventory.files() as usize, files);
        assert!(inventory.skipped().symlinks > 0 && inventory.skipped().fifos > 0);
        check_sizes(&inventory);
    }
    assert!(!walk(&[temp.path()], 1, Keep::Files).has_sizes());
}

#[test]
fn files_on_other_devices_have_the_right_identity() {
    let temp = tree();
    // These are on another file system: followed links, and a starting point.
    symlink("/proc/version", temp.path().join("1-link")).unwrap();
    symlink("/proc/filesystems", temp.path().join("2-link")).unwrap();
    let roots = [Path::new("/proc/version"), temp.path(), Path::new("Cargo.toml")];
    let inventory = merge(&roots, 2, Follow::Always, |worker| Collect::new(worker, Keep::Sizes)).unwrap();
    check_sizes(&inventory);
    let dev = fs::metadata("/proc/version").unwrap().dev();
    assert_ne!(dev, temp.path().metadata().unwrap().dev(), "the same device");
    let on_it = (0..inventory.files()).map(FileNo);
    let on_it = on_it.filter(|&file| inventory.identity(inventory.dir_of(file), file).0 == dev).count();

    assert_eq!(on_it, 3);
}

#[test]
fn metadata_is_returned_in_path_order() {
    let temp = tree();
    let mut all = BTreeMap::new();
    below(temp.path(), &mut all);
    let pipe = Path::new("/dev/null");
    all.insert(pipe.as_os_str().as_bytes().to_vec(), pipe.metadata().unwrap());
    for (threads, files) in [(1, false), (3, false), (1, true), (3, true)] {
        let inventory = walk(&[temp.path(), pipe], threads, Keep::Stats { files });
        assert_eq!(inventory.has_sizes(), files);
        let mut order = inventory.in_path_order();
        for (path, metadata) in &all {
            let item = order.next().unwrap();
            assert_eq!(item.path, path);
            let is_file = metadata.is_file();
            assert_eq!((item.file_type == FileType::Regular, item.file.is_some()), (is_file, is_file));
            assert_eq!(item.metadata, (files || !is_file).then(|| as_kept(metadata)));
            let target = fs::read_link(OsStr::from_bytes(path)).ok();
            assert_eq!(item.target, target.as_deref().map(|target| target.as_os_str().as_bytes()));
        }
        assert!(order.next().is_none());
        if files {
            check_sizes(&inventory);
        }
    }
}

#[test]
fn the_starting_point_of_every_file_is_known() {
    let temp = tree();
    let at = |path: &str| temp.path().join(path);
    for path in ["a/b/c", "a/d", "z"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    for path in ["a/b/c/1", "a/b/2", "a/d/3", "a/4", "z/5", "6", "7"] {
        fs::write(at(path), path).unwrap();
    }
    let roots = ["7", "a/b", "z", "a", "no such file", "6"].map(at);
    let expected = [("a/b/c/1", 1), ("a/b/2", 1), ("a/d/3", 3), ("a/4", 3), ("z/5", 2), ("6", 5), ("7", 0)];
    for keep in [Keep::Sizes, Keep::Stats { files: false }, Keep::Stats { files: true }] {
        let inventory = walk(&roots.each_ref().map(PathBuf::as_path), 3, keep);
        assert_eq!(inventory.files(), 7);
        for file in (0..7).map(FileNo) {
            let path = inventory.path(file);
            let (_, root) =
                expected.iter().find(|(name, _)| at(name).as_os_str().as_bytes() == path).unwrap();
            assert_eq!(inventory.root_of(inventory.dir_of(file), file), *root, "{keep:?}");
        }
    }
}

/// A visitor that changes the entry `victim` just before it is collected.
struct Changing<'c> {
    inner: Collect,
    change: &'c (dyn Fn(&Path) + Sync),
}

impl Visitor for Changing<'_> {
    type Dir = <Collect as Visitor>::Dir;

    fn descend(&mut self, from: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Self::Dir {
        self.inner.descend(from, entry)
    }
    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        self.inner.enter(tag, dir)
    }
    fn entry(&mut self, tag: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Step {
        if entry.name() == b"victim" {
            let mut path = Vec::new();
            entry.push_path(&mut path);
            (self.change)(Path::new(OsStr::from_bytes(&path)));
        }
        self.inner.entry(tag, entry)
    }
    fn leave(&mut self, tag: &Self::Dir) {
        self.inner.leave(tag);
    }
    fn error(&mut self, error: WalkError) -> Step {
        self.inner.error(error)
    }
}

#[test]
fn entries_whose_stat_fails_are_errors_and_have_no_row() {
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    let to_dir = |path: &Path| {
        remove(path);
        fs::create_dir(path).unwrap();
        fs::write(path.join("file"), "").unwrap();
    };
    let to_pipe = |path: &Path| {
        remove(path);
        mknodat(CWD, path, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    };
    for keep in [Keep::Sizes, Keep::Stats { files: true }] {
        for (how, change) in [&remove as &(dyn Fn(&Path) + Sync), &to_dir, &to_pipe].into_iter().enumerate() {
            let temp = tempfile::tempdir().unwrap();
            for name in ["a", "victim", "z"] {
                fs::write(temp.path().join(name), name).unwrap();
            }
            let parts = Walker::new([temp.path()])
                .threads(1)
                .run(|worker| Changing { inner: Collect::new(worker, keep), change });
            let mut inventory = Inventory::merge(parts.into_iter().map(|part| part.inner).collect()).unwrap();
            assert_eq!(inventory.files(), 2);
            check_sizes(&inventory);
            let errors: Vec<_> =
                inventory.take_errors().into_iter().map(|error| (error.op, error.path)).collect();
            let victim = temp.path().join("victim").into_os_string().into_encoded_bytes();
            let fifos = if how == 2 && keep == Keep::Sizes { 1 } else { 0 };
            assert_eq!(errors, if how == 2 { vec![] } else { vec![(Op::Stat, victim)] }, "{keep:?} {how}");
            assert_eq!(inventory.skipped(), Skipped { fifos, ..Skipped::default() }, "{keep:?} {how}");
        }
    }
}

#[test]
fn columns_count_towards_the_budget() {
    let temp = tempfile::tempdir().unwrap();
    (0..3_000).for_each(|i| fs::write(temp.path().join(format!("{i}")), "").unwrap());
    let fits = |keep, bytes| {
        let budget = Budget::new(bytes);
        match merge(&[temp.path()], 1, Follow::Never, |worker| Collect::new(worker, keep).within(&budget)) {
            Ok(_) => true,
            Err(full) => {
                assert_eq!(full, Full::Memory);
                false
            }
        }
    };
    // While a listing is sorted, a file needs 24 bytes and its name. Then it needs 16, 24 or 108 bytes and its
    // name.
    assert!(fits(Keep::Files, 128 << 10) && !fits(Keep::Sizes, 128 << 10));
    assert!(fits(Keep::Sizes, 256 << 10) && !fits(Keep::Stats { files: true }, 256 << 10));
    assert!(fits(Keep::Stats { files: true }, 512 << 10) && fits(Keep::Stats { files: false }, 128 << 10));
}
