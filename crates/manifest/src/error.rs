//! Errors of reading and using manifests.

use std::fmt;
use std::io::{self, ErrorKind};

use ftk_hash::Algorithm;
use ftk_inventory::Full;
use ftk_record::{PathError, SealError, quote};
use ftk_select::CheckError;

use crate::text::{brief, plain};
use crate::{Field, Header};

/// Why a manifest cannot be read or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The manifest cannot be read, or the output cannot be written.
    Io(io::Error),
    /// The footer shows that the manifest is incomplete or damaged.
    Seal(SealError),
    /// The file is compressed, and cannot be decompressed to its end.
    Compression(io::Error),
    /// The file has changed since it was opened.
    Changed,
    /// The file is not a manifest: a description of what it is, or of what is wrong with its first line.
    NotManifest(String),
    /// The file is a list of another tool, which [`Import`](crate::Import) reads: a description with an article.
    List(&'static str),
    /// The manifest has a version that only a newer ftk can read.
    Version(u64),
    /// The manifest records one shard of a tree, and the whole tree is required.
    Shard {
        /// The number of the shard.
        number: u32,
        /// The number of shards.
        of: u32,
    },
    /// The manifest records another shard of a tree than the one that is required.
    OtherShard {
        /// The number of its shard.
        number: u32,
        /// The number of shards.
        of: u32,
    },
    /// The manifest records an option that no manifest of this version can have.
    UnknownOption(Vec<u8>),
    /// A rule that the manifest records is malformed.
    Rule(CheckError),
    /// A line of the manifest is invalid.
    Line {
        /// The line number; the first line is 1.
        number: u64,
        /// What is wrong.
        what: EntryError,
    },
    /// The data to keep does not fit into the memory budget.
    Full(Full),
    /// The two manifests have no algorithm in common that is fit for the comparison.
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
    /// An error in the part of this name.
    Part(Vec<u8>, Box<Error>),
}

