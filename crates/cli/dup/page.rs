//! The duplicates of a tree for the page of `ftk report`.

use std::ffi::OsStr;
use std::time::SystemTime;

use ftk_dedup::prune::{Gain, Pruning};
use ftk_dedup::report::{DirectoryGroup, Group, Header};
use ftk_dedup::{DirReport, Fate};
use ftk_inventory::{Budget, DirNo, Inventory};
use ftk_select::Skipped;

use crate::cache::CacheArgs;
use crate::console::{Console, Outcome};
use crate::dup::dirs::{self, DirArgs, ShareArg};
use crate::dup::options::{AlgorithmArg, EqualArgs, SearchArgs, SizeArgs};
use crate::dup::report::header;
use crate::dup::search::{Search, SearchContext, search};
use crate::globals::Globals;
use crate::selection::{RecursiveArg, SelectionArgs};

/// The duplicates below a directory, as `ftk dup` or `ftk dup --dirs` finds them.
pub(crate) struct TreeDuplicates {
    search: Search,
    /// The equal directories, if directories were compared.
    directories: Option<DirReport>,
    /// The header of a report of them.
    pub(crate) header: Header<'static>,
}

impl TreeDuplicates {
    /// Searches the tree at `root`. `dirs`: whether whole directories are compared first; `own`: files to skip.
    ///
    /// # Errors
    /// If the options conflict, or the tree does not fit into the allowed memory.
    pub(crate) fn find(
        root: &OsStr,
        selection: &SelectionArgs,
        dirs: bool,
        own: &[(u64, u64)],
        globals: &Globals,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let start = SystemTime::now();
        let args = SearchArgs {
            paths: vec![root.to_owned()],
            equal: EqualArgs { algorithm: AlgorithmArg::default(), verify: false },
            dirs: DirArgs { dirs, units: Vec::new() },
            sizes: SizeArgs::default(),
            cache: CacheArgs::default(),
            selection: selection.clone(),
            recursive: RecursiveArg::default(),
        };
        let context = SearchContext { own: own.to_vec(), keeps_stats: true, ..SearchContext::default() };
        let mut search = search(&args, context, globals, console, |_, _, _| Ok(()))?;
        let contents = search.contents.take();
        let directories =
            contents.map(|contents| search.directories(&contents, &args.dirs, &ShareArg::default()));
        if let Some(directories) = &directories {
            search.groups = search.groups.outside(&search.inventory, &directories.fates, false);
            dirs::say(directories, console);
        }
        let roots: Vec<_> = search.roots.iter().map(|root| root.as_bytes().to_vec()).collect();
        let algorithm = args.equal.algorithm.algorithm();
        let header = header(
            algorithm,
            args.equal.verify,
            &args.sizes.within(selection),
            &roots,
            &[],
            &search.rules,
            start,
        );
        Ok(Self { search, directories, header })
    }

    /// All entries of the tree, with their metadata.
    pub(crate) fn inventory(&self) -> &Inventory {
        &self.search.inventory
    }

    /// The memory that is left.
    pub(crate) fn budget(&self) -> &Budget {
        &self.search.budget
    }

    /// The paths that could not be examined, and those of files that could not be read.
    pub(crate) fn failed(&self) -> Vec<Vec<u8>> {
        let mut failed = self.search.unexamined.clone();
        failed.extend(self.search.unread.iter().map(|&file| self.search.inventory.path(file)));
        failed
    }

    /// Counts of entries that the selection skipped.
    pub(crate) fn skipped(&self) -> Skipped {
        self.search.skipped
    }

    /// Whether a directory is a surplus copy, or inside one.
    pub(crate) fn is_surplus(&self, dir: DirNo) -> bool {
        self.directories.as_ref().is_some_and(|directories| directories.fates.of(dir) == Fate::Gone)
    }

    /// Calls `add` with each group of directories, those with the largest waste first. The outcome is an error if one
    /// cannot be opened any more.
    pub(crate) fn each_directory(&self, console: &Console, add: impl FnMut(DirectoryGroup)) -> Outcome {
        let each = |report: &DirReport| dirs::each_group(report, &self.search.inventory, console, add);
        self.directories.as_ref().map_or(Outcome::Success, each)
    }

    /// Calls `add` with each group of files, those with the largest waste first. Returns what a deletion of the surplus
    /// copies by the default rules frees. The outcome is an error if a file could not be read, or has changed since the
    /// search.
    pub(crate) fn each(&self, console: &Console, mut add: impl FnMut(Group)) -> (Gain, Outcome) {
        let mut groups = self.search.examine(Some(console));
        let pruning = Pruning::by_default(&self.search.roots);
        let gain = groups.groups().map(|mut group| {
            let gain = pruning.gain(&mut group.members.clone());
            group.members.iter_mut().for_each(|member| member.shared.clear());
            add(group);
            gain
        });
        let gain = gain.sum();
        (gain, self.search.outcome.max(Outcome::error_if(groups.has_failed())))
    }
}
