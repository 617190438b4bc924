//! Compares two inputs of any kind.

use std::ops::ControlFlow;

use ftk_read::{Failure, File};

use crate::files::{Files, Tuning};
use crate::input::{Cursor, Input, MAX_SKIP, Piped};
use crate::options::{FileResources, Options, Source};
use crate::outcome::{End, FilePlan, Lines, Outcome, Reason, Way};
use crate::pair::Part;
use crate::sequential::{Sequential, Sink};
use crate::{Mismatch, Side};

/// Compares two inputs and passes every wanted mismatch to `found`, each once, in ascending order. The
/// comparison ends when `found` returns `Break`.
///
/// The result is the same for every method, number of workers and block size. The search is speculative, but
/// a mismatch is passed on only when it is certain. There is one exception: if a file turns out to have
/// changed while being read, the comparison ends with an error.
///
/// # Errors
/// If an input cannot be read, or is a file that changed while being read, as far as [`File::verify`] can tell. The
/// error includes the side of the input.
///
/// # Panics
/// When a worker panics, after all workers have ended.
pub fn compare(
    a: Source<'_>,
    b: Source<'_>,
    options: &Options,
    resources: &FileResources<'_>,
    found: &mut dyn FnMut(Mismatch) -> ControlFlow<()>,
) -> Result<Outcome, (Side, Failure)> {
    compare_tuned(a, b, options, resources, found, Tuning::DEFAULT)
}

/// Whether the sizes of two files alone prove that the compared ranges differ. The size of a file without
/// disk blocks is not trusted, because kernel file systems report synthetic sizes.
pub fn sizes_differ(a: &File, b: &File, options: &Options) -> bool {
    let limit = options.limit.unwrap_or(u64::MAX);
    let len = |file: &File, skip| file.stat().size.saturating_sub(skip).min(limit);
    a.stat().blocks > 0 && b.stat().blocks > 0 && len(a, options.skip_a) != len(b, options.skip_b)
}

pub(crate) fn compare_tuned(
    a: Source<'_>,
    b: Source<'_>,
    options: &Options,
    resources: &FileResources<'_>,
    found: &mut dyn FnMut(Mismatch) -> ControlFlow<()>,
    tuning: Tuning,
) -> Result<Outcome, (Side, Failure)> {
    let sink = Sink::new(options.max_mismatches, found);
    match (a, b) {
        (Source::File(a), Source::File(b)) => {
            let a = Part { side: Side::A, file: a, skip: options.skip_a.min(MAX_SKIP) };
            let b = Part { side: Side::B, file: b, skip: options.skip_b.min(MAX_SKIP) };
            Files::new(a, b, options, resources, tuning, sink).compare()
        }
        (a, b) => streams(a, b, options, resources, sink),
    }
}

/// Compares two inputs of which at least one is a stream.
fn streams(
    a: Source<'_>,
    b: Source<'_>,
    options: &Options,
    resources: &FileResources<'_>,
    mut sink: Sink<'_>,
) -> Result<Outcome, (Side, Failure)> {
    let block = options.block(1, resources.memory);
    let plan = FilePlan { way: Way::Sequential, reason: Reason::Pipe, workers: 1, block };
    let mut a = OpenInput::new(a, options.skip_a, block).map_err(|failure| (Side::A, failure))?;
    let mut b = OpenInput::new(b, options.skip_b, block).map_err(|failure| (Side::B, failure))?;
    let mut lines = Lines::NONE;
    let mut sequential = Sequential {
        a: a.input(),
        b: b.input(),
        at: 0,
        limit: options.limit.unwrap_or(u64::MAX),
        clean: u64::MAX,
        lines: options.lines.then_some(&mut lines),
    };
    let end = sequential.run(&mut sink, block, resources)?.unwrap_or(End::Together);
    a.verify().map_err(|failure| (Side::A, failure))?;
    b.verify().map_err(|failure| (Side::B, failure))?;
    Ok(Outcome {
        mismatches: sink.delivered,
        first: sink.first,
        end,
        lines: (options.lines && sink.equal_to(end).is_some()).then_some(lines),
        plan,
    })
}

/// An open input that is read from front to back.
enum OpenInput<'s> {
    File(Cursor<'s>),
    Stream(Piped<'s>),
}

impl<'s> OpenInput<'s> {
    fn new(source: Source<'s>, skip: u64, block: usize) -> Result<Self, Failure> {
        Ok(match source {
            Source::File(file) => Self::File(Cursor::new(file, skip.min(MAX_SKIP))),
            Source::Stream(stream) => {
                let mut piped = Piped(stream);
                piped.skip(skip, block)?;
                Self::Stream(piped)
            }
        })
    }

    fn input(&mut self) -> &mut dyn Input {
        match self {
            Self::File(cursor) => cursor,
            Self::Stream(piped) => piped,
        }
    }

    fn verify(&self) -> Result<(), Failure> {
        match self {
            Self::File(cursor) => cursor.verify(0),
            Self::Stream(_) => Ok(()),
        }
    }
}
