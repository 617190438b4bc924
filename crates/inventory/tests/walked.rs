//! Tables filled by walks of real trees.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftk_inventory::{Budget, Collect, DirNo, FileNo, Full, Inventory, Keep, Opener, Refused, Skipped};
use ftk_walk::{FileType, Follow, Walker};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, statat, unlinkat};

fn walk(roots: &[&Path], threads: usize, keep: Keep) -> Inventory {
    let walker = Walker::new(roots).threads(threads).follow(Follow::Roots);
    Inventory::merge(walker.run(|worker| Collect::new(worker, keep))).unwrap()
}

fn in_order(inventory: &Inventory) -> Vec<PathBuf> {
    let mut order = inventory.in_path_order();
    let mut paths = Vec::new();
    while let Some(item) = order.next() {
        paths.push(PathBuf::from(OsStr::from_bytes(item.path)));
    }
    paths
}

/// Makes files and dangling links, with the directories above them.
fn tree(files: &[&str], links: &[&str]) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    for path in files.iter().chain(links) {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.file_name().unwrap().as_bytes().ends_with(b".link") {
            symlink("nowhere", path).unwrap();
        } else {
            File::create(path).unwrap();
        }
    }
    temp
}

/// Checks that every file of the table is found under its name in its directory, which is opened again.
fn check_files(inventory: &Inventory) {
    let mut opener = Opener::new(inventory);
    for dir in (0..inventory.dirs()).map(DirNo) {
        let fd = opener.open(dir).unwrap();
        for file in inventory.files_of(dir).map(FileNo) {
            let stat = statat(&fd, inventory.name(dir, file), AtFlags::SYMLINK_NOFOLLOW).unwrap();
            assert_eq!(stat.st_ino, inventory.ino(dir, file));
        }
    }
}

#[test]
fn the_path_order_is_the_same_for_any_number_of_workers() {
    let files = ["a/x", "a-b/y", "a/b/z", "a/b.c", "a0", "b/\u{1}", "b/.h/deep/er"];
    let temp = tree(&files, &["a/l.link"]);
    let mut expected: Vec<_> = files.iter().map(|file| temp.path().join(file).into_os_string()).collect();
    expected.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    for threads in [1, 2, 5] {
        let inventory = walk(&[temp.path()], threads, Keep::Files);
        assert_eq!(in_order(&inventory), expected);
        assert_eq!(inventory.skipped(), Skipped { symlinks: 1, ..Skipped::default() });
        check_files(&inventory);
    }
}

#[test]
fn all_entries_include_roots_and_directories_sort_without_a_slash() {
    let temp = tree(&["a/x", "a-b", "a.c"], &["l.link"]);
    let below = ["", "a", "a-b", "a.c", "a/x", "l.link"];
    let root = temp.path().to_str().unwrap();
    let expected =
        below.map(|path| if path.is_empty() { root.to_owned() } else { format!("{root}/{path}") }.into());
    let inventory = walk(&[temp.path()], 2, Keep::All);
    assert_eq!(in_order(&inventory), Vec::<PathBuf>::from(expected));
    assert_eq!(inventory.skipped(), Skipped::default());
    let mut order = inventory.in_path_order();
    let types: Vec<_> = std::iter::from_fn(|| order.next().map(|item| item.file_type)).collect();
    let (file, dir, link) = (FileType::Regular, FileType::Directory, FileType::Symlink);
    assert_eq!(types, [dir, dir, file, file, file, link]);
}

