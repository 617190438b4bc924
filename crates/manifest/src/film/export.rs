//! A manifest as a new generation of a history of ASC MHL 2.0.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, OpenDirs, Reservation};
use ftk_record::{ASC_MHL, MhlDirectory, push_mhl_digest, push_xml, xml_name};
use ftk_walk::FileType;

use super::{History, HistoryFile};
use crate::common::range;
use crate::entry::key;
use crate::formats::{ExportError, Format};
use crate::{Entry, Error, Field, Manifest};

/// A generation that is about to be written.
pub struct NewGeneration<'g> {
    /// The manifest of the tree.
    pub manifest: &'g Manifest,
    /// The history that the generation continues, without nested ones.
    pub history: Option<&'g History>,
    /// Whether the history does not record a file or directory, given its path and whether it is a directory.
    pub is_ignored: &'g dyn Fn(&[u8], bool) -> bool,
    /// Returns a time, in nanoseconds since the epoch, as XML Schema writes it.
    pub date: &'g dyn Fn(i128) -> String,
    /// What precedes the hash of the root: the start of the document, `creatorinfo`, and the start of `processinfo`.
    pub start: Vec<u8>,
    /// What follows the hash of the root: the rest of `processinfo`, and the start of `hashes`.
    pub middle: Vec<u8>,
}

/// What a new generation has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GenerationCounts {
    /// The number of files.
    pub files: u64,
    /// The number of those whose digests are not those of the history.
    pub failed: u64,
    /// The number of files of the history that the manifest does not have.
    pub missing: u64,
}

