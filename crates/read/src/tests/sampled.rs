//! Exactly the requested pieces of a large file are read.

use std::fs::{File, FileTimes};
use std::os::unix::fs::FileExt;
use std::time::UNIX_EPOCH;

use super::harness::{BUF, Tree, content, read_one, read_spans, readers};
use crate::Span;

/// Computes the expected sample: the whole file up to `whole` bytes, otherwise pieces from start to end.
fn expected(content: &[u8], whole: usize, piece: usize, pieces: usize) -> Vec<u8> {
    let size = content.len();
    if size <= whole || size <= piece * pieces {
        return content.to_vec();
    }
    let starts = (0..pieces).map(|i| if i == 0 { 0 } else { i * (size - piece) / (pieces - 1) });
    starts.flat_map(|start| content[start..start + piece].to_vec()).collect()
}

#[test]
fn lengths_around_the_limits_are_sampled_correctly() {
    // Pieces smaller than a buffer, as large as one, across two, and larger than several.
    for (piece, pieces) in
        [(1, 1), (1, 2), (100, 1), (100, 7), (BUF / 4, 4), (3_000, 3), (BUF + 1, 2), (9_000, 3)]
    {
        let all = piece * pieces;
        for whole in [0, all, 3 * BUF] {
            let span = Span::Sample { whole: whole as u64, piece: piece as u32, pieces: pieces as u32 };
            let bounds = [0, 1, piece, all, whole, 50_000];
            let mut lengths: Vec<_> =
                bounds.iter().flat_map(|len| [len.saturating_sub(1), *len, len + 1]).collect();
            lengths.sort_unstable();
            lengths.dedup();
            let tree = Tree::new();
            let names: Vec<_> = lengths.iter().map(usize::to_string).collect();
            for (name, &len) in names.iter().zip(&lengths) {
                tree.file(name, &content(len, len as u64));
            }
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            for (which, mut reader) in readers() {
                let outcomes = read_spans(&mut *reader, &tree.open(), &names, span);
                for (&len, outcome) in lengths.iter().zip(outcomes) {
                    let (bytes, stat) = outcome.unwrap_or_else(|e| panic!("{which}: {len}: {e:?}"));
                    let expected = expected(&content(len, len as u64), whole, piece, pieces);
                    assert!(bytes == expected, "{which}: {len} bytes, {span:?}");
                    assert_eq!(stat.size, len as u64, "{which}");
                }
            }
        }
    }
}

#[test]
fn changes_outside_the_pieces_are_noticed() {
    let tree = Tree::new();
    let path = tree.path("file");
    // Samples of one chunk and of several.
    for (piece, pieces) in [(100, 1), (100, 4), (3_000, 4)] {
        let span = Span::Sample { whole: 0, piece, pieces };
        for (how, change) in [
            ("shrinks", (|file: File| file.set_len(10)) as fn(File) -> std::io::Result<()>),
            ("grows", |file: File| file.set_len(60_000)),
            ("is rewritten between the pieces", |file: File| file.write_all_at(b"other", 5_000)),
        ] {
            for (which, mut reader) in readers() {
                tree.file("file", &content(50_000, 1));
                let write = || File::options().write(true).open(&path).unwrap();
                write().set_times(FileTimes::new().set_modified(UNIX_EPOCH)).unwrap();
                let mut is_first = true;
                let outcome = read_one(&mut *reader, &tree.open(), "file", span, || {
                    if std::mem::take(&mut is_first) {
                        change(write()).unwrap();
                    }
                });
                assert_eq!(outcome, Err("changed".to_owned()), "{which}: {span:?}, file {how}");
            }
        }
    }
}
