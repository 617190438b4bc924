//! Computes wanted contents that no copy has, with parity files.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use ftk_apply::Scratch;
use ftk_file::{File, Symlinks, Version};
use ftk_hash::Platform;
use ftk_inventory::{Budget, FileNo};
use ftk_manifest::{Found, Manifest, Wanted, has_content};
use ftk_parity::{Parity, heal};
use ftk_record::quote;
use rustix::fs::CWD;

use crate::console::Console;
use crate::manifest::parity::{self, TreeFiles, check_algorithms};
use crate::run::Run;
use crate::scan::Scan;

/// The parity files of a run.
pub(super) struct Parities<'p> {
    opened: Vec<(&'p OsStr, Parity)>,
    /// By the position of a wanted content: what computes it.
    sources: Vec<Option<Source>>,
    /// By the position of a wanted content that cannot be computed: how many recovery blocks a group lacks.
    lacking: BTreeMap<usize, u64>,
}

/// What computes a content.
#[derive(Clone, Copy)]
struct Source {
    /// The position of the parity file.
    parity: usize,
    /// The position of the content in it. `None`: the empty content, which needs no recovery blocks.
    content: Option<usize>,
}

/// The files that computing reads.
pub(super) struct Present<'p> {
    pub(super) run: &'p Run<'p>,
    pub(super) root: &'p OsStr,
    pub(super) copies: &'p [OsString],
    pub(super) manifest: &'p Manifest,
    pub(super) scan: &'p Scan,
}

impl Present<'_> {
    /// Returns the files of the tree and of all copies that may have the contents of a parity file.
    fn files<'c>(&self, parity: &'c Parity) -> anyhow::Result<TreeFiles<'c>> {
        let roots = [self.root].into_iter().chain(self.copies.iter().map(|copy| &**copy));
        let mut files = TreeFiles::new(roots, self.manifest, parity.contents(), &self.run.budget)?;
        let inventory = &self.scan.inventory;
        let root = self.root.len();
        files.add_others((0..inventory.files()).map(FileNo).map(|file| {
            let path = inventory.path(file);
            let below = path[root..].strip_prefix(b"/").unwrap_or(&path[root..]);
            (below.to_vec(), inventory.size(inventory.dir_of(file), file))
        }));
        files.add_former(parity, &self.run.budget);
        Ok(files)
    }
}

