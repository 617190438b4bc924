//! Contents that only one of two manifests has.

use std::ops::ControlFlow;

use ftk_inventory::Budget;

use crate::common::Common;
use crate::keys::Keys;
use crate::{Entry, Error, Manifest, Which};

/// Passes to `each`, in path order, the regular files of `of` whose content is not in `elsewhere` under any
/// name, and returns how many there are.
///
/// Contents are the same if all common digests are equal, and so are their sizes if both are known. Each file of `elsewhere` uses 24
/// bytes of memory and its common digests.
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
    let mut keys = Keys::new(common.len(), budget);
    let mut entries = elsewhere.entries_of(Which::Second)?;
    while let Some(entry) = entries.next()? {
        if entry.stat.is_regular() {
            keys.push(common.in_new(entry.digests), entry.size())?;
        }
    }
    let ranked = keys.ranked();
    let (mut entries, mut key, mut found) = (of.entries_of(Which::First)?, Vec::new(), 0);
    while let Some(entry) = entries.next()? {
        if !entry.stat.is_regular() {
            continue;
        }
        key.clear();
        common.in_old(entry.digests).for_each(|digest| key.extend_from_slice(digest));
        if keys.has(&ranked, &mut key, entry.size()) {
            continue;
        }
        found += 1;
        if each(&entry).is_break() {
            break;
        }
    }
    Ok(found)
}
