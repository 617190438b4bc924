//! Compares a pair of files that is too large for two buffers, with the code that also compares two files
//! given as arguments.

use std::ops::ControlFlow;

use ftk_read::{Failure, File};

use super::TreeCriteria;
use super::pairs::PairState;
use crate::compare::compare_tuned;
use crate::files::Tuning;
use crate::{End, FileResources, Options, Side, Source};

/// Tuning for a single worker. It starts no threads, so less is read before ranges are mapped.
const ALONE: Tuning = Tuning { alone: 256 << 10, map: 256 << 10, ..Tuning::DEFAULT };

/// Finds the first difference of two files. Once the run is stopped, the result is unknown.
pub(crate) fn compare(
    a: &File,
    b: &File,
    criteria: TreeCriteria,
    resources: &FileResources<'_>,
) -> Result<PairState, (Side, Failure)> {
    let options = Options { max_mismatches: 1, shortcuts: !criteria.no_shortcuts, ..Options::default() };
    let tuning = if resources.workers == 1 { ALONE } else { Tuning::DEFAULT };
    let found = &mut |_| ControlFlow::Continue(());
    let outcome = compare_tuned(Source::File(a), Source::File(b), &options, resources, found, tuning)?;
    Ok(match (outcome.first, outcome.end) {
        (Some(first), _) => PairState::Differs(first),
        (None, End::Together) => PairState::Equal,
        (None, End::Shorter { bytes, .. }) => PairState::Differs(bytes),
        (None, End::Enough { .. } | End::Stopped) => PairState::UNKNOWN,
    })
}
