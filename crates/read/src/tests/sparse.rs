//! Holes are delivered as zeros without a read, by every reader and whatever the layout of the file.

use std::fs::{File, FileTimes};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use proptest::prelude::*;

use super::harness::{BUF, Tree, bytes_of, content, read_one, read_spans, readers};
use crate::Span;

/// The parts of a file in order: how many bytes, and whether they are data.
type Layout = Vec<(usize, bool)>;

fn layout() -> impl Strategy<Value = Layout> {
    let len = prop_oneof![1..3 * BUF, Just(16 * BUF), 20 * BUF..40 * BUF];
    prop::collection::vec((len, any::<bool>()), 1..9)
}

/// Writes a file with this layout, and returns its bytes.
fn write(path: &Path, layout: &Layout, seed: u64) -> Vec<u8> {
    let file = File::create(path).unwrap();
    let mut bytes = Vec::new();
    for &(len, is_data) in layout {
        let start = bytes.len();
        if is_data {
            bytes.extend(content(len, seed + start as u64));
            file.write_all_at(&bytes[start..], start as u64).unwrap();
        } else {
            bytes.resize(start + len, 0);
        }
    }
    file.set_len(bytes.len() as u64).unwrap();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_layout_is_read_completely(layouts in prop::collection::vec(layout(), 1..4), piece in 1..60_000_u32) {
        let tree = Tree::new();
        let names: Vec<_> = (0..layouts.len()).map(|nth| nth.to_string()).collect();
        let write = |(name, layout): (&String, &Layout)| write(&tree.path(name), layout, name.len() as u64);
        let contents: Vec<_> = names.iter().zip(&layouts).map(write).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        for span in [Span::Whole, Span::Sample { whole: 0, piece, pieces: 7 }] {
            for (which, mut reader) in readers() {
                let outcomes = read_spans(&mut *reader, &tree.open(), &names, span);
                for (content, outcome) in contents.iter().zip(outcomes) {
                    let ranges = span.ranges(content.len() as u64);
                    let expected = ranges.flat_map(|it| &content[it.start as usize..it.end as usize]);
                    prop_assert!(bytes_of(outcome).unwrap().iter().eq(expected), "{which}: {span:?}");
                }
            }
        }
    }
}

/// The last bytes are data, a hole, or a hole that begins exactly at a chunk.
#[test]
fn changes_of_a_file_with_holes_are_noticed() {
    type Change = fn(&File) -> std::io::Result<()>;
    let changes: [(&str, Change); 6] = [
        ("is cut inside a hole", |file| file.set_len(30 * BUF as u64 + 1)),
        ("is cut at the end", |file| file.set_len(64 * BUF as u64 - 1)),
        ("is emptied", |file| file.set_len(0)),
        ("grows by a hole", |file| file.set_len(100 * BUF as u64)),
        ("grows by data", |file| file.write_all_at(b"more", 64 * BUF as u64)),
        ("gets data in a hole", |file| file.write_all_at(b"new", 40 * BUF as u64)),
    ];
    let tree = Tree::new();
    for layout in [
        vec![(64 * BUF, false)],
        vec![(BUF, true), (63 * BUF, false)],
        vec![(40 * BUF, false), (8 * BUF + 5, true), (12 * BUF - 5, false), (4 * BUF, true)],
    ] {
        for (how, change) in changes {
            for (which, mut reader) in readers() {
                let path = tree.path("file");
                write(&path, &layout, 1);
                let file = File::options().write(true).open(&path).unwrap();
                // Then every later write changes the mtime.
                file.set_times(FileTimes::new().set_modified(UNIX_EPOCH)).unwrap();
                let mut is_first = true;
                let outcome = read_one(&mut *reader, &tree.open(), "file", Span::Whole, || {
                    if std::mem::take(&mut is_first) {
                        change(&file).unwrap();
                    }
                });
                assert_eq!(outcome, Err("changed".to_owned()), "{which}: {layout:?}, file {how}");
            }
        }
    }
}