/// The algorithms of a generation, their elements, and where their digests are in an entry.
type Columns = Vec<(Algorithm, &'static str, Range<usize>)>;

/// A directory whose entries may still come.
#[derive(Debug)]
struct Open {
    mtime_ns: Option<i128>,
    by_column: Vec<MhlDirectory>,
}

/// The hashes of a directory by each column: the content hash and the structure hash.
type DirectoryHashes = Vec<[Digest; 2]>;

impl NewGeneration<'_> {
    /// Writes the generation. `sink` receives the document in pieces.
    ///
    /// # Errors
    /// If the manifest cannot be read, has no digest of an algorithm of ASC MHL, or has an entry that such a list cannot
    /// represent, before anything is written; and the errors of `sink`.
    pub fn write(
        &self,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<GenerationCounts, ExportError> {
        let columns = self.columns()?;
        let mut known = HashMap::new();
        let files = self.history.map_or(&[][..], |history| &history.files);
        budget.reserve(files.len() as u64 * 64).map_err(Error::from)?;
        for file in files.iter().filter(|file| !(self.is_ignored)(&file.path, false)) {
            known.insert(&*file.path, file);
        }
        let (_, root) = self.pass(&columns, &known, budget, &mut |_| Ok(()))?;
        sink(&self.start).map_err(Error::Io)?;
        let mut out = Vec::new();
        out.extend_from_slice(b"    <roothash>\n");
        push_hashes(&mut out, &columns, &root, "      ");
        out.extend_from_slice(b"    </roothash>\n");
        sink(&out).map_err(Error::Io)?;
        sink(&self.middle).map_err(Error::Io)?;
        let (counts, _) = self.pass(&columns, &known, budget, sink)?;
        sink(b"  </hashes>\n</hashlist>\n").map_err(Error::Io)?;
        Ok(counts)
    }

    fn columns(&self) -> Result<Columns, ExportError> {
        let recorded = &self.manifest.header().algorithms;
        let columns: Columns = ASC_MHL
            .into_iter()
            .filter_map(|(algorithm, element)| Some((algorithm, element, range(recorded, algorithm)?)))
            .collect();
        match columns.is_empty() {
            true => Err(ExportError::Digests {
                format: Format::AscMhl,
                known: Format::AscMhl.algorithms().unwrap_or_default(),
                recorded: recorded.clone(),
            }),
            false => Ok(columns),
        }
    }

    /// Writes the items of all files and directories. Returns the hashes of the root.
    fn pass(
        &self,
        columns: &Columns,
        known: &HashMap<&[u8], &HistoryFile>,
        budget: &Budget,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(GenerationCounts, DirectoryHashes), ExportError> {
        let new_dir = |mtime_ns| Open {
            mtime_ns,
            by_column: columns.iter().map(|(algorithm, ..)| MhlDirectory::new(*algorithm)).collect(),
        };
        let mut counts = GenerationCounts { missing: known.len() as u64, ..GenerationCounts::default() };
        let mut open = OpenDirs::default();
        let mut memory = Reservation::new(budget);
        let mut out = Vec::new();
        open.push(b"", new_dir(None));
        let mut entries = self.manifest.entries()?;
        while let Some(entry) = entries.next()? {
            let path = key(entry.path);
            let is_dir = entry.stat.file_type == FileType::Directory;
            if path.is_empty() || (self.is_ignored)(path, is_dir) {
                continue;
            }
            while let Some(dir) = open.pop_before(path) {
                self.close(&mut out, columns, &mut open, dir);
            }
            while let Some(missing) = open.missing(path) {
                open.push(missing, new_dir(None));
            }
            let refused = |why: String| ExportError::Entries {
                format: Format::AscMhl,
                path: path.to_vec(),
                why,
                count: 1,
            };
            let name = xml_name(path).map_err(|error| refused(error.to_string()))?;
            let mtime_ns = entry.knows(Field::Mtime).then_some(entry.stat.mtime_ns);
            if is_dir {
                open.push(path, new_dir(mtime_ns));
            } else {
                if !entry.stat.is_regular() {
                    return Err(refused("it is neither a file nor a directory".into()));
                }
                if entry.digests.is_empty() {
                    return Err(refused("its content was not read".into()));
                }
                let (at, below) = open.above(path).expect("the root is open");
                for (sums, (_, _, range)) in open[at].by_column.iter_mut().zip(columns) {
                    sums.file(below, &Digest::from_bytes(&entry.digests[range.clone()]));
                }
                let before = known.get(path).copied();
                counts.missing -= u64::from(before.is_some());
                let is_failed =
                    self.push_file(&mut out, columns, &entry, name, mtime_ns, before).map_err(refused)?;
                counts.files += 1;
                counts.failed += u64::from(is_failed);
            }
            // A growing vector is in memory twice.
            let used: usize =
                open.values_mut().flat_map(|dir| &dir.by_column).map(MhlDirectory::size_bytes).sum();
            memory.reach(2 * used as u64).map_err(Error::from)?;
            sink(&out).map_err(Error::Io)?;
            out.clear();
        }
        let root = loop {
            let dir = open.pop().expect("the root is open");
            match open.is_empty() {
                true => break dir,
                false => self.close(&mut out, columns, &mut open, dir),
            }
        };
        sink(&out).map_err(Error::Io)?;
        memory.release();
        Ok((counts, root.by_column.into_iter().map(MhlDirectory::finish).collect()))
    }

    /// Writes the item of a directory, the last that was popped, and adds it to the one around it.
    fn close(&self, out: &mut Vec<u8>, columns: &Columns, open: &mut OpenDirs<Open>, dir: Open) {
        let path = open.path().to_vec();
        let hashes: DirectoryHashes = dir.by_column.into_iter().map(MhlDirectory::finish).collect();
        let (at, below) = open.above(&path).expect("the root is open");
        for (sums, [content, structure]) in open[at].by_column.iter_mut().zip(&hashes) {
            sums.directory(below, [content, structure]);
        }
        out.extend_from_slice(b"    <directoryhash>\n      <path");
        self.push_date(out, dir.mtime_ns);
        out.push(b'>');
        push_xml(out, str::from_utf8(&path).expect("its entry was checked"));
        out.extend_from_slice(b"</path>\n");
        push_hashes(out, columns, &hashes, "      ");
        out.extend_from_slice(b"    </directoryhash>\n");
    }

    fn push_date(&self, out: &mut Vec<u8>, mtime_ns: Option<i128>) {
        if let Some(mtime_ns) = mtime_ns {
            let date = (self.date)(mtime_ns);
            out.extend_from_slice(format!(" lastmodificationdate=\"{date}\"").as_bytes());
        }
    }

    /// Writes the item of a file. Returns whether it is not as the history says.
    fn push_file(
        &self,
        out: &mut Vec<u8>,
        columns: &Columns,
        entry: &Entry<'_>,
        name: &str,
        mtime_ns: Option<i128>,
        before: Option<&HistoryFile>,
    ) -> Result<bool, String> {
        let before = before.map_or(&[][..], |file| &file.digests);
        let recorded = |algorithm| before.iter().find(|(it, _)| *it == algorithm).map(|(_, digest)| digest);
        let digest = |range: &Range<usize>| Digest::from_bytes(&entry.digests[range.clone()]);
        let compared: Vec<_> = columns
            .iter()
            .map(|(algorithm, _, range)| recorded(*algorithm).map(|expected| *expected == digest(range)))
            .collect();
        if !before.is_empty() && compared.iter().all(Option::is_none) {
            let names: Vec<_> = before.iter().map(|(algorithm, _)| algorithm.name()).collect();
            let names = names.join(", ");
            return Err(format!(
                "the history has it by {names}: make a manifest with -a {}",
                before[0].0.name()
            ));
        }
        let is_failed = compared.contains(&Some(false));
        out.extend_from_slice(b"    <hash>\n      <path");
        if let Some(size) = entry.size() {
            out.extend_from_slice(format!(" size=\"{size}\"").as_bytes());
        }
        self.push_date(out, mtime_ns);
        out.push(b'>');
        push_xml(out, name);
        out.extend_from_slice(b"</path>\n");
        let read = entry.read_ns(self.manifest.header().start_ns);
        for ((algorithm, element, range), same) in columns.iter().zip(compared) {
            let action = match same {
                Some(true) => "verified",
                Some(false) => "failed",
                None if before.is_empty() => "original",
                // A digest by another algorithm counts only if those that the history has are right.
                None if is_failed => continue,
                None => "verified",
            };
            out.extend_from_slice(format!("      <{element} action=\"{action}\"").as_bytes());
            if let Some(read) = read {
                out.extend_from_slice(format!(" hashdate=\"{}\"", (self.date)(read)).as_bytes());
            }
            out.push(b'>');
            push_mhl_digest(out, *algorithm, &digest(range));
            out.extend_from_slice(format!("</{element}>\n").as_bytes());
        }
        out.extend_from_slice(b"    </hash>\n");
        Ok(is_failed)
    }
}

/// Writes the content hashes and structure hashes of a directory.
fn push_hashes(out: &mut Vec<u8>, columns: &Columns, hashes: &DirectoryHashes, indent: &str) {
    for (nth, element) in ["content", "structure"].into_iter().enumerate() {
        out.extend_from_slice(format!("{indent}<{element}>\n").as_bytes());
        for ((algorithm, name, _), hashes) in columns.iter().zip(hashes) {
            out.extend_from_slice(format!("{indent}  <{name}>").as_bytes());
            push_mhl_digest(out, *algorithm, &hashes[nth]);
            out.extend_from_slice(format!("</{name}>\n").as_bytes());
        }
        out.extend_from_slice(format!("{indent}</{element}>\n").as_bytes());
    }
}

impl std::fmt::Debug for NewGeneration<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewGeneration").field("history", &self.history.is_some()).finish_non_exhaustive()
    }
}
