//! Merging two sorted sequences of entries by path.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use crate::Error;
use crate::entry::key;

/// A sequence of entries sorted by path, read one at a time.
pub(crate) trait Side {
    /// Moves to the next entry; the first call moves to the first entry. Returns `false` at the end.
    fn advance(&mut self) -> Result<bool, Error>;
    /// Returns the path of the current entry.
    fn path(&self) -> &[u8];
}

/// Merges both sequences: entries with the same path are passed to `each` together. Uses memory for one entry
/// per side.
pub(crate) fn merge<A: Side, B: Side>(
    old: &mut A,
    new: &mut B,
    each: impl FnMut(Option<&mut A>, Option<&mut B>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    merge_by(old, new, |old, new| Ok((old.advance()?, new.advance()?)), each)
}

/// Merges both sequences, and calls `both` to advance the two sides when they are at the same path, as they
/// are at the start.
pub(crate) fn merge_by<A: Side, B: Side>(
    old: &mut A,
    new: &mut B,
    mut both: impl FnMut(&mut A, &mut B) -> Result<(bool, bool), Error>,
    mut each: impl FnMut(Option<&mut A>, Option<&mut B>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let (mut is_old, mut is_new) = both(old, new)?;
    while is_old || is_new {
        let order = match (is_old, is_new) {
            (true, true) => key(old.path()).cmp(key(new.path())),
            (true, false) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let flow = each(order.is_le().then_some(&mut *old), order.is_ge().then_some(&mut *new))?;
        if flow.is_break() {
            break;
        }
        match order {
            Ordering::Less => is_old = old.advance()?,
            Ordering::Equal => (is_old, is_new) = both(old, new)?,
            Ordering::Greater => is_new = new.advance()?,
        }
    }
    Ok(())
}
