//! The duplicates of a tree for the page of `ftk report`.

use std::ffi::OsStr;
use std::time::SystemTime;

use ftk_dedup::SurveyOptions;
use ftk_dedup::report::{Group, Header};
use ftk_sched::{Team, physical_cores};

use crate::args::Globals;
use crate::cache::CacheArgs;
use crate::console::{Console, Outcome};
use crate::dup::dirs::DirArgs;
use crate::dup::options::{AlgorithmArg, EqualArgs, SearchArgs, SizeArgs};
use crate::dup::report::header;
use crate::dup::search::{Search, SearchContext, search};
use crate::selection::{RecursiveArg, SelectionArgs};

/// The duplicate files below a directory, as `ftk dup` finds them without further options.
#[derive(Debug)]
pub(crate) struct TreeDuplicates {
    search: Search,
    /// The header of a report of them.
    pub(crate) header: Header<'static>,
}

impl TreeDuplicates {
    /// Searches the tree at `root`. `own`: files to skip.
    ///
    /// # Errors
    /// If the options conflict, or the tree does not fit into the allowed memory.
    pub(crate) fn find(
        root: &OsStr,
        selection: &SelectionArgs,
        own: &[(u64, u64)],
        globals: &Globals,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let start = SystemTime::now();
        let args = SearchArgs {
            paths: vec![root.to_owned()],
            equal: EqualArgs { algorithm: AlgorithmArg::default(), verify: false },
            dirs: DirArgs::default(),
            sizes: SizeArgs { min_size: 1, max_size: None },
            cache: CacheArgs::default(),
            selection: selection.clone(),
            recursive: RecursiveArg::default(),
        };
        let context = SearchContext { own: own.to_vec(), ..SearchContext::default() };
        let search = search(&args, context, globals, console, |_, _| Ok(()))?;
        let roots: Vec<_> = search.roots.iter().map(|root| root.as_bytes().to_vec()).collect();
        let algorithm = args.equal.algorithm.algorithm();
        let header = header(algorithm, args.equal.verify, &args.sizes, &roots, &[], start);
        Ok(Self { search, header })
    }

    /// The number of files that could not be read.
    pub(crate) fn unread(&self) -> u64 {
        self.search.unread()
    }

    /// Calls `add` with each group, those with the largest waste first. The outcome is an error if a file could not be
    /// read, or has changed since the search.
    pub(crate) fn each(&self, globals: &Globals, console: &Console, add: impl FnMut(Group)) -> Outcome {
        let team = Team::new(globals.workers().unwrap_or_else(physical_cores));
        let options = SurveyOptions { team, with_paths: true, shared: None };
        let mut groups = self.search.examine(options, console);
        groups.groups().for_each(add);
        self.search.outcome.max(groups.outcome())
    }
}
