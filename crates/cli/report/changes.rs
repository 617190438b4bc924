//! What differs between two manifests.

use std::ffi::OsStr;
use std::ops::ControlFlow;

use anyhow::Context as _;
use ftk_inventory::Budget;
use ftk_manifest::{Criteria, Finding, Manifest, Verdict, diff};
use ftk_report::{Change, ChangesBuilder, Data};

use crate::console::Outcome;
use crate::manifest::input::in_either;
use crate::scan::too_large;

/// Fills the changes from the first manifest to the second; `names` are those of the arguments.
pub(super) fn fill(
    data: &mut Data,
    [old, new]: [&Manifest; 2],
    names: [&OsStr; 2],
    budget: &Budget,
) -> anyhow::Result<Outcome> {
    let criteria = Criteria::default();
    let (mut changes, mut added) = (ChangesBuilder::new(budget), Ok(()));
    let compared = diff(old, new, &criteria, budget, &mut |finding: &Finding<'_>| {
        if let Some(kind) = kind(finding.verdict) {
            let size = |entry: &Option<ftk_manifest::Entry<'_>>| {
                entry.as_ref().filter(|entry| entry.stat.is_regular()).and_then(ftk_manifest::Entry::size)
            };
            let sizes = [size(&finding.old), size(&finding.new)];
            let path = finding.new_path.unwrap_or(finding.path);
            added = match kind {
                Change::Moved => changes.add(kind, path, Some(finding.path), [sizes[0]; 2]),
                _ => changes.add(kind, path, None, sizes),
            };
        }
        if added.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    compared.map_err(|error| in_either(error, names))?;
    added.with_context(|| too_large(budget))?;
    data.changes = Some(changes.finish());
    Ok(Outcome::Success)
}

fn kind(verdict: Verdict) -> Option<Change> {
    Some(match verdict {
        Verdict::Ok | Verdict::Unreadable => return None,
        Verdict::Metadata => Change::Metadata,
        Verdict::Modified => Change::Modified,
        Verdict::Corrupted => Change::Corrupted,
        Verdict::Moved | Verdict::Respelled => Change::Moved,
        Verdict::Missing => Change::Removed,
        Verdict::New => Change::Added,
    })
}
