//! Ignore files must not panic, and a walk must skip what the lines ignore, entry by entry.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ftk_ignore::{IgnoreFile, IgnoreFiles};
use ftk_walk::{FileType, Walker};

use crate::selections::TREE;

/// Uses the input as the `.gitignore` of a tree. The walk must show the entries that the file does not ignore by themselves
/// and that are not in a directory that it ignores.
pub fn ignore_files(data: &[u8]) {
    let root = TREE.with(|tree| tree.path().to_owned());
    fs::write(root.join(".gitignore"), data).expect("an ignore file");
    let (all, _) = Walker::new([&root]).threads(1).collect_sorted();
    let (left, errors) = Walker::new([&root]).threads(1).filter_with(IgnoreFiles::new()).collect_sorted();
    fs::remove_file(root.join(".gitignore")).expect("it is there");
    let below = |path: &Path| path.strip_prefix(&root).expect("it is below").to_owned();
    let left: Vec<PathBuf> = left.iter().map(|entry| below(entry.path())).collect();
    let file = IgnoreFile::parse(data);
    assert_eq!(file.is_err(), !errors.is_empty());
    let file = file.unwrap_or_default();
    // A pattern ends at a NUL, and then no list may have it.
    if !file.is_empty() && !data.contains(&0) {
        assert_eq!(IgnoreFile::patterns(data).filter(|(_, line)| line.is_some()).count(), file.len());
    }
    let mut ignored = BTreeSet::new();
    let expected = all.iter().filter_map(|entry| {
        let path = below(entry.path());
        let is_below = path.parent().is_some_and(|dir| ignored.contains(dir));
        let is_root = path.as_os_str().is_empty();
        if is_below
            || !is_root
                && file.find(&path, entry.file_type() == FileType::Directory).is_some_and(|it| it.ignores)
        {
            ignored.insert(path);
            return None;
        }
        Some(path)
    });
    assert_eq!(left, expected.collect::<Vec<_>>());
    let asks_for_nothing = |line: &[u8]| line.is_empty() || line.starts_with(b"#");
    if data.split(|&byte| byte == b'\n').all(asks_for_nothing) {
        assert_eq!(left.len(), all.len());
    }
}
