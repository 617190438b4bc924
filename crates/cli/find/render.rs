//! Writes the record of an entry.

use std::ffi::CString;

use ftk_record::sanitize;
use ftk_walk::{Entry, FileType, Op, WalkError};
use rustix::fs::readlinkat;

use super::colours::Colours;
use super::fields::Fields;
use super::json;

/// A writer of records, for one worker.
pub(super) enum Render<'r> {
    /// The path for people: in colours if wanted, with control characters escaped on a terminal.
    Shown {
        colours: Option<&'r Colours>,
        escape: bool,
    },
    Json,
    /// The text of `--format`.
    Fields {
        fields: Box<Fields<'r>>,
        end: u8,
    },
}

impl Render<'_> {
    /// Returns the metadata that records need.
    pub(super) fn reads(&self) -> ftk_walk::Fields {
        match self {
            Self::Shown { colours: None, .. } => ftk_walk::Fields::NONE,
            Self::Shown { .. } | Self::Json => ftk_walk::Fields::BASIC,
            Self::Fields { fields, .. } => fields.reads(),
        }
    }

    /// Appends the record of an entry, whose path is `dir` and its name. An error may leave a partial record.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        dir: &[u8],
        entry: &mut Entry<'_>,
    ) -> Result<(), WalkError> {
        match self {
            Self::Shown { colours: Some(colours), escape } => {
                colours.push(out, dir, entry, *escape);
                out.push(b'\n');
            }
            Self::Shown { colours: None, .. } => {
                out.extend_from_slice(sanitize(&[dir, entry.name()].concat()).as_bytes());
                out.push(b'\n');
            }
            Self::Json => {
                json::push(out, &[dir, entry.name()].concat(), entry)?;
                out.push(b'\n');
            }
            Self::Fields { fields, end } => {
                fields.push(out, dir, entry)?;
                out.push(*end);
            }
        }
        Ok(())
    }
}

/// Returns the target of a symbolic link, or `None` for other entries.
pub(super) fn target(path: &[u8], entry: &Entry<'_>) -> Result<Option<CString>, WalkError> {
    if entry.file_type() != FileType::Symlink {
        return Ok(None);
    }
    let target = readlinkat(entry, entry.name_c(), Vec::new());
    target.map(Some).map_err(|error| WalkError::new(Op::Read, path.to_vec(), error.into()))
}
