//! Writes the record of an entry.

use std::ffi::CString;

use ftk_walk::{Doubt, Entry, FileType, Metadata, Op, WalkError, lacks};
use rustix::fs::readlinkat;

use super::colours::Colours;
use super::fields::{Fields, Owners, push_shown};
use super::hyperlink::Hyperlinks;
use super::json;
use super::long::Long;

/// A writer of records, for one worker.
pub(super) enum Render<'r> {
    /// Nothing: the path is enough.
    Nothing,
    /// The path for people.
    Shown {
        name: ShownName<'r>,
        end: u8,
    },
    /// A line of `--long`.
    Long(Box<Long<'r>>),
    Json(Owners),
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
            Self::Nothing | Self::Shown { name: ShownName { colours: None, .. }, .. } => {
                ftk_walk::Fields::NONE
            }
            Self::Shown { .. } | Self::Long(_) | Self::Json(_) => ftk_walk::Fields::BASIC,
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
            Self::Nothing => {}
            Self::Shown { name, end } => {
                name.push(out, dir, entry);
                out.push(*end);
            }
            Self::Long(long) => long.push(out, dir, entry)?,
            Self::Json(owners) => {
                json::push(out, &[dir, entry.name()].concat(), entry, owners)?;
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

/// How paths are shown to people: in colours and as links if wanted, with control characters escaped on a terminal.
#[derive(Clone, Copy)]
pub(super) struct ShownName<'r> {
    pub(super) colours: Option<&'r Colours>,
    pub(super) links: Option<&'r Hyperlinks>,
    pub(super) escape: bool,
}

impl ShownName<'_> {
    /// Appends the path made of `dir` and the entry's name.
    pub(super) fn push(&self, out: &mut Vec<u8>, dir: &[u8], entry: &mut Entry<'_>) {
        if let Some(links) = self.links {
            links.begin(out, &[dir, entry.name()].concat());
        }
        match self.colours {
            Some(colours) => colours.push(out, dir, entry, self.escape),
            None => push_shown(out, self.escape, &[dir, entry.name()].concat()),
        }
        if self.links.is_some() {
            Hyperlinks::end(out);
        }
    }
}

/// Returns the set of these fields.
pub(super) fn all_of(fields: &[ftk_walk::Fields]) -> ftk_walk::Fields {
    fields.iter().fold(ftk_walk::Fields::NONE, |all, field| all | *field)
}

/// Returns metadata in which these fields are valid. A walk reads all fields by one call, and a record may lack the
/// others.
pub(super) fn facts<'e>(
    entry: &'e mut Entry<'_>,
    fields: ftk_walk::Fields,
) -> Result<&'e Metadata, WalkError> {
    if entry.record().is_some() { entry.metadata_with(fields) } else { entry.metadata() }
}

/// Returns the type of an entry.
///
/// # Errors
/// If a record does not have it.
pub(super) fn file_type(path: &[u8], entry: &Entry<'_>) -> Result<FileType, WalkError> {
    match entry.record().map(|record| record.doubt) {
        None | Some(Doubt::None) => Ok(entry.file_type()),
        Some(_) => Err(WalkError::new(Op::Stat, path.to_vec(), lacks("mode"))),
    }
}

/// Returns the target of a symbolic link, or `None` for other entries.
pub(super) fn target(path: &[u8], entry: &Entry<'_>) -> Result<Option<CString>, WalkError> {
    if file_type(path, entry)? != FileType::Symlink {
        return Ok(None);
    }
    if let Some(record) = entry.record() {
        let lacks = || WalkError::new(Op::Stat, path.to_vec(), lacks("target"));
        return record.target.map(|target| Some(target.to_owned())).ok_or_else(lacks);
    }
    let target = readlinkat(entry, entry.name_c(), Vec::new());
    target.map(Some).map_err(|error| WalkError::new(Op::Read, path.to_vec(), error.into()))
}
