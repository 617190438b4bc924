//! Options for what is done with duplicates.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use ftk_apply::{Action, ActionOptions};
use jiff::Timestamp;

/// What is done, and whether.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to do")]
pub(super) struct ActionArgs {
    /// hardlink, reflink, symlink, delete or move=DIR
    ///
    /// `hardlink` makes the name another one of the kept file, `symlink` a symbolic link to it. `reflink` lets both share
    /// their blocks until one is written to, where the file system can do that. `delete` removes the name, for good unless
    /// there is a --quarantine. `move=DIR` moves it below DIR, on the same file system. What is asked for is done or
    /// nothing is: there is no second best.
    #[arg(long, value_name = "ACTION", required = true, value_parser = OsStringValueParser::new().try_map(parse))]
    action: Action,

    /// Do it; without this the plan is printed and nothing is changed
    #[arg(long)]
    pub(super) yes: bool,

    /// Print a POSIX shell script that does it, after comparing each pair once more, and nothing else
    #[arg(long, conflicts_with_all = ["yes", "json", "journal"])]
    pub(super) script: bool,

    /// With hardlink and symlink: also where owner, permissions or extended attributes differ
    ///
    /// The name then has those of the kept copy. It never becomes set-user-ID or set-group-ID by that.
    #[arg(long)]
    metadata_may_differ: bool,

    /// With delete: move the files below this directory, on the same file system, instead of removing them
    #[arg(long, value_name = "DIR")]
    quarantine: Option<PathBuf>,

    /// Where the journal goes, which undo needs; a new file [default: one in $XDG_STATE_HOME/ftk, else
    /// ~/.local/state/ftk]
    #[arg(long, value_name = "FILE")]
    pub(super) journal: Option<PathBuf>,
}

fn parse(value: OsString) -> Result<Action, String> {
    match value.as_bytes() {
        b"hardlink" => Ok(Action::Hardlink),
        b"reflink" => Ok(Action::Reflink),
        b"symlink" => Ok(Action::Symlink),
        b"delete" => Ok(Action::Delete),
        bytes => match bytes.strip_prefix(b"move=") {
            Some(b"") => Err("move= needs a directory: move=DIR".into()),
            Some(dir) => Ok(Action::Move(OsString::from_vec(dir.to_vec()).into())),
            None => Err("expected hardlink, reflink, symlink, delete or move=DIR".into()),
        },
    }
}

impl ActionArgs {
    /// Returns the action. A deletion with a quarantine becomes a move to a new directory in the quarantine.
    ///
    /// # Errors
    /// If a quarantine is given for another action than a deletion.
    pub(super) fn action(&self) -> anyhow::Result<Action> {
        match (&self.action, &self.quarantine) {
            (Action::Delete, Some(dir)) => {
                let run = format!("{}-{}", Timestamp::now().strftime("%Y%m%dT%H%M%SZ"), std::process::id());
                Ok(Action::Move(dir.join(run)))
            }
            (action, quarantine) => {
                ensure!(
                    quarantine.is_none(),
                    "--quarantine needs --action delete; to only move files, use --action move=DIR"
                );
                Ok(action.clone())
            }
        }
    }

    /// Returns what may differ between a copy and the kept file, besides the name.
    pub(super) fn action_options(&self) -> ActionOptions {
        ActionOptions { metadata_may_differ: self.metadata_may_differ }
    }

    /// Device and inode of the directory that files are moved to, if it exists. A scan skips it, since its files have
    /// been removed from the tree on purpose.
    pub(super) fn own_directory(&self) -> Option<(u64, u64)> {
        let dir = match &self.action {
            Action::Move(dir) => Some(dir.as_path()),
            _ => self.quarantine.as_deref(),
        };
        let metadata = dir.map(Path::metadata)?.ok()?;
        Some((metadata.dev(), metadata.ino()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_parsed_from_words() {
        assert_eq!(parse("hardlink".into()), Ok(Action::Hardlink));
        assert_eq!(parse("move=a b".into()), Ok(Action::Move("a b".into())));
        for bad in ["", "move", "move=", "link", "Delete", "delete=x"] {
            assert!(parse(bad.into()).is_err(), "{bad}");
        }
    }
}
