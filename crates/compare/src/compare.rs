//! Two inputs, whatever they are.

use std::ops::ControlFlow;

use ftk_read::{Failure, File};

use crate::files::{Files, Tuning};
use crate::input::{Cursor, Input, MAX_SKIP, Piped};
use crate::options::{FileResources, Options, Source};
use crate::outcome::{End, FilePlan, Lines, Outcome, Reason, Way};
use crate::pair::Part;
use crate::sequential::{Sequential, Sink};
use crate::{Mismatch, Side};

/// Compares two inputs and hands every mismatch that is wanted to `found`, each once, in ascending order. When `found`
/// says `Break` the comparison ends.
///
/// The result is the same for every method, number of workers and block length. Only the search is speculative: what
/// is handed out is certain, except that the files may turn out in the end to have changed meanwhile, which is an error.
///
/// # Errors
/// When an input cannot be read, or is a file that changed while it was compared, as far as [`File::verify`] can tell;
/// and which of the two it was.
///
/// # Panics
/// When a worker panics, after all have ended.
pub fn compare(
    a: Source<'_>,
    b: Source<'_>,
    options: &Options,
    env: &FileResources<'_>,
    found: &mut dyn FnMut(Mismatch) -> ControlFlow<()>,
) -> Result<Outcome, (Side, Failure)> {
    compare_tuned(a, b, options, env, found, Tuning::DEFAULT)
}

/// Whether the sizes of two files alone prove that what is to be compared differs. A file of which nothing is on a
/// disk is not believed: kernels show files of their own with made-up sizes.
pub fn sizes_differ(a: &File, b: &File, options: &Options) -> bool {
    let limit = options.limit.unwrap_or(u64::MAX);
    let len = |file: &File, skip| file.stat().size.saturating_sub(skip).min(limit);
    a.stat().blocks > 0 && b.stat().blocks > 0 && len(a, options.skip_a) != len(b, options.skip_b)
}

pub(crate) fn compare_tuned(
    a: Source<'_>,
    b: Source<'_>,
    options: &Options,
    env: &FileResources<'_>,
    found: &mut dyn FnMut(Mismatch) -> ControlFlow<()>,
    tuning: Tuning,
) -> Result<Outcome, (Side, Failure)> {
    let sink = Sink::new(options.max_mismatches, found);
    match (a, b) {
        (Source::File(a), Source::File(b)) => {
            let a = Part { side: Side::A, file: a, skip: options.skip_a.min(MAX_SKIP) };
            let b = Part { side: Side::B, file: b, skip: options.skip_b.min(MAX_SKIP) };
            Files::new(a, b, options, env, tuning, sink).compare()
        }
        (a, b) => streams(a, b, options, env, sink),
    }
}

/// Compares inputs of which one at least can only be read on.
fn streams(
    a: Source<'_>,
    b: Source<'_>,
    options: &Options,
    env: &FileResources<'_>,
    mut sink: Sink<'_>,
) -> Result<Outcome, (Side, Failure)> {
    let block = options.block(1, env.memory);
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
    let end = sequential.run(&mut sink, block, env)?.unwrap_or(End::Together);
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

/// An input on its way.
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
