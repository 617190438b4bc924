//! The tests, compiled.

use ftk_walk::{Entry, FileType, WalkError};

use crate::empty::is_empty;
use crate::extensions::Extensions;
use crate::glob::Globs;
use crate::inode::Inode;
use crate::paths::{Excluded, Paths};
use crate::{SelectionBuilder, Types};

/// What a command wants from a tree. Made by [`SelectionBuilder`], shared by all workers.
#[derive(Clone, Debug)]
pub struct Selection {
    pub(crate) types: Types,
    pub(crate) extensions: Extensions,
    /// Empty: no test.
    pub(crate) names: Globs,
    pub(crate) paths: Option<Paths>,
    pub(crate) inode: Option<Inode>,
    pub(crate) empty: bool,
    /// Device and inode of files left out whatever their name.
    pub(crate) own: Vec<(u64, u64)>,
    pub(crate) excluded: Option<Excluded>,
    pub(crate) min_depth: u32,
    pub(crate) max_depth: u32,
    pub(crate) one_file_system: bool,
    pub(crate) no_hidden: bool,
    pub(crate) ignore_files: bool,
    /// Whether paths must be put together to decide.
    pub(crate) needs_paths: bool,
}

impl Selection {
    /// A selection to be put together, which so far takes everything.
    pub fn builder() -> SelectionBuilder {
        SelectionBuilder::default()
    }

    /// Whether an entry passes every test but those on depth. What needs a system call comes last.
    ///
    /// `path` is the path below the root, where paths are needed. A root has its own last name instead, also as
    /// its path.
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
            && !(inode.may_take(entry) && inode.matches(entry.metadata()?))
        {
            return Ok(false);
        }
        Ok(!self.empty || is_empty(entry)?)
    }

    /// Whether this is a file that the run writes itself. Asks the system only where the inode number fits, or
    /// where a link's target was asked about anyway.
    pub(crate) fn is_own(&self, entry: &mut Entry<'_>) -> Result<bool, WalkError> {
        let may_be = entry.via_link() || self.own.iter().any(|&(_, ino)| ino == entry.ino());
        if !may_be || entry.file_type() != FileType::Regular {
            return Ok(false);
        }
        let metadata = entry.metadata()?;
        Ok(self.own.contains(&(metadata.dev, metadata.ino)))
    }
}

/// The name at the end of an argument: slashes behind it do not count, and a path of slashes only is `/`.
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
    fn the_name_of_an_argument_is_its_last_part() {
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
