//! Collects the current metadata of the members of groups, in parallel and in batches.
#![expect(unsafe_code, reason = "workers leave the shared descriptor table")]

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use ftk_file::{Failure, File, Symlinks};
use ftk_inventory::{FileNo, Inventory, Opener};
use ftk_process::Failed;
use ftk_read::{SharedBlocks, leave_shared_descriptors};
use ftk_sched::{Stop, Team};

use crate::groups::Group;
use crate::path_order::by_path;
use crate::{Groups, Member};

/// Names that are examined together. Their members take about 8 MiB. A larger group comes in several pieces.
const BATCH: usize = if cfg!(test) { 1000 } else { 32 << 10 };

/// Names that a worker claims at a time. A batch of so few names is examined by the calling thread alone.
const CLAIM: usize = 256;

/// Returns the blocks of a file on this device that other files share. The second argument opens the file; it need not be
/// called.
pub type FindShared<'s> = dyn Fn(u64, &mut dyn FnMut() -> Option<File>) -> Vec<SharedBlocks> + Sync + 's;

/// What to find out about members, and with how many workers.
#[derive(Clone, Copy)]
pub struct SurveyOptions<'s> {
    /// The workers.
    pub team: Team,
    /// Finds out which blocks of a file are shared. `None`: nothing is known.
    pub shared: Option<&'s FindShared<'s>>,
}

impl fmt::Debug for SurveyOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SurveyOptions").field("team", &self.team).finish_non_exhaustive()
    }
}

/// A name of a group and its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    /// The number of its file in the group. Names with the same number are hard links.
    pub cluster: u32,
    /// The number of the name in the inventory.
    pub file: FileNo,
    /// The name and its metadata.
    pub member: Member,
}

/// Consecutive names of a group, in path order. A small group is one piece.
#[derive(Debug)]
pub struct Piece<'g> {
    /// The group.
    pub group: Group<'g>,
    /// Whether the group begins with this piece.
    pub is_first: bool,
    /// Whether the group ends with this piece.
    pub is_last: bool,
    /// The names that are as they were walked.
    pub names: Vec<Surveyed>,
    /// The names that are not: [`Failure::Changed`] if it is another file or has another size.
    pub failed: Vec<Failed>,
}

/// Examines the members of groups: an iterator over pieces of groups, in the order of the groups.
///
/// Members are examined by `stat` in batches, so that memory use does not depend on their number. Each worker holds a few
/// descriptors, in an unshared table if possible.
pub struct Survey<'s> {
    examiner: Examiner<'s>,
    groups: Box<dyn Iterator<Item = Group<'s>> + 's>,
    /// The group that is being divided into pieces.
    current: Option<Rest<'s>>,
    /// The pieces that were examined, the next one last.
    ready: Vec<Piece<'s>>,
}

impl fmt::Debug for Survey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Survey")
            .field("current", &self.current)
            .field("ready", &self.ready)
            .finish_non_exhaustive()
    }
}

/// Examines names. Workers share it.
#[derive(Clone, Copy)]
struct Examiner<'s> {
    inventory: &'s Inventory,
    options: SurveyOptions<'s>,
}

/// The names of a group that were not examined yet, in path order, each with the number of its file.
struct Rest<'s> {
    group: Group<'s>,
    is_begun: bool,
    names: Box<dyn ExactSizeIterator<Item = (FileNo, u32)> + 's>,
}

impl fmt::Debug for Rest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rest").field("group", &self.group).field("names", &self.names.len()).finish()
    }
}

impl<'s> Survey<'s> {
    /// Creates a survey of the groups of an inventory.
    pub fn new(inventory: &'s Inventory, groups: &'s Groups, options: SurveyOptions<'s>) -> Self {
        let examiner = Examiner { inventory, options };
        Self { examiner, groups: Box::new(groups.iter()), current: None, ready: Vec::new() }
    }

