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
    line: Vec<u8>,
}

impl<S: FnMut(&[u8]) -> io::Result<()>> Writer<S> {
    /// Creates a writer. The header is written with the first entry, or at the end. `sink` receives whole lines with their
    /// newlines.
    pub fn new(header: &Header, sink: S) -> Self {
        Self { sink, seal: Seal::new(), header: header.clone(), has_begun: false, line: Vec::new() }
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
        self.line.clear();
        push_entry(&mut self.line, entry, &self.header.algorithms);
        self.end_line("an entry")
    }

    /// Writes the line of an entry from another manifest with the same algorithms, including its newline.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub(crate) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.begin()?;
        self.seal.line(line);
        (self.sink)(line)
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
        self.line.clear();
        self.seal.footer(&mut self.line);
        (self.sink)(&self.line)
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.has_begun {
            return Ok(());
        }
        self.has_begun = true;
        self.line.clear();
        self.header.write(&mut self.line);
        self.end_line("the header")
    }

    fn end_line(&mut self, what: &str) -> io::Result<()> {
        if self.line.len() > Seal::MAX_LINE {
            let error = format!("{what} is too large for a manifest");
            return Err(io::Error::new(ErrorKind::InvalidInput, error));
        }
        self.seal.line(&self.line);
        (self.sink)(&self.line)
    }
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
