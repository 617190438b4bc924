//! Putting a selection together.

use crate::extensions::Extensions;
use crate::glob::{Globs, Pattern};
use crate::inode::Inode;
use crate::paths::{Excluded, Paths};
use crate::{Links, Owner, ParseError, PatternError, Perm, Selection, Size, Time, Types};

/// A selection that is being put together. Without any call it takes everything.
///
/// Calls of the same kind add alternatives: an entry must pass one test of each kind that was asked for. Bounds
/// must all hold, so that two make a range: sizes, numbers of links, and times of change.
///
/// Globs may be any bytes, but only those that are a whole name, a beginning and `*`, or `*` and an end may be
/// something else than UTF-8.
#[derive(Clone, Debug, Default)]
pub struct SelectionBuilder {
    types: Option<Types>,
    extensions: Extensions,
    names: Vec<Pattern>,
    paths: Vec<Pattern>,
    regexes: Vec<String>,
    inode: Inode,
    empty: bool,
    own: Vec<(u64, u64)>,
    excluded: Vec<Vec<u8>>,
    min_depth: u32,
    max_depth: Option<u32>,
    one_file_system: bool,
    no_hidden: bool,
    ignore_files: bool,
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
    pub fn name(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.names.push(Pattern { glob: glob.into(), ignore_case: false });
        self
    }

    /// As [`SelectionBuilder::name`], ASCII case aside. An alternative to it, not another kind.
    #[must_use]
    pub fn iname(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.names.push(Pattern { glob: glob.into(), ignore_case: true });
        self
    }

    /// Takes entries whose path below the root matches this glob as a whole; `*` and `?` match slashes too. A
    /// root has its own last name as path. A slash at the beginning is that of the root.
    #[must_use]
    pub fn path(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.paths.push(Pattern { glob: glob.into(), ignore_case: false });
        self
    }

    /// Takes entries whose path below the root this regular expression matches somewhere. Another kind than
    /// [`SelectionBuilder::path`]. It is that of the [`regex`] crate on bytes: `.` is any byte, a newline too, and
    /// classes and case are those of ASCII.
    #[must_use]
    pub fn regex(mut self, regex: impl Into<String>) -> Self {
        self.regexes.push(regex.into());
        self
    }

    /// Takes entries of this length, of whatever type: a directory has the length the system reports.
    #[must_use]
    pub fn size(mut self, size: Size) -> Self {
        self.inode.sizes.push(size);
        self
    }

    /// Takes entries whose content changed at this moment or later.
    #[must_use]
    pub fn changed_since(mut self, time: Time) -> Self {
        self.inode.since = self.inode.since.max(Some(time));
        self
    }

    /// Takes entries whose content changed before this moment.
    #[must_use]
    pub fn changed_before(mut self, time: Time) -> Self {
        self.inode.before = Some(self.inode.before.map_or(time, |before| before.min(time)));
        self
    }

    /// Takes entries of this user and group.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.inode.owners.push(owner);
        self
    }

    /// Takes entries with these permission bits.
    #[must_use]
    pub fn perm(mut self, perm: Perm) -> Self {
        self.inode.perms.push(perm);
        self
    }

    /// Takes entries with this number of hard links.
    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.inode.links.push(links);
        self
    }

    /// Takes the names of the file with this device and inode number. The inode numbers that listings tell are
    /// relied on, except those of directories.
    #[must_use]
    pub fn same_file(mut self, dev: u64, ino: u64) -> Self {
        self.inode.same.push((dev, ino));
        self
    }

    /// Takes regular files of no bytes and directories without entries, for which each directory that passes all
    /// other tests is opened. Default: no.
    #[must_use]
    pub fn empty(mut self, yes: bool) -> Self {
        self.empty = yes;
        self
    }

    /// Leaves out what matches this glob, with all that lies below it: by name, or by path below the root when
    /// the glob holds a slash, where `*` matches slashes too. A slash at the beginning only makes it a path, one
    /// at the end restricts it to directories. Roots are never left out.
    #[must_use]
    pub fn exclude(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.excluded.push(glob.into());
        self
    }

    /// Leaves out the regular file with this device and inode number, also where it is a root: one that the run
    /// itself writes. Of a directory, leaves out all that lies in it.
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

    /// Leaves out what `.gitignore` and `.ignore` files say, with all that lies below it. Roots are never left
    /// out. Default: no.
    ///
    /// - Both are read in every directory that is walked, and a `.gitignore` counts without a repository too.
    ///   Deeper files decide before those above them, `.ignore` files before all `.gitignore` files.
    /// - A repository begins at a directory with a `.git` in it. The `.gitignore` files above it do not count in
    ///   it, and its `.git/info/exclude` does, after all of them; that of a linked worktree or a submodule, whose
    ///   `.git` is a file, is not looked for. Where a root lies in a repository, the files between that one's
    ///   beginning and the root count too, and nothing above it.
    /// - The user's own ignore file (`core.excludesFile`) is not looked at: the same tree gives the same entries
    ///   to everybody. Nor is git's index: a file that git tracks although it is ignored is left out.
    /// - `.git` itself is nothing that anybody ignores.
    #[must_use]
    pub fn ignore_files(mut self, yes: bool) -> Self {
        self.ignore_files = yes;
        self
    }

    /// Compiles the patterns.
    ///
    /// # Errors
    /// When one of them cannot be understood.
    pub fn build(self) -> Result<Selection, PatternError> {
        if let Some((glob, at)) =
            self.names.iter().find_map(|pattern| Some((&pattern.glob, slash(&pattern.glob)?)))
        {
            let problem = "a name holds no `/`, so nothing would match: this is a path";
            return Err(PatternError::glob(glob, ParseError::new(at, problem)));
        }
        let excluded = Excluded::new(&self.excluded)?;
        let paths = Paths::new(self.paths, &self.regexes)?;
        let has_paths = !paths.is_empty();
        let needs_paths = self.ignore_files || has_paths || excluded.needs_paths();
        Ok(Selection {
            types: self.types.unwrap_or(Types::ALL),
            extensions: self.extensions,
            names: Globs::new(&self.names)?,
            paths: has_paths.then_some(paths),
            inode: (!self.inode.is_empty()).then_some(self.inode),
            empty: self.empty,
            own: self.own,
            excluded: (!self.excluded.is_empty()).then_some(excluded),
            min_depth: self.min_depth,
            max_depth: self.max_depth.unwrap_or(u32::MAX),
            one_file_system: self.one_file_system,
            no_hidden: self.no_hidden,
            ignore_files: self.ignore_files,
            needs_paths,
        })
    }
}

fn slash(glob: &[u8]) -> Option<usize> {
    glob.iter().position(|&byte| byte == b'/')
}
