//! The compiled selection.

use ftk_walk::{Entry, FileType, WalkError};

use crate::empty::is_empty;
use crate::extensions::Extensions;
use crate::glob::Globs;
use crate::inode::Inode;
use crate::paths::{Excluded, Paths};
use crate::{SelectionBuilder, Types};

/// A compiled selection of entries. [`SelectionBuilder`] makes it, and all workers of a walk share it.
#[derive(Clone, Debug)]
pub struct Selection {
    pub(crate) types: Types,
    pub(crate) extensions: Extensions,
    /// If it is empty, every name matches.
    pub(crate) names: Globs,
    pub(crate) paths: Option<Paths>,
    pub(crate) inode: Option<Inode>,
    pub(crate) empty: bool,
    /// Device and inode numbers of files that the run writes itself. They are skipped under every name.
    pub(crate) own: Vec<(u64, u64)>,
    pub(crate) excluded: Option<Excluded>,
    pub(crate) min_depth: u32,
    pub(crate) max_depth: u32,
    pub(crate) one_file_system: bool,
    pub(crate) no_hidden: bool,
    pub(crate) ignore_files: bool,
    /// Whether any test needs the path of an entry.
    pub(crate) needs_paths: bool,
}

impl Selection {
    /// Returns a builder, which by default selects everything.
    pub fn builder() -> SelectionBuilder {
        SelectionBuilder::default()
    }

    /// Returns whether an entry passes every test except those on depth. Tests that make system calls come
    /// last.
    ///
    /// `path` is the path below the starting point, if any test needs paths. The name and path of a starting
    /// point are its last name.
    pub(crate) fn matches(
        &self,
        entry: &mut Entry<'_>,
        is_root: bool,
        path: &[u8],
    ) -> Result<bool, WalkError> {
        let name = if is_root { last_part(entry.name()) } else { entry.name() };
        let passes = self.types.matches(entry.file_type())
            && self.extensions.matches(name)
            && (self.names.is_empty() || self.names.matches(name))
            && self.paths.as_ref().is_none_or(|paths| paths.matches(if is_root { name } else { path }));
        if !passes {
            return Ok(false);
        }
        if let Some(inode) = &self.inode
            && !(inode.may_match(entry) && inode.matches(entry.metadata()?))
        {
            return Ok(false);
        }
        Ok(!self.empty || is_empty(entry)?)
    }

    /// Returns whether this is a file that the run writes itself.
    ///
    /// Reads the metadata only if the inode number matches, or if the entry is a followed link, whose
    /// metadata is known.
    pub(crate) fn is_own(&self, entry: &mut Entry<'_>) -> Result<bool, WalkError> {
        let may_be = entry.via_link() || self.own.iter().any(|&(_, ino)| ino == entry.ino());
        if !may_be || entry.file_type() != FileType::Regular {
            return Ok(false);
        }
        let metadata = entry.metadata()?;
        Ok(self.own.contains(&(metadata.dev, metadata.ino)))
    }
}

/// Returns the last name of a path, without trailing slashes. A path that consists of slashes gives `/`.
fn last_part(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|&byte| byte != b'/') {
        Some(end) => path[..=end].rsplit(|&byte| byte == b'/').next().unwrap_or(path),
        None => &path[..path.len().min(1)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_starting_point_is_its_last_part() {
        for (path, name) in [
            ("a", "a"),
            ("a/b", "b"),
            ("a/b//", "b"),
            ("/", "/"),
            ("//", "/"),
            (".", "."),
            ("./.x", ".x"),
            ("", ""),
        ] {
            assert_eq!(last_part(path.as_bytes()), name.as_bytes());
        }
    }
}
