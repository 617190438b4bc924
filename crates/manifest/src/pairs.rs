//! Two manifests side by side.

use std::ops::ControlFlow;

use crate::merge::{Side as _, merge_by};
use crate::{Entries, Entry, Error, Manifest, Which};

/// Whether somebody has gone through the manifests before, to the end of both, so that their entries are known to be
/// good and in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    First,
    Again,
}

/// Goes through both: those at the same path come together in `each`.
///
/// Most lines of two manifests of one tree are the same byte for byte, and need not be understood to be compared. Those
/// that follow a pair go to `same` instead of `each`, with what they say if they are seen for the first time.
pub(crate) fn merge_manifests(
    (old, new): (&Manifest, &Manifest),
    pass: Pass,
    mut same: impl FnMut(Option<&Entry<'_>>),
    mut each: impl FnMut(Option<Entry<'_>>, Option<Entry<'_>>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let (a, b) = (old.header(), new.header());
    // Else a line that is good in one may not be in the other, or say something else.
    let is_alike = (&a.algorithms, a.xattrs) == (&b.algorithms, b.xattrs);
    let both = |old: &mut Entries<'_>, new: &mut Entries<'_>| {
        let mut is_behind = false;
        while is_alike && old.is_at_line_of(new)? {
            new.skip();
            if pass == Pass::First {
                old.advance()?;
                is_behind = true;
                same(Some(&old.entry()));
            } else {
                old.skip();
                same(None);
            }
        }
        if is_behind {
            new.stand_at(old);
        }
        Ok((old.advance()?, new.advance()?))
    };
    merge_by(&mut old.entries_of(Which::First)?, &mut new.entries_of(Which::Second)?, both, |old, new| {
        each(old.map(|old| old.entry()), new.map(|new| new.entry()))
    })
}
