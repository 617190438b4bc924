//! Two sorted sequences of entries side by side.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use crate::Error;
use crate::entry::key;

/// Entries by their paths, one at a time.
pub(crate) trait Side {
    /// Goes to the next entry, at first to the first one; `false` when there is none.
    fn advance(&mut self) -> Result<bool, Error>;
    /// The path of the entry it is at.
    fn path(&self) -> &[u8];
}

/// Goes through both: those at the same path come together. Each side takes memory for one entry only.
pub(crate) fn merge<A: Side, B: Side>(
    old: &mut A,
    new: &mut B,
    each: impl FnMut(Option<&mut A>, Option<&mut B>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    merge_by(old, new, |old, new| Ok((old.advance()?, new.advance()?)), each)
}

/// The same, with `both` to advance the two sides where they stand at the same path, as they do at the beginning.
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
