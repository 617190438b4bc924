//! Which files must be read to repair a tree.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

use ftk_inventory::{Budget, FileNo, Reservation};
use ftk_process::{FileSystems, file_systems};
use ftk_select::Checks;

use crate::aligned::{Aligned, Spelling};
use crate::criteria::{check_of, is_checked};
use crate::entry::LinkGroup;
use crate::shift::RecordedTimes;
use crate::walked_tree::{Seen, WalkedTree};
use crate::{Entry, Error, Field, Kinship, Manifest, Selector, Survey};

/// What a repair restores besides damaged files.
#[derive(Clone, Debug, Default)]
pub struct RepairOptions {
    /// Whether missing files are restored.
    pub missing: bool,
    /// Whether files that were edited or truncated are restored.
    pub modified: bool,
    /// Whether the recorded metadata of entries with the recorded content is put back.
    pub metadata: bool,
    /// Whether directories and entries that are not the recorded ones are accepted.
    pub other_root: bool,
    /// Whether only the caller and root can change what the path of the root leads to, and the names in the root.
    pub private_root: bool,
    /// The entries that are looked at; `None`: all.
    pub part: Option<Selector>,
}

impl RepairOptions {
    /// Returns whether only files that are marked as damaged are read, if there are any.
    fn is_limited(&self) -> bool {
        !self.modified && !self.metadata
    }

    /// Returns whether more than damage is repaired.
    pub(super) fn puts_back(&self) -> bool {
        self.missing || self.modified || self.metadata
    }
}

/// Returns whether a file has another size than recorded.
fn has_other_size(old: &Entry<'_>, seen: &Seen) -> bool {
    old.size().zip(seen.metadata).is_some_and(|(size, now)| size != now.size)
}

/// The files that must be read to find what is damaged in a tree, or missing from it.
///
/// Files with another size than recorded are not read. If the manifest marks files as damaged, and only damaged and missing files are restored, only these are read, and files of
/// which another name is missing. Otherwise all other recorded files are. To find missing files at a new path, files that are not recorded are read if their size is that of a missing file.
#[derive(Debug)]
pub struct RepairPlan<'r> {
    /// The files to be read, ascending: with [`Rows::with_stats`](ftk_process::Rows::with_stats) and the
    /// algorithms of the manifest.
    pub files: Vec<FileNo>,
    /// Whether the manifest marks files as damaged.
    pub has_marks: bool,
    /// Whether the manifest has the sizes of all files. Copies are searched by size.
    pub has_sizes: bool,
    /// Whether the tree is the recorded one, and how much of it is missing.
    pub survey: Survey,
    /// The file systems of the tree.
    pub file_systems: FileSystems,
    /// The manifest and the tree, in the spelling of the tree: restored names get that of the directories above them.
    pub(super) aligned: Aligned<'r>,
    pub(super) times: RecordedTimes,
    pub(super) options: RepairOptions,
    /// What is compared of each entry.
    pub(super) checks: Checks,
    /// Whether files that are not recorded were read, to find missing files.
    pub(super) finds_moved: bool,
    pub(super) budget: &'r Budget,
}

