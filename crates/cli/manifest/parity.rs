//! Parity files of a tree: opening them, and the files that may have their contents.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsStr};
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::iter;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, ensure};
use ftk_file::{Birth, Failure, File, Holes, Symlinks, descend};
use ftk_inventory::{Budget, Reservation};
use ftk_manifest::Manifest;
use ftk_parity::{Content, Parity, Sources, is_parity};
use ftk_record::quote;
use rustix::fs::CWD;

/// The error of a file that has another size than recorded: it was changed, and can be read.
pub(super) const OTHER_SIZE: ErrorKind = ErrorKind::InvalidData;

/// Opens a parity file, whose index may use `memory` bytes.
///
/// # Errors
/// If it cannot be read, or is damaged so that nothing can be computed from it.
pub(super) fn open(path: &OsStr, memory: u64) -> anyhow::Result<Parity> {
    Parity::open(opened(path)?, memory).with_context(|| quote(path.as_bytes()))
}

/// Returns whether this is a file that begins or ends as a parity file. Only regular files are opened.
///
/// # Errors
/// If a regular file cannot be opened.
pub(super) fn is_one(path: &OsStr) -> anyhow::Result<bool> {
    Ok(Path::new(path).is_file() && is_parity(&opened(path)?))
}

fn opened(path: &OsStr) -> anyhow::Result<File> {
    let file = File::open(CWD, &CString::new(path.as_bytes())?, Symlinks::Follow).map_err(error_of);
    file.with_context(|| format!("cannot open {}", quote(path.as_bytes())))
}

/// The files below directories that may have contents, by the positions of the contents.
pub(super) struct TreeFiles<'t> {
    roots: Vec<OwnedFd>,
    contents: &'t [Content],
    /// The paths where a content is recorded, below each root.
    paths: Vec<Vec<Vec<u8>>>,
    /// Other files that may have a content, by its size: the number of their root, and their path below it.
    others: HashMap<u64, Vec<(usize, Vec<u8>)>>,
    /// The file that was read last: its content, its number, and itself.
    last: Option<(usize, usize, Rc<File>)>,
}

impl<'t> TreeFiles<'t> {
    /// Collects the recorded paths of the contents, whose digests are unique. The walk of the first root may
    /// add [others](Self::add_others).
    ///
    /// # Errors
    /// If a root cannot be opened, the manifest cannot be read, or the paths do not fit into the budget.
    pub(super) fn new<'p>(
        roots: impl IntoIterator<Item = &'p OsStr>,
        manifest: &Manifest,
        contents: &'t [Content],
        budget: &Budget,
    ) -> anyhow::Result<Self> {
        let open = |root: &OsStr| {
            descend(CWD, [root.as_bytes()], Symlinks::Follow, &mut Vec::new())
                .with_context(|| format!("cannot open {}", quote(root.as_bytes())))
        };
        let roots = roots.into_iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
        let positions: HashMap<&[u8], usize> =
            contents.iter().enumerate().map(|(nth, content)| (&*content.digests, nth)).collect();
        let mut paths = vec![Vec::new(); contents.len()];
        collect(manifest, &positions, &mut paths, budget)?;
        Ok(Self { roots, contents, paths, others: HashMap::new(), last: None })
    }

    /// Adds the paths of contents that the manifest does not record, but the one in their parity file: a file that was
    /// recorded again when it had grown still has parts of them. If that manifest cannot be used, nothing is added.
    pub(super) fn add_former(&mut self, parity: &Parity, budget: &Budget) {
        let unknown = (0..self.contents.len()).filter(|nth| self.paths[*nth].is_empty());
        let unknown: HashMap<&[u8], usize> = unknown.map(|nth| (&*self.contents[nth].digests, nth)).collect();
        if unknown.is_empty() {
            return;
        }
        let mut paths = vec![Vec::new(); self.contents.len()];
        let found = kept_manifest(parity, budget.left())
            .and_then(|(_, manifest)| collect(&manifest, &unknown, &mut paths, budget));
        if found.is_ok() {
            paths.into_iter().enumerate().for_each(|(nth, paths)| self.paths[nth].extend(paths));
        }
    }

    /// Adds files that are not recorded, by the path below the first root and the size: contents that are at none of
    /// their recorded paths may have moved there.
    pub(super) fn add_others(&mut self, files: impl Iterator<Item = (Vec<u8>, u64)>) {
        let mut sizes = HashSet::new();
        for nth in 0..self.contents.len() {
            if !(0..self.own(nth)).any(|candidate| self.file(nth, candidate).is_ok()) {
                sizes.insert(self.contents[nth].size);
            }
        }
        let recorded: HashSet<&[u8]> = self.paths.iter().flatten().map(|path| &**path).collect();
        for (path, size) in files.filter(|(path, size)| sizes.contains(size) && !recorded.contains(&**path)) {
            self.others.entry(size).or_default().push((0, path));
        }
    }

    /// Returns the number of recorded paths of a content below all roots.
    fn own(&self, content: usize) -> usize {
        self.paths[content].len() * self.roots.len()
    }

    /// Opens a file, if it has the size of the content.
    fn file(&self, content: usize, candidate: usize) -> io::Result<File> {
        let file = self.open(content, candidate)?;
        self.check_size(content, &file)?;
        Ok(file)
    }

    fn check_size(&self, content: usize, file: &File) -> io::Result<()> {
        match file.stat().size == self.contents[content].size {
            true => Ok(()),
            false => Err(io::Error::new(OTHER_SIZE, "its size differs")),
        }
    }

    /// Opens a file of any size.
    fn open(&self, content: usize, candidate: usize) -> io::Result<File> {
        let (paths, own) = (&self.paths[content], self.own(content));
        let (root, path) = match candidate < own {
            true => (candidate / paths.len(), &paths[candidate % paths.len()]),
            false => {
                let others = self.others.get(&self.contents[content].size);
                let (root, path) =
                    others.and_then(|it| it.get(candidate - own)).ok_or(ErrorKind::NotFound)?;
                (*root, path)
            }
        };
        open_below(&self.roots[root], path)
    }

    /// Returns a file of any size, which is opened unless it was read last.
    fn last(&mut self, content: usize, candidate: usize) -> io::Result<Rc<File>> {
        match &self.last {
            Some((nth, at, file)) if (*nth, *at) == (content, candidate) => Ok(Rc::clone(file)),
            _ => {
                let file = Rc::new(self.open(content, candidate)?);
                self.last = Some((content, candidate, Rc::clone(&file)));
                Ok(file)
            }
        }
    }

    /// Returns the first recorded path of a content.
    pub(super) fn path(&self, content: usize) -> &[u8] {
        self.paths[content].first().map_or(b"", |path| path)
    }
}

