//! Writing manifests.

use std::io::{self, ErrorKind};

use ftk_hash::Algorithm;
use ftk_record::{PathError, Seal, write_path};

use crate::field::{Field, each_field};
use crate::parse::{check_members, check_path};
use crate::sequence::Sequence;
use crate::trees::TreeCheck;
use crate::{Entry, EntryError, Error, FieldSet, Header};

/// A writer of a manifest: the header, the entries, and the footer. Without the footer, the manifest is
/// incomplete.
///
/// It refuses everything that a [reader](crate::Entries) would refuse, and writes no footer after an error.
#[derive(Debug)]
pub struct Writer<S> {
    sink: S,
    seal: Seal,
    header: Header,
    /// The number of lines so far; 0 until the header is written.
    number: u64,
    /// Lines that were not written yet.
    lines: Vec<u8>,
    sequence: Sequence,
    /// The check of the tree digests of entries, if these are not trusted.
    trees: Option<TreeCheck>,
    /// Whether an entry or a line was refused or could not be written.
    has_failed: bool,
}

/// As soon as this many bytes are buffered, they are hashed and written together.
pub(crate) const BATCH: usize = 128 << 10;

impl<S: FnMut(&[u8]) -> io::Result<()>> Writer<S> {
    /// Creates a writer. The header is written with the first entry, or at the end. `sink` receives whole lines with their
    /// newlines, many at a time.
    pub fn new(header: &Header, sink: S) -> Self {
        Self {
            sink,
            seal: Seal::new(),
            header: Header { version: header.written_version(), ..header.clone() },
            number: 0,
            lines: Vec::new(),
            sequence: Sequence::default(),
            trees: None,
            has_failed: false,
        }
    }

    /// Writes an entry. The caller must sort the entries: the root first, then by the bytes of their paths.
    /// The digests of an entry must be by the algorithms of the header.
    ///
    /// # Errors
    /// Returns the errors of `sink`. Returns an [`Error::Line`] in an [`io::Error`] of the kind
    /// [`InvalidInput`](ErrorKind::InvalidInput) for an entry that readers do not accept, such as one that is out of order,
    /// that has a path outside of the root, or that lacks a digest; and for one before which a directory ended whose tree
    /// digests are not those of its entries.
    pub fn entry(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.trusted_entry(entry)?;
        let algorithms = &self.header.algorithms;
        if algorithms.is_empty() {
            return Ok(());
        }
        let trees = self.trees.get_or_insert_with(|| TreeCheck::new(algorithms));
        let checked = trees.add(entry, self.number).map_err(refused);
        self.note(checked)
    }

    /// Writes an entry whose tree digests were computed from the entries below it, or checked when they were read. They are
    /// not computed again.
    pub(crate) fn trusted_entry(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.begin()?;
        let checked = self.check(entry);
        let number = self.number + 1;
        self.note(checked.map_err(|what| refused(Error::Line { number, what })))?;
        let start = self.lines.len();
        push_entry(&mut self.lines, entry, &self.header.algorithms);
        self.end_line(start, "an entry")
    }

    /// Writes the line of an entry from another manifest, including its newline, which ftk would write for the entry with this
    /// path too. Its tree digests are trusted.
    pub(crate) fn copy_line(&mut self, path: &[u8], line: &[u8]) -> io::Result<()> {
        self.begin()?;
        let checked = self.sequence.add(path, self.header.shard.as_ref());
        let number = self.number + 1;
        self.note(checked.map_err(|what| refused(Error::Line { number, what })))?;
        let start = self.lines.len();
        self.lines.extend_from_slice(line);
        self.end_line(start, "an entry")
    }

