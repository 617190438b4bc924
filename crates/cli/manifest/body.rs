//! The lines of a manifest on their way to a list, compressed if the name of its file asks for it.

use std::io::{self, Write};
use std::path::Path;

use ftk_record::{ZstdWriter, is_zstd_name};

use crate::list::List;

/// Writes the lines of one manifest.
pub(super) enum Body<'l, 'o> {
    Plain(ToList<'l, 'o>),
    Zstd(Box<ZstdWriter<ToList<'l, 'o>>>),
}

impl<'l, 'o> Body<'l, 'o> {
    /// Writes to `list`, compressed if the name `output` ends in `.zst`.
    ///
    /// # Errors
    /// If there is no memory to compress.
    pub(super) fn new(list: &'l mut List<'o>, output: Option<&Path>) -> io::Result<Self> {
        let list = ToList(list);
        Ok(match output {
            Some(path) if is_zstd_name(path) => Self::Zstd(Box::new(ZstdWriter::new(list)?)),
            _ => Self::Plain(list),
        })
    }

    /// Writes a line, including its newline.
    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(list) => list.write_all(line),
            Self::Zstd(list) => list.write_all(line),
        }
    }

    /// Writes what is buffered here. The list itself still has to be finished.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Zstd(list) => list.finish().map(|_| ()),
        }
    }
}

/// A list as a writer of any bytes. It never fails: [`List::finish`] reports failures.
pub(super) struct ToList<'l, 'o>(&'l mut List<'o>);

impl Write for ToList<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0 {
            List::File(_) => self.0.write(bytes),
            List::Stdout(_) => self.0.line(|out| out.extend_from_slice(bytes)),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
