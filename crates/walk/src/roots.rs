//! Starting points that overlap.
//!
//! With one starting point there is nothing to compare. With more, a directory that is a starting point is
//! entered only as that starting point, whatever other paths the walk finds it under. Any other file that is
//! a starting point is shown only as that starting point; other hard links to it are shown too.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString};
use std::io;

use crate::node::Id;
use crate::sys::{self, CWD};
use crate::{FileType, Follow, Metadata};

/// Names in one directory.
pub(crate) type Names = BTreeSet<Box<[u8]>>;

/// All starting points, so that the walk below one of them recognizes the others. Empty if there is only one.
#[derive(Default)]
pub(crate) struct Roots {
    /// Directories that are starting points, each with the number and the path of the starting point.
    directories: BTreeMap<Id, (usize, Box<[u8]>)>,
    /// Names of all other starting points, by the directory that contains them.
    names: BTreeMap<Id, Names>,
    /// The directory looked up last. Consecutive arguments are often in the same directory.
    parent: Option<(Box<[u8]>, Option<Id>)>,
}

impl Roots {
    /// Adds a starting point. Returns `false` if the same one was added before.
    ///
    /// If `via_link`, the path is a link and `metadata` is that of its target.
    pub(crate) fn insert(&mut self, number: usize, path: &CStr, metadata: &Metadata, via_link: bool) -> bool {
        let path = path.to_bytes();
        let directory = metadata.file_type == FileType::Directory;
        if directory {
            if self.directories.contains_key(&metadata.id()) {
                return false;
            }
            self.directories.insert(metadata.id(), (number, path.into()));
            if !via_link {
                return true;
            }
        }
        let Some((parent, name)) = split(path) else { return true };
        let Some(parent) = self.identity(parent) else { return true };
        self.names.entry(parent).or_default().insert(name.into()) || directory
    }

    /// Returns the names in the directory `id` that are starting points.
    pub(crate) fn names_in(&self, id: Id) -> Option<&Names> {
        self.names.get(&id)
    }

    /// Returns the path of the starting point that is the directory `id`, unless that is number `root`
    /// itself.
    pub(crate) fn other(&self, id: Id, root: usize) -> Option<&[u8]> {
        self.directories.get(&id).filter(|(number, _)| *number != root).map(|(_, path)| &**path)
    }

    /// Returns whether there are no starting points to compare with.
    pub(crate) fn is_empty(&self) -> bool {
        self.directories.is_empty() && self.names.is_empty()
    }

    fn identity(&mut self, parent: &[u8]) -> Option<Id> {
        if let Some((_, id)) = self.parent.as_ref().filter(|(path, _)| **path == *parent) {
            return *id;
        }
        let path = CString::new(parent).ok()?;
        let id = sys::stat_at(CWD, &path, true).ok().map(|metadata| metadata.id());
        self.parent = Some((parent.into(), id));
        id
    }
}

/// Returns the metadata of `path`, and whether it is that of a link's target.
///
/// With [`Follow::Roots`] a dangling link is an error. With [`Follow::Always`] it stays a link, as it does
/// below a starting point.
pub(crate) fn look_up(path: &CStr, follow: Follow) -> io::Result<(Metadata, bool)> {
    let own = sys::stat_at(CWD, path, false)?;
    if own.file_type != FileType::Symlink || follow == Follow::Never {
        return Ok((own, false));
    }
    match sys::stat_at(CWD, path, true) {
        Ok(target) => Ok((target, true)),
        Err(error) if follow == Follow::Always && sys::is_dangling(&error) => Ok((own, false)),
        Err(error) => Err(error),
    }
}

/// Splits a path into its directory and its last name. Returns `None` if the last component is not a name.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = path.iter().rposition(|&byte| byte != b'/')? + 1;
    let start = path[..end].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let name = &path[start..end];
    let parent = if start == 0 { b"." } else { &path[..start] };
    (name != b"." && name != b"..").then_some((parent, name))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_path_is_split_at_its_last_name() {
        let named = [
            ("a", ".", "a"),
            ("/a", "/", "a"),
            ("a/b", "a/", "b"),
            ("../b//", "../", "b"),
            ("d/.f", "d/", ".f"),
        ];
        for (path, parent, name) in named {
            assert_eq!(split(path.as_bytes()), Some((parent.as_bytes(), name.as_bytes())), "{path}");
        }
        for path in ["a/.", "..", ".", "./", "//", ""] {
            assert_eq!(split(path.as_bytes()), None, "{path}");
        }
    }
}
