//! Errors of writing or reading a report.

use std::fmt;

use ftk_hash::Algorithm;
use ftk_inventory::Full;
use ftk_record::{PathError, SealError, quote};

use super::{RECORDED_VERSION, VERSION};

/// Why a report cannot be written or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReportError {
    /// The starting points and arguments make a header that is too long to be read back.
    HeaderTooLong,
    /// The report is incomplete, or has changed since it was written.
    Seal(SealError),
    /// The report has no header.
    Empty,
    /// A line is invalid.
    Line {
        /// The line number, from 1.
        number: u64,
        /// The problem with the line.
        problem: RecordError,
    },
}

/// Why a line of a report is not a valid record.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// The first line is not a header.
    NotHeader,
    /// The header belongs to another kind of file.
    NotReport,
    /// The report has a version that is not supported.
    Version(u32),
    /// The algorithm of the digests is unknown, or its digests are too short.
    Algorithm,
    /// A name cannot be used.
    Path(PathError),
    /// The line is not a JSON object with the members of a group.
    Group(serde_json::Error),
    /// The header does not have a manifest for each starting point.
    Manifests,
    /// The identity of a file system is not 32 digits.
    FileSystem,
    /// The line is not a JSON object with the members of a group of directories.
    Directories(serde_json::Error),
    /// The digest is not one by this algorithm.
    Digest(Algorithm),
    /// The lines of the group with this number have different sizes or digests.
    Different(u64),
    /// The number of a group is not larger than the one before.
    Order {
        /// The number of the group.
        number: u64,
        /// The number of the group before.
        last: u64,
    },
    /// The header does not list the starting point of this path.
    NoRoot(Vec<u8>),
    /// The path is not below its starting point.
    NotBelow {
        /// The path.
        path: Vec<u8>,
        /// The starting point.
        root: Vec<u8>,
    },
    /// This path is listed twice.
    Twice(Vec<u8>),
    /// The report does not fit into the budget.
    Full(Full),
    /// A report has a decision, which only files of decisions have.
    Decided,
    /// A decision is not about files or directories of a tree.
    NotFiles,
    /// The decision about the group with this number keeps nothing. Symbolic links do not count.
    NothingKept(u64),
    /// A decision keeps a file or directory that the group does not have.
    NoFile {
        /// The number of the group.
        group: u64,
        /// The number of the file or directory.
        file: u64,
    },
    /// One decision keeps what another one removes.
    KeptInside {
        /// The path to keep.
        path: Vec<u8>,
        /// The directory around it that goes.
        dir: Vec<u8>,
    },
}

impl ReportError {
    /// Whether the report is complete and only its footer does not match. It may have been edited on purpose.
    pub fn is_seal_broken(&self) -> bool {
        matches!(self, Self::Seal(SealError::WrongCount | SealError::WrongDigest))
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderTooLong => f.write_str("the starting points and arguments are too long for a report"),
            Self::Seal(_) => f.write_str("incomplete, or changed since it was written"),
            Self::Empty => f.write_str("the report has no header"),
            Self::Line { number, problem } => write!(f, "line {number}: {problem}"),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHeader => f.write_str("not the header of a report of `ftk dup --json`"),
            Self::NotReport => f.write_str("this is not a report of `ftk dup --json`"),
            Self::Version(version) => {
                write!(
                    f,
                    "report version {version} is not supported; this ftk reads {VERSION} and {RECORDED_VERSION}"
                )
            }
            Self::Algorithm => f.write_str("unknown digest algorithm"),
            Self::Path(error) => error.fmt(f),
            Self::Group(error) => write!(f, "not a group: {error}"),
            Self::Manifests => f.write_str("the header does not name a manifest for each root"),
            Self::FileSystem => f.write_str("the file system is not 32 hexadecimal digits"),
            Self::Directories(error) => write!(f, "not a group of directories: {error}"),
            Self::Digest(algorithm) => write!(f, "the digest is not a {algorithm} digest"),
            Self::Different(number) => write!(f, "group {number} has different sizes or digests"),
            Self::Order { number, last } => write!(f, "group {number} does not follow group {last}"),
            Self::NoRoot(path) => {
                write!(f, "{} has a starting point that the header does not list", quote(path))
            }
            Self::NotBelow { path, root } => write!(f, "{} is not below {}", quote(path), quote(root)),
            Self::Twice(path) => write!(f, "{} is listed twice", quote(path)),
            Self::Full(_) => f.write_str("the report is too large (raise --memory)"),
            Self::Decided => f.write_str("only a file of decisions says what to keep"),
            Self::NotFiles => f.write_str("decisions can only be about files and directories of trees"),
            Self::NothingKept(group) => write!(f, "the decision about group {group} keeps nothing"),
            Self::NoFile { group, file } => write!(f, "group {group} has no number {file} to keep"),
            Self::KeptInside { path, dir } => {
                write!(f, "{} is to be kept, and {} around it is not", quote(path), quote(dir))
            }
        }
    }
}

impl std::error::Error for RecordError {}

impl std::error::Error for ReportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Seal(error) => Some(error),
            _ => None,
        }
    }
}
