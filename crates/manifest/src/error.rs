//! What can be wrong with a manifest, or keep one from being used.

use std::{fmt, io};

use ftk_hash::Algorithm;
use ftk_inventory::Full;
use ftk_record::SealError;

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
    /// It is something else: why its first line is not the header of a manifest.
    NotManifest(String),
    /// It is of a version that only a later ftk knows.
    Version(u64),
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
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("cannot read or write it"),
            Self::Seal(error) => error.fmt(f),
            Self::Changed => f.write_str("it was changed while it was read"),
            Self::NotManifest(why) => write!(f, "not a manifest of ftk: {why}"),
            Self::Version(version) => write!(f, "a manifest of version {version}, which needs a later ftk"),
            Self::Line { number, what } => write!(f, "line {number}: {what}"),
            Self::Full(_) => f.write_str("too large (see --memory)"),
            Self::NoCommonAlgorithm { old, new } => {
                let names = |all: &[Algorithm]| match all {
                    [] => "none".to_owned(),
                    all => all.iter().map(|it| it.name()).collect::<Vec<_>>().join(", "),
                };
                write!(f, "no algorithm in common: {} and {}", names(old), names(new))
            }
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
