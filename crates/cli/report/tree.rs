//! What a tree on the disk uses.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, ensure};
use ftk_file::Stat;
use ftk_inventory::{Budget, Inventory, Keep};
use ftk_manifest::WalkedTree;
use ftk_record::sanitize;
use ftk_report::{Data, MAX_NODES, SpaceBuilder, Usage};
use ftk_select::{Roots, Skipped};
use ftk_walk::{FileType, Follow};

use crate::console::{Console, Outcome};
use crate::dup::TreeDuplicates;
use crate::find::Owners;
use crate::globals::Globals;
use crate::report::duplicates::{self, Waste};
use crate::report::links::Links;
use crate::report::{ReportArgs, seconds};
use crate::run::Run;
use crate::scan::too_large;

/// Walks the tree at `root` and fills the data of its page. `own`: files to skip.
pub(super) fn fill(
    data: &mut Data,
    root: &OsStr,
    args: &ReportArgs,
    own: &[(u64, u64)],
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let selection = &args.selection;
    ensure!(
        !selection.starts.has_list(),
        "--files-from and --files0-from cannot be used: name one directory"
    );
    data.title = sanitize(root.as_bytes()).into();
    if args.dup {
        let found = TreeDuplicates::find(root, selection, args.dirs, own, globals, console)?;
        let (waste, outcome) = duplicates::of_tree(data, &found, console)?;
        space(data, root, found.inventory(), waste, found.budget())?;
        problems(data, &found.failed(), found.skipped());
        return Ok(outcome);
    }
    let run = Run::new(globals, console)?;
    let starts = vec![CString::new(root.as_bytes())?];
    let compiled = selection.compile(&Roots::new(&starts), own, console)?;
    let follow = selection.follow(Follow::Roots);
    let scan = run.walk(starts, follow, &compiled, Keep::Stats { files: true }, "")?;
    scan.rules.say(console);
    space(data, root, &scan.inventory, Waste::default(), &run.budget)?;
    problems(data, &scan.failed, scan.skipped);
    Ok(scan.outcome)
}

fn space(
    data: &mut Data,
    root: &OsStr,
    inventory: &Inventory,
    mut waste: Waste<'_>,
    budget: &Budget,
) -> anyhow::Result<()> {
    let root = root.as_bytes();
    let tree = WalkedTree { inventory, root, failed: &[] };
    let mut space = SpaceBuilder::new(root, MAX_NODES, budget);
    let mut links = Links::new(budget);
    let mut order = inventory.in_path_order();
    while let Some(item) = order.next() {
        let stat = item.metadata.expect("the walk keeps metadata");
        let identity = (stat.dev, stat.ino);
        let usage = Usage { waste: waste.of(&item, &stat), ..usage(&stat) };
        let added =
            links.counted(&stat, Some(identity), usage).and_then(|usage| match tree.relative(item.path) {
                b"." => {
                    space.root(&usage);
                    Ok(())
                }
                path if item.file_type == FileType::Directory => space.dir(path, &usage),
                path => space.file(path, &usage),
            });
        added.with_context(|| too_large(budget))?;
    }
    let mut owners = Owners::default();
    data.space = Some(space.finish(|uid| owners.user(uid).to_owned()));
    Ok(())
}

fn problems(data: &mut Data, failed: &[Vec<u8>], skipped: Skipped) {
    data.problems.excluded = skipped.by_options().into();
    unreadable(data, failed);
}

/// Says which paths could not be read.
pub(super) fn unreadable(data: &mut Data, failed: &[Vec<u8>]) {
    data.problems.unreadable = (failed.len() as u64).into();
    data.problems.set_messages(failed.iter().map(|path| sanitize(path).into()));
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
