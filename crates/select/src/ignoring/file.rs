//! One ignore file.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, retry_on_intr};

use super::line::Line;

/// Larger ignore files are errors. They are not written by hand, and matching them would be too slow.
const MAX_LEN: u64 = 4 << 20;

/// The lines of one ignore file.
#[derive(Debug, Default)]
pub(super) struct Lines(Box<[Numbered]>);

/// A line, and where it comes from.
#[derive(Debug)]
pub(crate) struct Numbered {
    /// The number of the line in its file, from 1.
    pub(crate) number: usize,
    /// The line as it is written.
    pub(crate) text: Box<[u8]>,
    line: Line,
}

impl Numbered {
    /// Returns whether an entry that matches is ignored.
    pub(crate) fn ignores(&self) -> bool {
        !self.line.is_negated
    }
}

impl Lines {
    /// Reads the file `path`, relative to `at`. If that fails, returns no lines, and the error.
    ///
    /// A file that does not exist or is not a regular file has no lines, and is not an error.
    pub(super) fn read(at: BorrowedFd<'_>, path: &Path) -> (Self, Option<io::Error>) {
        match content(at, path) {
            Ok(content) => (Self::parse(&content), None),
            Err(error) => (Self::default(), Some(error)),
        }
    }

    fn parse(content: &[u8]) -> Self {
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        let lines = content.split(|&byte| byte == b'\n').enumerate();
        let parse = |(nth, text): (usize, &[u8])| {
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            Some(Numbered { number: nth + 1, text: text.into(), line: Line::parse(text)? })
        };
        Self(lines.filter_map(parse).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the last line that matches. `path` is relative to the directory of the file.
    pub(super) fn find(&self, path: &[u8], is_dir: bool) -> Option<&Numbered> {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        self.0.iter().rev().find(|numbered| numbered.line.matches(path, name, is_dir))
    }
}

fn content(at: BorrowedFd<'_>, path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe must not block.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut content = Vec::new();
    let fd = match retry_on_intr(|| openat(at, path, flags, Mode::empty())) {
        Ok(fd) => fd,
        // NXIO is the error for a socket.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NXIO) => return Ok(content),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(fstat(&fd)?.st_mode) == FileType::RegularFile {
        File::from(fd).take(MAX_LEN + 1).read_to_end(&mut content)?;
    }
    if content.len() as u64 > MAX_LEN {
        return Err(io::Error::other(format!("the file is larger than {} MiB", MAX_LEN >> 20)));
    }
    Ok(content)
}
