//! Errors of reading and using manifests.

use std::{fmt, io};

use ftk_hash::Algorithm;
use ftk_inventory::Full;
use ftk_record::{SealError, quote};

use crate::text::brief;

/// Why a manifest cannot be read or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The manifest cannot be read, or the output cannot be written.
    Io(io::Error),
    /// The footer shows that the manifest is incomplete or damaged.
    Seal(SealError),
    /// The file has changed since it was opened.
    Changed,
    /// The file is not a manifest: a description of what it is, or of what is wrong with its first line.
    NotManifest(String),
    /// The manifest has a version that only a newer ftk can read.
    Version(u64),
    /// The manifest records an option that no manifest of this version can have.
    UnknownOption(Vec<u8>),
    /// A line of the manifest is invalid.
    Line {
        /// The line number; the first line is 1.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// The data to keep does not fit into the memory budget.
    Full(Full),
    /// The two manifests have no algorithm in common, so their contents cannot be compared.
    NoCommonAlgorithm {
        /// The algorithms of the first manifest.
        old: Vec<Algorithm>,
        /// The algorithms of the second manifest.
        new: Vec<Algorithm>,
    },
    /// This many files were never processed: a bug in ftk.
    Unprocessed(u64),
    /// An error in one of two manifests.
    Of(Which, Box<Error>),
}

/// One of two manifests that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first argument.
    First,
    /// The second argument.
    Second,
}

impl Error {
    /// Adds which of two manifests the error is about.
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
            Self::Io(_) => f.write_str("input or output error"),
            Self::Seal(error) => error.fmt(f),
            Self::Changed => f.write_str("changed while being read"),
            Self::NotManifest(why) => write!(f, "not a manifest of ftk: {why}"),
            Self::Version(version) => write!(f, "manifest version {version} needs a newer ftk"),
            Self::UnknownOption(option) => {
                write!(f, "made with an unknown option: {}", brief(quote(option)))
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