#[test]
fn nested_roots_and_files_are_merged_in_one_order() {
    let temp = tree(&["a/x", "a/b/y", "a-b/z", "f", "g"], &[]);
    let paths = ["g", "a/b", "a-b", "a", "f"].map(|path| temp.path().join(path));
    let inventory = walk(&paths.each_ref().map(PathBuf::as_path), 2, Keep::Files);
    let expected = ["a-b/z", "a/b/y", "a/x", "f", "g"].map(|path| temp.path().join(path));
    assert_eq!(in_order(&inventory), expected);
    let mut opener = Opener::new(&inventory);
    let dir = (0..inventory.dirs()).map(DirNo).find(|&dir| inventory.files_of(dir).len() == 2).unwrap();
    let names: Vec<_> = inventory.files_of(dir).map(|file| inventory.name(dir, FileNo(file))).collect();
    assert_eq!(names[0].to_bytes(), paths[4].as_os_str().as_bytes());
    assert_eq!(names[1].to_bytes(), paths[0].as_os_str().as_bytes());
    let fd = opener.open(dir).unwrap();
    assert_eq!(statat(fd, names[0], AtFlags::empty()).unwrap().st_ino, paths[4].metadata().unwrap().ino());
    check_files(&inventory);
}

#[test]
fn a_file_given_as_root_may_be_relative() {
    let inventory = walk(&[Path::new("src/lib.rs"), Path::new("Cargo.toml")], 1, Keep::Files);
    assert_eq!(in_order(&inventory), [Path::new("Cargo.toml"), Path::new("src/lib.rs")]);
    check_files(&inventory);
}

#[test]
fn special_files_are_refused_as_roots_and_counted_in_trees() {
    let temp = tree(&["d/x"], &["d/l.link"]);
    let pipe = temp.path().join("d/pipe");
    rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    let mut inventory = walk(&[temp.path()], 1, Keep::Files);
    assert_eq!(inventory.skipped(), Skipped { symlinks: 1, fifos: 1, ..Skipped::default() });
    assert_eq!(inventory.skipped().total(), 2);
    assert_eq!(inventory.take_refused(), []);
    let mut inventory = walk(&[&pipe, Path::new("/dev/null")], 1, Keep::Files);
    let null = Refused { path: b"/dev/null".to_vec(), file_type: FileType::Char };
    let pipe = Refused { path: pipe.into_os_string().into_encoded_bytes(), file_type: FileType::Fifo };
    assert_eq!(inventory.take_refused(), [null, pipe]);
    assert_eq!((inventory.files(), inventory.skipped()), (0, Skipped::default()));
}

#[test]
fn errors_are_sorted_by_path() {
    let temp = tree(&["x"], &[]);
    let missing = ["c", "a", "b"].map(|path| temp.path().join(path));
    let mut inventory = walk(&missing.each_ref().map(PathBuf::as_path), 2, Keep::Files);
    let paths: Vec<_> = inventory.take_errors().into_iter().map(|error| error.path).collect();
    assert_eq!(paths.len(), 3);
    assert!(paths.is_sorted());
    assert!(inventory.take_errors().is_empty());
}

#[test]
fn a_directory_that_was_replaced_is_not_opened() {
    let temp = tree(&["a/x/f", "b/f", "other/f"], &[]);
    let at = |path: &str| temp.path().join(path);
    let inventory = walk(&[temp.path()], 1, Keep::Files);
    let dir_of = |path: PathBuf| {
        let order: Vec<_> = (0..inventory.files()).map(FileNo).collect();
        let has_path = |&file: &FileNo| inventory.path(file) == path.as_os_str().as_bytes();
        inventory.dir_of(order.into_iter().find(has_path).unwrap())
    };
    let (a_x, b) = (dir_of(at("a/x/f")), dir_of(at("b/f")));
    // The old directories still exist under other names, so their inode numbers are not reused.
    fs::rename(at("b"), at("old")).unwrap();
    symlink("other", at("b")).unwrap();
    fs::rename(at("a"), at("old-a")).unwrap();
    fs::create_dir_all(at("a/x")).unwrap();
    for dir in [a_x, b] {
        let error = Opener::new(&inventory).open(dir).unwrap_err();
        assert!(Opener::is_replaced(&error), "{error}");
    }
    fs::remove_dir(at("a/x")).unwrap();
    let error = Opener::new(&inventory).open(a_x).unwrap_err();
    assert!(!Opener::is_replaced(&error) && error.kind() == std::io::ErrorKind::NotFound);
}

