//! Decisions: the lines of a report, each with the numbers of the files or directories to keep.

use std::collections::HashSet;

use super::{DECISIONS, DirectoryGroup, KIND, RecordError};

/// Returns the header of decisions about the report that begins with the line `header`, which has no newline.
///
/// # Errors
/// If the line is not a header as ftk writes it.
pub fn decisions_header(header: &str) -> Result<String, RecordError> {
    let rest = header.strip_prefix(&format!("{{\"ftk\":\"{KIND}\","));
    Ok(format!("{{\"ftk\":\"{DECISIONS}\",{}", rest.ok_or(RecordError::NotHeader)?))
}

/// Returns for each member of a group whether it stays. `files` are the numbers of their files, and whether they are
/// symbolic links; `keep` are the numbers that were decided on.
pub(super) fn kept(
    group: u64,
    keep: Option<&[u64]>,
    files: &[(Option<u64>, bool)],
) -> Result<Vec<bool>, RecordError> {
    let keep = keep.ok_or(RecordError::NothingKept(group))?;
    if let Some(&file) = keep.iter().find(|&&file| !files.iter().any(|it| it.0 == Some(file))) {
        return Err(RecordError::NoFile { group, file });
    }
    let is_kept = |file: &Option<u64>| file.is_some_and(|file| keep.contains(&file));
    // A symbolic link is not a copy.
    if !files.iter().any(|(file, via_link)| is_kept(file) && !via_link) {
        return Err(RecordError::NothingKept(group));
    }
    Ok(files.iter().map(|(file, _)| is_kept(file)).collect())
}

/// Returns the paths of the directories of a group to keep. `keep` are their positions in the group.
pub(super) fn kept_directories(
    number: u64,
    keep: Option<&[u64]>,
    group: &DirectoryGroup,
) -> Result<Vec<Vec<u8>>, RecordError> {
    let keep = keep.filter(|keep| !keep.is_empty()).ok_or(RecordError::NothingKept(number))?;
    let path = |&position: &u64| {
        let member = usize::try_from(position).ok().and_then(|position| group.members.get(position));
        member.map(|it| it.path.clone()).ok_or(RecordError::NoFile { group: number, file: position })
    };
    keep.iter().map(path).collect()
}

/// Checks that nothing to keep is inside a directory that goes.
pub(super) fn check_nested(
    directories: &[DirectoryGroup],
    kept: &HashSet<Vec<u8>>,
) -> Result<(), RecordError> {
    let members = directories.iter().flat_map(|group| &group.members).map(|member| bare(&member.path));
    let is_kept: HashSet<_> = kept.iter().map(|path| bare(path)).collect();
    let gone: HashSet<_> = members.filter(|path| !is_kept.contains(path)).collect();
    for path in kept {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        if let Some(dir) = slashes.map(|at| bare(&path[..at])).find(|dir| gone.contains(dir)) {
            return Err(RecordError::KeptInside { path: path.clone(), dir: dir.to_vec() });
        }
    }
    Ok(())
}

/// Returns a path without slashes at its end.
fn bare(path: &[u8]) -> &[u8] {
    &path[..path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1)]
}
