//! A file that changes while being read is reported as changed.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::harness::{BUF, Tree, content, read_one, readers};
use crate::Span;

/// Writes a file with the oldest possible mtime, so that any later write changes it.
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

/// Replaces the file by another of the same name. Unlinking the old file changes its ctime.
fn replace(path: &Path) {
    let other = path.with_extension("new");
    fs::write(&other, b"other").unwrap();
    fs::rename(other, path).unwrap();
}

#[test]
fn changes_between_chunks_or_before_finish_are_noticed() {
    let tree = Tree::new();
    // The short file is read by one call. It was created just now, so that `fstat` is called again
    // nevertheless.
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
