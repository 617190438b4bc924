//! What differs between two manifests.

use std::ffi::OsStr;
use std::ops::ControlFlow;

use anyhow::Context as _;
use ftk_inventory::Budget;
use ftk_manifest::{Criteria, Finding, Manifest, Verdict, diff};
use ftk_record::sanitize;
use ftk_report::{Change, ChangesBuilder, Data, GrownDir, SignedCount};
use ftk_usage::{ChangedRow, Measure, Shown};

use crate::console::{Console, Outcome};
use crate::du::Pair;
use crate::manifest::input::in_either;
use crate::scan::too_large;

/// The largest number of directories on a page that grew or shrank. All of them are shown at once.
const GROWN: usize = 200;

/// Fills the changes from the first manifest to the second; `names` are those of the arguments.
pub(super) fn fill(
    data: &mut Data,
    [old, new]: [&Manifest; 2],
    names: [&OsStr; 2],
    budget: &Budget,
    console: &Console,
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
    // Manifests of different selections have changes, but their sizes mean nothing together.
    let grown = match Pair::of_manifests([old, new], names, budget, console) {
        Ok(pair) => Some(grown(&pair, budget)?),
        Err(error) => {
            console.warning(format_args!("directories are not compared: {error:#}"));
            None
        }
    };
    data.changes = Some(changes.finish(grown));
    Ok(Outcome::Success)
}

/// Returns the directories that grew or shrank most.
fn grown(pair: &Pair, budget: &Budget) -> anyhow::Result<Vec<GrownDir>> {
    let measure = pair.measure();
    let difference = pair.difference(Shown { measure, depth: None, top: Some(GROWN) }, budget);
    let difference = difference.with_context(|| too_large(budget))?;
    let rows = difference.rows(budget).with_context(|| too_large(budget))?;
    let dir = |row: &ChangedRow| {
        let change = row.change?;
        let allocated = (measure == Measure::Allocated).then_some(SignedCount(change.allocated));
        Some(GrownDir {
            path: sanitize(&difference.path_below(row)).into(),
            depth: row.depth,
            allocated_bytes_change: allocated,
            apparent_bytes_change: SignedCount(change.apparent),
            files_change: SignedCount(change.files.into()),
        })
    };
    Ok(rows.iter().filter_map(dir).collect())
}

fn kind(verdict: Verdict) -> Option<Change> {
    Some(match verdict {
        // The page counts what could not be read among its problems.
        Verdict::Ok | Verdict::Unreadable | Verdict::Unknown => return None,
        Verdict::Metadata => Change::Metadata,
        Verdict::Modified => Change::Modified,
        Verdict::Corrupted => Change::Corrupted,
        Verdict::Moved | Verdict::Respelled => Change::Moved,
        Verdict::Missing => Change::Removed,
        Verdict::New => Change::Added,
    })
}
