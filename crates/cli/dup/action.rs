//! Options for what is done with duplicates.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use ftk_apply::{Action, ActionOptions, trash_directories};
use ftk_dedup::prune::{Effect, KeepRules};
use ftk_record::shell_word;
use jiff::Timestamp;

use crate::rules::AllowUnusedArg;

/// The action, and whether it is carried out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Action")]
pub(super) struct ActionArgs {
    /// hardlink, reflink, symlink, delete, trash, move=DIR
    ///
    /// `hardlink` replaces the copy with a hard link to the kept file, `symlink` with a symbolic link to it, unless
    /// another user can change the kept file or a directory above it. `reflink` makes both files share their blocks
    /// until one of them is written to; the file system must support that. `delete` deletes the copy, and `ftk undo`
    /// can copy it back from a kept one; with --quarantine, it moves the copy instead. `move=DIR` moves it below DIR,
    /// which must be on the same file system. `trash` moves it to the trash of the desktop, from where the desktop or
    /// `ftk undo` can restore it: to $XDG_DATA_HOME/Trash, or else ~/.local/share/Trash, and on another file system to
    /// the trash at its top. The space is free when the trash is emptied. ftk never falls back to another action.
    #[arg(long, value_name = "ACTION", required = true, value_parser = OsStringValueParser::new().try_map(parse))]
    action: Action,

    /// Carry out the plan instead of only printing it
    #[arg(long)]
    pub(super) yes: bool,

    /// Print the plan as a POSIX shell script
    ///
    /// The script compares each pair of files again before it acts.
    #[arg(long, conflicts_with_all = ["yes", "json", "journal"])]
    pub(super) script: bool,

    /// Print only the paths of the plan, one per line
    ///
    /// These are the paths that would be removed or replaced with the same options. With -0, each ends with NUL.
    #[arg(long, conflicts_with_all = ["yes", "script", "json", "journal"])]
    pub(super) list: bool,

    /// With --list: end each path with NUL
    #[arg(short = '0', long, requires = "list", hide_short_help = true)]
    pub(super) null: bool,

    /// Also link files whose metadata differs
    ///
    /// Without this option, hardlink and symlink refuse files whose owner, permissions or extended attributes differ
    /// from those of the kept file. With it, the name gets those of the kept file. No name becomes set-user-ID or
    /// set-group-ID this way.
    #[arg(long)]
    metadata_may_differ: bool,

    /// With reflink: also change files in snapshots
    ///
    /// The kernel lets the files of a read-only subvolume share blocks with other files. Without this option, ftk
    /// changes nothing there.
    #[arg(long, hide_short_help = true)]
    into_snapshots: bool,

    /// With delete: move the files below DIR instead
    ///
    /// DIR must be on the same file system.
    #[arg(long, value_name = "DIR")]
    quarantine: Option<PathBuf>,

    /// Also remove directories that this empties
    ///
    /// Only directories below a starting point, all of whose entries this run deletes or moves: directories that were
    /// empty before stay. `ftk undo` makes them again, with owner, permissions and times. Needs --action delete,
    /// trash or move=DIR.
    #[arg(long, hide_short_help = true)]
    pub(super) remove_empty_dirs: bool,

    /// Handle sidecars with these extensions only together with their files
    ///
    /// `--with-sidecars xmp,thm,aae,srt`: IMG_1.CR3.xmp and IMG_1.xmp are sidecars of IMG_1.CR3. If each sidecar of a
    /// file is a copy of a sidecar of the kept file, they go together; otherwise the file is left and the sidecar
    /// named. The search must include the sidecars. One that belongs to several files goes with the last of them. Needs
    /// --action delete, trash or move=DIR.
    #[arg(long, value_name = "EXT,...", value_delimiter = ',', value_parser = extension, conflicts_with = "script", hide_short_help = true)]
    pub(super) with_sidecars: Vec<String>,

    /// New file for the journal, which undo needs
    ///
    /// Default: in $XDG_STATE_HOME/ftk, or else in ~/.local/state/ftk.
    #[arg(long, value_name = "FILE")]
    pub(super) journal: Option<PathBuf>,

    #[command(flatten)]
    pub(super) allow_unused: AllowUnusedArg,
}

fn extension(value: &str) -> Result<String, String> {
    let extension = value.strip_prefix('.').unwrap_or(value);
    let is_one = !extension.is_empty() && !extension.contains(['.', '/', '*']);
    is_one.then(|| extension.to_owned()).ok_or("expected extensions such as xmp,thm".into())
}

/// The values of `--action`; a directory follows `move=`.
pub(crate) const ACTIONS: [&str; 6] = ["hardlink", "reflink", "symlink", "delete", "trash", "move="];

