//! Lists of patterns, as in `.gitignore` files, for entries to skip.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use ftk_ignore::{IgnoreFile, Match};

/// Lists of patterns. The last line that matches decides, as if all lists were one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists(Vec<List>);

#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) option: &'static str,
    /// The name of the list.
    pub(crate) name: Vec<u8>,
    pub(crate) file: Arc<IgnoreFile>,
}

/// A line that decides.
pub(crate) struct Decisive<'l> {
    pub(crate) list: &'l List,
    pub(crate) line: Match<'l>,
}

impl Lists {
    pub(crate) fn push(&mut self, list: List) {
        self.0.push(list);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &List> {
        self.0.iter()
    }

    /// Returns the line that decides about the entry with this path below its starting point, if a line matches.
    pub(crate) fn find(&self, path: &[u8], is_dir: bool) -> Option<Decisive<'_>> {
        let path = OsStr::from_bytes(path);
        let of_list = |list| Some(Decisive { list, line: list.file.find(path, is_dir)? });
        self.0.iter().rev().find_map(of_list)
    }

    /// Returns the option of the line that skips this entry, if one does.
    pub(crate) fn skips(&self, path: &[u8], is_dir: bool) -> Option<&'static str> {
        self.find(path, is_dir).filter(|decisive| decisive.line.ignores).map(|it| it.list.option)
    }

    /// Calls `visit` with the numbers of each list and line that matches.
    pub(crate) fn each_match(&self, path: &[u8], is_dir: bool, visit: &mut dyn FnMut(usize, usize)) {
        for (number, list) in self.0.iter().enumerate() {
            list.file.each_match(OsStr::from_bytes(path), is_dir, |line| visit(number, line));
        }
    }

    /// Returns the option of a list whose patterns depend on the path.
    pub(crate) fn by_path(&self) -> Option<&'static str> {
        self.0.iter().find(|list| !list.file.is_for_names()).map(|list| list.option)
    }
}
