//! Merging two manifests.

use std::ops::ControlFlow;

use crate::merge::{Side as _, merge_by};
use crate::{Entries, Entry, Error, Manifest, Which};

/// Whether an earlier pass has read both manifests to the end, which proves that their entries are valid and
/// sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    First,
    Again,
}

/// Merges two manifests: entries with the same path are passed to `each` together.
///
/// Most lines of two manifests of one tree are identical and need not be parsed to be compared. Identical
/// lines that follow a pair go to `same` instead of `each`: with the parsed entry in the first pass, as
/// `None` in later passes.
pub(crate) fn merge_manifests(
    (old, new): (&Manifest, &Manifest),
    pass: Pass,
    mut same: impl FnMut(Option<&Entry<'_>>),
    mut each: impl FnMut(Option<Entry<'_>>, Option<Entry<'_>>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let (a, b) = (old.header(), new.header());
    // With different headers, a line that is valid in one manifest may be invalid or mean something else in
    // the other.
    let is_alike = (a.version, &a.algorithms, a.xattrs) == (b.version, &b.algorithms, b.xattrs);
    let both = |old: &mut Entries<'_>, new: &mut Entries<'_>| {
        let mut has_read_old = false;
        while is_alike && old.is_at_line_of(new)? {
            new.skip();
            if pass == Pass::First {
                old.advance()?;
                new.check_line_of(old)?;
                has_read_old = true;
                same(Some(&old.entry()));
            } else {
                old.skip();
                same(None);
            }
        }
        if has_read_old {
            new.stand_at(old);
        }
        Ok((old.advance()?, new.advance()?))
    };
    merge_by(&mut old.entries_of(Which::First)?, &mut new.entries_of(Which::Second)?, both, |old, new| {
        each(old.map(|old| old.entry()), new.map(|new| new.entry()))
    })
}
