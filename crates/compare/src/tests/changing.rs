//! Files that change while being read, and comparisons that end early.

use std::fs;
use std::ops::ControlFlow;

use ftk_read::Failure;
use ftk_sched::Stop;

use super::oracle::Files;
use crate::files::Tuning;
use crate::testing::random;
use crate::{End, Method, Options, Side};

const LEN: usize = 6 << 20;

/// Creates two files that differ in their second byte, where the test acts, and in the last byte.
fn files() -> Files {
    let a = random(LEN);
    let mut b = a.clone();
    b[1] ^= 1;
    b[LEN - 1] ^= 1;
    Files::new(&a, &b)
}

fn ways() -> impl Iterator<Item = (Options, usize)> {
    let options = |method| Options { method, lines: true, ..Options::default() };
    [Method::Mapped, Method::Stream].into_iter().flat_map(move |method| [1, 4].map(|n| (options(method), n)))
}

/// Compares, and calls `act` at the first mismatch.
fn compare_and(files: &Files, options: &Options, workers: usize, mut act: impl FnMut()) -> (Side, Failure) {
    let mut is_first = true;
    let mut found = |_| {
        if std::mem::take(&mut is_first) {
            act();
        }
        ControlFlow::Continue(())
    };
    files.try_compare(options, workers, Tuning::DEFAULT, &Stop::new(), &mut found).unwrap_err()
}

#[test]
fn a_file_truncated_meanwhile_is_an_error_with_every_method() {
    for (options, workers) in ways() {
        for side in [Side::A, Side::B] {
            for len in [0, 4096, 2 << 20] {
                let files = files();
                let file = fs::File::options().write(true).open(files.path(side)).unwrap();
                let error = compare_and(&files, &options, workers, || file.set_len(len).unwrap());
                assert!(
                    matches!(error, (of, Failure::Changed { .. }) if of == side),
                    "{options:?}: {error:?}"
                );
            }
        }
    }
}

#[test]
fn a_file_that_grows_is_an_error() {
    for (options, workers) in ways() {
        for side in [Side::A, Side::B] {
            let files = files();
            let file = fs::File::options().write(true).open(files.path(side)).unwrap();
            let error = compare_and(&files, &options, workers, || file.set_len(LEN as u64 + 1).unwrap());
            assert!(matches!(error, (of, Failure::Changed { .. }) if of == side), "{options:?}: {error:?}");
        }
    }
}

#[test]
fn break_from_the_callback_ends_the_comparison() {
    for (options, workers) in ways() {
        for enough in [1, 2] {
            let mut heard = 0;
            let mut found = |_| {
                heard += 1;
                if heard == enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let outcome =
                files().try_compare(&options, workers, Tuning::DEFAULT, &Stop::new(), &mut found).unwrap();
            let at = if enough == 1 { 2 } else { LEN as u64 };
            assert_eq!((outcome.end, outcome.mismatches), (End::Enough { at }, enough));
        }
    }
}

#[test]
fn the_stop_flag_ends_the_comparison() {
    for (options, workers) in ways() {
        let (stop, mut heard) = (Stop::new(), 0);
        let mut found = |_| {
            heard += 1;
            stop.raise();
            ControlFlow::Continue(())
        };
        let outcome = files().try_compare(&options, workers, Tuning::DEFAULT, &stop, &mut found).unwrap();
        assert_eq!((outcome.end, outcome.lines, outcome.mismatches), (End::Stopped, None, 1));
        let outcome = files().try_compare(&options, workers, Tuning::DEFAULT, &stop, &mut found).unwrap();
        assert_eq!((outcome.end, outcome.mismatches, heard), (End::Stopped, 0, 1), "raised before the start");
    }
}