    /// Writes the lines of entries from another manifest with the same algorithms, including their newlines. The caller
    /// has checked them.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub(crate) fn copy(&mut self, lines: &[u8]) -> io::Result<()> {
        self.begin()?;
        self.flush()?;
        self.seal.lines(lines);
        let written = (self.sink)(lines);
        self.note(written)
    }

    /// Returns the header.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the header to change it, before the first entry.
    ///
    /// # Panics
    /// If the header is written already.
    pub(crate) fn header_mut(&mut self) -> &mut Header {
        assert!(self.number == 0, "the header is written");
        &mut self.header
    }

    /// Writes the footer.
    ///
    /// # Errors
    /// Returns the errors of `sink`, and an error if anything was refused, as by [`entry`](Self::entry). The footer is then
    /// not written.
    pub fn finish(mut self) -> io::Result<()> {
        self.begin()?;
        if let Some(mut trees) = self.trees.take() {
            trees.finish().map_err(refused)?;
        }
        if self.has_failed {
            return Err(invalid("a manifest without an entry that was refused is incomplete"));
        }
        self.flush()?;
        self.seal.footer(&mut self.lines);
        (self.sink)(&self.lines)
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.number > 0 {
            return Ok(());
        }
        self.header.write(&mut self.lines);
        if let Err(error) = Header::read(self.lines.trim_ascii_end()) {
            self.lines.clear();
            return self.note(Err(refused(error)));
        }
        self.end_line(0, "the header")
    }

    /// Checks an entry as a reader checks its line.
    fn check(&mut self, entry: &Entry<'_>) -> Result<(), EntryError> {
        let header = &self.header;
        if entry.path.contains(&0) {
            return Err(EntryError::Path(PathError::Nul));
        }
        check_path(entry.path)?;
        let mut found = FieldSet::default();
        each_field!(field => {
            if field.is_of(entry) {
                found.insert(field);
            }
        });
        check_members(found, entry.stat.file_type, header)?;
        if entry.stat.mode > MODE && entry.knows(Field::Mode) {
            return Err(EntryError::Mode(format!("{:o}", entry.stat.mode)));
        }
        let is_complete = |digests: &[u8]| digests.is_empty() || digests.len() == header.digests_len();
        if !is_complete(entry.digests) {
            return Err(EntryError::Digests);
        }
        if !is_complete(entry.tree) {
            return Err(EntryError::TreeDigests);
        }
        if entry.target.is_some_and(|target| target.contains(&0)) {
            return Err(EntryError::TargetPath(PathError::Nul));
        }
        if entry.link_group.is_some_and(|group| group.contains(&0) || check_path(group).is_err()) {
            return Err(EntryError::LinkGroup);
        }
        let xattrs = entry.xattrs.unwrap_or_default();
        if xattrs.iter().any(|xattr| xattr.name.contains(&0)) {
            return Err(EntryError::XattrName(PathError::Nul));
        }
        if !xattrs.is_sorted_by(|a, b| a.name < b.name) {
            return Err(EntryError::XattrOrder);
        }
        self.sequence.add(entry.path, header.shard.as_ref())
    }

    /// Notes whether something failed, so that no footer is written.
    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.has_failed |= result.is_err();
        result
    }

    /// Ends the line that starts at this place of the buffer.
    fn end_line(&mut self, start: usize, what: &str) -> io::Result<()> {
        if self.lines.len() - start > Seal::MAX_LINE {
            self.lines.truncate(start);
            return self.note(Err(too_large(what)));
        }
        self.number += 1;
        if self.lines.len() < BATCH { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.seal.lines(&self.lines);
        let written = (self.sink)(&self.lines);
        self.lines.clear();
        self.note(written)
    }
}

/// The bits of a mode that a manifest records.
const MODE: u32 = 0o7777;

fn refused(error: Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, error)
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, what.into())
}

/// Returns the error for a line that readers would refuse.
pub(crate) fn too_large(what: &str) -> io::Error {
    invalid(format!("{what} is too large for a manifest"))
}

/// Appends the line of an entry, including its newline.
pub(crate) fn push_entry(out: &mut Vec<u8>, entry: &Entry<'_>, algorithms: &[Algorithm]) {
    out.push(b'{');
    write_path(out, "path", entry.path);
    each_field!(field => {
        match field.name_in(entry) {
            _ if !field.is_of(entry) => {}
            Some(name) => {
                out.push(b',');
                write_path(out, field.name(), name);
            }
            None => {
                out.extend_from_slice(field.in_line());
                field.push_value(out, entry, algorithms);
            }
        }
    });
    out.extend_from_slice(b"}\n");
}
