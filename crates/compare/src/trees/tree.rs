//! The public interface for comparing two trees.

use std::cell::Cell;

use ftk_file::{EvenSample, TimeAgreement, TimeCensus};
use ftk_inventory::{Budget, Full, Inventory, Unpaired, Witnesses};
use ftk_sched::{Run, RunPlan};
use ftk_walk::FileType;

use super::attributes::{Attributes, Differences};
use super::classify::{Relation, TreeCriteria, classify};
use super::difference::{Difference, Differing, What};
use super::links::Links;
use super::merge::{Entry, Merge, Step};
use super::names::{NO_NAMES, Names, note};
use super::pairs::{Pair, PairTable};
use super::run;

/// The result of walking one tree.
#[derive(Clone, Copy, Debug)]
pub struct WalkedTree<'t> {
    /// All entries of the tree, with the metadata that [`TreeCriteria::keep`] requests.
    pub inventory: &'t Inventory,
    /// The starting point, exactly as given to the walk.
    pub root: &'t [u8],
    /// Paths that the walk could not read. Entries missing at or below these paths are not reported.
    pub failed: &'t [Vec<u8>],
}

/// Two trees, and what counts as a difference.
#[derive(Clone, Copy, Debug)]
pub struct Trees<'t> {
    /// The first tree.
    pub a: WalkedTree<'t>,
    /// The second tree.
    pub b: WalkedTree<'t>,
    /// What counts as a difference.
    pub criteria: TreeCriteria,
}

