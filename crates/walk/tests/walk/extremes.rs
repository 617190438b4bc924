//! Deep, wide and long-named trees.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use ftk_walk::{Entry, Step, Visitor, WalkError, Walker};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};

/// Counts entries, and keeps only the path of the deepest one. All paths together would fill the memory.
#[derive(Default)]
struct Deepest {
    entries: usize,
    depth: u32,
    path: Vec<u8>,
}

impl Visitor for Deepest {
    type Dir = ();
    fn entry(&mut self, dir: Option<&()>, entry: &mut Entry<'_>) -> Step {
        self.entries += usize::from(dir.is_some());
        if entry.depth() > self.depth {
            self.depth = entry.depth();
            if self.depth % 1_000 == 0 {
                self.path.clear();
                entry.push_path(&mut self.path);
            }
        }
        Step::Descend
    }
    fn error(&mut self, error: WalkError) -> Step {
        panic!("{error}: {}", error.source);
    }
}

/// Returns the number of entries below `root`, and the deepest one.
fn walk(root: &Path, threads: usize) -> (usize, Deepest) {
    let parts = Walker::new([root]).threads(threads).run(|_| Deepest::default());
    let entries = parts.iter().map(|part| part.entries).sum();
    (entries, parts.into_iter().max_by_key(|part| part.depth).unwrap())
}

fn open(at: impl AsFd, path: impl rustix::path::Arg) -> OwnedFd {
    openat(at, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// A chain of directories whose path is longer than system calls accept. Removed on drop.
struct Chain<'a> {
    root: &'a Path,
    names: Vec<String>,
}

impl<'a> Chain<'a> {
    /// Makes a chain of `depth` directories. Each has `siblings` more directories next to it.
    fn new(root: &'a Path, depth: usize, siblings: usize) -> Self {
        let mut at = open(CWD, root);
        let names: Vec<String> = (0..depth).map(|level| format!("down-{level:05}")).collect();
        for name in &names {
            mkdirat(&at, name.as_str(), Mode::RWXU).unwrap();
            for sibling in 0..siblings {
                mkdirat(&at, format!("sibling-{sibling}"), Mode::RWXU).unwrap();
            }
            at = open(&at, name.as_str());
        }
        Self { root, names }
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        let mut at = open(CWD, self.root);
        for name in &self.names {
            at = open(&at, name.as_str());
        }
        for name in self.names.iter().rev() {
            at = open(&at, "..");
            unlinkat(&at, name.as_str(), AtFlags::REMOVEDIR).unwrap();
            for sibling in 0.. {
                if unlinkat(&at, format!("sibling-{sibling}"), AtFlags::REMOVEDIR).is_err() {
                    break;
                }
            }
        }
    }
}

#[test]
fn ten_thousand_levels_are_walked() {
    let dir = tempfile::tempdir().unwrap();
    let chain = Chain::new(dir.path(), 10_000, 0);
    for threads in [1, 4] {
        let (entries, deepest) = walk(dir.path(), threads);
        assert_eq!((entries, deepest.depth), (10_000, 10_000));
        let length: usize = chain.names.iter().map(|name| name.len() + 1).sum();
        assert_eq!(deepest.path.len(), dir.path().as_os_str().len() + length);
        assert!(deepest.path.ends_with(b"/down-09998/down-09999"));
    }
}

#[test]
fn siblings_at_every_level_are_walked() {
    let dir = tempfile::tempdir().unwrap();
    let _chain = Chain::new(dir.path(), 1_500, 3);
    for threads in [1, 4] {
        assert_eq!(walk(dir.path(), threads).0, 1_500 * 4);
    }
}

#[test]
fn listings_larger_than_the_buffer_are_complete() {
    let dir = tempfile::tempdir().unwrap();
    for entry in 0..1_000 {
        let path = dir.path().join(format!("{entry:0200}"));
        if entry % 2 == 0 { fs::create_dir(path).unwrap() } else { fs::write(path, "").unwrap() }
    }
    for threads in [1, 4] {
        assert_eq!(walk(dir.path(), threads).0, 1_000);
    }
}
