//! The proof that a step loses nothing. Every action requires it.

use ftk_compare::same_content_with;
use ftk_file::{Stat, is_trusted};
use ftk_sched::Stop;

use crate::action::{ActionKind, ActionOptions};
use crate::exposed::ensure_only_trusted_change;
use crate::metadata::{difference, gained_rights};
use crate::own_changes::OwnChanges;
use crate::reach::Held;
use crate::refusal::{ActError, Refusal, Side};
use crate::stat::fstat_now;
use crate::sys::drop_cached_pages;

/// Two files that are proven to be interchangeable. Only [`prove`] creates this.
#[derive(Debug)]
pub(crate) struct Proven {
    pub(crate) victim: Held,
    pub(crate) keeper: Held,
    /// Further copies that the step counts on.
    pub(crate) copies: Vec<Held>,
    /// The digest of their content. `None` for a reflink.
    pub(crate) digest: Option<blake3::Hash>,
    kind: ActionKind,
}

/// Proves that victim and keeper are different files, and that their bytes, read now from the open files, are
/// equal. For hard links and symbolic links, also proves that no metadata is lost that the options protect.
///
/// For a reflink, contents and metadata are not compared: the kernel compares the contents, and the victim
/// keeps its metadata.
pub(crate) fn prove(
    victim: Held,
    keeper: Held,
    kind: ActionKind,
    options: ActionOptions,
    stop: &Stop,
) -> Result<Proven, ActError> {
    compare_all_but_content(&victim, &keeper, kind, options)?;
    let mut digest = None;
    if kind != ActionKind::Reflink {
        // On FUSE, the kernel may have cached pages of a file that has changed since.
        for held in [&victim, &keeper] {
            if !is_trusted(&held.file) {
                drop_cached_pages(&held.file);
            }
        }
        let mut hasher = blake3::Hasher::new();
        let hash = |bytes: &[u8]| _ = hasher.update(bytes);
        let same = same_content_with(&victim.file, &keeper.file, stop, hash).map_err(|(side, failure)| {
            let side = if side == ftk_compare::Side::A { Side::Victim } else { Side::Keeper };
            Refusal::of_failure(side, failure)
        })?;
        if !same {
            return Err(if stop.is_raised() { ActError::Stopped } else { Refusal::ContentDiffers.into() });
        }
        digest = Some(hasher.finalize());
    }
    Ok(Proven { victim, keeper, copies: Vec::new(), digest, kind })
}

/// Checks everything except the content.
pub(crate) fn compare_all_but_content(
    victim: &Held,
    keeper: &Held,
    kind: ActionKind,
    options: ActionOptions,
) -> Result<(), Refusal> {
    if victim.identity() == keeper.identity() {
        return Err(Refusal::SameFile);
    }
    if kind == ActionKind::Hardlink && victim.stat.dev != keeper.stat.dev {
        return Err(Refusal::OtherFileSystem);
    }
    if victim.stat.size != keeper.stat.size {
        return Err(Refusal::ContentDiffers);
    }
    // The kernel shares blocks with a file in a snapshot. It refuses the other actions there.
    if kind == ActionKind::Reflink && !options.into_snapshots && victim.place.is_read_only() {
        return Err(match victim.place.is_on_read_only_mount() {
            true => Refusal::ReadOnly(Side::Victim),
            false => Refusal::Snapshot,
        });
    }
    if matches!(kind, ActionKind::Hardlink | ActionKind::Symlink) {
        let found = if options.metadata_may_differ {
            gained_rights(victim, keeper)
        } else {
            let asked = difference(victim, keeper);
            asked.map_err(|error| Refusal::unreadable(Side::Victim, "compare the attributes of", error))?
        };
        if let Some(difference) = found {
            return Err(Refusal::MetadataDiffers(difference));
        }
    }
    if kind == ActionKind::Symlink {
        ensure_only_trusted_change(keeper, victim.stat.uid)?;
    }
    Ok(())
}

impl Proven {
    /// Checks right before the action that no file has changed since the comparison, and that the further copies still
    /// have their names.
    pub(crate) fn recheck(&self, own_changes: &OwnChanges) -> Result<(), Refusal> {
        for copy in &self.copies {
            let named = named(Side::Copy, copy)?;
            if !own_changes.is_unchanged(&copy.stat.version(), &named) {
                return Err(Refusal::Changed { side: Side::Copy, what: "since it was compared" });
            }
        }
        for (side, held) in self.sides() {
            let now = now(side, held)?;
            if !own_changes.is_unchanged(&held.stat.version(), &now) {
                return Err(Refusal::Changed { side, what: "since it was compared" });
            }
        }
        Ok(())
    }

    /// Checks that the victim may be removed, when it has already lost its name but not its content: the
    /// keeper and the further copies must still have their names, and no content may have changed. `before` is the
    /// keeper's state before the victim lost its name.
    ///
    /// If the keeper is an alias of the victim, for example through another mount with other device numbers,
    /// it has now lost its name or has another ctime.
    pub(crate) fn check(&self, before: &Stat) -> Result<(), Refusal> {
        let keeper = named(Side::Keeper, &self.keeper)?;
        for copy in &self.copies {
            if !copy.stat.version().is_same_except_ctime(&named(Side::Copy, copy)?) {
                return Err(Refusal::Changed { side: Side::Copy, what: "since it was compared" });
            }
        }
        // For hard links the ctime is not compared, since a link to the keeper changes it. There the keeper
        // cannot be an alias of the victim, because both are on one device.
        if self.kind != ActionKind::Hardlink && keeper.ctime_ns != before.ctime_ns {
            return Err(Refusal::Changed { side: Side::Keeper, what: "when the victim was renamed" });
        }
        for (side, held) in self.sides() {
            if !held.stat.version().is_same_except_ctime(&now(side, held)?) {
                return Err(Refusal::Changed { side, what: "since it was compared" });
            }
        }
        Ok(())
    }

    /// Returns the state of the keeper, for [`Proven::check`].
    pub(crate) fn keeper_now(&self) -> Result<Stat, Refusal> {
        now(Side::Keeper, &self.keeper)
    }

    fn sides(&self) -> [(Side, &Held); 2] {
        [(Side::Victim, &self.victim), (Side::Keeper, &self.keeper)]
    }
}

/// Returns the state of the file that has the name of an open one. It must be the same file.
fn named(side: Side, held: &Held) -> Result<Stat, Refusal> {
    let named = held.place.stat().map_err(|errno| Refusal::unreadable(side, "find", errno))?;
    if named.identity() == held.identity() { Ok(named) } else { Err(Refusal::Replaced(side)) }
}

fn now(side: Side, held: &Held) -> Result<Stat, Refusal> {
    fstat_now(&held.file).map_err(|errno| Refusal::unreadable(side, "stat", errno))
}
