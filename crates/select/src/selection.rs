//! The compiled selection.

use ftk_walk::{Entry, FileType, WalkError};

use crate::expression::Expr;
use crate::paths::Excluded;
use crate::test::Node;
use crate::{Expression, SelectionBuilder};

/// A compiled selection of entries. [`SelectionBuilder`] makes it, and all workers of a walk share it.
#[derive(Clone, Debug)]
pub struct Selection {
    /// All rules together.
    pub(crate) test: Node,
    /// Device and inode numbers of files that the run writes itself. They are skipped under every name.
    pub(crate) own: Vec<(u64, u64)>,
    pub(crate) excluded: Option<Excluded>,
    /// An entry that matches one is skipped, with everything below it.
    pub(crate) excluded_expressions: Vec<(Expression, Node)>,
    pub(crate) min_depth: u32,
    pub(crate) max_depth: u32,
    pub(crate) one_file_system: bool,
    pub(crate) no_hidden: bool,
    pub(crate) ignore_files: bool,
    /// Whether an expression tests if entries are ignored.
    pub(crate) tests_ignored: bool,
    /// Whether any test needs the path of an entry.
    pub(crate) needs_paths: bool,
    /// The sources of `test` and `excluded`, for explanations.
    pub(crate) rules: Vec<Rule>,
    pub(crate) excluded_globs: Vec<Vec<u8>>,
}

/// A rule that an entry must match.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// An option of the command line, by its name.
    Option(&'static str, Expr),
    Where(Expression),
}

impl Rule {
    pub(crate) fn expr(&self) -> &Expr {
        match self {
            Self::Option(_, expr) => expr,
            Self::Where(expression) => expression.tree(),
        }
    }
}

impl Selection {
    /// Returns a builder, which by default selects everything.
    pub fn builder() -> SelectionBuilder {
        SelectionBuilder::default()
    }

    /// Returns whether ignore files must be read.
    pub(crate) fn reads_ignore_files(&self) -> bool {
        self.ignore_files || self.tests_ignored
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
pub(crate) fn last_part(path: &[u8]) -> &[u8] {
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
