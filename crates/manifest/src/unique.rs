//! What a manifest has that another has not.

use std::ops::ControlFlow;

use ftk_inventory::Budget;

use crate::common::Common;
use crate::keys::Keys;
use crate::{Entry, Error, Manifest, Which};

/// Hands to `each` the regular files of `of` whose content is nowhere in `elsewhere`, whatever its name there, in the
/// order of paths, and says how many they are. Contents are the same when size and all digests are that both have.
/// Memory: the digests of `elsewhere` and 24 bytes a file.
///
/// # Errors
/// When a manifest cannot be read or holds what a manifest may not, when they have no algorithm in common, or when
/// `elsewhere` does not fit into the budget.
pub fn unique(
    of: &Manifest,
    elsewhere: &Manifest,
    budget: &Budget,
    each: &mut dyn FnMut(&Entry<'_>) -> ControlFlow<()>,
) -> Result<u64, Error> {
    let common = Common::of(of.header(), elsewhere.header())?;
    if common.is_empty() {
        let [old, new] = [of, elsewhere].map(|manifest| manifest.header().algorithms.clone());
        return Err(Error::NoCommonAlgorithm { old, new });
    }
    let mut keys = Keys::new(common.len(), budget);
    let mut entries = elsewhere.entries_of(Which::Second)?;
    while let Some(entry) = entries.next()? {
        if entry.stat.is_regular() {
            keys.push(common.in_new(entry.digests), entry.stat.size)?;
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
        key.extend_from_slice(&entry.stat.size.to_be_bytes());
        if keys.has(&ranked, &key) {
            continue;
        }
        found += 1;
        if each(&entry).is_break() {
            break;
        }
    }
    Ok(found)
}
