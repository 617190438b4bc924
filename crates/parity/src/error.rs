//! Errors of parity files.

use std::{fmt, io};

/// Why a parity file cannot be written or used.
#[derive(Debug)]
pub enum Error {
    /// It cannot be read or written.
    Io(io::Error),
    /// It is not a parity file, or all copies of its head are damaged.
    NoHead,
    /// It has a later version of the format.
    Version(u32),
    /// Both copies of a page of this part are damaged.
    Lost(&'static str),
    /// It contradicts itself, although its checksums are right.
    Invalid(&'static str),
    /// It needs more memory than it may use.
    TooLarge,
    /// No batch within the memory survives the loss of a file of the asked size.
    NoPlan,
    /// A file changed while its content was encoded.
    Changed,
    /// The recovery blocks are not those of the blocks that were read: the memory or the processor of this machine is
    /// probably defective.
    Machine,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NoHead => f.write_str("not a parity file, or its start and its end are damaged"),
            Self::Version(version) => {
                write!(f, "a parity file of version {version}; this ftk reads version 1")
            }
            Self::Lost(part) => write!(f, "both copies of the {part} are damaged in the same place"),
            Self::Invalid(what) => write!(f, "invalid: {what}"),
            Self::TooLarge => f.write_str("too large (raise --memory)"),
            Self::NoPlan => f.write_str(
                "no parity survives the loss of such a file: it needs more than twice as much memory as the file is long \
                 (raise --memory)",
            ),
            Self::Changed => f.write_str("a file changed while its content was encoded: repeat the command"),
            Self::Machine => f.write_str(
                "the computed parity is wrong: check the memory of this machine before you continue",
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
