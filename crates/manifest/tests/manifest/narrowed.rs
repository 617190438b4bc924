//! Manifests of which only a part is read.

use ftk_file::Stat;
use ftk_manifest::{Failed, Header, Manifest, Mount, Selector, Selects};
use ftk_walk::FileType;

use crate::model::{Entries, Owned, Path, header, manifest};

const PATHS: [(&str, bool); 11] = [
    (".", true),
    ("a", true),
    ("a-b", true),
    ("a-b/x", false),
    ("a.c", false),
    ("a/b", true),
    ("a/b/a", true),
    ("a/b/a/x", false),
    ("a/b0", false),
    ("ab", false),
    ("b", true),
];

fn entries() -> Entries {
    let entry = |(path, is_dir): (&str, bool)| {
        let file_type = if is_dir { FileType::Directory } else { FileType::Regular };
        (Path::new(path), Owned::new(Stat { file_type, mode: 0o644, nlink: 1, ..Stat::EMPTY }, Vec::new()))
    };
    PATHS.into_iter().map(entry).collect()
}

fn paths(manifest: &Manifest) -> Vec<String> {
    let (mut entries, mut paths) = (manifest.entries().unwrap(), Vec::new());
    while let Some(entry) = entries.next().unwrap() {
        paths.push(String::from_utf8(entry.path.to_vec()).unwrap());
    }
    paths
}

#[test]
fn a_directory_is_read_as_the_root() {
    for (dir, _) in PATHS.into_iter().filter(|(path, is_dir)| *is_dir && *path != ".") {
        let mut manifest = manifest(&header(&[], false), &entries());
        assert!(manifest.directory(dir.as_bytes()).unwrap().unwrap().is_some());
        manifest.narrow(dir.as_bytes());
        let below = |(path, _): (&str, bool)| match path.strip_prefix(dir)? {
            "" => Some(".".to_owned()),
            rest => rest.strip_prefix('/').map(Into::into),
        };
        assert_eq!(paths(&manifest), PATHS.into_iter().filter_map(below).collect::<Vec<_>>(), "{dir}");
        assert_eq!(manifest.header().root, format!("/r/{dir}").into_bytes());
    }
    let manifest = manifest(&header(&[], false), &entries());
    for path in ["c", "a/b/c", "ab", "a/b/a/x"] {
        assert!(manifest.directory(path.as_bytes()).unwrap().is_none(), "{path}");
    }
}

#[test]
fn what_a_header_says_of_other_places_is_removed() {
    let mounts =
        vec![Mount::Named(b"a/b".to_vec()), Mount::Named(b"a/b/a".to_vec()), Mount::Named(b"b".to_vec())];
    let failed = |paths: &[&str]| Failed::new(paths.iter().map(|path| path.as_bytes().to_vec()).collect());
    let header =
        Header { version: 3, mounts, failed: failed(&["a-b/x", "a/b/a/y", "z"]), ..header(&[], false) };
    let mut narrowed = manifest(&header, &entries());
    narrowed.narrow(b"a/b");
    assert_eq!(narrowed.header().mounts, [Mount::Named(b"a".to_vec())]);
    assert_eq!(narrowed.header().failed, failed(&["a/y"]));
    // What is above the part makes all of it unknown.
    let header = Header { failed: failed(&["a"]), ..header };
    let mut narrowed = manifest(&header, &entries());
    narrowed.narrow(b"a/b");
    assert_eq!(narrowed.header().failed, failed(&["."]));
}

/// Selects regular files, and skips `a/b`.
struct Files;

impl Selects for Files {
    fn selects(&self, path: &[u8], file_type: FileType) -> bool {
        file_type == FileType::Regular && !self.skips(path, file_type)
    }

    fn skips(&self, path: &[u8], _: FileType) -> bool {
        path == b"a/b" || path.starts_with(b"a/b/")
    }
}

#[test]
fn only_selected_entries_are_read() {
    let failed = Failed::new(vec![b"a/b/z".to_vec(), b"c".to_vec()]);
    let header = Header { version: 3, failed, ..header(&[], false) };
    let mut manifest = manifest(&header, &entries());
    manifest.select(Selector::new(Files));
    assert_eq!(paths(&manifest), ["a-b/x", "a.c", "a/b0", "ab"]);
    assert_eq!(manifest.unselected(), 7);
    assert_eq!(manifest.header().failed.paths(), [b"c"]);
}
