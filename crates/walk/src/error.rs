//! The error of a walk: the operation, its path, and the cause.

use std::{fmt, io};

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Opening a directory.
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
/// cause.
#[derive(Debug)]
#[non_exhaustive]
pub struct WalkError {
    /// The operation that failed.
    pub op: Op,
    /// The path: the starting point as given, joined with the names below it.
    pub path: Vec<u8>,
    /// The cause.
    pub source: io::Error,
}

impl WalkError {
    /// Makes an error, for visitors that make system calls themselves.
    pub fn new(op: Op, path: Vec<u8>, source: io::Error) -> Self {
        Self { op, path, source }
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
        write!(f, "cannot {verb} {:?}", String::from_utf8_lossy(&self.path))
    }
}

impl std::error::Error for WalkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
