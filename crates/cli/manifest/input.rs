//! Manifests, opened: nothing is looked at before their seal has been.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;

use anyhow::Context as _;
use ftk_manifest::{Error, Manifest, Which};
use ftk_record::quote;

use crate::input;

/// A manifest that is complete.
pub(super) struct Input {
    pub(super) manifest: Manifest,
    /// Device and inode of the file it is, if it is one: no part of the tree it tells of.
    pub(super) own: Option<(u64, u64)>,
}

impl Input {
    /// Opens the manifest `path`, or standard input for `-`.
    ///
    /// # Errors
    /// When it cannot be read, or is no manifest, or not a whole one.
    pub(super) fn open(path: &OsStr) -> anyhow::Result<Self> {
        let name = || quote(path.as_encoded_bytes());
        let file = input::open(path).with_context(|| format!("cannot open {}", name()))?;
        let metadata = file.metadata().with_context(|| format!("cannot stat {}", name()))?;
        let own = metadata.is_file().then(|| (metadata.dev(), metadata.ino()));
        let manifest = Manifest::open(file).with_context(name)?;
        Ok(Self { manifest, own })
    }
}

/// The error with the name of the one of two manifests that it is about, or of both.
pub(super) fn in_either(error: Error, paths: [&OsStr; 2]) -> anyhow::Error {
    let [first, second] = paths.map(|path| quote(path.as_encoded_bytes()));
    match error {
        Error::Of(Which::First, error) => anyhow::Error::from(*error).context(first),
        Error::Of(Which::Second, error) => anyhow::Error::from(*error).context(second),
        error => anyhow::Error::from(error).context(format!("{first} and {second}")),
    }
}
