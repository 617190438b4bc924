//! Whether the directory that is verified is the recorded root, or a directory below it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, bail, ensure};
use ftk_file::Stat;
use ftk_inventory::Budget;
use ftk_manifest::{Header, Manifest, WalkedTree, resembled};
use ftk_record::{quote, shell_word};

use crate::manifest::root::Root;
use crate::manifest::shard::normal;

/// Narrows the manifest to the recorded directory that `root` stands for: `given`, a path below the recorded root, or
/// the one at its path if it is below the recorded root. Returns its path below the recorded root; `None` if `root`
/// stands for that root.
///
/// # Errors
/// If `given` is not recorded, or the manifest cannot be read.
pub(super) fn narrow(
    manifest: &mut Manifest,
    root: &Root,
    given: Option<&OsStr>,
) -> anyhow::Result<Option<Vec<u8>>> {
    let dir = match given {
        Some(given) => {
            let Some(dir) = below_root(given, manifest.header()) else { return Ok(None) };
            let found = manifest.directory(&dir)?;
            ensure!(found.is_some(), "it records no directory {}", quote(&dir));
            dir
        }
        None => match found_below(manifest, root)? {
            Some(dir) => dir,
            None => return Ok(None),
        },
    };
    ensure!(
        manifest.header().shard.is_none(),
        "it records one shard: a part of it is verified with --path from the recorded root"
    );
    manifest.narrow(&dir);
    Ok(Some(dir))
}

/// Narrows a manifest or the record of an archive, whichever has the directory `given`, which the other one lacks.
///
/// # Errors
/// If neither has it, or they cannot be read.
pub(super) fn narrow_archive(sides: [&mut Manifest; 2], given: &OsStr) -> anyhow::Result<()> {
    let Some(dir) = below_root(given, sides[0].header()) else { return Ok(()) };
    for side in sides {
        if side.directory(&dir)?.is_some() {
            side.narrow(&dir);
            return Ok(());
        }
    }
    bail!("neither the manifest nor the archive has a directory {}", quote(&dir))
}

/// Returns the path below the recorded root that `--below` names; `None` for the root itself.
fn below_root(given: &OsStr, header: &Header) -> Option<Vec<u8>> {
    let dir = normal(given.as_bytes());
    let dir = dir.strip_prefix(b"./").unwrap_or(&dir);
    let recorded = header.root_identity.as_ref().and_then(|recorded| strip(dir, &recorded.path));
    let dir = recorded.unwrap_or(dir);
    (!dir.is_empty() && dir != b".").then(|| dir.to_vec())
}

/// Returns the recorded directory that `root` is by its path, if the recorded root is still where it was and no other
/// file system is mounted between them.
fn found_below(manifest: &Manifest, root: &Root) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(recorded) = manifest.header().root_identity.as_ref().filter(|it| it.path.starts_with(b"/"))
    else {
        return Ok(None);
    };
    let Some(dir) = strip(&root.identity().path, &recorded.path).filter(|dir| !dir.is_empty()) else {
        return Ok(None);
    };
    let Ok(top) = Root::open(OsStr::from_bytes(&recorded.path)) else { return Ok(None) };
    if recorded.difference(top.identity()).is_some() {
        return Ok(None);
    }
    let is_mounted = manifest.header().mounts.iter().any(|mount| {
        let path = mount.path();
        dir == path || strip(dir, path).is_some()
    });
    let is_on_top = root.identity().identity.dev == top.identity().identity.dev;
    // A copy that is mounted below the recorded root is another tree.
    if is_mounted == is_on_top {
        return Ok(None);
    }
    Ok(manifest.directory(dir)?.map(|_: Option<Stat>| dir.to_vec()))
}

/// Returns the path of `path` below the directory `dir`.
fn strip<'p>(path: &'p [u8], dir: &[u8]) -> Option<&'p [u8]> {
    match path.strip_prefix(dir)? {
        [] => Some(&[]),
        rest if dir.ends_with(b"/") => Some(rest),
        rest => rest.strip_prefix(b"/"),
    }
}

/// Refuses a tree that is not the recorded root and looks like a directory below it.
///
/// # Errors
/// If it does, or the manifest cannot be read.
pub(super) fn refuse_part(
    manifest: &Manifest,
    root: &Root,
    tree: &WalkedTree<'_>,
    budget: &Budget,
) -> anyhow::Result<()> {
    let header = manifest.header();
    let is_root = |recorded: &ftk_manifest::RootIdentity| recorded.difference(root.identity()).is_none();
    if header.shard.is_some() || header.root_identity.as_ref().is_some_and(is_root) {
        return Ok(());
    }
    let name = || quote(root.given().as_bytes());
    if let Some(dir) = resembled(manifest, tree, budget).with_context(name)? {
        let recorded = header.root_identity.as_ref().map_or(&header.root, |recorded| &recorded.path);
        bail!(
            "{} is not the recorded directory {}: it looks like {} below it (verify it as that with --below {})",
            name(),
            quote(recorded),
            quote(&dir),
            shell_word(&dir)
        );
    }
    Ok(())
}
