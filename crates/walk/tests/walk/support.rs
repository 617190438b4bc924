//! A visitor that records everything, and functions that make trees.

use std::fs;
use std::path::Path;

use ftk_walk::{Directory, Entry, FileType, Follow, Repeat, Step, Visitor, WalkError, Walker};
use tempfile::TempDir;

/// One entry: path, type, depth.
pub(crate) type Seen = (Vec<u8>, FileType, u32);

#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) seen: Vec<Seen>,
    pub(crate) errors: Vec<WalkError>,
    /// Number of calls of `covered`.
    pub(crate) covered: usize,
    /// Each path that was not entered again, and the path under which the directory was entered.
    pub(crate) repeats: Vec<[String; 2]>,
    entered: usize,
    left: usize,
}

impl Record {
    fn remember(&mut self, entry: &Entry<'_>) -> Step {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        self.seen.push((path, entry.file_type(), entry.depth()));
        Step::Descend
    }

    /// Returns the repeats below `dir`: the path that was not entered again, and the one that was entered.
    pub(crate) fn repeats(&self, dir: &Path) -> Vec<[String; 2]> {
        self.repeats.iter().map(|pair| below(dir, pair).try_into().unwrap()).collect()
    }

    /// Returns the paths, in order.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.seen.iter().map(|(path, ..)| String::from_utf8_lossy(path).into_owned()).collect()
    }
}

impl Visitor for Record {
    type Dir = Vec<u8>;

    fn descend(&mut self, from: Option<&Vec<u8>>, entry: &mut Entry<'_>) -> Vec<u8> {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        if let Some(from) = from {
            assert!(path.starts_with(from), "the tag of the directory it was found in");
        }
        path
    }

    fn enter(&mut self, tag: &Vec<u8>, dir: &Directory<'_>) -> Step {
        let mut path = Vec::new();
        dir.push_path(&mut path);
        assert_eq!(*tag, path);
        assert_eq!(self.entered, self.left, "one directory at a time");
        self.entered += 1;
        Step::Descend
    }

    fn entry(&mut self, tag: Option<&Vec<u8>>, entry: &mut Entry<'_>) -> Step {
        let step = self.remember(entry);
        assert!(tag.is_none_or(|tag| self.seen[self.seen.len() - 1].0.starts_with(tag)));
        step
    }

    fn leave(&mut self, _: &Vec<u8>) {
        self.left += 1;
    }

    fn covered(&mut self, _: &[u8]) {
        self.covered += 1;
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        let mut paths = [Vec::new(), Vec::new()];
        repeat.push_path(&mut paths[0]);
        repeat.push_first_path(&mut paths[1]);
        self.repeats.push(paths.map(|path| String::from_utf8_lossy(&path).into_owned()));
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}

/// Walks `roots` and returns everything that was shown, sorted by path.
pub(crate) fn walk<P: AsRef<Path>>(roots: &[P], follow: Follow, threads: usize) -> Record {
    let mut all = Record::default();
    for part in Walker::new(roots).follow(follow).threads(threads).run(|_| Record::default()) {
        assert_eq!(part.entered, part.left, "every directory entered is left");
        all.seen.extend(part.seen);
        all.errors.extend(part.errors);
        all.covered += part.covered;
        all.repeats.extend(part.repeats);
    }
    all.seen.sort();
    all.repeats.sort();
    all
}

/// Makes a temporary directory with these entries: `dir/` is a directory, `link -> target` a link, the rest
/// are files.
pub(crate) fn tree(entries: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in entries {
        if let Some((link, target)) = entry.split_once(" -> ") {
            std::os::unix::fs::symlink(target, dir.path().join(link)).unwrap();
        } else if entry.ends_with('/') {
            fs::create_dir_all(dir.path().join(entry)).unwrap();
        } else {
            fs::write(dir.path().join(entry), entry).unwrap();
        }
    }
    dir
}

/// Returns those of `paths` that are below `dir`, relative to it.
pub(crate) fn below(dir: &Path, paths: &[String]) -> Vec<String> {
    let prefix = format!("{}/", dir.display());
    paths.iter().filter_map(|path| path.strip_prefix(&prefix)).map(str::to_owned).collect()
}
