//! The same pair with all methods, numbers of workers and block sizes: the result must be the same.

use super::oracle::{Files, naive};
use crate::files::Tuning;
use crate::testing::random;
use crate::{End, Method, Options};

const METHODS: [Method; 2] = [Method::Mapped, Method::Stream];

#[test]
fn the_result_does_not_depend_on_workers_blocks_or_method() {
    let a = random(700_001);
    let mut b = a.clone();
    // Some single bytes, some runs, and some on both sides of a block boundary.
    let alone = [70_000, 131_071, 131_072, 262_143, 262_144, 511_999, 700_000];
    for at in (300_000..300_040).chain(400_000..400_900).chain(alone) {
        b[at] ^= 1;
    }
    let files = Files::new(&a, &b);
    let tuning = Tuning { alone: 10_000, claim: 100_000, map: 20_000, capacity: 100, clean: 5000 };
    let mut runs = 0;
    for max_mismatches in [0, 1, 44] {
        let expected = naive(&a, &b, &Options { max_mismatches, lines: true, ..Options::default() });
        for method in METHODS {
            for workers in 1..=8 {
                for block in (9..=20).map(|bits| 1 << bits) {
                    let options =
                        Options { max_mismatches, method, block, lines: true, ..Options::default() };
                    for _ in 0..2 {
                        let answer = files.compare(&options, workers, tuning);
                        assert!(answer == expected, "{options:?}, {workers} workers: {answer:?}");
                        runs += 1;
                    }
                }
            }
        }
    }
    assert!(runs > 1000);
}

#[test]
fn large_files_with_default_tuning() {
    let a = random(1 << 20).repeat(20);
    let mut b = a.clone();
    for at in [(1 << 20) - 1, 1 << 20, 5_000_000, 16_777_215, 16_777_216, b.len() - 1] {
        b[at] ^= 0x80;
    }
    b.extend_from_slice(b"and more");
    let files = Files::new(&a, &b);
    let twins = Files::new(&a, &a);
    for (skip, max_mismatches) in [(0, 0), (0, 5), (1, 0), (4097, 2)] {
        let options =
            Options { skip_a: skip, skip_b: skip, max_mismatches, lines: true, ..Options::default() };
        let expected = naive(&a, &b, &options);
        for method in METHODS {
            for workers in [1, 2, 3, 8] {
                let options = Options { method, ..options };
                assert_eq!(files.compare(&options, workers, Tuning::DEFAULT), expected, "{options:?}");
                let answer = twins.compare(&options, workers, Tuning::DEFAULT);
                assert_eq!((answer.end, answer.found.len()), (End::Together, 0), "{options:?}");
            }
        }
    }
}

#[test]
fn all_bytes_differ() {
    let a = random(3 << 20);
    let b: Vec<_> = a.iter().map(|byte| byte ^ 0xff).collect();
    let files = Files::new(&a, &b);
    for method in METHODS {
        for workers in [1, 4] {
            let options = Options { method, ..Options::default() };
            assert!(files.compare(&options, workers, Tuning::DEFAULT) == naive(&a, &b, &options));
        }
    }
}
