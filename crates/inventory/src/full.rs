//! The limits of the table.

use std::fmt;

/// The error for a tree that does not fit into the table. The walk stops when a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Full {
    /// More than 2^32 - 1 entries, in total or in the part of one worker.
    Entries,
    /// More than 2^32 - 2 directories, in total or in the part of one worker.
    Directories,
    /// More than 4 GiB of names in the part of one worker.
    Names,
    /// A name of more than 65,535 bytes. Only a starting point can have one.
    LongName,
    /// More than 65,536 workers.
    Workers,
    /// More memory than the [`Budget`](crate::Budget) allows.
    Memory,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Full::Entries => "more than 4,294,967,295 files in one run",
            Full::Directories => "more than 4,294,967,294 directories in one run",
            Full::Names => "more than 4 GiB of names for one worker",
            Full::LongName => "a starting point of more than 65,535 bytes",
            Full::Workers => "more than 65,536 workers",
            Full::Memory => "its tables need more memory than allowed",
        })
    }
}

impl std::error::Error for Full {}