impl Sources for TreeFiles<'_> {
    /// Returns the ranges that are not holes in the first file that has the size.
    fn data(&mut self, content: usize, size: u64) -> Vec<Range<u64>> {
        let first = (0..self.own(content)).find_map(|candidate| self.file(content, candidate).ok());
        let Some(file) = first else { return iter::once(0..size).collect() };
        let (mut holes, mut at, mut all) = (Holes::new(&file, true), 0, Vec::new());
        while at < size {
            let known = holes.at(&file, at);
            let end = known.end.min(size);
            if !known.holds {
                all.push(at..end);
            }
            at = end;
        }
        all
    }

    fn candidates(&mut self, content: usize) -> usize {
        self.own(content) + self.others.get(&self.contents[content].size).map_or(0, Vec::len)
    }

    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let file = self.last(content, candidate)?;
        self.check_size(content, &file)?;
        file.read_exact_at(buf, offset).map_err(error_of)
    }

    fn part(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.last(content, candidate)?.read_exact_at(buf, offset).map_err(error_of)
    }
}

/// Collects the paths of contents by their digests.
fn collect(
    manifest: &Manifest,
    positions: &HashMap<&[u8], usize>,
    paths: &mut [Vec<Vec<u8>>],
    budget: &Budget,
) -> anyhow::Result<()> {
    let mut reserved = Reservation::new(budget);
    let mut entries = manifest.entries()?;
    while let Some(entry) = entries.next()? {
        if let Some(&nth) = positions.get(entry.digests).filter(|_| entry.stat.is_regular()) {
            reserved.consume((size_of::<Vec<u8>>() + entry.path.len()) as u64)?;
            paths[nth].push(entry.path.to_vec());
        }
    }
    Ok(())
}

/// Opens the manifest in a parity file, and returns also a file that has it as it is there: compressed. It may use
/// `memory` bytes.
///
/// # Errors
/// If it is damaged, longer, or no manifest, or if there is no room for a temporary file.
pub(super) fn kept_manifest(parity: &Parity, memory: u64) -> anyhow::Result<(fs::File, Manifest)> {
    let mut compressed = tempfile::tempfile()?;
    compressed.write_all(&parity.manifest(memory)?)?;
    let manifest = Manifest::open(compressed.try_clone()?)?;
    Ok((compressed, manifest))
}

/// Opens a regular file below a directory. No link is followed.
fn open_below(root: &OwnedFd, path: &[u8]) -> io::Result<File> {
    let (dir, name) = match path.iter().rposition(|byte| *byte == b'/') {
        Some(end) => (Some(&path[..end]), &path[end + 1..]),
        None => (None, path),
    };
    let name = CString::new(name)?;
    let dir = dir.map(|dir| descend(root.as_fd(), [dir], Symlinks::NoFollow, &mut Vec::new())).transpose()?;
    let dir = dir.as_ref().map_or(root.as_fd(), AsFd::as_fd);
    File::open_with(dir, &name, Symlinks::NoFollow, Birth::Unknown).map_err(error_of)
}

/// Returns the cause of a failure.
fn error_of(failure: Failure) -> io::Error {
    match failure {
        Failure::Io { source, .. } => source,
        Failure::NotRegular => io::Error::other("not a regular file"),
        _ => io::Error::other("it changed while it was read"),
    }
}

/// Checks that a parity file knows contents by the digests of the manifest.
///
/// # Errors
/// If it has others.
pub(super) fn check_algorithms(parity: &Parity, manifest: &Manifest, path: &OsStr) -> anyhow::Result<()> {
    ensure!(
        parity.algorithms().0 == manifest.header().algorithms,
        "{} knows contents by other digests than the manifest records",
        quote(path.as_bytes())
    );
    Ok(())
}
