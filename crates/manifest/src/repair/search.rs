//! Finding wanted contents in copies.

use std::collections::{HashMap, HashSet};

use ftk_file::Version;
use ftk_inventory::FileNo;
use ftk_process::Rows;

use crate::contents::Content;
use crate::repair::damage::BLOCK;
use crate::walked_tree::WalkedTree;
use crate::{Contents, Wanted};

/// A file of a copy that has a wanted content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path, from the starting point of the walk.
    pub path: Vec<u8>,
    /// Length of the starting point in `path`.
    pub root_len: usize,
    /// The file as it was read.
    pub version: Version,
    /// Bytes of disk space that the file uses.
    pub allocated: u64,
}

/// Finds wanted contents in copies: first at the same path, then anywhere. Only files that were read are
/// used. Names that become hard links of a file in the tree need no copy.
#[derive(Debug)]
pub struct Search<'s> {
    wanted: &'s [Wanted],
    /// For each content that was found, the position of the name at whose path it was found.
    ranks: Vec<usize>,
    /// For each wanted content, the file that has it.
    pub found: Vec<Option<Found>>,
}

impl<'s> Search<'s> {
    /// Starts a search.
    pub fn new(wanted: &'s [Wanted]) -> Self {
        Self { wanted, ranks: vec![usize::MAX; wanted.len()], found: vec![None; wanted.len()] }
    }

    /// Returns whether every content was found.
    pub fn is_over(&self) -> bool {
        self.missing().next().is_none()
    }

    fn missing(&self) -> impl Iterator<Item = &Wanted> {
        let all = self.wanted.iter().zip(&self.found);
        all.filter(|(wanted, found)| wanted.link_to.is_none() && found.is_none()).map(|(wanted, _)| wanted)
    }

    /// Returns the files of a copy that have the path and the size of a content that was not found yet,
    /// ascending. The walk must have kept sizes.
    pub fn at_same_path(&self, copy: &WalkedTree<'_>) -> Vec<FileNo> {
        let mut paths: HashMap<&[u8], u64> = HashMap::new();
        for wanted in self.missing() {
            paths.extend(wanted.names.iter().map(|name| (&*name.path, wanted.recorded.stat.size)));
        }
        let mut files = self.of_same_size(copy, &[]);
        files.retain(|&file| {
            let size = copy.inventory.size(copy.inventory.dir_of(file), file);
            paths.get(&*copy.path_of(file)) == Some(&size)
        });
        files
    }

    /// Returns the files of a copy that have the size of a content that was not found yet, ascending, except
    /// those in `read`, which must be ascending too. The walk must have kept sizes.
    pub fn of_same_size(&self, copy: &WalkedTree<'_>, read: &[FileNo]) -> Vec<FileNo> {
        let sizes: HashSet<u64> = self.missing().map(|wanted| wanted.recorded.stat.size).collect();
        let inventory = copy.inventory;
        let is_wanted = |file: &FileNo| sizes.contains(&inventory.size(inventory.dir_of(*file), *file));
        let files = (0..inventory.files()).map(FileNo);
        files.filter(|file| is_wanted(file) && read.binary_search(file).is_err()).collect()
    }

    /// Notes which contents are in the files that were read into `rows`.
    pub fn note(&mut self, copy: &WalkedTree<'_>, files: &[FileNo], rows: &Rows) {
        let contents = Contents::read(Some(files), rows);
        let mut waiting: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (at, wanted) in self.wanted.iter().enumerate() {
            if wanted.link_to.is_none() && self.found[at].is_none() {
                waiting.entry(&wanted.digests).or_default().push(at);
            }
        }
        let mut digests = Vec::new();
        for &file in files {
            let Content::Read(row, stat) = contents.of(file) else { continue };
            contents.digests(row, &mut digests);
            let Some(all) = waiting.get(&*digests) else { continue };
            let found = Found {
                path: copy.inventory.path(file),
                root_len: copy.root.len(),
                version: stat.version(),
                allocated: stat.blocks * BLOCK,
            };
            for &at in all.iter().filter(|at| self.wanted[**at].recorded.stat.size == stat.size) {
                let mut names = self.wanted[at].names.iter();
                let rank = names.position(|name| name.path == copy.path_of(file)).unwrap_or(usize::MAX);
                // The file at the path of the first name is preferred, so that the plan is easy to read.
                if self.found[at].is_none() || rank < self.ranks[at] {
                    self.found[at] = Some(found.clone());
                    self.ranks[at] = rank;
                }
            }
        }
    }
}
