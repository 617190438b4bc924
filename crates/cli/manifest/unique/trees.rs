//! Contents of trees. Only files whose size the other side has are read.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use ftk_hash::Algorithm;
use ftk_inventory::{DirNo, FileNo, Inventory, Keep};
use ftk_manifest::{ContentSet, Entry, Header, Manifest, named_like_parts, recorded_sizes};
use ftk_record::quote;

use crate::console::Outcome;
use crate::manifest::part::{Part, PartArgs};
use crate::manifest::reading;
use crate::manifest::root::Root;
use crate::manifest::scope::ScopeArgs;
use crate::run::{Hashed, Run};
use crate::scan::Scan;

/// One of the two operands.
#[expect(clippy::large_enum_variant, reason = "a run has two of them")]
pub(super) enum Side {
    Manifest(Manifest),
    Tree(Tree),
}

/// A tree that was walked.
pub(super) struct Tree {
    root: Root,
    scan: Scan,
    read: Option<Read>,
}

/// The digests of the files that were read.
struct Read {
    /// Ascending; a row for each.
    files: Vec<FileNo>,
    /// The name by which a file with hard links was read, by device and inode.
    linked: HashMap<(u64, u64), FileNo>,
    hashed: Hashed,
}

/// A file whose content the other side lacks.
pub(super) enum Missing<'f> {
    Recorded(&'f Entry<'f>),
    /// The path below the directory, the size, and the digest if the file was read.
    Found(&'f [u8], u64, Option<&'f [u8]>),
}

/// Returns whether the operand is a tree: a directory that holds something else than parts of a manifest.
pub(super) fn is_tree(path: &OsStr) -> anyhow::Result<bool> {
    let path = Path::new(path);
    if path == Path::new("-") || !path.is_dir() {
        return Ok(false);
    }
    let cannot = || format!("cannot list {}", quote(path.as_os_str().as_bytes()));
    let parts: HashSet<_> = named_like_parts(path).with_context(cannot)?.into_iter().collect();
    for entry in fs::read_dir(path).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        if !parts.contains(&entry.path()) || !entry.file_type().with_context(cannot)?.is_file() {
            return Ok(true);
        }
    }
    Ok(parts.is_empty())
}

impl Side {
    /// Walks the part of a directory that `args` select, which is returned too.
    ///
    /// # Errors
    /// If that is not possible, or the directory has no files: its file system may not be mounted.
    pub(super) fn walk(path: &OsStr, args: &PartArgs, run: &Run<'_>) -> anyhow::Result<(Self, Option<Part>)> {
        let root = Root::open(path)?;
        let mut part = args.compile(Some(path), &root.identity().path, None, run.console)?;
        let scope = ScopeArgs::of_words(part.as_ref().map_or(&[], Part::words))?;
        let scan = reading::walk_part(run, &root, &scope, Keep::Sizes, &[], None)?;
        if let Some(part) = &mut part {
            part.note_walk(&scan.rules);
        }
        ensure!(
            scan.inventory.files() > 0 || scan.outcome == Outcome::Error || scan.skipped.by_options() > 0,
            "{} has no files: is the right file system mounted?",
            quote(path.as_bytes())
        );
        Ok((Self::Tree(Tree { root, scan, read: None }), part))
    }

    /// Returns how many entries were not selected, as far as they were looked at.
    pub(super) fn unselected(&self) -> u64 {
        match self {
            Self::Manifest(manifest) => manifest.unselected(),
            Self::Tree(tree) => tree.scan.skipped.by_options(),
        }
    }

    pub(super) fn tree(&self) -> Option<&Tree> {
        match self {
            Self::Tree(tree) => Some(tree),
            Self::Manifest(_) => None,
        }
    }

    /// Returns the header of a manifest.
    pub(super) fn header(&self) -> Option<&Header> {
        match self {
            Self::Manifest(manifest) => Some(manifest.header()),
            Self::Tree(_) => None,
        }
    }

