//! Merging two manifests.

use std::ops::ControlFlow;

use ftk_inventory::OpenDirs;
use memchr::memmem::Finder;

use crate::common::Common;
use crate::entry::{key, path_of_key};
use crate::merge::{Side as _, merge, merge_by};
use crate::respelled::{AlignedEntries, Respelled, Spelled};
use crate::whole_seconds::Archives;
use crate::{Entries, Entry, EntryError, Error, Field, Manifest, Selector, Which};

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
/// lines that follow a pair go to `same` instead of `each`, with their number: with the parsed entry in the first pass, as
/// `None` in later passes. With `links`, entries with a link group go to `each` in any case. With `trees`, the entries
/// below two directories at the same path whose tree digests are equal by these algorithms go to `same` too, without
/// being read. With `respelled`, all entries go to `each`, with the paths of the first manifest. With a `part`, only its entries
/// are passed on, all of them to `each`. Returns the number of the others.
#[expect(clippy::too_many_arguments, reason = "two manifests, what is skipped, and two callbacks")]
pub(crate) fn merge_manifests(
    (old, new): (&Manifest, &Manifest),
    pass: Pass,
    trees: Option<&Common>,
    respelled: Option<&Respelled>,
    part: Option<&Selector>,
    links: bool,
    mut same: impl FnMut(u64, Option<&Entry<'_>>),
    mut each: impl FnMut(
        Option<Entry<'_>>,
        Option<Entry<'_>>,
        Option<Spelled<'_>>,
    ) -> Result<ControlFlow<()>, Error>,
) -> Result<u64, Error> {
    let mut unselected = 0;
    let archives = Archives::both(old.header(), new.header());
    let mut each = |old: Option<Entry<'_>>, new: Option<Entry<'_>>, spelled: Option<Spelled<'_>>| {
        if let Some(part) = part
            && let Some(entry) = new.or(old)
            && !part.selects(entry.path, entry.stat.file_type)
        {
            unselected += 1;
            return Ok(ControlFlow::Continue(()));
        }
        let (mut old, mut new) = (old, new);
        if let (Some(old), Some(new)) = (&mut old, &mut new) {
            [old.stat.mtime_ns, new.stat.mtime_ns] =
                archives.compared([old.stat.mtime_ns, new.stat.mtime_ns]);
        }
        each(old, new, spelled)
    };
    if respelled.is_some() {
        let entries = new.entries_of(Some(Which::Second))?;
        let mut old = old.entries_of(Some(Which::First))?;
        let mut new = AlignedEntries::new(entries, new, respelled);
        // The pass that found these entries has checked the tree digests.
        old.trust_trees();
        merge(&mut old, &mut new, |old, new| {
            let spelled = new.as_ref().and_then(|new| new.spelled());
            each(old.map(|old| old.entry()), new.as_ref().map(|new| new.entry()), spelled)
        })?;
        return Ok(unselected);
    }
    let (a, b) = (old.header(), new.header());
    // With different headers, a line that is valid in one manifest may be invalid or mean something else in
    // the other.
    let trees = trees.filter(|_| part.is_none());
    let is_alike =
        part.is_none() && (a.version, &a.algorithms, a.xattrs) == (b.version, &b.algorithms, b.xattrs);
    let mut equal = OpenDirs::default();
    let [tree, link_group] = [Field::Tree, Field::LinkGroup].map(|field| Finder::new(field.start_in_line()));
    let both = |old: &mut Entries<'_>, new: &mut Entries<'_>| {
        let mut has_read_old = false;
        while is_alike
            && equal.is_empty()
            && old.is_at_line_of(new)?
            && !(trees.is_some() && old.is_at(&tree)?)
            && !(links && pass == Pass::Again && old.is_at(&link_group)?)
        {
            if pass == Pass::Again {
                old.skip();
                new.skip();
                same(1, None);
                continue;
            }
            old.advance()?;
            if links && old.entry().link_group.is_some() {
                return Ok((true, new.advance()?));
            }
            new.skip();
            new.check_line_of(old)?;
            has_read_old = true;
            same(1, Some(&old.entry()));
        }
        if has_read_old {
            new.stand_at(old);
        }
        let Some(trees) = trees else { return Ok((old.advance()?, new.advance()?)) };
        loop {
            let (is_old, is_new) = (old.advance()?, new.advance()?);
            if !(is_old && is_new && old.path() == new.path()) {
                return Ok((is_old, is_new));
            }
            let Some(dir) = equal.go_to(key(old.path())).map(path_of_key) else {
                let (old, new) = (old.entry(), new.entry());
                if !old.tree.is_empty() && !new.tree.is_empty() && trees.is_same(old.tree, new.tree) {
                    equal.push(key(old.path), ());
                }
                return Ok((true, true));
            };
            let number = old.number();
            let skipped = old.skip_below(dir)?;
            if skipped != new.skip_below(dir)? {
                return Err(old.place(Error::Line { number, what: EntryError::OtherTree(dir.to_vec()) }));
            }
            same(1 + skipped, None);
        }
    };
    let (mut old, mut new) = (old.entries_of(Some(Which::First))?, new.entries_of(Some(Which::Second))?);
    if pass == Pass::Again {
        // The first pass has compared the tree digests of everything that this one reads.
        old.trust_trees();
        new.trust_trees();
    }
    merge_by(&mut old, &mut new, both, |old, new| {
        each(old.map(|old| old.entry()), new.map(|new| new.entry()), None)
    })?;
    Ok(unselected)
}