#[test]
fn a_root_that_is_a_link_is_followed_and_descriptors_can_be_kept() {
    let temp = tree(&["real/a/f", "real/b/f", "real/b/c/f"], &[]);
    let root = temp.path().join("link");
    symlink("real", &root).unwrap();
    let inventory = walk(&[&root], 2, Keep::Files);
    assert_eq!(in_order(&inventory), ["a/f", "b/c/f", "b/f"].map(|path| root.join(path)));
    check_files(&inventory);
    let mut opener = Opener::new(&inventory);
    let held: Vec<_> = (0..inventory.dirs()).map(|dir| opener.open(DirNo(dir)).unwrap()).collect();
    let again = opener.open(DirNo(inventory.dirs() - 1)).unwrap();
    assert!(Rc::ptr_eq(held.last().unwrap(), &again));
    let inodes: BTreeSet<_> = held.iter().map(|fd| rustix::fs::fstat(fd).unwrap().st_ino).collect();
    assert_eq!(inodes.len(), held.len());
}

/// A chain of directories with the same name. Removed on drop, from the deepest one upwards.
struct Chain {
    top: tempfile::TempDir,
    name: &'static str,
    depth: usize,
    deepest: OwnedFd,
}

impl Chain {
    /// Makes the chain, with a file in each thousandth directory and in the deepest one.
    ///
    /// It is in memory where possible. On ext4, removing a directory of a long chain takes milliseconds, and
    /// the whole chain half a minute.
    fn new(name: &'static str, depth: usize) -> Self {
        let top = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut deepest: OwnedFd = File::open(top.path()).unwrap().into();
        for level in 1..=depth {
            mkdirat(&deepest, name, Mode::RWXU).unwrap();
            deepest = openat(&deepest, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
            if level % 1_000 == 0 || level == depth {
                openat(&deepest, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
            }
        }
        Self { top, name, depth, deepest }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        for _ in 0..self.depth {
            _ = unlinkat(&self.deepest, "file", AtFlags::empty());
            let Ok(up) = openat(&self.deepest, "..", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            else {
                return;
            };
            _ = unlinkat(&up, self.name, AtFlags::REMOVEDIR);
            self.deepest = up;
        }
    }
}

#[test]
fn ten_thousand_levels_and_long_names_are_opened_again() {
    // The paths of the second chain grow to 31 times the limit of one call.
    for (name, depth) in
        [("d", 10_000), (concat!("a-name-of-fifty-bytes-", "0123456789012345678901234567"), 2_500)]
    {
        let chain = Chain::new(name, depth);
        let inventory = walk(&[chain.top.path()], 2, Keep::Files);
        assert_eq!(inventory.dirs() as usize, depth + 1);
        assert_eq!(inventory.files() as usize, depth.div_ceil(1_000));
        check_files(&inventory);
        // Open the deepest directory first, and then after directories that are not above it.
        let last = DirNo(inventory.dirs() - 1);
        let mut opener = Opener::new(&inventory);
        opener.open(last).unwrap();
        opener.open(DirNo(last.0 / 2)).unwrap();
        opener.open(DirNo(0)).unwrap();
        opener.open(last).unwrap();
    }
}

#[test]
fn exceeding_the_budget_is_an_error() {
    let files: Vec<_> = (0..2000).map(|i| format!("d{}/{i}", i % 7)).collect();
    let root = tree(&files.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let merged = |bytes| {
        let budget = Budget::new(bytes);
        let parts = Walker::new([root.path()])
            .threads(1)
            .run(|worker| Collect::new(worker, Keep::Files).within(&budget));
        Inventory::merge(parts).map(|inventory| inventory.files())
    };
    assert_eq!(merged(32 << 10), Err(Full::Memory));
    assert_eq!(merged(1 << 20), Ok(2000));
}