/// Why a line of a manifest is not a valid entry.
#[derive(Debug)]
#[non_exhaustive]
pub enum EntryError {
    /// It is not a JSON object with the members of an entry.
    Json(serde_json::Error),
    /// It has no usable path.
    Path(PathError),
    /// The path is absolute or has an empty, `.` or `..` component.
    NotBelowRoot(Vec<u8>),
    /// The type is unknown.
    Type(String),
    /// The mode does not consist of four octal digits.
    Mode(String),
    /// The member of this name is missing.
    Missing(&'static str),
    /// This number of allocated bytes is not a multiple of 512.
    Allocated(u64),
    /// Something other than a device has an `rdev`.
    Rdev,
    /// A symbolic link has no target, or another type has one.
    Target,
    /// The name of a group of hard links is not a path below the root, or a directory has one.
    LinkGroup,
    /// The target cannot be used.
    TargetPath(PathError),
    /// A regular file has more or fewer digests than the header has algorithms, or another type has digests.
    Digests,
    /// The digest by this algorithm is missing.
    NoDigest(Algorithm),
    /// This text is not a digest by the algorithm.
    Digest(Algorithm, String),
    /// An entry that is not a directory, or an entry of a manifest without algorithms, has a tree digest.
    Tree,
    /// A directory has more or fewer tree digests than the header has algorithms.
    TreeDigests,
    /// The tree digest of this directory is not that of the recorded entries below it.
    OtherTree(Vec<u8>),
    /// The identity of the file system does not consist of 32 lower-case hexadecimal digits.
    Fs(String),
    /// An entry without digests has this member, which says something about its content.
    NoContent(&'static str),
    /// The entry has extended attributes, but the header says that no entry has any.
    Xattrs,
    /// The name of an extended attribute cannot be used.
    XattrName(PathError),
    /// The value of an extended attribute is not valid base64.
    XattrValue,
    /// The extended attributes are not sorted by name.
    XattrOrder,
    /// The path is that of the entry before.
    Twice(Vec<u8>),
    /// The path sorts before that of the entry before.
    Order(Vec<u8>),
    /// The path belongs to another shard.
    OutsideShard(Vec<u8>),
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

    /// Adds the name of the part that the error is about.
    pub(crate) fn in_part(self, name: &[u8]) -> Self {
        Self::Part(name.to_vec(), Box::new(self))
    }
}

impl EntryError {
    /// Returns the error for a member that the entry must have and does not have.
    pub(crate) fn missing(field: Field) -> Self {
        match field {
            Field::Digests => Self::unexpected(field),
            field => Self::Missing(field.name()),
        }
    }

    /// Returns the error for a member that the entry must not have.
    pub(crate) fn unexpected(field: Field) -> Self {
        match field {
            Field::Rdev => Self::Rdev,
            Field::Target => Self::Target,
            Field::LinkGroup => Self::LinkGroup,
            Field::Digests => Self::Digests,
            Field::Tree => Self::Tree,
            Field::Verified | Field::Damaged => Self::NoContent(field.name()),
            _ => Self::Xattrs,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("input or output error"),
            Self::Seal(error) => error.fmt(f),
            Self::Compression(error) => error.fmt(f),
            Self::Changed => f.write_str("changed while being read"),
            Self::NotManifest(why) => write!(f, "not a manifest of ftk: {why}"),
            Self::List(what) => write!(f, "not a manifest of ftk: it is {what}"),
            Self::Version(version) => write!(
                f,
                "manifest version {version} needs a newer ftk; this one reads versions 1 to {}",
                Header::VERSION
            ),
            Self::Shard { number, of } => write!(
                f,
                "it records only shard {number} of {of}: `ftk manifest merge` makes a whole manifest of all parts"
            ),
            Self::OtherShard { number, of } => {
                write!(
                    f,
                    "it records shard {number} of {of}, by the same plan or another one, and not this shard"
                )
            }
            Self::UnknownOption(option) => {
                write!(f, "made with an unknown option: {}", brief(quote(option)))
            }
            Self::Rule(error) => write!(f, "its recorded rules: {}", brief(error.to_string())),
            Self::Line { number, what } => write!(f, "line {number}: {}", brief(what.to_string())),
            Self::Full(_) => f.write_str("too large (raise --memory)"),
            Self::NoCommonAlgorithm { old, new } => {
                let names = |all: &[Algorithm]| match all {
                    [] => "none".to_owned(),
                    all => all.iter().map(|it| it.name()).collect::<Vec<_>>().join(", "),
                };
                write!(f, "no algorithm in common: {} and {}", names(old), names(new))?;
                // They may have a CRC in common.
                if old.iter().any(|algorithm| new.contains(algorithm)) {
                    f.write_str(" (a CRC does not identify contents)")?;
                }
                Ok(())
            }
            Self::Of(_, error) => error.fmt(f),
            Self::Part(name, error) => write!(f, "{}: {error}", quote(name)),
            Self::Unprocessed(files) => write!(f, "internal error: {files} files were not processed"),
        }
    }
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json(error) => return f.write_str(&plain(error)),
            Self::Path(error) => return error.fmt(f),
            Self::NotBelowRoot(path) => return write!(f, "{} is not a path below the root", quote(path)),
            Self::Type(text) => return write!(f, "unknown type {text:?}"),
            Self::Mode(text) => return write!(f, "{text:?} is not a mode of four octal digits"),
            Self::Missing(name) => return write!(f, "the member `{name}` is missing"),
            Self::Allocated(bytes) => return write!(f, "{bytes} allocated bytes are not a multiple of 512"),
            Self::Rdev => "only devices can have `rdev`",
            Self::Target => "only symbolic links can have `target`",
            Self::LinkGroup => "link_group: a path below the root is required, and not allowed for directories",
            Self::TargetPath(error) => return write!(f, "target: {error}"),
            Self::Digests => {
                "digests by all algorithms of the header are required for regular files and not allowed for other types"
            }
            Self::NoDigest(algorithm) => return write!(f, "the {algorithm} digest is missing"),
            Self::Digest(algorithm, text) => return write!(f, "{text:?} is not a {algorithm} digest"),
            Self::Tree => "tree is not allowed for entries other than directories, nor without algorithms",
            Self::TreeDigests => "tree: digests by all algorithms of the header are required",
            Self::OtherTree(path) => {
                return write!(f, "tree of {} is not the digest of the entries below it", quote(path));
            }
            Self::Fs(text) => return write!(f, "{text:?} is not a file system: 32 digits from 0 to f"),
            Self::NoContent(name) => return write!(f, "{name} is not allowed for entries without digests"),
            Self::Xattrs => "xattrs are not allowed, since the header has `xattrs` false",
            Self::XattrName(error) => return write!(f, "xattrs: {error}"),
            Self::XattrValue => "xattrs: a value is not valid base64",
            Self::XattrOrder => "xattrs: not sorted by name",
            Self::Twice(path) => return write!(f, "{} appears twice", quote(path)),
            Self::Order(path) => return write!(f, "{} is out of order", quote(path)),
            Self::OutsideShard(path) => return write!(f, "{} belongs to another shard", quote(path)),
        })
    }
}

impl std::error::Error for EntryError {}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Seal(error) => error.source(),
            Self::Full(full) => Some(full),
            Self::Of(_, error) | Self::Part(_, error) => error.source(),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        // Files themselves fail with an error of the system.
        if error.kind() == ErrorKind::InvalidData { Self::Compression(error) } else { Self::Io(error) }
    }
}

impl From<SealError> for Error {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Io(error) if error.kind() == ErrorKind::InvalidData => Self::Compression(error),
            error => Self::Seal(error),
        }
    }
}

impl From<Full> for Error {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}
