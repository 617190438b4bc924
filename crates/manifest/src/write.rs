//! Writing manifests.

use std::io::{self, ErrorKind};

use ftk_hash::Algorithm;
use ftk_record::{Seal, write_path};

use crate::field::{Field, each_field};
use crate::{Entry, Header};

/// A writer of a manifest: the header, the entries, and the footer. Without the footer, the manifest is
/// incomplete. It always writes [`Header::VERSION`].
#[derive(Debug)]
pub struct Writer<S> {
    sink: S,
    seal: Seal,
    header: Header,
    has_begun: bool,
    /// Lines that were not written yet.
    lines: Vec<u8>,
}

/// As soon as this many bytes are buffered, they are hashed and written together.
pub(crate) const BATCH: usize = 128 << 10;

impl<S: FnMut(&[u8]) -> io::Result<()>> Writer<S> {
    /// Creates a writer. The header is written with the first entry, or at the end. `sink` receives whole lines with their
    /// newlines, many at a time.
    pub fn new(header: &Header, sink: S) -> Self {
        Self { sink, seal: Seal::new(), header: header.clone(), has_begun: false, lines: Vec::new() }
    }

    /// Writes an entry. The caller must sort the entries: the root first, then by the bytes of their paths.
    /// The digests of an entry must be by the algorithms of the header.
    ///
    /// # Errors
    /// Returns the errors of `sink`, and an error for an entry whose line is longer than readers accept.
    ///
    /// # Panics
    /// If the entry has digests, but fewer bytes of them than the algorithms of the header produce.
    pub fn entry(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.begin()?;
        let start = self.lines.len();
        push_entry(&mut self.lines, entry, &self.header.algorithms);
        self.end_line(start, "an entry")
    }

    /// Writes the lines of entries from another manifest with the same algorithms, including their newlines.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub(crate) fn copy(&mut self, lines: &[u8]) -> io::Result<()> {
        self.begin()?;
        self.flush()?;
        self.seal.lines(lines);
        (self.sink)(lines)
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
        assert!(!self.has_begun, "the header is written");
        &mut self.header
    }

    /// Writes the footer.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub fn finish(mut self) -> io::Result<()> {
        self.begin()?;
        self.flush()?;
        self.seal.footer(&mut self.lines);
        (self.sink)(&self.lines)
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.has_begun {
            return Ok(());
        }
        self.has_begun = true;
        self.header.write(&mut self.lines);
        self.end_line(0, "the header")
    }

    /// Ends the line that starts at this place of the buffer.
    fn end_line(&mut self, start: usize, what: &str) -> io::Result<()> {
        if self.lines.len() - start > Seal::MAX_LINE {
            self.lines.truncate(start);
            return Err(too_large(what));
        }
        if self.lines.len() < BATCH { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.seal.lines(&self.lines);
        let written = (self.sink)(&self.lines);
        self.lines.clear();
        written
    }
}

/// Returns the error for a line that readers would refuse.
pub(crate) fn too_large(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("{what} is too large for a manifest"))
}

/// Appends the line of an entry, including its newline.
pub(crate) fn push_entry(out: &mut Vec<u8>, entry: &Entry<'_>, algorithms: &[Algorithm]) {
    out.push(b'{');
    write_path(out, "path", entry.path);
    each_field!(field => {
        match (field, entry.target) {
            _ if !field.is_of(entry) => {}
            (Field::Target, Some(target)) => {
                out.push(b',');
                write_path(out, field.name(), target);
            }
            _ => {
                out.extend_from_slice(field.in_line());
                field.push_value(out, entry, algorithms);
            }
        }
    });
    out.extend_from_slice(b"}\n");
}
