//! Of a large file the pieces that were asked for come out, and nothing else.

use std::fs::{File, FileTimes};
use std::os::unix::fs::FileExt;
use std::time::UNIX_EPOCH;

use super::harness::{BUF, Tree, content, read_one, read_spans, readers};
use crate::Span;

/// The bytes of the sample, by the formula: whole at most so long, or pieces from both ends and in between.
fn expected(content: &[u8], whole: usize, piece: usize, pieces: usize) -> Vec<u8> {
    let size = content.len();
    if size <= whole || size <= piece * pieces {
        return content.to_vec();
    }
    let starts = (0..pieces).map(|i| if i == 0 { 0 } else { i * (size - piece) / (pieces - 1) });
    starts.flat_map(|start| content[start..start + piece].to_vec()).collect()
}

#[test]
fn every_length_around_the_bounds() {
    // Pieces that fit into a buffer, that fill it, that straddle buffers, and that take several each.
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
fn a_change_anywhere_in_the_file_is_noticed() {
    let tree = Tree::new();
    let path = tree.path("file");
    // In one chunk, and in several.
    for (piece, pieces) in [(100, 1), (100, 4), (3_000, 4)] {
        let span = Span::Sample { whole: 0, piece, pieces };
        for (how, change) in [
            ("shrinks", (|file: File| file.set_len(10)) as fn(File) -> std::io::Result<()>),
            ("grows", |file: File| file.set_len(60_000)),
            ("is rewritten where nobody looks", |file: File| file.write_all_at(b"other", 5_000)),
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