impl<'p> Parities<'p> {
    /// Opens parity files, whose tables are within the budget.
    pub(super) fn open(paths: impl Iterator<Item = &'p OsStr>, budget: &Budget) -> anyhow::Result<Self> {
        let open = |path| {
            let opened = parity::open(path, budget.left())?;
            budget.reserve(opened.held())?;
            Ok((path, opened))
        };
        let opened = paths.map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self { opened, sources: Vec::new(), lacking: BTreeMap::new() })
    }

    /// Returns the parity files with their paths.
    pub(super) fn opened(&self) -> &[(&'p OsStr, Parity)] {
        &self.opened
    }

    /// Checks that all know contents by the digests of the manifest.
    ///
    /// # Errors
    /// If one has others.
    pub(super) fn check(&self, manifest: &Manifest) -> anyhow::Result<()> {
        self.opened.iter().try_for_each(|(path, parity)| check_algorithms(parity, manifest, path))
    }

    /// Finds out which contents can be computed that were not found, and adds them to `found`: a plan, whose files do
    /// not exist yet.
    pub(super) fn plan(
        &mut self,
        present: &Present<'_>,
        wanted: &[Wanted],
        found: &mut [Option<Found>],
    ) -> anyhow::Result<()> {
        self.sources = vec![None; wanted.len()];
        let planned = |path: &OsStr, size| {
            let version = Version { dev: 0, ino: 0, size, mtime_ns: 0, ctime_ns: 0 };
            let path = path.as_bytes().to_vec();
            Some(Found { root_len: path.len(), path, version, allocated: size })
        };
        if let Some((path, _)) = self.opened.first() {
            let is_empty = |wanted: &Wanted| wanted.recorded.stat.size == 0 && wanted.link_to.is_none();
            for (at, wanted) in wanted.iter().enumerate() {
                if found[at].is_none() && is_empty(wanted) {
                    found[at] = planned(path, 0);
                    self.sources[at] = Some(Source { parity: 0, content: None });
                }
            }
        }
        for (nth, (path, parity)) in self.opened.iter().enumerate() {
            let positions: HashMap<&[u8], usize> =
                parity.contents().iter().enumerate().map(|(nth, it)| (&*it.digests, nth)).collect();
            let missing = wanted.iter().zip(&*found).enumerate();
            let missing = missing.filter(|(_, (wanted, found))| found.is_none() && wanted.link_to.is_none());
            // A file that was made for an attack may have the digests with another size.
            let missing: Vec<_> = missing
                .filter_map(|(at, (wanted, _))| {
                    let content = *positions.get(&*wanted.digests)?;
                    let size = parity.contents()[content].size;
                    (size == wanted.recorded.stat.size).then_some((at, content))
                })
                .collect();
            if missing.is_empty() {
                continue;
            }
            let contents: Vec<_> = missing.iter().map(|(_, content)| *content).collect();
            let memory = present.run.budget.left();
            let outcomes = heal(parity, &contents, &mut present.files(parity)?, memory, None);
            let outcomes = outcomes.with_context(|| quote(path.as_bytes()))?;
            for ((at, content), outcome) in missing.into_iter().zip(outcomes) {
                if outcome.lost > 0 {
                    self.lacking.insert(at, outcome.lacking);
                    continue;
                }
                found[at] = planned(path, parity.contents()[content].size);
                self.sources[at] = Some(Source { parity: nth, content: Some(content) });
                self.lacking.remove(&at);
            }
        }
        Ok(())
    }

    /// Returns the parity file that computes a wanted content.
    pub(super) fn path_of(&self, wanted: usize) -> Option<&'p OsStr> {
        self.sources.get(wanted).copied().flatten().map(|source| self.opened[source.parity].0)
    }

    /// Returns how many recovery blocks a group lacks, if that is why a wanted content cannot be computed.
    pub(super) fn lacking(&self, wanted: usize) -> Option<u64> {
        self.lacking.get(&wanted).copied()
    }

    /// Returns whether any content is computed.
    pub(super) fn are_used(&self) -> bool {
        self.sources.iter().any(Option::is_some)
    }

    /// Computes the planned contents into a private directory below `state`, and checks their digests. `found` gets
    /// these files. One that is wrong is reported, and its place becomes `None`.
    pub(super) fn compute(
        &self,
        present: &Present<'_>,
        wanted: &[Wanted],
        found: &mut [Option<Found>],
        state: &Path,
        console: &Console,
    ) -> anyhow::Result<Scratch> {
        let cannot = || format!("cannot write to {}", quote(state.as_os_str().as_bytes()));
        let scratch = Scratch::create(state).with_context(cannot)?;
        for (nth, (path, parity)) in self.opened.iter().enumerate() {
            let of_this = |source: &Source| source.parity == nth;
            let all: Vec<_> =
                self.sources.iter().flatten().filter(|it| of_this(it)).map(|it| it.content).collect();
            if all.is_empty() {
                continue;
            }
            let file_of = |content: Option<usize>| {
                let name = content.map_or_else(|| "empty".into(), |content| content.to_string());
                scratch.path().join(format!("{nth}-{name}"))
            };
            for &content in &all {
                let size = content.map_or(0, |content| parity.contents()[content].size);
                let mut options = OpenOptions::new();
                let file = options.write(true).create(true).truncate(true).mode(0o600).open(file_of(content));
                file.and_then(|file| file.set_len(size)).with_context(cannot)?;
            }
            let contents: Vec<_> = all.into_iter().flatten().collect();
            let mut last: Option<(usize, fs::File)> = None;
            let mut write = |content: usize, offset: u64, bytes: &[u8]| {
                if last.as_ref().is_none_or(|(of, _)| *of != content) {
                    last = Some((content, OpenOptions::new().write(true).open(file_of(Some(content)))?));
                }
                last.as_ref().expect("it was opened").1.write_all_at(bytes, offset)
            };
            let memory = present.run.budget.left();
            let healed = heal(parity, &contents, &mut present.files(parity)?, memory, Some(&mut write));
            healed.with_context(|| quote(path.as_bytes()))?;
            for (at, source) in self.sources.iter().enumerate() {
                if let Some(source) = source.as_ref().filter(|it| of_this(it)) {
                    found[at] = checked(&scratch, &file_of(source.content), &wanted[at], present.manifest)?;
                    if found[at].is_none() {
                        let path = quote(&wanted[at].names[0].path);
                        console.error(format_args!(
                            "{path} is not repaired: the computed content is not the recorded one, \
                             perhaps because a file changed meanwhile"
                        ));
                    }
                }
            }
        }
        Ok(scratch)
    }
}

/// Returns a computed file, if it has the wanted digests.
fn checked(
    scratch: &Scratch,
    path: &Path,
    wanted: &Wanted,
    manifest: &Manifest,
) -> anyhow::Result<Option<Found>> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let failed = |failure| anyhow!("cannot read {}: {failure:?}", quote(name.as_bytes()));
    let file = File::open(CWD, &name, Symlinks::NoFollow).map_err(failed)?;
    let stat = *file.stat();
    let algorithms = &manifest.header().algorithms;
    let is_right = stat.size == wanted.recorded.stat.size
        && has_content(&file, algorithms, &wanted.digests, Platform::detect()).map_err(failed)?;
    Ok(is_right.then(|| Found {
        path: path.as_os_str().as_bytes().to_vec(),
        root_len: scratch.path().as_os_str().len(),
        version: stat.version(),
        allocated: stat.blocks * 512,
    }))
}
