//! The expected results from a loop over bytes, and the results of a comparison.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use ftk_read::{Failure, File};
use ftk_sched::Stop;
use tempfile::TempDir;

use crate::compare::compare_tuned;
use crate::files::Tuning;
use crate::testing::open;
use crate::{End, FileResources, Lines, Mismatch, Options, Outcome, Side, Source};

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) found: Vec<Mismatch>,
    pub(super) end: End,
    pub(super) lines: Option<Lines>,
}

/// Computes the expected result byte by byte.
pub(super) fn naive(a: &[u8], b: &[u8], options: &Options) -> Answer {
    let cut = |bytes: &[u8], skip: u64| -> Vec<u8> {
        let limit = options.limit.unwrap_or(u64::MAX) as usize;
        bytes.iter().skip(skip as usize).take(limit).copied().collect()
    };
    let (a, b) = (cut(a, options.skip_a), cut(b, options.skip_b));
    let bytes = a.len().min(b.len()) as u64;
    let mut end = if a.len() == b.len() {
        End::Together
    } else {
        End::Shorter { side: if a.len() < b.len() { Side::A } else { Side::B }, bytes }
    };
    let mut found = Vec::new();
    for (offset, (&a, &b)) in a.iter().zip(&b).enumerate() {
        if a != b {
            found.push(Mismatch { offset: offset as u64, a, b });
            if found.len() as u64 == options.max_mismatches {
                end = End::Enough { at: offset as u64 + 1 };
                break;
            }
        }
    }
    let equal_to = match (found.first(), end) {
        (Some(first), _) => Some(first.offset),
        (None, End::Shorter { bytes, .. }) => Some(bytes),
        _ => None,
    };
    let lines = equal_to.filter(|_| options.lines).map(|equal_to| {
        let equal = &a[..equal_to as usize];
        let newlines = equal.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Lines { newlines, is_line_start: equal.last().is_none_or(|&byte| byte == b'\n') }
    });
    Answer { found, end, lines }
}

/// Two files in a temporary directory.
pub(super) struct Files {
    pub(super) dir: TempDir,
    pub(super) a: File,
    pub(super) b: File,
}

impl Files {
    pub(super) fn new(a: &[u8], b: &[u8]) -> Self {
        Self::made_by(|path_a, path_b| {
            std::fs::write(path_a, a).unwrap();
            std::fs::write(path_b, b).unwrap();
        })
    }

    pub(super) fn made_by(make: impl FnOnce(&Path, &Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
        make(&a, &b);
        let (a, b) = (open(&a), open(&b));
        Self { dir, a, b }
    }

    pub(super) fn path(&self, side: Side) -> PathBuf {
        self.dir.path().join(if side == Side::A { "a" } else { "b" })
    }

    /// Compares the two files.
    pub(super) fn compare(&self, options: &Options, workers: usize, tuning: Tuning) -> Answer {
        let (mut found, stop) = (Vec::new(), Stop::new());
        let outcome = self
            .try_compare(options, workers, tuning, &stop, &mut |mismatch| {
                found.push(mismatch);
                ControlFlow::Continue(())
            })
            .unwrap();
        answer(found, outcome)
    }

    pub(super) fn try_compare(
        &self,
        options: &Options,
        workers: usize,
        tuning: Tuning,
        stop: &Stop,
        found: &mut dyn FnMut(Mismatch) -> ControlFlow<()>,
    ) -> Result<Outcome, (Side, Failure)> {
        let resources = FileResources { workers, memory: 1 << 30, stop, done: &AtomicU64::new(0) };
        compare_tuned(Source::File(&self.a), Source::File(&self.b), options, &resources, found, tuning)
    }
}

pub(super) fn answer(found: Vec<Mismatch>, outcome: Outcome) -> Answer {
    assert_eq!(outcome.mismatches, found.len() as u64);
    assert_eq!(outcome.first, found.first().map(|mismatch| mismatch.offset));
    assert_eq!(outcome.is_equal(), found.is_empty() && outcome.end == End::Together);
    Answer { found, end: outcome.end, lines: outcome.lines }
}
