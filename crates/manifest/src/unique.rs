//! Contents that only one of two manifests has.

use std::ops::ControlFlow;

use ftk_inventory::{Budget, OpenDirs};

use crate::common::Common;
use crate::entry::key;
use crate::keys::Keys;
use crate::merge::Side as _;
use crate::{Entry, Error, Manifest, Which};

/// Passes to `each`, in path order, the regular files of `of` whose content is not in `elsewhere` under any
/// name, and returns how many there are.
///
/// Contents are the same if all common digests are equal, and so are their sizes if both are known. Each file and
/// directory of `elsewhere` uses 24 bytes of memory and its common digests. The entries below a directory of `of` are
/// not read if some directory of `elsewhere` has equal tree digests.
///
/// # Errors
/// When a manifest cannot be read or has an invalid line, when the two manifests have no algorithm in common
/// that identifies contents, or when the contents of `elsewhere` do not fit into the budget.
pub fn unique(
    of: &Manifest,
    elsewhere: &Manifest,
    budget: &Budget,
    each: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
) -> Result<u64, Error> {
    let common = Common::of(of.header(), elsewhere.header())?;
    if !common.identifies_content() {
        let [old, new] = [of, elsewhere].map(|manifest| manifest.header().algorithms.clone());
        return Err(Error::NoCommonAlgorithm { old, new });
    }
    let (mut keys, mut trees) = (Keys::new(common.len(), budget), Keys::new(common.len(), budget));
    let mut entries = elsewhere.entries_of(Some(Which::Second))?;
    while let Some(entry) = entries.next()? {
        // A record that was kept because its file could not be read says nothing about the content now.
        if elsewhere.header().failed.covers(entry.path) {
            continue;
        }
        if entry.stat.is_regular() {
            keys.push(common.in_new(entry.digests), entry.size())?;
        } else if !entry.tree.is_empty() && !elsewhere.header().failed.touches(entry.path) {
            trees.push(common.in_new(entry.tree), Some(0))?;
        }
    }
    let (ranked, ranked_trees) = (keys.ranked(), trees.ranked());
    let mut equal = OpenDirs::default();
    let (mut entries, mut content, mut found) = (of.entries_of(Some(Which::First))?, Vec::new(), 0);
    while entries.advance()? {
        if let Some(dir) = equal.go_to(key(entries.path())) {
            entries.skip_below(dir)?;
            continue;
        }
        let entry = entries.entry();
        if !entry.tree.is_empty() {
            content.clear();
            common.in_old(entry.tree).for_each(|digest| content.extend_from_slice(digest));
            if trees.has(&ranked_trees, &mut content, Some(0)) {
                equal.push(key(entry.path), ());
            }
        }
        if !entry.stat.is_regular() {
            continue;
        }
        content.clear();
        common.in_old(entry.digests).for_each(|digest| content.extend_from_slice(digest));
        if keys.has(&ranked, &mut content, entry.size()) {
            continue;
        }
        found += 1;
        if each(&entry).is_break() {
            break;
        }
    }
    Ok(found)
}
