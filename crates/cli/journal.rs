//! Creates the journal of a run.

use std::collections::BTreeMap;
use std::env;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ftk_apply::{Journal, Scratch};
use ftk_record::{Output, path_member, quote};
use jiff::Timestamp;

use crate::console::Console;
use crate::human;

const NO_DIRECTORY: &str = "no directory for the journal: neither XDG_STATE_HOME nor HOME is an absolute path; \
                            set XDG_STATE_HOME or add --journal FILE";

/// What is said after a run whose journal got no steps.
pub(crate) const REMOVED: &str = "no step was begun: the journal is removed";

/// Removes what killed repairs computed, from a directory of journals, and says so.
pub(crate) fn remove_abandoned(state: &Path, console: &Console) {
    let removed = Scratch::remove_abandoned(state);
    if removed > 0 {
        let runs = human::count(removed, "killed run");
        console.summary(format_args!("removed the computed contents of {runs}"));
    }
}

/// Creates the journal: the given file, which must not exist yet, or a file in the state directory of ftk with
/// a unique name that begins with the command.
///
/// # Errors
/// If it cannot be created.
pub(crate) fn create(command: &str, asked: Option<&Path>) -> anyhow::Result<(Journal, PathBuf)> {
    if let Some(path) = asked {
        // A new file follows no link in its last name. The others are those of another output.
        let journal = match Output::id(path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error),
            _ => Journal::create(path),
        };
        let journal = journal.with_context(|| format!("cannot create the journal {}", shown(path)))?;
        return Ok((journal, path.to_owned()));
    }
    let directory = directory().context(NO_DIRECTORY)?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.with_context(|| cannot_create_in(&directory))?;
    let prefix = format!("{command}-{}-", Timestamp::now().strftime("%Y%m%dT%H%M%SZ"));
    let mut name = tempfile::Builder::new();
    name.prefix(&prefix).suffix(".jsonl").disable_cleanup(true);
    let made = name.make_in(&directory, Journal::create);
    let (journal, path) = made.with_context(|| cannot_create_in(&directory))?.into_parts();
    Ok((journal, path.to_path_buf()))
}

/// Returns the member of a summary in JSON that has the path of a journal: `"journal":"/home/ann/.local/state/ftk/..."`
pub(crate) fn member(path: &Path) -> BTreeMap<String, String> {
    let (name, value) = path_member("journal", path.as_os_str().as_encoded_bytes());
    BTreeMap::from([(name.into_owned(), value.into_owned())])
}

/// Returns the state directory of ftk, by the XDG base directory specification.
pub(crate) fn directory() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("ftk"))
}

fn cannot_create_in(directory: &Path) -> String {
    format!("cannot create a journal in {}", shown(directory))
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes())
}
