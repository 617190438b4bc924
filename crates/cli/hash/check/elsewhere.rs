//! Tells how to check a list whose names are relative to another directory.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ftk_record::{quote, shell_word};

use crate::hash::check::lists::List;
use crate::hash::reading::bare_name;

/// The most directories above the working directory and above the list in which the first file is looked for.
const ABOVE: usize = 8;

/// Returns a message about a list none of whose files exists, with an option that finds them if there is one. `paths`
/// are the other arguments: a directory among them may be meant.
pub(super) fn hint(
    list: &List,
    root: Option<&Path>,
    paths: &[OsString],
    mut names: impl Iterator<Item = Vec<u8>>,
) -> Option<String> {
    let first = names.next()?;
    let mut shared = dir_of(&first).to_vec();
    for name in names {
        let len = shared.iter().zip(&name).take_while(|(a, b)| a == b).count();
        shared.truncate(len);
        shared.truncate(dir_of(&shared).len());
        if shared.is_empty() {
            break;
        }
    }
    let of = &list.read.name;
    if root.is_none() && !first.starts_with(b"/") {
        let list_dir = list.path.parent().map(Path::to_path_buf).filter(|_| list.path.as_os_str() != "-");
        let up = |start: PathBuf| std::iter::successors(Some(start), |dir| Some(dir.join(".."))).take(ABOVE);
        let found = list_dir
            .filter(|dir| !dir.as_os_str().is_empty())
            .into_iter()
            .flat_map(up)
            .chain(paths.iter().map(PathBuf::from).filter(|path| path.is_dir()))
            .chain(up(PathBuf::from("..")))
            .find(|dir| exists(dir, &first));
        if let Some(dir) = found {
            let option = shell_word(dir.as_os_str().as_bytes());
            return Some(format!("no file of {of} is here: --root {option} finds them"));
        }
    }
    // As few leading directories as possible are too many: the list may be about a part of the tree.
    let leading = memchr::memchr_iter(b'/', &shared).map(|slash| &first[..slash]);
    let mut superfluous = leading.filter(|leading| ![&b""[..], b"."].contains(leading));
    let root_path = root.unwrap_or(Path::new(""));
    if let Some(leading) = superfluous.find(|leading| exists(root_path, &first[leading.len() + 1..])) {
        return Some(format!(
            "all names of {of} begin with {}, and without it {} exists: make the list in that directory, or let \
             `ftk manifest import --root {}` remove it, for `ftk manifest verify`",
            quote(&first[..=leading.len()]),
            quote(&first[leading.len() + 1..]),
            shell_word(leading)
        ));
    }
    let place = root.map_or("here".into(), |root| format!("in {}", quote(root.as_os_str().as_bytes())));
    let what = match bare_name(&shared) {
        b"" | b"./" => format!("no file of {of} is {place}"),
        _ => {
            format!("all names of {of} begin with {}, which does not lead to a file {place}", quote(&shared))
        }
    };
    // Absolute names are relative to nothing, and those of a given root are as the user wants them.
    let is_relative = root.is_none() && !first.starts_with(b"/");
    let way = if is_relative { ": --root DIR looks for them in DIR" } else { "" };
    Some(what + way)
}

/// Returns the directory of a path, with its slash.
fn dir_of(path: &[u8]) -> &[u8] {
    &path[..path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1)]
}

fn exists(root: &Path, path: &[u8]) -> bool {
    root.join(OsStr::from_bytes(path)).symlink_metadata().is_ok()
}