    /// Returns the algorithm by which contents are compared, if the side has digests that identify them.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        self.header()?.algorithms.iter().copied().find(|algorithm| algorithm.identifies_content())
    }

    /// Returns the sizes of all files, ascending; `None` if one is not known.
    ///
    /// # Errors
    /// If the manifest cannot be read.
    pub(super) fn sizes(&self) -> anyhow::Result<Option<Vec<u64>>> {
        let tree = match self {
            Self::Manifest(manifest) => return Ok(recorded_sizes(manifest)?),
            Self::Tree(tree) => tree,
        };
        let mut sizes: Vec<_> = files(&tree.scan.inventory).map(|(.., size)| size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Some(sizes))
    }

    /// Whether the side lacks something that could not be read, or that the run writes to.
    pub(super) fn has_failed(&self) -> bool {
        match self {
            Self::Manifest(manifest) => !manifest.header().failed.is_empty(),
            Self::Tree(tree) => {
                let unread = tree.read.as_ref().is_some_and(|read| !read.hashed.failed.is_empty());
                unread || tree.scan.skipped.own_output > 0 || tree.scan.outcome == Outcome::Error
            }
        }
    }

    /// Returns the device and inode of each file that was read. The same file on the other side is no copy of it.
    pub(super) fn identities(&self) -> HashSet<(u64, u64)> {
        let read = self.tree().and_then(|tree| Some((&tree.scan.inventory, tree.read.as_ref()?)));
        let Some((inventory, read)) = read else { return HashSet::new() };
        read.files.iter().map(|file| inventory.identity(inventory.dir_of(*file), *file)).collect()
    }

    /// Adds all contents that are known, but not those of the files in `others`: they belong to the other side.
    ///
    /// # Errors
    /// If they do not fit into the memory, or the manifest cannot be read.
    pub(super) fn add_to(&self, set: &mut ContentSet, others: &HashSet<(u64, u64)>) -> anyhow::Result<()> {
        let tree = match self {
            Self::Manifest(manifest) => return Ok(set.add_manifest(manifest)?),
            Self::Tree(tree) => tree,
        };
        let Some(Read { files, hashed, .. }) = &tree.read else { return Ok(()) };
        let inventory = &tree.scan.inventory;
        for (file, row) in files.iter().zip(0..) {
            let dir = inventory.dir_of(*file);
            if let Some(digest) = hashed.rows.digest(row, 0)
                && !others.contains(&inventory.identity(dir, *file))
            {
                set.add(digest, inventory.size(dir, *file))?;
            }
        }
        Ok(())
    }

    /// Passes to `each`, in path order, the files whose content is not in the set, and returns how many there are.
    /// `sizes` are those of the other side. Files that could not be read are omitted.
    ///
    /// # Errors
    /// If the manifest cannot be read.
    pub(super) fn missing_in(
        &self,
        set: &ContentSet,
        sizes: Option<&[u64]>,
        each: &mut dyn FnMut(Missing<'_>),
    ) -> anyhow::Result<u64> {
        let tree = match self {
            Self::Manifest(manifest) => {
                return Ok(set.missing_of(manifest, &mut |entry| each(Missing::Recorded(entry)))?);
            }
            Self::Tree(tree) => tree,
        };
        let (inventory, mut missing) = (&tree.scan.inventory, 0);
        let mut order = inventory.in_path_order();
        while let Some(item) = order.next() {
            let Some(file) = item.file else { continue };
            let size = inventory.size(item.dir, file);
            let digest = match tree.digest(item.dir, file) {
                Some(None) => continue,
                Some(Some(digest)) if set.has(digest, Some(size)) => continue,
                Some(digest) => digest,
                None => {
                    let is_read = sizes.is_none_or(|sizes| sizes.binary_search(&size).is_ok());
                    ensure!(!is_read, "internal error: {} was not read", quote(item.path));
                    None
                }
            };
            missing += 1;
            each(Missing::Found(tree.below(item.path), size, digest));
        }
        Ok(missing)
    }
}

impl Tree {
    /// Reads the files with one of these `sizes`, all of them for `None`.
    ///
    /// # Errors
    /// If their digests do not fit into the memory.
    pub(super) fn read(
        &mut self,
        run: &Run<'_>,
        sizes: Option<&[u64]>,
        algorithm: Algorithm,
    ) -> anyhow::Result<()> {
        let (inventory, mut linked) = (&self.scan.inventory, HashMap::new());
        let is_wanted = |size: &u64| sizes.is_none_or(|sizes| sizes.binary_search(size).is_ok());
        let mut is_first = |dir, file| {
            !inventory.is_linked(dir, file)
                || *linked.entry(inventory.identity(dir, file)).or_insert(file) == file
        };
        let wanted = files(inventory).filter(|(dir, file, size)| is_wanted(size) && is_first(*dir, *file));
        let files: Vec<_> = wanted.map(|(_, file, _)| file).collect();
        let hashed = reading::read(run, inventory, Some(&files), &[algorithm], false, "not compared")?;
        self.read = Some(Read { files, linked, hashed });
        Ok(())
    }

    /// Returns the digest of a file. The outer `None`: it was not to be read; the inner one: it could not be read.
    fn digest(&self, dir: DirNo, file: FileNo) -> Option<Option<&[u8]>> {
        let (inventory, Read { files, linked, hashed }) = (&self.scan.inventory, self.read.as_ref()?);
        let first = match inventory.is_linked(dir, file) {
            true => linked.get(&inventory.identity(dir, file)).unwrap_or(&file),
            false => &file,
        };
        let row = files.binary_search(first).ok()?;
        Some(hashed.rows.digest(row as u32, 0))
    }

    /// Strips the directory from a path that the walk found.
    fn below<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let below = path.strip_prefix(self.root.given().as_bytes()).expect("the path begins with the root");
        below.strip_prefix(b"/").unwrap_or(below)
    }

    /// Returns how many files were to be read.
    pub(super) fn files_read(&self) -> u64 {
        self.read.as_ref().map_or(0, |read| read.files.len() as u64)
    }

    /// Refuses a tree that holds the other one: each file would be found as its own copy.
    ///
    /// # Errors
    /// If one holds the other, also by a bind mount.
    pub(super) fn refuse_overlap(&self, other: &Self) -> anyhow::Result<()> {
        for [outer, inner] in [[self, other], [other, self]] {
            let top = inner.scan.inventory.identity_of_dir(DirNo(0));
            let [around, within] = [outer, inner].map(|tree| fs::canonicalize(tree.root.given()));
            let by_path = matches!((around, within), (Ok(around), Ok(within)) if within.starts_with(&around));
            let inventory = &outer.scan.inventory;
            if by_path || (0..inventory.dirs()).any(|dir| inventory.identity_of_dir(DirNo(dir)) == top) {
                let [outer, inner] =
                    [outer, inner].map(|tree| quote(tree.root.given().as_bytes()).to_string());
                bail!("{inner} is inside {outer}: each of its files would be found there as its own copy");
            }
        }
        Ok(())
    }
}

/// Returns all files, ascending, each with its directory and size.
fn files(inventory: &Inventory) -> impl Iterator<Item = (DirNo, FileNo, u64)> {
    (0..inventory.dirs()).map(DirNo).flat_map(move |dir| {
        inventory.files_of(dir).map(move |file| (dir, FileNo(file), inventory.size(dir, FileNo(file))))
    })
}
