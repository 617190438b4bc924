//! `--changed LIST`: the paths that an update examines.

use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;
use ftk_manifest::Examination;
use ftk_record::quote;

use crate::input;
use crate::starts::records;

/// The option with the list of paths.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(super) struct ChangedArgs {
    /// Examine only the paths in LIST; keep all other records
    ///
    /// One path per line, relative to ROOT; `-`: standard input. A directory is examined with everything below it, and
    /// a path that no longer exists is removed. The directories above, other hard links, and what OLD marks as
    /// uncertain are examined too. NEW records when all of the tree was last examined.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["append_only", "shard"])]
    changed: Option<PathBuf>,

    /// Paths in LIST end with NUL
    #[arg(short = '0', long = "null", requires = "changed")]
    null: bool,
}

impl ChangedArgs {
    /// Whether the list comes from standard input.
    pub(super) fn takes_stdin(&self) -> bool {
        self.changed.as_deref().is_some_and(|list| list.as_os_str() == "-")
    }

    /// Returns the listed paths; `None` without a list.
    ///
    /// # Errors
    /// If the list cannot be read, or has a line that is not a path below the root.
    pub(super) fn read(&self) -> anyhow::Result<Option<Examination>> {
        let Some(list) = &self.changed else { return Ok(None) };
        let name = || quote(list.as_os_str().as_bytes());
        let file = input::open(list.as_os_str()).with_context(|| format!("cannot open {}", name()))?;
        let mut examination = Examination::new();
        let end = if self.null { 0 } else { b'\n' };
        let read = records(BufReader::new(file), end, "-0", |path| {
            examination.add(&below_root(path.to_bytes())?);
            Ok(())
        });
        read.with_context(|| format!("cannot use {}", name()))?;
        Ok(Some(examination))
    }
}

/// Returns a path below the root in the form of a manifest. `.` is the root.
///
/// # Errors
/// If it is absolute or has a component `..`.
fn below_root(path: &[u8]) -> anyhow::Result<Vec<u8>> {
    ensure!(!path.starts_with(b"/"), "{} is not relative to ROOT", quote(path));
    let names = path.split(|byte| *byte == b'/').filter(|name| !matches!(name, [] | [b'.']));
    let names: Vec<_> = names.collect();
    ensure!(!names.contains(&&b".."[..]), "{} leads out of a directory", quote(path));
    Ok(if names.is_empty() { b".".to_vec() } else { names.join(&b'/') })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root() {
        for (path, below) in [
            ("a", "a"),
            ("./a", "a"),
            ("a/b/", "a/b"),
            ("a//b", "a/b"),
            ("./a/./b//", "a/b"),
            (".", "."),
            ("./", "."),
            ("...", "..."),
            ("..a/b..", "..a/b.."),
            (" ", " "),
            ("-", "-"),
        ] {
            assert_eq!(below_root(path.as_bytes()).unwrap(), below.as_bytes(), "{path}");
        }
        for bad in ["/", "/a", "..", "../a", "a/..", "a/../b", "./.."] {
            assert!(below_root(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