    /// Examines the next batch of names.
    fn examine(&mut self) {
        let (mut names, mut pieces) = (Vec::new(), Vec::new());
        while names.len() < BATCH {
            let next =
                self.current.take().or_else(|| Some(Rest::new(self.groups.next()?, self.examiner.inventory)));
            let Some(mut rest) = next else { break };
            let start = names.len();
            names.extend(rest.names.by_ref().take(BATCH - start));
            let (is_first, is_last) = (!rest.is_begun, rest.names.len() == 0);
            let piece = Piece { group: rest.group, is_first, is_last, names: Vec::new(), failed: Vec::new() };
            pieces.push((piece, names.len() - start));
            rest.is_begun = true;
            self.current = (!is_last).then_some(rest);
        }
        let mut states = self.examiner.states(&names).into_iter();
        for (piece, len) in &mut pieces {
            for state in states.by_ref().take(*len) {
                match state {
                    Ok(name) => piece.names.push(name),
                    Err(failed) => piece.failed.push(failed),
                }
            }
        }
        self.ready.extend(pieces.into_iter().rev().map(|(piece, _)| piece));
    }
}

impl Examiner<'_> {
    /// Returns the states of these names, in their order. They are examined directory by directory: the copies of a
    /// file are in different ones, and opening a directory again takes three system calls.
    fn states(&self, names: &[(FileNo, u32)]) -> Vec<Result<Surveyed, Failed>> {
        let mut order: Vec<_> = (0..names.len()).collect();
        order.sort_unstable_by_key(|&nth| names[nth].0);
        let next = AtomicUsize::new(0);
        let team = if names.len() <= CLAIM { Team::new(1) } else { self.options.team };
        let parts = team.run(&Stop::new(), |worker| {
            if worker > 0 {
                // SAFETY: this is the first call on a new thread. An inventory holds no descriptor. The opener is
                // created and dropped in this closure, and what the worker returns holds no descriptor.
                unsafe { leave_shared_descriptors() };
            }
            let mut opener = Opener::new(self.inventory);
            let mut parts = Vec::new();
            loop {
                // Relaxed: the counter only hands out numbers.
                let start = next.fetch_add(CLAIM, Ordering::Relaxed);
                let Some(claim) =
                    order.get(start..names.len().min(start + CLAIM)).filter(|it| !it.is_empty())
                else {
                    return parts;
                };
                parts.extend(claim.iter().map(|&nth| {
                    let (file, cluster) = names[nth];
                    let state = self.state(&mut opener, file, cluster);
                    (nth, state.map_err(|failure| Failed { file, failure }))
                }));
            }
        });
        let mut states: Vec<_> = names.iter().map(|_| None).collect();
        parts.into_iter().flatten().for_each(|(nth, state)| states[nth] = Some(state));
        states.into_iter().map(|state| state.expect("each name was examined")).collect()
    }

    fn state(&self, opener: &mut Opener<'_>, file: FileNo, cluster: u32) -> Result<Surveyed, Failure> {
        let inventory = self.inventory;
        let dir = inventory.dir_of(file);
        let stat = opener.stat_file(dir, file).map_err(|source| Failure::Io { op: "stat", source })?;
        if !stat.is_regular() {
            return Err(Failure::NotRegular);
        }
        let before = inventory.stat_then(dir, file, &stat);
        if before != stat {
            return Err(Failure::Changed { before: Box::new(before), after: Box::new(stat), read: 0 });
        }
        let mut open = || opener.open_file(dir, file).ok();
        let shared = self.options.shared.map_or_else(Vec::new, |shared| shared(stat.dev, &mut open));
        let member = Member {
            blocks: stat.blocks,
            nlink: stat.nlink,
            via_link: inventory.symlinks(dir, file) == Symlinks::Follow,
            shared,
            ..Member::new(inventory.root_of(dir, file), inventory.path(file), stat.version())
        };
        Ok(Surveyed { cluster, file, member })
    }
}

impl<'s> Iterator for Survey<'s> {
    type Item = Piece<'s>;

    fn next(&mut self) -> Option<Piece<'s>> {
        if self.ready.is_empty() {
            self.examine();
        }
        self.ready.pop()
    }
}

impl<'s> Rest<'s> {
    fn new(group: Group<'s>, inventory: &Inventory) -> Self {
        let names: Box<dyn ExactSizeIterator<Item = _>> = if group.has_hard_links() {
            Box::new(by_path(inventory, &group).into_iter())
        } else {
            // Files are sorted by their first path, which is their only one.
            Box::new((0..group.files().len()).map(move |nth| (group.files()[nth], nth as u32)))
        };
        Self { group, is_begun: false, names }
    }
}
