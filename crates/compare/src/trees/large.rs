//! A pair of files too large to be read into two buffers: compared as two files given as arguments are.

use std::ops::ControlFlow;

use ftk_read::{Failure, File};

use super::TreeCriteria;
use super::pairs::PairState;
use crate::compare::compare_tuned;
use crate::files::Tuning;
use crate::{End, FileResources, Options, Side, Source};

/// For one worker, who is not waited for by others: less is read before windows are mapped.
const ALONE: Tuning = Tuning { alone: 256 << 10, map: 256 << 10, ..Tuning::DEFAULT };

/// Where the files differ first. Once stopped, nothing is known.
pub(crate) fn compare(
    a: &File,
    b: &File,
    rules: TreeCriteria,
    env: &FileResources<'_>,
) -> Result<PairState, (Side, Failure)> {
    let options = Options { max_mismatches: 1, shortcuts: !rules.no_shortcuts, ..Options::default() };
    let tuning = if env.workers == 1 { ALONE } else { Tuning::DEFAULT };
    let found = &mut |_| ControlFlow::Continue(());
    let outcome = compare_tuned(Source::File(a), Source::File(b), &options, env, found, tuning)?;
    Ok(match (outcome.first, outcome.end) {
        (Some(first), _) => PairState::Differs(first),
        (None, End::Together) => PairState::Equal,
        (None, End::Shorter { bytes, .. }) => PairState::Differs(bytes),
        (None, End::Enough { .. } | End::Stopped) => PairState::UNKNOWN,
    })
}