fn parse(value: OsString) -> Result<Action, String> {
    match value.as_bytes() {
        b"hardlink" => Ok(Action::Hardlink),
        b"reflink" => Ok(Action::Reflink),
        b"symlink" => Ok(Action::Symlink),
        b"delete" => Ok(Action::Delete),
        b"trash" if cfg!(target_vendor = "apple") => Err("macOS has another trash: use move=DIR".into()),
        b"trash" => home_trash()
            .map(Action::Trash)
            .ok_or_else(|| "no trash: neither XDG_DATA_HOME nor HOME is an absolute path".into()),
        bytes => match bytes.strip_prefix(b"move=") {
            Some(b"") => Err("move= needs a directory: move=DIR".into()),
            Some(dir) => Ok(Action::Move(OsString::from_vec(dir.to_vec()).into())),
            None => Err("expected hardlink, reflink, symlink, delete, trash or move=DIR".into()),
        },
    }
}

/// Returns the path of the home trash.
fn home_trash() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("Trash"))
}

impl ActionArgs {
    /// Returns the options for the removal of copies, which are moved if there is a quarantine.
    pub(super) fn removing(quarantine: Option<PathBuf>) -> Self {
        Self {
            action: Action::Delete,
            yes: true,
            script: false,
            list: false,
            null: false,
            metadata_may_differ: false,
            into_snapshots: false,
            quarantine,
            remove_empty_dirs: false,
            with_sidecars: Vec::new(),
            journal: None,
            allow_unused: AllowUnusedArg::default(),
        }
    }

    /// Returns the action. A deletion with a quarantine becomes a move to a new directory in the quarantine.
    ///
    /// # Errors
    /// If an option is given for an action that does not have it, or empty directories are to be removed and the action
    /// leaves none.
    pub(super) fn action(&self) -> anyhow::Result<Action> {
        let needs_removal = [
            ("--remove-empty-dirs", self.remove_empty_dirs),
            ("--with-sidecars", !self.with_sidecars.is_empty()),
        ];
        for (option, is_given) in needs_removal {
            ensure!(
                !is_given || self.effect().removes(),
                "{option} needs --action delete, trash or move=DIR: other actions remove no names"
            );
        }
        ensure!(
            !self.into_snapshots || self.action == Action::Reflink,
            "--into-snapshots needs --action reflink: no other action can change files in a read-only snapshot"
        );
        ensure!(
            !(self.script && matches!(self.action, Action::Trash(_))),
            "--script cannot be used with --action trash: use move=DIR"
        );
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

    /// Returns the option that chose the action, as it was typed.
    pub(super) fn option(&self) -> String {
        match (&self.quarantine, &self.action) {
            (Some(dir), _) => format!("--quarantine {}", shell_word(dir.as_os_str().as_bytes())),
            (None, Action::Move(dir)) => {
                format!("--action move={}", shell_word(dir.as_os_str().as_bytes()))
            }
            (None, action) => format!("--action {}", action.kind()),
        }
    }

    /// Whether files are changed: now, when the script runs, or by a program that gets the list.
    pub(super) fn acts(&self) -> bool {
        self.yes || self.script || self.list
    }

    /// Returns what the action does with surplus copies.
    pub(super) fn effect(&self) -> Effect {
        match (&self.action, &self.quarantine) {
            (Action::Move(_) | Action::Trash(_), _) | (Action::Delete, Some(_)) => Effect::Move,
            (Action::Delete, None) => Effect::Remove,
            (Action::Reflink, _) => Effect::Clone,
            (Action::Hardlink | Action::Symlink, _) => Effect::Link,
        }
    }

    /// Returns the rules with what the action means for them.
    pub(super) fn with_rules(&self, rules: KeepRules) -> KeepRules {
        KeepRules { names_survive: !self.effect().removes(), into_snapshots: self.into_snapshots, ..rules }
    }

    /// Returns what may differ between a copy and the kept file, besides the name, and where it may be.
    pub(super) fn action_options(&self) -> ActionOptions {
        ActionOptions { metadata_may_differ: self.metadata_may_differ, into_snapshots: self.into_snapshots }
    }

    /// Device and inode of the directories that files are moved to, if they exist. A scan of `starts` skips them, since
    /// their files have been removed from the tree on purpose.
    pub(super) fn own_directories(&self, starts: &[OsString]) -> Vec<(u64, u64)> {
        let dir = match &self.action {
            Action::Trash(home) if starts.is_empty() => return trash_directories(home, ["."]),
            Action::Trash(home) => return trash_directories(home, starts),
            Action::Move(dir) => Some(dir.as_path()),
            _ => self.quarantine.as_deref(),
        };
        let metadata = dir.and_then(|dir| dir.metadata().ok());
        metadata.map(|it| (it.dev(), it.ino())).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_parsed_from_words() {
        assert_eq!(parse("hardlink".into()), Ok(Action::Hardlink));
        assert!(matches!(parse("trash".into()), Ok(Action::Trash(_)) | Err(_)));
        assert_eq!(parse("move=a b".into()), Ok(Action::Move("a b".into())));
        for bad in ["", "move", "move=", "link", "Delete", "delete=x", "trash=x"] {
            assert!(parse(bad.into()).is_err(), "{bad}");
        }
    }
}
