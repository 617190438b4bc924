//! `--since SNAPSHOT`: what changed between two snapshots.

use std::ffi::OsString;
use std::io::{self, ErrorKind};

use anyhow::{Context as _, anyhow};
use clap::Args;
use ftk_file::TreeSearch;
use ftk_manifest::{Examination, Header};

use crate::console::{Console, cause};
use crate::manifest::root::Root;

/// The option with the snapshot that OLD records.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(super) struct SinceArgs {
    /// Examine only what changed since SNAPSHOT (Btrfs)
    ///
    /// OLD must be the manifest of SNAPSHOT, and ROOT must be in a later read-only snapshot of the same subvolume.
    /// NEW is what an update of all of ROOT writes. Whenever that is not certain, more than a twentieth changed, or
    /// CAP_SYS_ADMIN is missing, all of ROOT is examined, and the summary says why.
    #[arg(long, value_name = "SNAPSHOT", conflicts_with_all = ["append_only", "changed", "shard", "snapshot_of"])]
    pub(super) since: Option<OsString>,
}

impl SinceArgs {
    /// Returns everything that changed. Without the option `None`, and also if all of the root must be examined, which
    /// the summary says.
    pub(super) fn examination(&self, header: &Header, root: &Root, console: &Console) -> Option<Examination> {
        let snapshot = self.since.as_ref()?;
        let changes = Root::open(snapshot).and_then(|snapshot| changes(header, &snapshot, root));
        changes.map_err(|why| say_all(format_args!("{why:#}"), console)).ok()
    }
}

/// Says why all of the root is examined.
pub(super) fn say_all(why: impl std::fmt::Display, console: &Console) {
    console.summary(format_args!("all of ROOT is examined: {why}"));
}

/// Returns everything that changed from a snapshot to the one that contains the root.
///
/// # Errors
/// If that is not certain.
fn changes(header: &Header, snapshot: &Root, root: &Root) -> anyhow::Result<Examination> {
    let ino = root.identity().identity.ino;
    if let Some(why) = snapshot.snapshot().unproven(header, &root.snapshot(), ino) {
        return Err(anyhow!(why));
    }
    let mounts = root.mounts_below().context("it is not known what is mounted below ROOT")?;
    let search = || -> io::Result<Examination> {
        let since = snapshot.snapshot().subvolume.map_or(0, |it| it.made);
        let search = TreeSearch::new(root.dir())?;
        Examination::of_changes(&search, ino, &search.changed_since(since)?, &header.options)
    };
    let mut examination = search().map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => anyhow!("the search for changes needs CAP_SYS_ADMIN"),
        _ => anyhow!("cannot search for changes: {}", cause(&error)),
    })?;
    mounts.iter().for_each(|mount| _ = examination.add(&mount.path));
    Ok(examination)
}
