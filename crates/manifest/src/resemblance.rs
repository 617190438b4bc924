//! Which recorded directory a tree looks like, if it is not the recorded root.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use ftk_inventory::{Budget, Reservation};
use ftk_walk::FileType;

use crate::entry::ROOT;
use crate::merge::merge;
use crate::shard::member::parent;
use crate::{Error, Manifest, WalkedTree};

/// Returns the path of the recorded directory that a tree looks like, if that is not the root: most recorded entries are
/// missing in the tree, and at least half of the entries at its top are also in that directory, more than in the root.
///
/// # Errors
/// When the manifest cannot be read, or the table of directories does not fit into the budget.
pub fn resembled(
    manifest: &Manifest,
    tree: &WalkedTree<'_>,
    budget: &Budget,
) -> Result<Option<Vec<u8>>, Error> {
    let (mut recorded, mut missing) = (0_u64, 0_u64);
    let mut top: HashSet<(Vec<u8>, FileType)> = HashSet::new();
    merge(&mut manifest.entries()?, &mut tree.walk(), |old, new| {
        recorded += u64::from(old.is_some());
        missing += u64::from(old.is_some() && new.is_none());
        if let Some(new) = new.filter(|new| !new.seen.is_root() && parent(&new.seen.path) == ROOT) {
            top.insert((new.seen.path.clone(), new.seen.file_type));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if top.is_empty() || missing * 2 <= recorded {
        return Ok(None);
    }
    let (mut shared, mut reserved) = (HashMap::<Vec<u8>, usize>::new(), Reservation::new(budget));
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        let (dir, name) =
            (parent(entry.path), entry.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
        if entry.path == ROOT || !top.contains(&(name.to_vec(), entry.stat.file_type)) {
            continue;
        }
        match shared.get_mut(dir) {
            Some(count) => *count += 1,
            None => {
                reserved.consume((dir.len() + size_of::<(Vec<u8>, usize)>()) as u64)?;
                shared.insert(dir.to_vec(), 1);
            }
        }
    }
    let in_root = shared.get(ROOT).copied().unwrap_or(0);
    reserved.release();
    // Of equal ones, the first.
    let best = shared.into_iter().max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)));
    Ok(best.filter(|(_, count)| *count > in_root && count * 2 >= top.len()).map(|(dir, _)| dir))
}
