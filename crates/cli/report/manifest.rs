//! What a manifest records: space, and when files were last verified.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::Context as _;
use ftk_inventory::Budget;
use ftk_manifest::{Error, Field, Manifest};
use ftk_record::{quote, sanitize};
use ftk_report::{Data, HealthBuilder, MAX_NODES, SpaceBuilder, Usage};
use ftk_walk::FileType;

use crate::console::Outcome;
use crate::find::Owners;
use crate::report::links::Links;
use crate::report::seconds;
use crate::report::tree::usage;

/// Fills the data of a page about the manifest that was opened as `name`.
pub(super) fn fill(
    data: &mut Data,
    manifest: &Manifest,
    name: &OsStr,
    budget: &Budget,
) -> anyhow::Result<Outcome> {
    let root = &manifest.header().root;
    let mut space = SpaceBuilder::new(root, MAX_NODES, budget);
    let mut health = HealthBuilder::new(data.made_s, budget);
    let read = read(manifest, &mut space, &mut health, budget);
    read.with_context(|| quote(name.as_bytes()))?;
    let mut owners = Owners::default();
    data.space = Some(space.finish(|uid| owners.user(uid).to_owned()));
    data.health = Some(health.finish());
    data.title = sanitize(root).into();
    Ok(Outcome::Success)
}

fn read(
    manifest: &Manifest,
    space: &mut SpaceBuilder,
    health: &mut HealthBuilder,
    budget: &Budget,
) -> Result<(), Error> {
    let mut links = Links::new(budget);
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        let stat = &entry.stat;
        // An imported list lacks some fields. Space that is not recorded is taken to be that of the content.
        let usage = usage(stat);
        let apparent = entry.size().unwrap_or(0);
        let allocated = if entry.knows(Field::Allocated) { usage.allocated } else { apparent };
        let uid = entry.knows(Field::Uid).then_some(stat.uid);
        let usage = links.counted(
            stat,
            manifest.header().inode(&entry),
            Usage { allocated, apparent, uid, ..usage },
        )?;
        match stat.file_type {
            _ if entry.path == b"." => space.root(&usage),
            FileType::Directory => space.dir(entry.path, &usage)?,
            _ => space.file(entry.path, &usage)?,
        }
        if stat.is_regular() {
            let [verified_s, damaged_s] = [entry.verified_ns, entry.damaged_ns].map(|ns| ns.map(seconds));
            health.file(entry.path, apparent, verified_s, damaged_s)?;
        }
    }
    Ok(())
}
