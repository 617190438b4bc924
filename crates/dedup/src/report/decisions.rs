//! Decisions: the lines of a report, each with the numbers of the files to keep.

use super::{DECISIONS, KIND, RecordError};

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
