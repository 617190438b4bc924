//! Walks the tree of a manifest within its scope, and reads its files. `create`, `update` and `verify` share this.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::Context as _;
use ftk_file::Failure;
use ftk_hash::Algorithm;
use ftk_inventory::{FileNo, Inventory, Keep};
use ftk_manifest::{Examination, Shard};
use ftk_process::Progress;

use crate::cache;
use crate::console::{cause, say_failed};
use crate::human;
use crate::list::List;
use crate::manifest::root::Root;
use crate::manifest::scope::ScopeArgs;
use crate::run::{Hashed, Run};
use crate::scan::{Scan, Within, too_large};

/// Walks `root`, and names the rules that matched nothing. With a `shard`, only its entries are found. `own`: device
/// and inode of files to skip.
///
/// # Errors
/// If the path of `root` leads to another directory meanwhile, or the tree does not fit into the allowed memory.
pub(super) fn walk(
    run: &Run<'_>,
    root: &Root,
    scope: &ScopeArgs,
    keep: Keep,
    own: &[(u64, u64)],
    shard: Option<&Shard>,
) -> anyhow::Result<Scan> {
    let scan = walk_part(run, root, scope, keep, own, shard)?;
    scan.rules.say_in(within(shard), run.console);
    Ok(scan)
}

/// Walks `root` like [`walk`], and finds only what is examined. Rules are not named: what they match may be elsewhere.
///
/// # Errors
/// Those of [`walk`].
pub(super) fn walk_examined(
    run: &Run<'_>,
    root: &Root,
    scope: &ScopeArgs,
    own: &[(u64, u64)],
    examination: &Examination,
) -> anyhow::Result<Scan> {
    let within = Within { examination: Some(examination), shard: None };
    walk_within(run, root, scope, Keep::Stats { files: true }, own, within)
}

/// Returns what follows `matched nothing` in a message about a rule.
pub(super) fn within(shard: Option<&Shard>) -> &'static str {
    if shard.is_some() { " in this shard" } else { "" }
}

/// Walks `root` like [`walk`]. The caller names rules that matched nothing.
///
/// # Errors
/// Those of [`walk`].
pub(super) fn walk_part(
    run: &Run<'_>,
    root: &Root,
    scope: &ScopeArgs,
    keep: Keep,
    own: &[(u64, u64)],
    shard: Option<&Shard>,
) -> anyhow::Result<Scan> {
    walk_within(run, root, scope, keep, own, Within { shard, examination: None })
}

fn walk_within(
    run: &Run<'_>,
    root: &Root,
    scope: &ScopeArgs,
    keep: Keep,
    own: &[(u64, u64)],
    within: Within<'_>,
) -> anyhow::Result<Scan> {
    let selection = scope.compile(root.given(), own, run.console)?;
    let path = CString::new(root.given().as_bytes())?;
    let mut scan = run.walk_within(path, &selection, keep, within)?;
    root.check(&scan.inventory)?;
    let rules = std::mem::take(&mut scan.unread_rules);
    scan.failed.retain(|path| !rules.contains(path));
    scan.failed.extend(rules.iter().map(|path| governed_by(path, root.given().as_bytes()).to_vec()));
    Ok(scan)
}

/// Returns the directory, in a walk of `root`, whose entries an ignore file selects. A file above the root selects
/// those in the root.
fn governed_by<'p>(path: &'p [u8], root: &'p [u8]) -> &'p [u8] {
    const NAMES: [&[u8]; 3] = [b"/.git/info/exclude", b"/.gitignore", b"/.ignore"];
    let dir = NAMES.iter().find_map(|name| path.strip_suffix(*name)).unwrap_or(path);
    let below = dir.strip_prefix(root).unwrap_or_default();
    if below.starts_with(b"/") || root.ends_with(b"/") && !below.is_empty() { dir } else { root }
}

/// Returns the start time of a manifest that is written to `list`, for a run that began at `began_ns`. To be called
/// before files are read.
pub(super) fn start_ns(inventory: &Inventory, list: &List<'_>, began_ns: i128) -> i128 {
    ftk_manifest::start_ns(inventory, list.file().ok().flatten().as_ref(), began_ns)
}

/// Reads the files of `only`, or all of them for `None`, and reports those that fail. `so` is the consequence for
/// these. With `xattrs`, also reads the extended attributes of the files.
pub(super) fn read(
    run: &Run<'_>,
    inventory: &Inventory,
    only: Option<&[FileNo]>,
    algorithms: &[Algorithm],
    xattrs: bool,
    so: &str,
) -> anyhow::Result<Hashed> {
    let work = run.whole(inventory, only, algorithms);
    let rows = run.rows(&work, true);
    let rows = rows.and_then(|rows| if xattrs { rows.with_attributes(&run.budget) } else { Ok(rows) });
    let rows = rows.with_context(|| too_large(&run.budget))?;
    if work.files() == 0 {
        return Ok(Hashed { rows, done: Progress::default(), failed: Vec::new() });
    }
    let read = run.read(&work, rows)?;
    say_failed(inventory, &read.failed, so, run.console);
    Ok(read)
}

/// Prints the last line of the summary: entries, bytes, time and rate. `reused`: the number of digests that were
/// reused, if any could be.
pub(super) fn say_done(
    run: &Run<'_>,
    entries: u64,
    done: Progress,
    failed: u64,
    reused: Option<u64>,
    algorithms: &[Algorithm],
) {
    let entries = human::entries(entries);
    if done.files == 0 {
        let took = human::time(run.start.elapsed());
        return run.console.summary(format_args!("{entries} in {took}"));
    }
    let read = human::count(done.files - failed - reused.unwrap_or(0), "file");
    let reused = cache::reused(reused);
    run.say_done(&format!("{entries}, {read} read{reused}"), done.bytes, algorithms);
}

/// Returns why a file could not be read, for its finding.
pub(super) fn why(failure: &Failure) -> String {
    match failure {
        Failure::Io { source, .. } => cause(source),
        Failure::NotRegular => "it is no longer a regular file".into(),
        _ => "it changed while being read".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::governed_by;

    #[test]
    fn ignore_files_select_what_is_in_their_directory() {
        for (root, path, dir) in [
            ("t", "t/.gitignore", "t"),
            ("t", "t/d/.ignore", "t/d"),
            ("t", "t/d/.git/info/exclude", "t/d"),
            ("t/", "t/.gitignore", "t/"),
            ("t/", "t/d/.gitignore", "t/d"),
            (".", "./.ignore", "."),
            (".", "./d/e/.gitignore", "./d/e"),
            ("/", "/.gitignore", "/"),
            ("/", "/d/.gitignore", "/d"),
            // Above the root.
            ("t/d", "/x/t/.gitignore", "t/d"),
            ("/x/td", "/x/t/.gitignore", "/x/td"),
            ("/x/t", "/x/.gitignore", "/x/t"),
            // A directory whose path is too long for its rules is the path of its error.
            ("t", "t/d", "t/d"),
            ("t", "t", "t"),
        ] {
            let found = governed_by(path.as_bytes(), root.as_bytes());
            assert_eq!(str::from_utf8(found).unwrap(), dir, "{root} {path}");
        }
    }
}
