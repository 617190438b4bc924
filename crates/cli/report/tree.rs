//! What a tree on the disk uses.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::ensure;
use ftk_file::Stat;
use ftk_inventory::Keep;
use ftk_report::{Data, MAX_NODES, SpaceBuilder, Usage};
use ftk_walk::{FileType, Follow};

use crate::args::Globals;
use crate::console::{Console, Outcome};
use crate::find::Owners;
use crate::report::duplicates::Waste;
use crate::report::links::Links;
use crate::report::seconds;
use crate::run::Run;
use crate::selection::SelectionArgs;

/// The largest number of unreadable paths on a page.
const LISTED: usize = 1_000;

/// Walks the tree at `root` and fills the data of its page. `own`: files to skip; `waste`: what its duplicates waste.
pub(super) fn fill(
    data: &mut Data,
    root: &OsStr,
    selection: &SelectionArgs,
    own: &[(u64, u64)],
    mut waste: Waste,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    ensure!(
        !selection.starts.has_list(),
        "--files-from and --files0-from cannot be used: name one directory"
    );
    let run = Run::new(globals, console)?;
    let compiled = selection.compile(own, console)?;
    let starts = vec![CString::new(root.as_bytes())?];
    let follow = selection.follow(Follow::Roots);
    let scan = run.walk(starts, follow, &compiled, Keep::Stats { files: true }, "")?;
    let mut space = SpaceBuilder::new(root.as_bytes(), MAX_NODES);
    let mut links = Links::new();
    let mut order = scan.inventory.in_path_order();
    while let Some(item) = order.next() {
        let Some(stat) = item.metadata else { continue };
        let identity = (stat.dev, stat.ino);
        // Removed, so that a file with hard links counts once.
        let wasted = waste.sizes.remove(&identity).unwrap_or(0);
        let usage = Usage { allocated: links.allocated(&stat, identity), waste: wasted, ..usage(&stat) };
        match below(item.path, root.as_bytes()) {
            None => space.root(&usage),
            Some(path) if item.file_type == FileType::Directory => space.dir(path, &usage),
            Some(path) => space.file(path, &usage),
        }
    }
    let mut owners = Owners::default();
    data.space = Some(space.finish(|uid| owners.user(uid).to_owned()));
    data.title = ftk_record::sanitize(root.as_bytes()).into();
    data.problems.unreadable = (scan.failed.len() as u64 + waste.unread).into();
    data.problems.excluded = scan.skipped.by_options().into();
    let shown = scan.failed.iter().take(LISTED).map(|path| ftk_record::sanitize(path).into());
    data.problems.messages = shown.collect();
    Ok(scan.outcome)
}

/// Returns what an entry uses, as if it had one name.
pub(super) fn usage(stat: &Stat) -> Usage {
    Usage {
        allocated: stat.blocks.saturating_mul(512),
        apparent: stat.size,
        mtime_s: seconds(stat.mtime_ns),
        uid: Some(stat.uid),
        waste: 0,
    }
}

/// Returns the path below the root; `None` for the root itself.
fn below<'p>(path: &'p [u8], root: &[u8]) -> Option<&'p [u8]> {
    let below = path.strip_prefix(root).expect("everything lies below the starting point");
    let below = below.strip_prefix(b"/").unwrap_or(below);
    (!below.is_empty()).then_some(below)
}
