//! One ignore file.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, retry_on_intr};

use super::line::translate;

/// What is larger was not written by anybody, and matching it would take for ever.
const LONGEST: u64 = 4 << 20;

/// What the file `path`, seen from `at`, says, and what is wrong with it. Empty where there is no such file.
pub(super) fn read(at: BorrowedFd<'_>, path: &Path) -> (Gitignore, Option<io::Error>) {
    match content(at, path) {
        Ok(content) if content.is_empty() => (Gitignore::empty(), None),
        Ok(content) => parse(&content),
        Err(error) => (Gitignore::empty(), Some(error)),
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

fn parse(content: &[u8]) -> (Gitignore, Option<io::Error>) {
    let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    let mut builder = GitignoreBuilder::new("");
    let mut first_error = None;
    for (nth, line) in content.split(|&byte| byte == b'\n').enumerate() {
        let added = match translate(line.strip_suffix(b"\r").unwrap_or(line)) {
            Ok(None) => Ok(()),
            Ok(Some(line)) => builder.add_line(None, &line).map(|_| ()).map_err(|error| error.to_string()),
            Err(problem) => Err(problem.to_owned()),
        };
        if let Err(problem) = added {
            first_error.get_or_insert_with(|| io::Error::other(format!("line {} {problem}", nth + 1)));
        }
    }
    match builder.build() {
        Ok(rules) => (rules, first_error),
        Err(error) => (Gitignore::empty(), Some(io::Error::other(error))),
    }
}
