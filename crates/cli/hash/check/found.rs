//! Finds the lists below directories by their names.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::bail;
use ftk_inventory::Keep;
use ftk_record::{BagFile, names_a_list, quote};
use ftk_select::Selection;
use ftk_walk::{FileType, Follow};

use crate::console::Outcome;
use crate::film::FilmList;
use crate::hash::check::lists::Source;
use crate::run::Run;
use crate::scan::a_file_type;

/// The lists to read.
pub(super) struct Found {
    pub(super) sources: Vec<Source>,
    /// `Error` if a directory could not be searched completely, has no list, or has something else with the name of a
    /// list.
    pub(super) outcome: Outcome,
}

impl Found {
    /// Returns the lists that were named.
    pub(super) fn named(paths: &[OsString]) -> Self {
        let named = |path: &OsString| Source { path: path.clone(), is_found: false };
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
                found.sources.push(Source { path: path.clone(), is_found: false });
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

    /// Adds the lists below a directory.
    fn below(&mut self, dir: &OsStr, selection: &Selection, run: &Run<'_>) -> anyhow::Result<()> {
        let start = CString::new(dir.as_bytes())?;
        let scanned = run.walk(vec![start], Follow::Roots, selection, Keep::All, "")?;
        self.outcome = self.outcome.max(scanned.outcome);
        let first = self.sources.len();
        let mut links = Vec::new();
        let mut order = scanned.inventory.in_path_order();
        while let Some(item) = order.next() {
            let path = Path::new(OsStr::from_bytes(item.path));
            let is_list = names_a_list(item.name)
                && (BagFile::of(item.name).is_none() || path.with_file_name("bagit.txt").is_file());
            // Their paths are confined to one directory, which is known only if they are named.
            if FilmList::is_name_of_one(path) && item.path != dir.as_bytes() {
                self.refuse(
                    item.path,
                    "it is a film hash list, and these are checked if they are named",
                    run,
                );
            }
            match item.file_type {
                _ if !is_list || item.path == dir.as_bytes() => {}
                FileType::Regular => self.sources.push(Source { path: path.into(), is_found: true }),
                FileType::Symlink => links.push(path.to_path_buf()),
                FileType::Directory => run
                    .console
                    .summary(format_args!("{} has the name of a list, and is a directory", quote(item.path))),
                // FIFOs, sockets, devices, and any future type.
                other => self.refuse(item.path, &format!("it is {}", a_file_type(other)), run),
            }
        }
        let lists = &self.sources[first..];
        if lists.is_empty() {
            let names = "no file has a name such as SHA256SUMS, x.sha256, x.md5 or x.sfv";
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

    /// Says why something is not checked.
    fn refuse(&mut self, path: &[u8], why: &str, run: &Run<'_>) {
        run.console.path_error("check", path, why);
        self.outcome = Outcome::Error;
    }
}
