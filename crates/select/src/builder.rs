//! Putting a selection together.

use crate::error::Problem;
use crate::extensions::Extensions;
use crate::glob::{Globs, Pattern};
use crate::selection::Excluded;
use crate::{GlobError, Selection, Size, Types};

/// A selection that is being put together. Without any call it takes everything.
///
/// Calls of the same kind add alternatives, sizes aside: an entry must pass one test of each kind that was
/// asked for.
#[derive(Clone, Debug, Default)]
pub struct SelectionBuilder {
    types: Option<Types>,
    extensions: Extensions,
    names: Vec<Pattern>,
    sizes: Vec<Size>,
    own: Vec<(u64, u64)>,
    excluded: Vec<String>,
    min_depth: u32,
    max_depth: Option<u32>,
    one_file_system: bool,
    no_hidden: bool,
}

impl SelectionBuilder {
    /// Takes entries of these types. A followed link has the type of its target.
    #[must_use]
    pub fn types(mut self, types: Types) -> Self {
        *self.types.get_or_insert(types) |= types;
        self
    }

    /// Takes names with this extension, ASCII case aside: what follows the last dot, unless that dot is the
    /// first byte. A dot before `extension` is ignored, one inside asks for several parts, as in `tar.gz`.
    #[must_use]
    pub fn extension(mut self, extension: impl AsRef<[u8]>) -> Self {
        self.extensions.push(extension.as_ref());
        self
    }

    /// Takes names that match this glob. `*` and `?` match a leading dot too.
    #[must_use]
    pub fn name(mut self, glob: impl Into<String>) -> Self {
        self.names.push(Pattern { glob: glob.into(), ignore_case: false });
        self
    }

    /// As [`SelectionBuilder::name`], ASCII case aside. An alternative to it, not another kind.
    #[must_use]
    pub fn iname(mut self, glob: impl Into<String>) -> Self {
        self.names.push(Pattern { glob: glob.into(), ignore_case: true });
        self
    }

    /// Takes entries of this length, of whatever type: a directory has the length the system reports. Unlike
    /// other tests of one kind, several must all hold, so that two make a range.
    #[must_use]
    pub fn size(mut self, size: Size) -> Self {
        self.sizes.push(size);
        self
    }

    /// Leaves out what matches this glob, with all that lies below it: by name, or by path below the root when
    /// the glob holds a slash, where `*` matches slashes too. A slash at the beginning only makes it a path, one
    /// at the end restricts it to directories. Roots are never left out.
    #[must_use]
    pub fn exclude(mut self, glob: impl Into<String>) -> Self {
        self.excluded.push(glob.into());
        self
    }

    /// Leaves out the regular file with this device and inode number, also where it is a root: one that the run
    /// itself writes.
    #[must_use]
    pub fn leave_out(mut self, dev: u64, ino: u64) -> Self {
        self.own.push((dev, ino));
        self
    }

    /// Takes nothing above this depth. `0`, the default, is that of a root.
    #[must_use]
    pub fn min_depth(mut self, depth: u32) -> Self {
        self.min_depth = depth;
        self
    }

    /// Takes nothing below this depth and lists no directory at it. `0` is that of a root. Default: no bound.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Enters no directory on another device than its root's; the mount point itself is taken. Default: no.
    #[must_use]
    pub fn one_file_system(mut self, yes: bool) -> Self {
        self.one_file_system = yes;
        self
    }

    /// Leaves out what has a name that begins with a dot, with all that lies below it. Roots are never left
    /// out. Default: no.
    #[must_use]
    pub fn no_hidden(mut self, yes: bool) -> Self {
        self.no_hidden = yes;
        self
    }

    /// Compiles the globs.
    ///
    /// # Errors
    /// When one of them cannot be understood.
    pub fn build(self) -> Result<Selection, GlobError> {
        if let Some(pattern) = self.names.iter().find(|pattern| pattern.glob.contains('/')) {
            let source = Problem::Unsupported("a name holds no slash, so nothing would match");
            return Err(GlobError { glob: pattern.glob.clone(), source });
        }
        let (dirs, any): (Vec<_>, Vec<_>) = self.excluded.iter().partition(|glob| glob.ends_with('/'));
        Ok(Selection {
            types: self.types.unwrap_or(Types::ALL),
            extensions: self.extensions,
            names: Globs::new(&self.names)?,
            sizes: self.sizes,
            own: self.own,
            excluded: compile(any)?,
            excluded_dirs: compile(dirs)?,
            min_depth: self.min_depth,
            max_depth: self.max_depth.unwrap_or(u32::MAX),
            one_file_system: self.one_file_system,
            no_hidden: self.no_hidden,
        })
    }
}

fn compile(globs: Vec<&String>) -> Result<Excluded, GlobError> {
    let (mut names, mut paths) = (Vec::new(), Vec::new());
    for glob in globs {
        let glob = glob.trim_end_matches('/');
        // As a walk of `.` prints it.
        let glob = glob.strip_prefix("./").map_or(glob, |_| &glob[1..]);
        let kind = if glob.contains('/') { &mut paths } else { &mut names };
        kind.push(Pattern { glob: glob.strip_prefix('/').unwrap_or(glob).into(), ignore_case: false });
    }
    Ok(Excluded { names: Globs::new(&names)?, paths: Globs::new(&paths)? })
}

#[cfg(test)]
mod tests {
    use ftk_walk::FileType;

    use super::*;

    fn excludes(glob: &str, path: &str, file_type: FileType) -> bool {
        let selection = Selection::builder().exclude(glob).build().unwrap();
        let name = path.rsplit('/').next().unwrap();
        selection.exclude(name.as_bytes(), path.as_bytes(), file_type)
    }

    #[test]
    fn exclusions_are_on_names_unless_they_hold_a_slash() {
        let file = FileType::Regular;
        assert!(excludes("*.o", "a/b.o", file) && !excludes("*.o", "a.o/b", file));
        assert!(excludes("a/*.o", "a/b/c.o", file) && !excludes("a/*.o", "b/a/c.o", file));
        assert!(excludes("/b", "b", file) && !excludes("/b", "a/b", file));
        assert!(excludes("**/b", "b", file) && excludes("**/b", "a/b", file));
    }

    #[test]
    fn a_slash_at_the_end_means_directories() {
        let (file, dir) = (FileType::Regular, FileType::Directory);
        assert!(excludes("b/", "a/b", dir) && !excludes("b/", "a/b", file));
        assert!(
            excludes("a/b/", "a/b", dir) && !excludes("a/b/", "a/b", file) && !excludes("a/b/", "c/a/b", dir)
        );
    }

    #[test]
    fn a_selection_is_shared_by_threads() {
        fn shared<T: Send + Sync>(_: &T) {}
        let selection = Selection::builder().build().unwrap();
        shared(&selection);
        assert!(!selection.needs_paths());
    }
}