impl Trees<'_> {
    /// Finds out how the mtimes of the two trees agree: whether one of them is a copy that rounds or shifts times. Also
    /// returns the number of files whose times differ by this. Each pair of files counts once, whatever its number of names. This reads no
    /// file.
    ///
    /// # Errors
    /// If names that differ in their normal form, or files with several names, do not fit into the budget.
    ///
    /// # Panics
    /// If an inventory does not keep the metadata of regular files.
    pub fn agreement(&self, budget: &Budget) -> Result<Option<(TimeAgreement, u64)>, Full> {
        let (mut unpaired, mut merge) = (Unpaired::new(budget), self.merge(&NO_NAMES));
        while let Some(step) = merge.next() {
            note(&step, &mut unpaired)?;
        }
        let names = Names::find(unpaired, &self.a, &self.b, budget)?;
        let each_pair = |each: &mut dyn FnMut(i128, i128)| {
            let mut witnesses = Witnesses::new(budget);
            let mut merge = self.merge(&names);
            while let Some(step) = merge.next() {
                if let Step::Both(a, b) = step
                    && let (a, b) = (a.metadata(), b.metadata())
                    && a.is_regular()
                    && b.is_regular()
                    && a.size == b.size
                    && witnesses.add(Some(a.linked_identity()), Some(b.linked_identity()), None)?
                {
                    each(a.mtime_ns, b.mtime_ns);
                }
            }
            witnesses.release();
            Ok(())
        };
        let mut sample = EvenSample::default();
        each_pair(&mut |a_ns, b_ns| sample.add((a_ns, b_ns)))?;
        let Some(mut census) = TimeCensus::new(sample.items()) else { return Ok(None) };
        each_pair(&mut |a_ns, b_ns| census.add(a_ns, b_ns, None))?;
        Ok(census.agreement())
    }

    /// Lists the pairs of files that must be opened: files with the same path, unless the inventories already
    /// show how they differ. This opens no file. If metadata is compared, it reads the extended attributes of all entries
    /// that both trees have.
    ///
    /// # Errors
    /// If the list might not fit into the budget.
    ///
    /// # Panics
    /// If an inventory lacks entries or metadata that the criteria need.
    pub fn plan(&self, budget: &Budget) -> Result<PairTable, Full> {
        if !self.criteria.quick {
            let max = self.a.inventory.files().min(self.b.inventory.files());
            budget.reserve(u64::from(max) * size_of::<Pair>() as u64)?;
        }
        let mut unpaired = Unpaired::new(budget);
        let table = self.list(Names::default(), budget, &mut |step| note(step, &mut unpaired))?;
        let names = Names::find(unpaired, &self.a, &self.b, budget)?;
        if names.is_empty() { Ok(table) } else { self.list(names, budget, &mut |_| Ok(())) }
    }

    fn list(
        &self,
        names: Names,
        budget: &Budget,
        each: &mut dyn FnMut(&Step<'_>) -> Result<(), Full>,
    ) -> Result<PairTable, Full> {
        let file = |entry: &Entry| entry.file.expect("only regular files are opened");
        let (mut pairs, mut others, mut by_type) = (Vec::new(), 0, 0);
        let TreeCriteria { metadata, ignored, .. } = self.criteria;
        let mut links = (metadata && !ignored.links).then(|| Links::new(budget));
        let mut attributes = (metadata && !ignored.xattrs).then(|| Attributes::new(self));
        let (mut differences, mut nth) = (Differences::new(budget), 0);
        let mut merge = self.merge(&names);
        while let Some(step) = merge.next() {
            each(&step)?;
            let Step::Both(a, b) = step else {
                others += 1;
                continue;
            };
            others += u64::from(self.is_name_difference(b));
            let relation = classify(a, b, self.criteria);
            match relation {
                Relation::Unread => pairs.push(Pair::new(file(a), file(b))),
                Relation::Same => {
                    by_type += u64::from(matches!(a.file_type, FileType::Fifo | FileType::Socket));
                }
                _ => others += 1,
            }
            let mut differs = !Differing::between(a, b, relation, self.criteria).fields().is_empty();
            if let Some(attributes) = attributes.as_mut().filter(|_| relation != Relation::Type) {
                let [differ, failed] = differences.add(nth, attributes.compare(a, b))?;
                differs |= differ;
                others += u64::from(failed);
            }
            nth += 1;
            others += u64::from(differs);
            links.as_mut().map_or(Ok(()), |links| links.add(a, b))?;
        }
        others += links.as_ref().map_or(0, Links::differences);
        Ok(PairTable::new(pairs, others, by_type, links, differences, names))
    }

    fn merge<'m>(&'m self, names: &'m Names) -> Merge<'m> {
        Merge::new(&self.a, &self.b, names).with_all_of_a(self.criteria.all_of_a)
    }

    /// Returns whether the name of an entry of the second tree counts as a difference.
    fn is_name_difference(&self, b: &Entry) -> bool {
        b.is_respelled && !self.criteria.normalize_names
    }

    /// Compares the pairs of the table and stores the results in it. Pairs up to 32 MiB are compared in
    /// parallel, each by one worker. Then the large ones follow, largest first, each by all workers.
    ///
    /// A large pair is mapped if both files together have at most `memory` bytes. The reader that the run
    /// requests is ignored. If the run is stopped, pairs that were not compared stay pending. The counters of
    /// the run count pairs. The returned plan counts two files for each pair, except that `large` is the
    /// number of pairs that were compared by all workers together.
    ///
    /// # Panics
    /// When a worker panics, after all workers have ended.
    pub fn compare(&self, table: &mut PairTable, memory: u64, run: &Run<'_>) -> RunPlan {
        run::compare(self, table, memory, run)
    }

    /// Calls `each` for every difference, in path order. Several differences at one path follow each other.
    ///
    /// A directory that exists on one side only is one difference, whatever it contains, unless the criteria include
    /// [all of the first tree](TreeCriteria::all_of_a). A pair that was not
    /// compared is reported as [`What::Pending`].
    ///
    /// # Panics
    /// If the table was made for other trees or criteria.
    pub fn differences(&self, table: &PairTable, mut each: impl FnMut(Difference<'_>)) {
        let mut found = table.found();
        let mut merge = self.merge(&table.names);
        // Stop after the last difference.
        let left = Cell::new(table.differences());
        let mut each = |difference: Difference<'_>| {
            left.set(left.get() - 1);
            each(difference);
        };
        let split = table.links.as_ref().and_then(Links::split);
        let links = table.links.as_ref().filter(|_| split.is_none());
        if let Some((side, groups)) = split {
            each(Difference { path: b"", path_b: None, what: What::Unlinked(side, groups), below: None });
        }
        let mut pairs = 0..;
        while left.get() > 0 && merge.advance() {
            let below = self.criteria.sums.then(|| merge.only_directory()).flatten();
            let below = below.and_then(|side| merge.below(side));
            let Some(step) = merge.step() else { break };
            let (a, b) = match step {
                Step::Only(side, entry) => {
                    let (path, file_type) = (entry.own_path(), entry.file_type);
                    let metadata = entry.metadata.filter(|it| self.criteria.sums && it.is_regular());
                    let what = What::Only(side, file_type, metadata.map(|it| it.size));
                    each(Difference { path, path_b: None, what, below });
                    continue;
                }
                Step::Both(a, b) => (a, b),
            };
            let (path, path_b) = (&*a.path, b.own_path.as_deref());
            if self.is_name_difference(b) {
                each(Difference { path, path_b, what: What::Name, below: None });
            }
            let relation = classify(a, b, self.criteria);
            let what = match relation {
                Relation::Same => None,
                Relation::Type => Some(What::Type(a.file_type, b.file_type)),
                Relation::Size(a, b) => Some(What::Size(a, b)),
                Relation::Target => Some(What::Target(&a.target, &b.target)),
                Relation::Device => Some(What::Device(a.metadata().rdev, b.metadata().rdev)),
                Relation::Unread => found.next().expect("the table was made for these trees"),
            };
            if let Some(what) = what {
                each(Difference { path, path_b, what, below });
            }
            let differing = Differing::between(a, b, relation, self.criteria);
            let fields = differing.fields();
            let attributes = match pairs.next().and_then(|nth| table.attributes.of(nth)) {
                Some(Ok(attributes)) => attributes.as_slice(),
                Some(Err((side, failure))) => {
                    each(Difference { path, path_b, what: What::Failed(*side, failure), below: None });
                    &[]
                }
                None => &[],
            };
            if !fields.is_empty() || !attributes.is_empty() {
                let what = What::Metadata { fields, attributes, a: a.metadata(), b: b.metadata() };
                each(Difference { path, path_b, what, below: None });
            }
            if let Some(first) = links.and_then(|links| links.find(a, b)) {
                each(Difference { path, path_b, what: What::Links { first }, below: None });
            }
        }
    }
}