impl<'r> RepairPlan<'r> {
    /// Goes through the manifest and the tree. The walk must have kept the metadata of all entries.
    ///
    /// # Errors
    /// When the manifest cannot be read or has an invalid line, or the list of files does not fit into the
    /// budget.
    pub fn new(
        manifest: &'r Manifest,
        tree: &WalkedTree<'r>,
        options: RepairOptions,
        budget: &'r Budget,
    ) -> Result<Self, Error> {
        let (mut has_marks, mut has_sizes) = (false, true);
        let mut entries = manifest.entries()?;
        while let Some(entry) = entries.next()? {
            has_marks |= entry.damaged_ns.is_some();
            has_sizes &= !entry.stat.is_regular() || entry.size().is_some();
        }
        let reads_all = !has_marks || !options.is_limited();
        let finds_moved = reads_all || options.missing;
        let file_systems = file_systems(tree.inventory);
        let checks = manifest.header().checks()?;
        let pass = |aligned: &Aligned<'_>| {
            Lists::new(aligned, reads_all, options.missing, &checks, &file_systems, budget)
        };
        let (aligned, lists) =
            Aligned::new(manifest, tree, Spelling::Tree, options.part.clone(), budget, pass, Lists::release)?;
        let Lists { mut files, sizes, candidates, survey, times, .. } = lists;
        let is_candidate = |size: Option<u64>| size.is_none_or(|size| sizes.contains(&size));
        let survey = match &options.part {
            Some(part) => Survey::of_unskipped(&aligned, part, &file_systems)?,
            None => survey,
        };
        files.extend(candidates.iter().filter(|(_, size)| is_candidate(*size)).map(|(file, _)| *file));
        files.sort_unstable();
        Ok(Self {
            files,
            has_marks,
            has_sizes,
            survey,
            file_systems,
            aligned,
            times,
            options,
            checks,
            finds_moved,
            budget,
        })
    }

    /// Returns the number of names that the manifest spells in another normal form. They are not changed.
    pub fn respelled(&self) -> u64 {
        self.aligned.respelled()
    }

    /// Returns the number of entries outside the [part](RepairOptions::part).
    pub fn unselected(&self) -> u64 {
        self.aligned.unselected()
    }

    /// Returns paths of the tree, such as those of repaired files, in the spelling of the manifest.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed meanwhile.
    pub fn recorded_paths<T>(&self, paths: BTreeMap<Vec<u8>, T>) -> Result<BTreeMap<Vec<u8>, T>, Error> {
        self.aligned.recorded_paths(paths)
    }
}

/// What a pass over a manifest and a tree finds.
struct Lists {
    files: Vec<FileNo>,
    /// The sizes of missing files.
    sizes: BTreeSet<u64>,
    /// Files that are not recorded.
    candidates: Vec<(FileNo, Option<u64>)>,
    survey: Survey,
    times: RecordedTimes,
    reserved: Reservation,
}

impl Lists {
    /// Goes through both.
    fn new(
        aligned: &Aligned<'_>,
        reads_all: bool,
        restores_missing: bool,
        checks: &Checks,
        file_systems: &FileSystems,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let finds_moved = reads_all || restores_missing;
        let (mut reserved, failed) = (Reservation::new(budget), &aligned.failed);
        let (mut files, mut sizes, mut candidates) = (Vec::new(), BTreeSet::new(), Vec::new());
        // Further names of files, which are read only if another name is missing.
        let (mut others, mut gone) = (Vec::new(), HashSet::new());
        let mut survey = Survey::of(aligned.manifest.header());
        let mut times = RecordedTimes::new(budget);
        aligned.merge(|old, new| {
            let (old, seen) = (old.map(|old| old.entry()), new.map(|new| &new.seen));
            if let Some(old) = &old {
                survey.note(old, seen, failed, file_systems, Kinship::None);
                seen.map_or(Ok(()), |seen| times.add(old, seen))?;
            }
            let old = old.filter(|old| old.stat.is_regular());
            match (old, seen.and_then(|seen| seen.file)) {
                // The size alone shows that the content differs.
                (Some(old), Some(_)) if seen.is_some_and(|seen| has_other_size(&old, seen)) => {}
                (Some(old), Some(_)) if !is_checked(check_of(checks, &old), Field::Digests, &old) => {}
                (Some(old), Some(file)) if reads_all || old.damaged_ns.is_some() => {
                    reserved.consume(size_of::<FileNo>() as u64)?;
                    files.push(file);
                }
                (Some(Entry { link_group: Some(group), .. }), Some(file)) if restores_missing => {
                    reserved.consume((size_of::<(FileNo, LinkGroup)>() + group.len()) as u64)?;
                    others.push((file, LinkGroup::from(group)));
                }
                (Some(old), None) if seen.is_none() && finds_moved && !failed.covers(old.path) => {
                    sizes.insert(old.stat.size);
                    gone.extend(old.link_group.map(LinkGroup::from));
                }
                (None, Some(file)) if finds_moved => {
                    let size = seen.and_then(|seen| seen.metadata).map(|stat| stat.size);
                    reserved.consume(size_of::<(FileNo, Option<u64>)>() as u64)?;
                    candidates.push((file, size));
                }
                _ => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
        files.extend(others.iter().filter(|(_, group)| gone.contains(group)).map(|(file, _)| *file));
        Ok(Self { files, sizes, candidates, survey, times, reserved })
    }

    /// Returns the memory to the budget.
    fn release(self) {
        self.times.release();
        self.reserved.release();
    }
}
