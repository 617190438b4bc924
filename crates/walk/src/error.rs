//! Errors as values: what was tried, on which path, and why it failed.

use std::{fmt, io};

/// What the walk was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// Opening a directory.
    Open,
    /// Listing a directory.
    List,
    /// Asking for metadata.
    Stat,
    /// Following a link that leads back to a directory on its own path.
    Loop,
    /// Reading a file, which the walk leaves to visitors.
    Read,
}

/// A path that could not be walked.
#[derive(Debug)]
#[non_exhaustive]
pub struct WalkError {
    /// What was tried.
    pub op: Op,
    /// On which path, as given joined with the names below it.
    pub path: Vec<u8>,
    /// The cause.
    pub source: io::Error,
}

impl WalkError {
    /// For visitors that ask the system for more: what was tried on which path, and why it failed.
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
