//! Where the journal of a run goes.

use std::env;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ftk_apply::Journal;
use ftk_record::quote;
use jiff::Timestamp;

const NO_DIRECTORY: &str = "there is no directory for the journal: neither XDG_STATE_HOME nor HOME is an absolute path; \
                            set XDG_STATE_HOME or add --journal FILE";

/// Makes the journal: the file asked for, which must not be there yet, or one with a name of its own where programs
/// keep their state.
///
/// # Errors
/// When it cannot be made.
pub(super) fn create(asked: Option<&Path>) -> anyhow::Result<(Journal, PathBuf)> {
    if let Some(path) = asked {
        let journal =
            Journal::create(path).with_context(|| format!("cannot make the journal {}", shown(path)))?;
        return Ok((journal, path.to_owned()));
    }
    let directory = directory().context(NO_DIRECTORY)?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.with_context(|| cannot_make_in(&directory))?;
    let prefix = format!("dup-{}-", Timestamp::now().strftime("%Y%m%dT%H%M%SZ"));
    let mut name = tempfile::Builder::new();
    name.prefix(&prefix).suffix(".jsonl").disable_cleanup(true);
    let made = name.make_in(&directory, Journal::create);
    let (journal, path) = made.with_context(|| cannot_make_in(&directory))?.into_parts();
    Ok((journal, path.to_path_buf()))
}

/// What stays when a run has ended, and is no configuration.
fn directory() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("ftk"))
}

fn cannot_make_in(directory: &Path) -> String {
    format!("cannot make a journal in {}", shown(directory))
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes())
}
