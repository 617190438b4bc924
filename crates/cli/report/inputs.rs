//! What an argument of `ftk report` is.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::Context as _;
use ftk_manifest::Manifest;
use ftk_record::quote;

use crate::console::Console;
use crate::globals::Globals;
use crate::input;
use crate::manifest::input::Input as ManifestInput;

/// An argument.
pub(super) enum Input {
    Directory,
    Manifest(Box<Manifest>),
    /// A report of duplicates, which was not read yet.
    Duplicates(BufReader<File>),
}

impl Input {
    /// Opens `path`; `-` is standard input. `has_parts`: whether a directory has the parts of a manifest in it, and is
    /// not a tree.
    ///
    /// # Errors
    /// If it is neither a directory nor a complete manifest. A report is not checked.
    pub(super) fn open(
        path: &OsStr,
        has_parts: bool,
        globals: &Globals,
        console: &Console,
    ) -> anyhow::Result<Self> {
        if path != "-" {
            let cannot_open = || format!("cannot open {}", quote(path.as_bytes()));
            let metadata = fs::metadata(path).with_context(cannot_open)?;
            if metadata.is_dir() && !has_parts {
                return Ok(Self::Directory);
            }
            // What is read from a pipe to tell the kinds apart could not be read again.
            if metadata.is_file() {
                let mut file = BufReader::new(input::open_file(path).with_context(cannot_open)?);
                if file.fill_buf().with_context(cannot_open)?.starts_with(b"{\"ftk\":\"dup-") {
                    return Ok(Self::Duplicates(file));
                }
            }
        }
        Ok(Self::Manifest(Box::new(ManifestInput::open(path, globals, console)?.manifest)))
    }
}
