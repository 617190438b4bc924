//! Why the store is not used.

use std::error::Error;
use std::fmt;
use std::io;

use rusqlite::{ErrorCode, ffi};

/// The reason why the store cannot be used. A run continues without it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unusable {
    /// It cannot be created or opened.
    Io(io::Error),
    /// It is a directory, a link or a device.
    NotAFile,
    /// Others could have written to it: it or its directory belongs to another user, or others may write to
    /// them.
    Shared,
    /// It is on a network file system or FUSE.
    Remote,
    /// Another version of ftk has made it, or another program.
    OtherVersion,
    /// It is damaged.
    Damaged,
    /// Another process is using it and has not finished in time.
    Busy,
    /// Its file system is full.
    Full,
    /// It cannot be written.
    ReadOnly,
    /// It was removed or replaced after it was opened.
    Removed,
    /// Any other error of the database.
    Other(Box<dyn Error + Send + Sync>),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Io(error),
        }
    }
}

impl From<rusqlite::Error> for Unusable {
    fn from(error: rusqlite::Error) -> Self {
        let extended = error.sqlite_error().map(|it| it.extended_code);
        match error.sqlite_error_code() {
            _ if extended == Some(ffi::SQLITE_READONLY_DBMOVED) => Self::Removed,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            _ => Self::Other(error.into()),
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Io(_) | Self::Other(_) => "it cannot be used",
            Self::NotAFile => "it is not a regular file",
            Self::Shared => "other users could have written to it",
            Self::Remote => "it is on a network file system or FUSE",
            Self::OtherVersion => {
                "it was made by another version or program (remove it with: ftk cache clear)"
            }
            Self::Damaged => "it is damaged (remove it with: ftk cache clear)",
            Self::Busy => "another process is using it",
            Self::Full => "its file system is full",
            Self::ReadOnly => "it cannot be written",
            Self::Removed => "it was removed",
        })
    }
}

impl Error for Unusable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Other(error) => Some(&**error),
            _ => None,
        }
    }
}
