//! Opens manifests. The digest in the last line, which seals the manifest, is checked before anything else is
//! used.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;

use anyhow::Context as _;
use ftk_manifest::{Error, Manifest, Which};
use ftk_record::quote;

use crate::input;

/// A manifest whose seal has been checked.
pub(super) struct Input {
    pub(super) manifest: Manifest,
    /// Device and inode of the manifest, if it is a regular file. A walk skips this file, since it is not a
    /// part of the tree that it describes.
    pub(super) own: Option<(u64, u64)>,
}

impl Input {
    /// Opens the manifest `path`, or standard input for `-`.
    ///
    /// # Errors
    /// If the file cannot be read, is not a manifest, is incomplete or damaged, or records only one shard.
    pub(super) fn open(path: &OsStr) -> anyhow::Result<Self> {
        Self::open_as(path, Manifest::open)
    }

    /// Opens a manifest like [`open`](Self::open), which may be that of one shard.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), except for shards.
    pub(super) fn open_part(path: &OsStr) -> anyhow::Result<Self> {
        Self::open_as(path, Manifest::open_any)
    }

    fn open_as(path: &OsStr, open: fn(File) -> Result<Manifest, Error>) -> anyhow::Result<Self> {
        let name = || quote(path.as_encoded_bytes());
        let file = input::open(path).with_context(|| format!("cannot open {}", name()))?;
        let metadata = file.metadata().with_context(|| format!("cannot stat {}", name()))?;
        let own = metadata.is_file().then(|| (metadata.dev(), metadata.ino()));
        let manifest = open(file).with_context(name)?;
        Ok(Self { manifest, own })
    }
}

/// Adds the name of the affected manifest to an error, or of both if it affects both.
pub(super) fn in_either(error: Error, paths: [&OsStr; 2]) -> anyhow::Error {
    let [first, second] = paths.map(|path| quote(path.as_encoded_bytes()));
    match error {
        Error::Of(Which::First, error) => anyhow::Error::from(*error).context(first),
        Error::Of(Which::Second, error) => anyhow::Error::from(*error).context(second),
        error => anyhow::Error::from(error).context(format!("{first} and {second}")),
    }
}
