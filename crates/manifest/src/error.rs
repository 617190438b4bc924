//! What can be wrong with a manifest, or keep one from being used.

use std::{fmt, io};

use ftk_hash::Algorithm;
use ftk_inventory::Full;
use ftk_record::{SealError, quote};

use crate::text::brief;

/// Why a manifest cannot be read, or nothing be said of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read, or what is made cannot be written.
    Io(io::Error),
    /// It is incomplete or damaged, as its footer shows.
    Seal(SealError),
    /// The file is not what it was when it was opened.
    Changed,
    /// It is something else: what, or what is wrong with its first line.
    NotManifest(String),
    /// It is of a version that only a later ftk knows.
    Version(u64),
    /// It records an option that no manifest of this version has.
    UnknownOption(Vec<u8>),
    /// A line of it is not what a manifest may hold.
    Line {
        /// Its number; the first line is 1.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// What has to be kept of it does not fit into memory.
    Full(Full),
    /// Two manifests have no algorithm in common, so that their contents cannot be compared.
    NoCommonAlgorithm {
        /// Those of one.
        old: Vec<Algorithm>,
        /// Those of the other.
        new: Vec<Algorithm>,
    },
    /// So many files were never looked at: a fault of the program.
    Unprocessed(u64),
    /// Something is wrong with one of two manifests.
    Of(Which, Box<Error>),
}

/// One of two manifests that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one that was named first.
    First,
    /// The other one.
    Second,
}

impl Error {
    /// The error, with which of two manifests it is about.
    pub(crate) fn of(self, which: Option<Which>) -> Self {
        match which {
            Some(which) => Self::Of(which, Box::new(self)),
            None => self,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("cannot read or write it"),
            Self::Seal(error) => error.fmt(f),
            Self::Changed => f.write_str("it was changed while it was read"),
            Self::NotManifest(why) => write!(f, "not a manifest of ftk: {why}"),
            Self::Version(version) => write!(f, "a manifest of version {version}, which needs a later ftk"),
            Self::UnknownOption(option) => {
                write!(f, "made with an option that is not known here: {}", brief(quote(option)))
            }
            Self::Line { number, what } => write!(f, "line {number}: {what}"),
            Self::Full(_) => f.write_str("too large (raise --memory)"),
            Self::NoCommonAlgorithm { old, new } => {
                let names = |all: &[Algorithm]| match all {
                    [] => "none".to_owned(),
                    all => all.iter().map(|it| it.name()).collect::<Vec<_>>().join(", "),
                };
                write!(f, "no algorithm in common: {} and {}", names(old), names(new))
            }
            Self::Of(_, error) => error.fmt(f),
            Self::Unprocessed(files) => write!(f, "internal error: {files} files were not processed"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Seal(error) => error.source(),
            Self::Full(full) => Some(full),
            Self::Of(_, error) => error.source(),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<SealError> for Error {
    fn from(error: SealError) -> Self {
        Self::Seal(error)
    }
}

impl From<Full> for Error {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}
