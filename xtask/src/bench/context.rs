//! The context for making tables.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::build::Programs;
use super::cache::{self, Cache};
use super::commands::Commands;
use super::derived;
use super::measure::Meter;
use super::options::Options;
use super::peers::Peers;
use super::record::Section;
use super::roles::Roles;
use super::scratch::Scratch;
use super::shape::{self, Shape};
use super::tree::Tree;

/// Maximum number of cold runs.
const COLD_RUNS: usize = 3;

/// A tree that every system has.
const SYSTEM: &str = "/usr";

/// Programs, trees and options of one run.
pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) programs: Programs,
    pub(crate) peers: Peers,
    pub(crate) scratch: Scratch,
    pub(crate) roles: Roles,
    /// Number of processes or threads for peers that do not choose it themselves: one per CPU.
    pub(crate) jobs: usize,
    /// The tree of real files, if there is one.
    pub(crate) tree: Option<Tree>,
}

impl Context {
    pub(crate) fn new(options: Options, programs: Programs, peers: Peers) -> Result<Self> {
        let scratch = Scratch::new(options.common.scratch("target/bench"), options.common.keep)?;
        let source = options.tree.clone().or_else(|| if options.common.quick { None } else { registry() });
        let tree = source.as_deref().map(Tree::survey).transpose()?;
        let mut roles = Roles::default();
        roles.add(&programs.ftk, "ftk");
        roles.add(&programs.helper, "xtask");
        if let Some(query) = &programs.query {
            roles.add(query, "ftk-query");
        }
        for (name, path) in peers.iter() {
            roles.add(path, name);
        }
        for shape in shape::ALL {
            roles
                .add(&scratch.path(shape.name), &format!("${}", shape.name.to_uppercase().replace('-', "_")));
        }
        for name in derived::NAMES {
            roles.add(&scratch.path(name), &format!("${}", name.to_uppercase()));
        }
        roles.add(&scratch.path(""), "$SCRATCH");
        if let Some(tree) = &tree {
            roles.add(&tree.path, "$TREE");
        }
        // Commands are text.
        for path in tree.iter().map(|tree| &tree.path).chain([&scratch.path("")]) {
            ensure!(path.to_str().is_some(), "{} is not UTF-8", path.display());
        }
        let jobs = std::thread::available_parallelism()?.get();
        Ok(Self { options, programs, peers, scratch, roles, jobs, tree })
    }

    /// Returns the tree of this shape, and makes it if necessary.
    pub(crate) fn shape(&self, shape: &Shape) -> Result<Tree> {
        let path = self.scratch.tree(shape)?;
        rustix::fs::sync(); // otherwise pending writes would slow down the first runs
        Ok(Tree::generated(shape, path))
    }

    /// Returns the tree of real files, if there is one, and the trees of these shapes; with `--quick` a small one
    /// instead.
    pub(crate) fn trees(&self, shapes: &[Shape]) -> Result<Vec<Tree>> {
        let shapes = if self.options.common.quick { &[shape::MIXED_SMALL] } else { shapes };
        let generated = shapes.iter().map(|shape| self.shape(shape));
        self.tree.clone().into_iter().map(Ok).chain(generated).collect()
    }

    /// Measures the groups of a text on the [trees](Self::trees) of these shapes.
    pub(crate) fn sections(&self, shapes: &[Shape], text: &str) -> Result<Vec<Section>> {
        let section = |tree: &Tree| {
            println!(" {}", tree.title);
            let groups = Commands::on(self, tree).measure(self.clock(), tree.files, text)?;
            Ok(Section::new(tree, Cache::Warm, groups))
        };
        self.trees(shapes)?.iter().map(section).collect()
    }

    /// Returns the shape of a tree with many small files.
    pub(crate) fn many(&self) -> Shape {
        if self.options.common.quick { shape::SMALL } else { shape::LARGE }
    }

    /// Returns the tree of real files, or else a small generated one, and prints its title.
    pub(crate) fn any_tree(&self) -> Result<Tree> {
        let tree = match &self.tree {
            Some(tree) => tree.clone(),
            None => self.shape(&shape::MIXED_SMALL)?,
        };
        println!(" {}", tree.title);
        Ok(tree)
    }

    /// Returns the tree of programs and libraries. If it is not fully readable, prints why and returns `None`.
    pub(crate) fn system(&self) -> Option<Tree> {
        Tree::survey(Path::new(SYSTEM)).inspect_err(|error| println!(" not measured: {error:#}")).ok()
    }

    /// Returns the tree for cold runs. If they are impossible, prints why and returns `None`.
    pub(crate) fn cold_tree(&self) -> Option<&Tree> {
        if self.tree.is_none() {
            println!(" not measured: no tree of real files (see --tree)");
        }
        self.tree.as_ref().filter(|_| cache::can_drop())
    }

    /// Whether the page cache can hold this tree and the programs that read it. Prints a note if not.
    pub(crate) fn fits_memory(&self, tree: &Tree) -> bool {
        let fits = tree.bytes < memory_bytes() / 2;
        if !fits {
            println!(" not measured: {} does not fit into half of the memory", tree.title);
        }
        fits
    }

    /// Returns the maximum size of a generated tree in bytes: a quarter of the free disk or of the memory, whichever
    /// is smaller.
    pub(crate) fn room(&self) -> Result<u64> {
        Ok(self.scratch.room()?.min(memory_bytes()) / 4)
    }

    /// Returns the requested algorithms, or by default those in `names`.
    pub(crate) fn algorithms<'n>(&'n self, names: &[&'n str]) -> Vec<&'n str> {
        let chosen = &self.options.algorithms;
        if chosen.is_empty() { names.to_vec() } else { chosen.iter().map(String::as_str).collect() }
    }

    /// Returns a meter for cold runs, which take seconds and vary less than warm ones.
    pub(crate) fn cold_clock(&self) -> Meter<'_> {
        Meter { cache: Cache::Cold, runs: self.options.runs().min(COLD_RUNS), ..self.clock() }
    }

    /// Returns a meter for warm runs.
    pub(crate) fn clock(&self) -> Meter<'_> {
        Meter {
            helper: &self.programs.helper,
            cache: Cache::Warm,
            runs: self.options.runs(),
            repeats_short: !self.options.common.quick,
            roles: &self.roles,
            earlier: self.options.before.as_deref().map(|earlier| [&*self.programs.ftk, earlier]),
        }
    }
}

fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram as u64 * u64::from(info.mem_unit)
}

/// Returns the folder of crate sources that cargo downloaded. Every developer has this tree.
fn registry() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let path = home.join("registry/src");
    path.is_dir().then_some(path)
}
