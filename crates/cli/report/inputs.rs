//! What an argument of `ftk report` is.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::Context as _;
use ftk_manifest::Manifest;
use ftk_record::quote;

use crate::args::Globals;
use crate::manifest::input;

/// An argument.
pub(super) enum Input {
    Directory,
    Manifest(Box<Manifest>),
}

impl Input {
    /// Opens `path`; `-` is standard input.
    ///
    /// # Errors
    /// If it is neither a directory nor a complete manifest.
    pub(super) fn open(path: &OsStr, globals: &Globals) -> anyhow::Result<Self> {
        if path != "-" {
            let metadata = fs::metadata(path);
            if metadata.with_context(|| format!("cannot open {}", quote(path.as_bytes())))?.is_dir() {
                return Ok(Self::Directory);
            }
        }
        Ok(Self::Manifest(Box::new(input::Input::open(path, globals)?.manifest)))
    }
}
