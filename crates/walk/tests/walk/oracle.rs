//! Random trees, compared with a naive recursive walk and with `find -L`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ftk_walk::{FileType, Follow};
use proptest::prelude::*;
use rustix::fs::{CWD, Mode};

use crate::support::{Seen, walk};

const NAMES: [&[u8]; 6] = [b"a", b"b", b"with space", b"line\nbreak", b"\xff\xfe", b"-rf"];
const TARGETS: [&str; 7] = [".", "..", "../..", "a", "b", "a/b", "nowhere"];

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    File,
    Directory,
    Fifo,
    Link(usize),
}

pub(crate) fn entries() -> impl Strategy<Value = Vec<(Vec<usize>, Kind)>> {
    let kind = prop_oneof![
        Just(Kind::File),
        Just(Kind::Directory),
        Just(Kind::Fifo),
        (0..TARGETS.len()).prop_map(Kind::Link)
    ];
    prop::collection::vec((prop::collection::vec(0..NAMES.len(), 1..6), kind), 0..40)
}

/// Makes the entries. Skips an entry whose parent is a file, and one below a link, which may lead out of the
/// tree.
pub(crate) fn make(root: &Path, entries: &[(Vec<usize>, Kind)]) {
    for (names, kind) in entries {
        let mut path: PathBuf = root.into();
        path.extend(names.iter().map(|&name| OsStr::from_bytes(NAMES[name])));
        let through_link = path.ancestors().skip(1).take_while(|above| *above != root).any(Path::is_symlink);
        if through_link
            || fs::create_dir_all(path.parent().unwrap()).is_err()
            || path.symlink_metadata().is_ok()
        {
            continue;
        }
        match kind {
            Kind::File => fs::write(&path, "").unwrap(),
            Kind::Directory => fs::create_dir(&path).unwrap(),
            Kind::Fifo => rustix::fs::mkfifoat(CWD, &path, Mode::RWXU).unwrap(),
            Kind::Link(target) => symlink(TARGETS[*target], &path).unwrap(),
        }
    }
}

fn naive(path: &Path, depth: u32, seen: &mut Vec<Seen>) {
    let own = path.symlink_metadata().unwrap().file_type();
    let file_type = match own {
        own if own.is_file() => FileType::Regular,
        own if own.is_dir() => FileType::Directory,
        own if own.is_symlink() => FileType::Symlink,
        own if own.is_fifo() => FileType::Fifo,
        own => panic!("{own:?}"),
    };
    seen.push((path.as_os_str().as_bytes().into(), file_type, depth));
    if own.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            naive(&entry.unwrap().path(), depth + 1, seen);
        }
    }
}

fn find(root: &Path) -> Vec<Vec<u8>> {
    let output = Command::new("find").arg("-L").arg(root).arg("-print0").output().unwrap();
    let mut paths: Vec<Vec<u8>> = output.stdout.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect();
    paths.retain(|path| !path.is_empty());
    paths.sort();
    paths
}

/// Returns the paths that remain if each directory is entered once, under the first of its paths.
fn once(sorted: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let (mut entered, mut known) = (BTreeSet::new(), BTreeSet::new());
    let is_shown = |path: &Vec<u8>| {
        let path = Path::new(OsStr::from_bytes(path));
        if !known.is_empty() && !entered.contains(path.parent().unwrap()) {
            return false;
        }
        let metadata = fs::metadata(path).or_else(|_| fs::symlink_metadata(path)).unwrap();
        if metadata.is_dir() && known.insert((metadata.dev(), metadata.ino())) {
            entered.insert(path.to_owned());
        }
        true
    };
    let mut paths = sorted;
    paths.retain(is_shown);
    paths
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shows_the_same_as_a_naive_walk(entries in entries()) {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &entries);
        let mut expected = Vec::new();
        naive(dir.path(), 0, &mut expected);
        expected.sort();
        for threads in [1, 4] {
            let record = walk(&[dir.path()], Follow::Never, threads);
            prop_assert!(record.errors.is_empty());
            prop_assert_eq!(&record.seen, &expected);
        }
    }

    #[test]
    fn follows_links_as_find_does_but_enters_each_directory_once(entries in entries()) {
        // The root is two levels deep so that no link target is outside the temporary directory.
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("outer/root");
        fs::create_dir_all(&root).unwrap();
        make(&root, &entries);
        let expected = once(find(&root));
        for threads in [1, 4] {
            let record = walk(&[&root], Follow::Always, threads);
            let paths: Vec<Vec<u8>> = record.seen.into_iter().map(|(path, ..)| path).collect();
            prop_assert_eq!(&paths, &expected);
        }
    }
}
