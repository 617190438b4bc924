//! Other formats: a manifest is exported to them, and lists of some of them are imported.
//!
//! | format | exported | imported |
//! |---|---|---|
//! | [`Format::Mtree`] | all entries with type, times, permissions, owners, targets and digests | the same |
//! | [`Format::Hashdeep`] | size and digests of regular files | the same |
//! | [`Format::Bagit`] | digests of regular files | the same |
//! | [`Format::Sha256`] | SHA-256 of regular files | all digests of regular files |
//! | [`Format::Ncdu`] | names, sizes, types and owners, as a tree | nothing |
//! | [`Format::Csv`] | every member | nothing |
//! | [`Format::AscMhl`] | size, mtime and digests of regular files, hashes of directories | size and digests of regular files |

mod acl;
mod csv;
mod export;
mod import;
mod lists;
mod mtree;
mod mtree_line;
mod mtree_reader;
mod ncdu;
mod tar;
mod vis;

use std::fmt;

pub use acl::{Account, FindAccount};
pub use export::{Export, ExportError};
pub use import::{Import, ImportError};
pub use mtree_reader::begins_mtree;
pub use tar::{HashMember, TarTree};

/// A format that is not ftk's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Specifications of BSD's mtree, which libarchive's `bsdtar` reads and writes too.
    Mtree,
    /// Lists of `hashdeep`.
    Hashdeep,
    /// Payload manifests of BagIt bags (RFC 8493).
    Bagit,
    /// Checksum lists of `sha256sum`.
    Sha256,
    /// The JSON of `ncdu -o`.
    Ncdu,
    /// Comma-separated values (RFC 4180) with a header.
    Csv,
    /// Generations of ASC MHL 2.0, which [`NewGeneration`](crate::NewGeneration) writes.
    AscMhl,
}

impl Format {
    /// All formats that [`Export`] writes.
    pub const ALL: [Self; 6] =
        [Self::Mtree, Self::Hashdeep, Self::Bagit, Self::Sha256, Self::Ncdu, Self::Csv];

    /// Returns the name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mtree => "mtree",
            Self::Hashdeep => "hashdeep",
            Self::Bagit => "bagit",
            Self::Sha256 => "sha256",
            Self::Ncdu => "ncdu",
            Self::Csv => "csv",
            Self::AscMhl => "ascmhl",
        }
    }

    /// Returns the names of the algorithms whose digests the format can hold; `None`: any.
    pub(crate) fn algorithms(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Mtree => Some(&["md5", "sha1", "sha256", "sha384", "sha512"]),
            Self::Hashdeep => Some(&["md5", "sha1", "sha256"]),
            Self::Bagit => Some(&["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]),
            Self::Sha256 => Some(&["sha256"]),
            Self::AscMhl => Some(&["md5", "sha1", "sha512", "xxh64", "xxh3", "xxh128"]),
            Self::Ncdu | Self::Csv => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The memory for an open directory besides its place in the list: its own line while that is not written.
const LINE: usize = 128;

/// Returns the last name of a path.
fn name_of(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..])
}
