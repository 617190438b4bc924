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
    algorithms: Vec<Algorithm>,
    line: Vec<u8>,
}

impl<S: FnMut(&[u8]) -> io::Result<()>> Writer<S> {
    /// Creates a writer, and writes the header. `sink` receives whole lines with their newlines.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub fn new(header: &Header, sink: S) -> io::Result<Self> {
        let algorithms = header.algorithms.clone();
        let mut writer = Self { sink, seal: Seal::new(), algorithms, line: Vec::new() };
        header.write(&mut writer.line);
        writer.end_line()?;
        Ok(writer)
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
        self.line.clear();
        push_entry(&mut self.line, entry, &self.algorithms);
        self.end_line()
    }

    /// Returns the algorithms of the header.
    pub(crate) fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// Writes the footer.
    ///
    /// # Errors
    /// Returns the errors of `sink`.
    pub fn finish(mut self) -> io::Result<()> {
        self.line.clear();
        self.seal.footer(&mut self.line);
        (self.sink)(&self.line)
    }

    fn end_line(&mut self) -> io::Result<()> {
        if self.line.len() > Seal::MAX_LINE {
            return Err(io::Error::new(ErrorKind::InvalidInput, "an entry is too large for a manifest"));
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
