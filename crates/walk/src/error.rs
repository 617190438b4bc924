//! The error of a walk: the operation, its path, and the cause.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fmt, io};

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Opening a directory, or a file with [`Entry::open`](crate::Entry::open).
    Open,
    /// Listing a directory.
    List,
    /// Reading metadata.
    Stat,
    /// Following a link that leads to a directory above it, or links that lead to each other.
    Loop,
    /// Entering a directory that is also above itself, without a link: a part of a tree is mounted below itself.
    Cycle,
    /// Reading a file. The walk reads none; visitors that do can report their errors with this.
    Read,
}

/// A failed operation on one path.
///
/// [`Display`](fmt::Display) prints the operation and the path; [`source`](std::error::Error::source) is the
/// cause. The alternate form `{:#}` prints both. Bytes of a path that are not UTF-8 are printed as `\xFF`.
///
/// # Examples
///
/// It converts to an [`io::Error`] of the same kind, which keeps the path:
///
/// ```
/// use std::io;
/// # use ftk_walk::{Step, WalkError, Walker};
///
/// fn count(path: &str) -> io::Result<u64> {
///     let parts = Walker::new([path]).fold(
///         || Ok(0),
///         |count: &mut Result<u64, WalkError>, entry| match (entry, count) {
///             (Ok(_), Ok(count)) => {
///                 *count += 1;
///                 Step::Descend
///             }
///             (Err(error), count) => {
///                 *count = Err(error);
///                 Step::Stop
///             }
///             (Ok(_), Err(_)) => Step::Stop,
///         },
///     );
///     let mut total = 0;
///     for part in parts {
///         total += part?;
///     }
///     Ok(total)
/// }
///
/// let error = count("missing").unwrap_err();
/// assert_eq!(error.kind(), io::ErrorKind::NotFound);
/// assert_eq!(error.to_string(), r#"cannot stat "missing""#);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct WalkError {
    /// The operation that failed.
    pub op: Op,
    /// The path as bytes: the starting point as given, joined with the names below it.
    pub path: Vec<u8>,
    /// The cause.
    pub source: io::Error,
}

impl WalkError {
    /// Makes an error, for visitors that make system calls themselves.
    pub fn new(op: Op, path: Vec<u8>, source: io::Error) -> Self {
        Self { op, path, source }
    }

    /// Returns the path: the starting point as given, joined with the names below it.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.op {
            Op::Open => "open",
            Op::List => "list",
            Op::Stat => "stat",
            Op::Loop => "follow",
            Op::Cycle => "enter",
            Op::Read => "read",
        };
        write!(f, "cannot {verb} {:?}", self.path())?;
        if f.alternate() { write!(f, ": {}", self.source) } else { Ok(()) }
    }
}

impl std::error::Error for WalkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<WalkError> for io::Error {
    fn from(error: WalkError) -> Self {
        Self::new(error.source.kind(), error)
    }
}
