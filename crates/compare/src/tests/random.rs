//! Random pairs of files, with random options, and with random settings that must not affect the result.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::oracle::{Files, naive};
use crate::files::Tuning;
use crate::testing::random;
use crate::{Method, Options};

/// A part of a file.
#[derive(Clone, Copy, Debug)]
struct Piece {
    len: usize,
    /// Nothing is written, so this part is mostly a hole.
    is_hole: bool,
    /// The bytes are zeros; otherwise they are lines of letters.
    is_zero: bool,
}

/// How a piece is changed in the second file.
#[derive(Clone, Copy, Debug)]
enum Change {
    None,
    /// A hole becomes written zeros, and written zeros become a hole.
    Hole,
    Byte(Index),
    All,
    /// The piece is cut short.
    Cut(Index),
}

#[derive(Clone, Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// The ranges to be written.
    written: Vec<(usize, usize)>,
}

impl Content {
    fn push(&mut self, bytes: &[u8], is_hole: bool) {
        if !is_hole {
            self.written.push((self.bytes.len(), self.bytes.len() + bytes.len()));
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn write(&self, path: &Path) {
        let file = fs::File::create(path).unwrap();
        file.set_len(self.bytes.len() as u64).unwrap();
        for &(start, end) in &self.written {
            file.write_all_at(&self.bytes[start..end], start as u64).unwrap();
        }
    }
}

fn contents(pieces: &[(Piece, Change)]) -> (Content, Content) {
    let (mut a, mut b) = (Content::default(), Content::default());
    for &(Piece { len, is_hole, is_zero }, change) in pieces {
        let is_zero = is_zero || is_hole;
        let bytes: Vec<u8> = if is_zero {
            vec![0; len]
        } else {
            random(len).iter().map(|byte| if byte % 16 == 0 { b'\n' } else { b'a' + byte % 16 }).collect()
        };
        a.push(&bytes, is_hole);
        match change {
            Change::None => b.push(&bytes, is_hole),
            Change::Hole => b.push(&bytes, is_zero && !is_hole),
            Change::Byte(at) => {
                let mut bytes = bytes;
                if len > 0 {
                    bytes[at.index(len)] ^= 0x40;
                }
                b.push(&bytes, false);
            }
            Change::All => b.push(&bytes.iter().map(|byte| !byte).collect::<Vec<_>>(), false),
            Change::Cut(at) => b.push(&bytes[..at.index(len + 1)], is_hole),
        }
    }
    (a, b)
}

fn pieces() -> impl Strategy<Value = Vec<(Piece, Change)>> {
    let len = prop_oneof![0..3000_usize, (0..6_usize).prop_map(|pages| pages * 4096)];
    let piece = (len, prop::bool::weighted(0.3), prop::bool::weighted(0.2))
        .prop_map(|(len, is_hole, is_zero)| Piece { len, is_hole, is_zero });
    let change = prop_oneof![
        8 => Just(Change::None),
        2 => Just(Change::Hole),
        3 => any::<Index>().prop_map(Change::Byte),
        1 => Just(Change::All),
        1 => any::<Index>().prop_map(Change::Cut),
    ];
    prop::collection::vec((piece, change), 0..12)
}

fn options() -> impl Strategy<Value = Options> {
    let skip = || prop_oneof![3 => Just(0), 1 => 0..9000_u64];
    (
        select(vec![0, 0, 1, 2, 8, 100]),
        skip(),
        skip(),
        prop::option::weighted(0.3, 0..40_000_u64),
        select(vec![0, 512, 1000, 4096, 1 << 20]),
        select(vec![Method::Auto, Method::Mapped, Method::Stream]),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(max_mismatches, skip_a, skip_b, limit, block, method, shortcuts, lines)| Options {
            max_mismatches,
            skip_a,
            skip_b,
            limit,
            block,
            method,
            shortcuts,
            lines,
        })
}

fn tuning() -> impl Strategy<Value = Tuning> {
    (1..8000_u64, 1..40_000_u64, select(vec![1, 5000, u64::MAX]), 1..50_usize, 1..9000_u64)
        .prop_map(|(alone, claim, map, capacity, clean)| Tuning { alone, claim, map, capacity, clean })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_a_loop_over_bytes(
        pieces in pieces(),
        options in options(),
        tuning in tuning(),
        workers in 1..=8_usize,
    ) {
        let (a, b) = contents(&pieces);
        let files = Files::made_by(|path_a, path_b| {
            a.write(path_a);
            b.write(path_b);
        });
        let expected = naive(&a.bytes, &b.bytes, &options);
        prop_assert_eq!(files.compare(&options, workers, tuning), expected.clone());
        prop_assert_eq!(files.compare(&options, workers, Tuning::DEFAULT), expected);
    }
}
