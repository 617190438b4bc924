//! An argument of `ftk cmp`, opened.

use std::ffi::{CString, OsStr};
use std::fs::{self, FileType};
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;

use ftk_compare::Source;
use ftk_file::{File, Stat, Stream, Symlinks};
use rustix::fs::{CWD, SeekFrom, seek};

use crate::cmp::CmpArgs;
use crate::console::{Console, cause, say_failure};
use crate::input::{is_pipe_of_caller, stdin};

/// One of the two inputs.
pub(super) struct Input {
    name: Vec<u8>,
    content: Content,
}

enum Content {
    Directory,
    File(File),
    /// A stream that can only be read sequentially, and its size if known.
    Stream(Box<dyn Read>, Option<u64>),
}

impl Input {
    /// Opens the argument. On failure, prints the error and returns `None`.
    pub(super) fn open(path: &OsStr, args: &CmpArgs, console: &Console) -> Option<Self> {
        let name = path.as_bytes().to_vec();
        let failed = |verb, error: &io::Error| {
            console.path_error(verb, &name, cause(error));
            None
        };
        if path == "-" {
            let stdin = match stdin() {
                Ok(stdin) => stdin,
                Err(error) => return failed("read", &error),
            };
            let content = Content::Stream(Box::new(Stream::new(stdin)), rest_of(stdin));
            return Some(Self { name, content });
        }
        let file_type = match fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return failed("open", &error),
        };
        let content = if file_type.is_dir() {
            Content::Directory
        } else if file_type.is_file() {
            let path = CString::new(path.as_bytes()).expect("a path without NUL, since it was opened");
            match File::open(CWD, &path, Symlinks::Follow) {
                Ok(file) => Content::File(file),
                Err(failure) => {
                    say_failure(&name, &failure, "not compared", console);
                    return None;
                }
            }
        } else if args.special || is_pipe_of_caller(path) {
            match fs::File::open(path) {
                Ok(file) => Content::Stream(Box::new(Stream::new(file)), None),
                Err(error) => return failed("open", &error),
            }
        } else {
            let what = a_special(file_type);
            // No option helps with a socket: it cannot be opened.
            let hint = if file_type.is_socket() { "" } else { " (add --special to read it)" };
            console.path_error("read", &name, format_args!("it is {what}{hint}"));
            return None;
        };
        Some(Self { name, content })
    }

    pub(super) fn is_directory(&self) -> bool {
        matches!(self.content, Content::Directory)
    }

    /// The argument as it was given.
    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// The file, if the input is a regular file.
    pub(super) fn file(&self) -> Option<&File> {
        match &self.content {
            Content::File(file) => Some(file),
            _ => None,
        }
    }

    /// The number of bytes, if known.
    pub(super) fn size(&self) -> Option<u64> {
        match &self.content {
            Content::Directory => None,
            Content::File(file) => Some(file.stat().size),
            Content::Stream(_, size) => *size,
        }
    }

    /// Returns the source to compare.
    ///
    /// # Panics
    /// If the input is a directory.
    pub(super) fn source(&mut self) -> Source<'_> {
        match &mut self.content {
            Content::Directory => panic!("a directory has no bytes"),
            Content::File(file) => Source::File(file),
            Content::Stream(stream, _) => Source::Stream(stream),
        }
    }
}

/// Returns the number of bytes from the current position of a stream to its end, if it is a regular file.
fn rest_of(stream: BorrowedFd<'_>) -> Option<u64> {
    let stat = Stat::of(stream).ok().filter(Stat::is_regular)?;
    let at = seek(stream, SeekFrom::Current(0)).ok()?;
    Some(stat.size.saturating_sub(at))
}

fn a_special(file_type: FileType) -> &'static str {
    if file_type.is_fifo() {
        "a FIFO"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
