//! Proof of the further copies that a step counts on.
//!
//! Rules such as `--min-copies 2` permit a removal only if several copies stay. The keeper is one of them. Each further
//! one is opened, recognised and compared byte by byte as the keeper is.
//!
//! The steps of a group count on the same copies. A copy that was compared with the keeper need not be read again for the
//! next step, if both files have a reliable identity, and neither their size nor one of their times has changed since.
//! Their mtimes must be at least [`SETTLED_NS`] older than the comparison: a later write then changes them, however coarse
//! the clock of the file system is.

use std::collections::HashMap;

use ftk_compare::same_content;
use ftk_file::{Version, is_trusted, now_ns};
use ftk_sched::Stop;

use crate::own_changes::OwnChanges;
use crate::prove::Proven;
use crate::reach::{Held, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::{Copies, Seen};
use crate::sys::drop_cached_pages;

/// The age of a file's mtime from which any later write changes it, in nanoseconds. The coarsest clock is that of ext3,
/// with one tick a second.
const SETTLED_NS: i128 = 2_000_000_000;

/// Pairs that are remembered. The steps of a group follow each other, so few are enough.
const MAX_KNOWN: usize = 4096;

/// Proves copies, and remembers which were compared.
#[derive(Debug, Default)]
pub(crate) struct CopyProofs {
    /// The versions of a keeper and a copy when they were compared, by their identities.
    known: HashMap<[(u64, u64); 2], [Version; 2]>,
}

impl CopyProofs {
    /// Opens the copies, and proves that enough of them are different files with the content of the victim. Returns those
    /// that are neither the keeper nor other names of it.
    pub(crate) fn prove(
        &mut self,
        reach: &mut Reach,
        own_changes: &OwnChanges,
        copies: &Copies,
        proven: &Proven,
        stop: &Stop,
    ) -> Result<Vec<Held>, ActError> {
        let (victim, keeper) = (&proven.victim, &proven.keeper);
        find(reach, own_changes, copies, [victim, keeper], |copy| {
            if self.is_known(keeper, copy, own_changes) {
                return Ok(());
            }
            let is_reliable = is_trusted(&copy.file) && is_trusted(&keeper.file);
            if !is_reliable {
                // On FUSE, the kernel may have cached pages of a file that has changed since.
                drop_cached_pages(&copy.file);
            }
            let begun_ns = now_ns();
            let same = same_content(&copy.file, &keeper.file, stop).map_err(|(side, failure)| {
                let side = if side == ftk_compare::Side::A { Side::Copy } else { Side::Keeper };
                Refusal::of_failure(side, failure)
            })?;
            if !same {
                return Err(if stop.is_raised() {
                    ActError::Stopped
                } else {
                    Refusal::ContentDiffers.into()
                });
            }
            let is_settled = |held: &Held| held.stat.mtime_ns < begun_ns - SETTLED_NS;
            if is_reliable && is_settled(copy) && is_settled(keeper) {
                if self.known.len() == MAX_KNOWN {
                    self.known.clear();
                }
                let versions = [keeper.stat.version(), copy.stat.version()];
                self.known.insert([keeper.identity(), copy.identity()], versions);
            }
            Ok(())
        })
    }

    /// Returns whether the copy was compared with the keeper, and neither has changed since.
    fn is_known(&self, keeper: &Held, copy: &Held, own_changes: &OwnChanges) -> bool {
        self.known.get(&[keeper.identity(), copy.identity()]).is_some_and(|[of_keeper, of_copy]| {
            own_changes.is_unchanged(of_keeper, &keeper.stat) && own_changes.is_unchanged(of_copy, &copy.stat)
        })
    }
}

/// Opens as many of the copies as are needed. `prove` is called for each file that is neither the victim nor the keeper.
///
/// # Errors
/// If too few of the files are the ones that were seen, or `prove` fails for too many. Stops if the run is stopped.
pub(crate) fn find(
    reach: &mut Reach,
    own_changes: &OwnChanges,
    copies: &Copies,
    [victim, keeper]: [&Held; 2],
    mut prove: impl FnMut(&Held) -> Result<(), ActError>,
) -> Result<Vec<Held>, ActError> {
    // What was found out about each copy: its identity, or that it is not proven.
    let mut known: Vec<Option<Option<(u64, u64)>>> = vec![None; copies.files.len()];
    let mut first_failed: Option<(&Seen, Refusal)> = None;
    let mut proven: Vec<Held> = Vec::new();
    for need in &copies.needs {
        let mut distinct = Vec::new();
        for &nth in &need.among {
            if distinct.len() >= need.count {
                break;
            }
            let seen = &copies.files[nth];
            let identity = match known[nth] {
                Some(identity) => identity,
                None => {
                    let found = reach.hold(Side::Copy, seen, own_changes).map_err(ActError::from);
                    let found = found.and_then(|held| match held.identity() {
                        identity if identity == victim.identity() => Err(Refusal::SameFile.into()),
                        identity if identity == keeper.identity() => Ok(identity),
                        identity if proven.iter().any(|it| it.identity() == identity) => Ok(identity),
                        identity => {
                            prove(&held)?;
                            proven.push(held);
                            Ok(identity)
                        }
                    });
                    match found {
                        Ok(identity) => Some(identity),
                        Err(ActError::Refused(refusal)) => {
                            first_failed.get_or_insert((seen, refusal));
                            None
                        }
                        Err(error) => return Err(error),
                    }
                }
            };
            known[nth] = Some(identity);
            distinct.extend(identity.filter(|identity| !distinct.contains(identity)));
        }
        if distinct.len() < need.count {
            return Err(too_few(need.count, distinct.len(), first_failed).into());
        }
    }
    Ok(proven)
}

/// Returns the refusal of a step that counts on `needed` copies of which only `found` are proven.
pub(crate) fn too_few(needed: usize, found: usize, failed: Option<(&Seen, Refusal)>) -> Refusal {
    let failed = failed.map(|(seen, refusal)| (seen.path.clone(), Box::new(refusal)));
    Refusal::TooFewCopies { needed, found, failed }
}
