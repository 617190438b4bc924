//! A file that changes while it is read has no digest.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::harness::{BUF, Tree, content, read_one, readers};
use crate::Span;

/// Writes a file whose content seems as old as can be, so that any later write moves its time.
fn old_file(path: &Path, len: usize) {
    fs::write(path, content(len, 1)).unwrap();
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_times(FileTimes::new().set_modified(UNIX_EPOCH))
        .unwrap();
}

fn shrink(path: &Path) {
    File::options().write(true).open(path).unwrap().set_len(3).unwrap();
}

fn empty(path: &Path) {
    File::options().write(true).open(path).unwrap().set_len(0).unwrap();
}

fn grow(path: &Path) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(b"more").unwrap();
}

fn rewrite(path: &Path) {
    File::options().write(true).open(path).unwrap().write_all_at(b"other", 1).unwrap();
}

/// The old file loses its name, which is a change of its inode.
fn replace(path: &Path) {
    let other = path.with_extension("new");
    fs::write(&other, b"other").unwrap();
    fs::rename(other, path).unwrap();
}

#[test]
fn between_two_chunks_or_before_the_verdict() {
    let tree = Tree::new();
    // The short file is read by one call; it is young, so that it is asked twice all the same.
    for len in [10, BUF, 8 * BUF + 1] {
        for (how, change) in [
            ("shrinks", shrink as fn(&Path)),
            ("is emptied", empty),
            ("grows", grow),
            ("is rewritten", rewrite),
            ("is replaced", replace),
        ] {
            for (which, mut reader) in readers() {
                let path = tree.path("file");
                old_file(&path, len);
                let mut is_first = true;
                let outcome = read_one(&mut *reader, &tree.open(), "file", Span::Whole, || {
                    if std::mem::take(&mut is_first) {
                        change(&path);
                    }
                });
                assert_eq!(outcome, Err("changed".to_owned()), "{which}: {len} bytes, file {how}");
            }
        }
    }
}
