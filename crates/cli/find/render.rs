//! What is written of an entry.

use std::ffi::CString;
use std::io;

use ftk_record::sanitize;
use ftk_walk::{Entry, FileType, WalkError};
use rustix::fs::readlinkat;

use super::colours::Colours;
use super::fields::Fields;
use super::json;
use crate::console::{Console, cause};
use crate::scan::walk_error;

/// The form of a record, for one worker.
pub(super) enum Render<'r> {
    /// The bytes of the path and, if there is one, what ends it.
    Path {
        end: Option<u8>,
    },
    /// The path for a person: in colours, on a terminal without anything that acts on it.
    Shown {
        colours: Option<&'r Colours>,
        escape: bool,
    },
    Json,
    /// As `--format` says.
    Fields {
        fields: Box<Fields<'r>>,
        end: u8,
    },
}

impl Render<'_> {
    /// Appends the record of the entry whose path is `dir` and its name. After an error a part of it may be there.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        dir: &[u8],
        entry: &mut Entry<'_>,
    ) -> Result<(), Failure> {
        match self {
            Self::Path { end } => {
                out.extend_from_slice(dir);
                out.extend_from_slice(entry.name());
                out.extend(*end);
            }
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

/// Why an entry has no record.
pub(super) enum Failure {
    /// It cannot be statted.
    Stat(WalkError),
    /// It is a link whose target cannot be read.
    Link { path: Vec<u8>, source: io::Error },
}

impl Failure {
    pub(super) fn say(&self, console: &Console) {
        match self {
            Self::Stat(error) => walk_error(error, console),
            Self::Link { path, source } => console.path_error("read the link", path, cause(source)),
        }
    }
}

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Self {
        Self::Stat(error)
    }
}

/// Where a symbolic link points to, or `None` for anything else.
pub(super) fn target(path: &[u8], entry: &Entry<'_>) -> Result<Option<CString>, Failure> {
    if entry.file_type() != FileType::Symlink {
        return Ok(None);
    }
    let target = readlinkat(entry, entry.name_c(), Vec::new());
    target.map(Some).map_err(|error| Failure::Link { path: path.to_vec(), source: error.into() })
}
