//! Searches copies for wanted contents.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use ftk_hash::Algorithm;
use ftk_inventory::{FileNo, Keep};
use ftk_manifest::{Found, Search, WalkedTree, Wanted};
use ftk_record::quote;
use ftk_walk::Follow;

use crate::console::Outcome;
use crate::manifest::reading;
use crate::manifest::scope::ScopeArgs;
use crate::run::Run;
use crate::scan::Scan;

/// Returns for each wanted content the file of a copy that has it. The outcome is that of reading the copies.
pub(super) fn search(
    run: &Run<'_>,
    copies: &[OsString],
    algorithms: &[Algorithm],
    wanted: &[Wanted],
) -> anyhow::Result<(Vec<Option<Found>>, Outcome)> {
    for copy in copies {
        check(copy)?;
    }
    let mut search = Search::new(wanted);
    let mut outcome = Outcome::Success;
    let mut known: Vec<(Scan, &OsStr, Vec<FileNo>)> = Vec::new();
    for copy in copies.iter().filter(|_| !wanted.is_empty()) {
        if search.is_over() {
            break;
        }
        let scan = walk(run, copy)?;
        outcome = outcome.max(scan.outcome);
        let tree = WalkedTree { inventory: &scan.inventory, root: copy.as_bytes(), failed: &scan.failed };
        let files = search.at_same_path(&tree);
        outcome = outcome.max(read(run, &tree, &files, algorithms, &mut search)?);
        known.push((scan, copy, files));
    }
    for (scan, copy, same_path) in &known {
        if search.is_over() {
            break;
        }
        let tree = WalkedTree { inventory: &scan.inventory, root: copy.as_bytes(), failed: &scan.failed };
        let files = search.of_same_size(&tree, same_path);
        outcome = outcome.max(read(run, &tree, &files, algorithms, &mut search)?);
    }
    Ok((search.found, outcome))
}

/// Checks that a copy is a directory, before any file is read.
fn check(copy: &OsStr) -> anyhow::Result<()> {
    let name = || quote(copy.as_bytes());
    let metadata = Path::new(copy).metadata().with_context(|| format!("cannot open {}", name()))?;
    ensure!(metadata.is_dir(), "{} is not a directory", name());
    Ok(())
}

/// Walks a copy, without any selection. No link in it is followed.
fn walk(run: &Run<'_>, copy: &OsStr) -> anyhow::Result<Scan> {
    let selection = ScopeArgs::of_words(&[])?.compile(copy, &[], run.console)?;
    run.walk(vec![CString::new(copy.as_bytes())?], Follow::Roots, &selection, Keep::Sizes, "")
}

/// Reads files of a copy, and notes which wanted contents they have.
fn read(
    run: &Run<'_>,
    tree: &WalkedTree<'_>,
    files: &[FileNo],
    algorithms: &[Algorithm],
    search: &mut Search<'_>,
) -> anyhow::Result<Outcome> {
    let read = reading::read(run, tree.inventory, Some(files), algorithms, false, "not used")?;
    search.note(tree, files, &read.rows);
    Ok(if read.failed.is_empty() { Outcome::Success } else { Outcome::Error })
}
