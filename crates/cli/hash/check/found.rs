//! Finds the lists below directories by their names.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use ftk_inventory::Keep;
use ftk_manifest::{ASCMHL, CHAIN};
use ftk_record::{BagFile, names_a_list, quote};
use ftk_select::Selection;
use ftk_walk::{FileType, Follow};

use crate::console::Outcome;
use crate::film::FilmList;
use crate::hash::check::lists::{Found, Source};
use crate::run::Run;
use crate::scan::a_file_type;

/// The lists to read.
pub(super) struct Sources {
    pub(super) sources: Vec<Source>,
    /// `Error` if a directory could not be searched completely, has no list, or has something else with the name of a
    /// list.
    pub(super) outcome: Outcome,
}

impl Sources {
    /// Returns the lists that were named.
    pub(super) fn named(paths: &[OsString]) -> Self {
        let named = |path: &OsString| Source { path: path.clone(), found: None };
        Self { sources: paths.iter().map(named).collect(), outcome: Outcome::Success }
    }

    /// Returns the lists that were named, with those below it in the place of a directory, sorted by path.
    ///
    /// Like `ftk hash`, it searches hidden directories too, and follows links only at the starting points.
    ///
    /// # Errors
    /// If the tree does not fit into the allowed memory, or a directory is named together with `--new`.
    pub(super) fn search(
        paths: &[OsString],
        is_new: bool,
        selection: &Selection,
        run: &Run<'_>,
    ) -> anyhow::Result<Self> {
        let mut found = Self { sources: Vec::with_capacity(paths.len()), outcome: Outcome::Success };
        for path in paths {
            if path == "-" || !Path::new(path).is_dir() {
                found.sources.push(Source { path: path.clone(), found: None });
                continue;
            }
            if is_new {
                bail!(
                    "--new compares one tree with its lists: name them instead of {}",
                    quote(path.as_bytes())
                );
            }
            found.below(path, selection, run)?;
        }
        Ok(found)
    }

    /// Reports other lists in directories that are checked by their histories.
    ///
    /// # Errors
    /// If the tree does not fit into the allowed memory.
    pub(super) fn refuse_others(
        names: &[OsString],
        selection: &Selection,
        run: &Run<'_>,
    ) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::Success;
        let has_history = |name: &&OsString| Path::new(name).join(ASCMHL).is_dir();
        for name in names.iter().filter(has_history) {
            let Self { sources, outcome: found } =
                Self::search(std::slice::from_ref(name), false, selection, run)?;
            outcome = outcome.max(found);
            let is_other = |source: &&Source| Path::new(&source.path) != Path::new(name).join(ASCMHL);
            if let Some(other) = sources.iter().find(is_other) {
                run.console.error(format_args!(
                    "{} is checked by its history, and has other lists: check {} by itself",
                    quote(name.as_bytes()),
                    quote(other.path.as_bytes())
                ));
                outcome = Outcome::Error;
            }
        }
        Ok(outcome)
    }

    /// Adds the lists below a directory.
    fn below(&mut self, dir: &OsStr, selection: &Selection, run: &Run<'_>) -> anyhow::Result<()> {
        let start = CString::new(dir.as_bytes())?;
        let prefix = dir.len() + usize::from(!dir.as_bytes().ends_with(b"/"));
        let found = Found { start: start.as_c_str().into(), prefix, nested: Vec::new() };
        let scanned = run.walk(vec![start], Follow::Roots, selection, Keep::All, "")?;
        self.outcome = self.outcome.max(scanned.outcome);
        let first = self.sources.len();
        let (mut links, mut histories) = (Vec::new(), Vec::new());
        let mut order = scanned.inventory.in_path_order();
        while let Some(item) = order.next() {
            let path = Path::new(OsStr::from_bytes(item.path));
            let is_history = item.name == ASCMHL.as_bytes();
            let is_sums = names_a_list(item.name)
                && (BagFile::of(item.name).is_none() || path.with_file_name("bagit.txt").is_file());
            let is_list = is_history || is_sums || FilmList::is_name_of_list(path);
            match item.file_type {
                _ if !is_list || item.path == dir.as_bytes() => {}
                FileType::Symlink => links.push(path.to_path_buf()),
                FileType::Directory if is_history => {
                    histories.push((path.with_file_name(""), self.sources.len()));
                    self.sources.push(Source { path: path.into(), found: Some(found.clone()) });
                }
                FileType::Regular if !is_history => {
                    self.sources.push(Source { path: path.into(), found: Some(found.clone()) });
                }
                FileType::Directory => run
                    .console
                    .summary(format_args!("{} has the name of a list, and is a directory", quote(item.path))),
                // FIFOs, sockets, devices, any future type, and a file with the name of a directory.
                other => self.refuse(item.path, &format!("it is {}", a_file_type(other)), run),
            }
        }
        self.nest(histories);
        let lists = &self.sources[first..];
        if lists.is_empty() {
            let names = "no file has a name such as SHA256SUMS, x.sha256, x.md5, x.sfv or x.mhl";
            self.refuse(dir.as_bytes(), names, run);
        }
        let id = |path: &OsStr| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        let checked: Vec<_> =
            if links.is_empty() { Vec::new() } else { self.sources.iter().map(|it| id(&it.path)).collect() };
        for link in links {
            let id = id(link.as_os_str());
            if id.is_none() || !checked.contains(&id) {
                self.refuse(
                    link.as_os_str().as_bytes(),
                    "it is a symbolic link, and only those that are named are followed",
                    run,
                );
            }
        }
        Ok(())
    }

    /// Adds nested histories to those around them. `histories` are the directories that they are about, each with the
    /// number of its source. A directory `ascmhl` without a chain file has no nested ones.
    fn nest(&mut self, mut histories: Vec<(PathBuf, usize)>) {
        histories.sort();
        let mut nested = BTreeSet::new();
        let mut outer: Option<(PathBuf, usize)> = None;
        for (dir, at) in histories {
            let below = outer.as_ref().and_then(|(root, at)| Some((dir.strip_prefix(root).ok()?, *at)));
            if let Some((below, outer)) = below {
                let mut below = below.as_os_str().as_bytes().to_vec();
                below.push(b'/');
                let found = self.sources[outer].found.as_mut().expect("it was found");
                found.nested.push(below);
                nested.insert(at);
            } else if dir.join(ASCMHL).join(CHAIN).is_file() {
                outer = Some((dir, at));
            }
        }
        let mut number = 0..;
        self.sources.retain(|_| number.next().is_some_and(|nth| !nested.contains(&nth)));
    }

    /// Says why something is not checked.
    fn refuse(&mut self, path: &[u8], why: &str, run: &Run<'_>) {
        run.console.path_error("check", path, why);
        self.outcome = Outcome::Error;
    }
}
