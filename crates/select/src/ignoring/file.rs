//! One ignore file.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, retry_on_intr};

use super::line::Line;

/// What is larger was not written by anybody, and matching it would take for ever.
const LONGEST: u64 = 4 << 20;

/// The lines of one ignore file.
#[derive(Debug, Default)]
pub(super) struct Lines(Box<[Line]>);

impl Lines {
    /// Those of the file `path`, seen from `at`, and why it could not be read. None where there is no such file.
    pub(super) fn read(at: BorrowedFd<'_>, path: &Path) -> (Self, Option<io::Error>) {
        match content(at, path) {
            Ok(content) => (Self::parse(&content), None),
            Err(error) => (Self::default(), Some(error)),
        }
    }

    fn parse(content: &[u8]) -> Self {
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        let lines = content.split(|&byte| byte == b'\n');
        Self(lines.filter_map(|line| Line::parse(line.strip_suffix(b"\r").unwrap_or(line))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether they ignore an entry, or say that it is not ignored: the last line that matches. `path` begins at the
    /// directory of the file.
    pub(super) fn verdict(&self, path: &[u8], is_dir: bool) -> Option<bool> {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let line = self.0.iter().rev().find(|line| line.matches(path, name, is_dir))?;
        Some(!line.is_negated)
    }
}

fn content(at: BorrowedFd<'_>, path: &Path) -> io::Result<Vec<u8>> {
    // A pipe of that name must not be waited for.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut content = Vec::new();
    let fd = match retry_on_intr(|| openat(at, path, flags, Mode::empty())) {
        Ok(fd) => fd,
        // A socket cannot be opened at all.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NXIO) => return Ok(content),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(fstat(&fd)?.st_mode) == FileType::RegularFile {
        File::from(fd).take(LONGEST + 1).read_to_end(&mut content)?;
    }
    if content.len() as u64 > LONGEST {
        return Err(io::Error::other(format!("it is longer than {} MiB", LONGEST >> 20)));
    }
    Ok(content)
}
