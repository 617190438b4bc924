//! A report of manifests for `ftk dup apply`: which of its files are here.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{bail, ensure};
use ftk_dedup::prune::References;
use ftk_dedup::report::Recorded;
use ftk_dedup::{FoundDifference, ManifestNames, MountedTrees, NotFound};
use ftk_record::quote;

use crate::console::{Console, Outcome, cause};
use crate::dup::apply::{ApplyArgs, Groups};
use crate::dup::keep::below;
use crate::human;

/// Returns the groups of a report of manifests, with their files as they are now. Trees that are not mounted are
/// reported and omitted: a file counts as a copy only if it can be compared.
pub(super) fn of_manifests(
    args: &ApplyArgs,
    recorded: Recorded,
    recorded_roots: &[Vec<u8>],
    console: &Console,
) -> anyhow::Result<Groups> {
    let manifests = recorded.manifests.clone();
    let given = given(&args.roots, &manifests)?;
    let trees = MountedTrees::open(recorded_roots, &given).map_err(|(nth, error)| {
        anyhow::Error::new(error).context(format!("--root: cannot open {}", quote(&given[&nth])))
    })?;
    let mut outcome = Outcome::Success;
    let (groups, absent) = trees.find(recorded, |NotFound { path, manifest, difference }| {
        let (path, manifest) = (quote(&path), quote(&manifests[manifest]));
        let what = match &difference {
            FoundDifference::Io(error) => cause(error),
            difference => difference.to_string(),
        };
        console.error_of("resolve", format_args!("{path} of {manifest}: {what}: not considered"));
        outcome = Outcome::Error;
    });
    for ((n, manifest), root) in
        absent.into_iter().zip(&manifests).zip(recorded_roots).filter(|((n, _), _)| *n > 0)
    {
        let (files, manifest, root) = (human::count(n, "file"), quote(manifest), quote(root));
        console.warning(format_args!(
            "{files} of {manifest} are not considered: its root {root} is not here (add --root FILE=DIR)"
        ));
    }
    let roots = trees.roots();
    let (references, named) = references(&args.keep.references, &manifests, &roots)?;
    let roots = roots.into_iter().map(CString::new).collect::<Result<_, _>>()?;
    Ok(Groups { groups, directories: Vec::new(), roots, references, named, outcome })
}

/// Returns the directories given for manifests, by the numbers of these.
fn given(roots: &[OsString], manifests: &[Vec<u8>]) -> anyhow::Result<HashMap<usize, Vec<u8>>> {
    let mut given = HashMap::new();
    for value in roots {
        let value = value.as_bytes();
        let Some((nth, dir)) = ManifestNames(manifests).split(value) else {
            let names = manifests.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
            bail!("--root {}: expected FILE=DIR, where FILE is one of {names}", quote(value));
        };
        ensure!(!dir.is_empty(), "--root {}: the directory is missing", quote(value));
        ensure!(
            given.insert(nth, dir.to_vec()).is_none(),
            "--root is given twice for {}",
            quote(&manifests[nth])
        );
    }
    Ok(given)
}

/// Returns the references: manifests of the report, by their numbers, and directories. Returns also the manifest that
/// each value stands for, if it is one.
///
/// # Errors
/// If a manifest is not mounted: its files cannot be compared, so nothing could be removed.
fn references(
    values: &[OsString],
    manifests: &[Vec<u8>],
    roots: &[Vec<u8>],
) -> anyhow::Result<(References, Vec<Option<usize>>)> {
    let names = ManifestNames(manifests);
    let named = |value: &OsString| names.find(value.as_bytes()).filter(|_| !Path::new(value).is_dir());
    let (mut numbers, mut directories) = (BTreeSet::new(), Vec::new());
    for value in values {
        match named(value) {
            Some(nth) => {
                ensure!(
                    !roots[nth].is_empty(),
                    "the tree of the reference {} is not here: add --root FILE=DIR",
                    quote(value.as_bytes())
                );
                numbers.insert(nth);
            }
            None => directories.push(value.clone()),
        }
    }
    let references = References { roots: numbers, directories: below(&directories)? };
    Ok((references, values.iter().map(named).collect()))
}
