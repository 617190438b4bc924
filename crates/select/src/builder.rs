//! The builder of a selection.

use std::cmp::Ordering;
use std::ffi::CString;
use std::sync::Arc;

use ftk_ignore::IgnoreFile;

use crate::bound::Bound;
use crate::checks::Checks;
use crate::expression::{Expr, Stamp, Term};
use crate::glob::Pattern;
use crate::lines::{List, Lists};
use crate::paths::Excluded;
use crate::roots::Roots;
use crate::selection::Filter;
use crate::test::Node;
use crate::uses::Rule;
use crate::{Expression, Links, Owner, ParseError, PatternError, Perm, Selection, Size, Time, Types};

/// A builder of a [`Selection`]. By default everything is selected.
///
/// Calls of the same kind are alternatives: an entry must match one of each kind. The exceptions are sizes,
/// link counts, modification times and expressions: an entry must match all of them, so that two make a range. It must
/// also match all owners with a negation.
///
/// Globs are bytes. A glob that is not UTF-8 must be a whole name, a prefix and `*`, or `*` and a suffix.
#[derive(Clone, Debug, Default)]
pub struct SelectionBuilder {
    types: Option<Types>,
    extensions: Vec<Vec<u8>>,
    names: Vec<Pattern>,
    paths: Vec<Pattern>,
    regexes: Vec<String>,
    sizes: Vec<Term>,
    links: Vec<Term>,
    since: Option<Time>,
    before: Option<Time>,
    owners: Vec<Term>,
    perms: Vec<Term>,
    same: Vec<Term>,
    empty: bool,
    unnamed: [bool; 2],
    expressions: Vec<Expression>,
    own: Vec<(u64, u64)>,
    excluded: Vec<Vec<u8>>,
    excluded_expressions: Vec<Expression>,
    lists: Lists,
    tags: Vec<CString>,
    skips_caches: bool,
    min_depth: u32,
    max_depth: Option<u32>,
    one_file_system: bool,
    no_hidden: bool,
    ignore_files: bool,
}

impl SelectionBuilder {
    /// Selects entries of these types. A followed link has the type of its target.
    #[must_use]
    pub fn types(mut self, types: Types) -> Self {
        *self.types.get_or_insert(types) |= types;
        self
    }

    /// Selects names with this extension, ignoring ASCII case.
    ///
    /// The extension is the part after the last dot, unless that dot is the first byte of the name. A leading
    /// dot in `extension` is ignored. An extension may have several parts, as in `tar.gz`.
    #[must_use]
    pub fn extension(mut self, extension: impl AsRef<[u8]>) -> Self {
        self.extensions.push(extension.as_ref().into());
        self
    }

    /// Selects names that match this glob. `*` and `?` match a leading dot too.
    #[must_use]
    pub fn name(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.names.push(Pattern { glob: glob.into(), ignore_case: false });
        self
    }

    /// Selects names that match this glob, ignoring ASCII case. The same kind as [`SelectionBuilder::name`].
    #[must_use]
    pub fn iname(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.names.push(Pattern { glob: glob.into(), ignore_case: true });
        self
    }

    /// Selects entries whose whole path below the starting point matches this glob. `*` and `?` match slashes
    /// too.
    ///
    /// The path of a starting point is its own last name. A leading `/` or `./` in the glob stands for the
    /// starting point. A glob that begins with the path of a starting point also matches below that one: see
    /// [`Roots`]. A slash at the end restricts the glob to directories.
    #[must_use]
    pub fn path(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.paths.push(Pattern { glob: glob.into(), ignore_case: false });
        self
    }

    /// Selects entries whose path below the starting point contains a match of this regular expression.
    ///
    /// This is a different kind from [`SelectionBuilder::path`]. The syntax is that of the [`regex`] crate
    /// for bytes: `.` matches any byte including a newline, and classes and case are ASCII.
    #[must_use]
    pub fn regex(mut self, regex: impl Into<String>) -> Self {
        self.regexes.push(regex.into());
        self
    }

    /// Selects entries of this size, of any type. The size of a directory is the one that the system reports.
    #[must_use]
    pub fn size(mut self, size: Size) -> Self {
        self.sizes.push(Term::Size(size.0));
        self
    }

    /// Selects entries modified at this time or later.
    #[must_use]
    pub fn changed_since(mut self, time: Time) -> Self {
        self.since = self.since.max(Some(time));
        self
    }

    /// Selects entries modified before this time.
    #[must_use]
    pub fn changed_before(mut self, time: Time) -> Self {
        self.before = Some(self.before.map_or(time, |before| before.min(time)));
        self
    }

    /// Selects entries of this user and group.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owners.push(Term::Owner(owner));
        self
    }

    /// Selects entries with these permission bits.
    #[must_use]
    pub fn perm(mut self, perm: Perm) -> Self {
        self.perms.push(Term::Perm(perm));
        self
    }

    /// Selects entries with this number of hard links.
    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.links.push(Term::Links(links.0));
        self
    }

    /// Selects the hard links to the file with this device and inode number.
    ///
    /// An entry that is neither a directory nor a followed link is rejected without a system call if its
    /// listing reports another inode number.
    #[must_use]
    pub fn same_file(mut self, dev: u64, ino: u64) -> Self {
        self.same.push(Term::SameFile(dev, ino));
        self
    }

    /// Selects empty regular files and empty directories. Default: no.
    ///
    /// This opens each directory that passes all other tests.
    #[must_use]
    pub fn empty(mut self, yes: bool) -> Self {
        self.empty = yes;
        self
    }

    /// Selects entries whose user id has no name. Default: no.
    #[must_use]
    pub fn no_user(mut self, yes: bool) -> Self {
        self.unnamed[0] = yes;
        self
    }

    /// Selects entries whose group id has no name. Default: no.
    #[must_use]
    pub fn no_group(mut self, yes: bool) -> Self {
        self.unnamed[1] = yes;
        self
    }

    /// Selects entries that match this expression.
    #[must_use]
    pub fn expression(mut self, expression: Expression) -> Self {
        self.expressions.push(expression);
        self
    }

    /// Skips entries that match this expression, and everything below them. Directories given as starting points are never
    /// skipped.
    #[must_use]
    pub fn exclude_expression(mut self, expression: Expression) -> Self {
        self.excluded_expressions.push(expression);
        self
    }

    /// Skips entries that match this glob, and everything below them. Directories given as starting points are never
    /// skipped. Of another starting point, a glob with a slash may also match the path as it was given.
    ///
    /// A glob without a slash matches names. A glob with a slash matches whole paths below the starting
    /// point, and its `*` matches slashes too. A leading slash only makes it a path. A trailing slash
    /// restricts it to directories and does not make it a path. A glob that begins with the path of a starting
    /// point also matches below that one: see [`Roots`].
    #[must_use]
    pub fn exclude(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.excluded.push(glob.into());
        self
    }

    /// Skips entries that a list of patterns ignores, and everything below them, as if it were a `.gitignore` file in each
    /// starting point. Directories given as starting points are never skipped. Of several lists, the last line that matches decides.
    ///
    /// `option` and `name` are for the [`Rule`].
    #[must_use]
    pub fn exclude_list(mut self, option: &'static str, name: Vec<u8>, file: Arc<IgnoreFile>) -> Self {
        self.lists.push(List { option, name, file });
        self
    }

    /// Does not enter directories that contain an entry with this name, starting points included. The directories
    /// themselves are selected. This costs one system call for each directory.
    #[must_use]
    pub fn exclude_if_present(mut self, name: CString) -> Self {
        self.tags.push(name);
        self
    }

    /// Does not enter directories that the file `CACHEDIR.TAG` marks as caches, starting points included. The directories
    /// themselves are selected. This costs one system call for each directory. Default: no.
    #[must_use]
    pub fn exclude_caches(mut self, yes: bool) -> Self {
        self.skips_caches = yes;
        self
    }

    /// Skips the regular file with this device and inode number, even if it is a starting point.
    ///
    /// This is for files that the run itself writes. Device and inode number can also be those of a
    /// directory. Then everything in the directory is skipped, but not the directory itself.
    #[must_use]
    pub fn skip_file(mut self, dev: u64, ino: u64) -> Self {
        self.own.push((dev, ino));
        self
    }

    /// Skips entries shallower than this depth. Starting points are at depth 0. Default: 0.
    #[must_use]
    pub fn min_depth(mut self, depth: u32) -> Self {
        self.min_depth = depth;
        self
    }

    /// Skips entries deeper than this depth, and does not list directories at it. Starting points are at
    /// depth 0. Default: no limit.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Does not enter directories on a different device from their starting point. The mount point itself is
    /// selected. Default: no.
    #[must_use]
    pub fn one_file_system(mut self, yes: bool) -> Self {
        self.one_file_system = yes;
        self
    }

    /// Skips entries whose name begins with a dot, and everything below them. Starting points are never
    /// skipped. Default: no.
    #[must_use]
    pub fn no_hidden(mut self, yes: bool) -> Self {
        self.no_hidden = yes;
        self
    }

    /// Skips entries that `.gitignore` and `.ignore` files ignore, and everything below them. Starting points
    /// are never skipped. Default: no.
    ///
    /// - Both files are read in every directory that is walked. A `.gitignore` file applies outside a
    ///   repository too. Files in deeper directories take precedence over those above them, and `.ignore`
    ///   files over all `.gitignore` files.
    /// - A repository begins at a directory that contains `.git`. The `.gitignore` files above it do not
    ///   apply in it. Its `.git/info/exclude` applies, and comes last. In a linked worktree or a submodule
    ///   `.git` is a file; the `info/exclude` of these is not read.
    /// - If a starting point is inside a repository, the files between the repository's directory and the
    ///   starting point apply too. Files above the repository do not.
    /// - The user's ignore file (`core.excludesFile`) is not read, so that all users get the same entries.
    ///   Git's index is not read either: a file that is ignored and tracked is skipped.
    /// - `.git` itself is not ignored.
    #[must_use]
    pub fn ignore_files(mut self, yes: bool) -> Self {
        self.ignore_files = yes;
        self
    }

    /// Compiles the patterns for any starting points.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub fn build(self) -> Result<Selection, PatternError> {
        self.build_for(&Roots::none())
    }

    /// Compiles the patterns for a walk with these starting points, which globs may begin with.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub fn build_for(self, roots: &Roots<'_>) -> Result<Selection, PatternError> {
        if let Some((glob, at)) =
            self.names.iter().find_map(|pattern| Some((&pattern.glob, slash(&pattern.glob)?)))
        {
            let problem = "a name cannot contain `/`, so nothing would match: use a filter on paths";
            return Err(PatternError::glob(glob, ParseError::new(at, problem)));
        }
        let excluded = Excluded::new(&self.excluded, roots)?;
        let mut excluded_expressions = Vec::new();
        for expression in &self.excluded_expressions {
            excluded_expressions.push((expression.clone(), Node::compile(expression.tree(), roots)?));
        }
        let mut rules = self.skipping_rules(roots);
        let filters = self.filters();
        let (mut nodes, mut selecting) = (Vec::new(), Vec::new());
        for filter in &filters {
            let node = Node::compile(filter.expr(), roots)?;
            let counted = self.selecting_rules(filter);
            if !counted.is_empty() {
                selecting.push((rules.len(), node.clone()));
                rules.extend(counted);
            }
            nodes.push(node);
        }
        let test = Node::all(nodes);
        let exprs =
            || filters.iter().map(Filter::expr).chain(self.excluded_expressions.iter().map(Expression::tree));
        let tests_ignored = exprs().any(|expr| expr.has(|term| *term == Term::Ignored));
        let needs_paths = self.ignore_files
            || !self.lists.is_empty()
            || excluded.any(Excluded::needs_paths)
            || exprs().any(|expr| expr.has(Term::needs_path));
        Ok(Selection {
            test,
            own: self.own,
            skipped_with: None,
            first_root: 0,
            has_other_roots: roots.are_several(),
            excluded: (!self.excluded.is_empty()).then_some(excluded),
            excluded_expressions,
            lists: self.lists,
            tags: self.tags,
            skips_caches: self.skips_caches,
            checks: Checks::default(),
            first_check: rules.len(),
            min_depth: self.min_depth,
            max_depth: self.max_depth.unwrap_or(u32::MAX),
            one_file_system: self.one_file_system,
            no_hidden: self.no_hidden,
            ignore_files: self.ignore_files,
            tests_ignored,
            records_unseen: false,
            needs_paths,
            base: Vec::new(),
            is_for_records: false,
            filters,
            rules,
            selecting,
        })
    }

    /// Returns the rules that skip entries, in the order of their numbers.
    fn skipping_rules(&self, roots: &Roots<'_>) -> Vec<Rule> {
        let rule = |option, value: &[u8], names_root| Rule {
            option,
            value: value.into(),
            protects: true,
            names_root,
            lines: None,
        };
        let globs = self.excluded.iter().map(|glob| rule("--exclude", glob, roots.is_named_by(glob)));
        let expressions = self.excluded_expressions.iter();
        let expressions = expressions.map(|it| rule("--exclude-where", it.text(), false));
        let list = |it: &List| Rule { lines: Some(it.file.len()), ..rule(it.option, &it.name, false) };
        let tags = self.tags.iter().map(|name| rule("--exclude-if-present", name.as_bytes(), false));
        globs.chain(expressions).chain(self.lists.iter().map(list)).chain(tags).collect()
    }

    /// Returns the rules of a filter if their use is counted, in the order of its terms.
    fn selecting_rules(&self, filter: &Filter) -> Vec<Rule> {
        let rule = |option, value: &[u8]| Rule {
            option,
            value: value.into(),
            protects: false,
            names_root: false,
            lines: None,
        };
        let name = |it: &Pattern| rule(if it.ignore_case { "--iname" } else { "--name" }, &it.glob);
        match filter {
            Filter::Option("--extension", _) => {
                self.extensions.iter().map(|it| rule("--extension", it)).collect()
            }
            Filter::Option("--name", _) => self.names.iter().map(name).collect(),
            Filter::Option("--path", _) => self.paths.iter().map(|it| rule("--path", &it.glob)).collect(),
            Filter::Option("--regex", _) => {
                self.regexes.iter().map(|it| rule("--regex", it.as_bytes())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the filters that an entry must match, in the order of the options in the help.
    fn filters(&self) -> Vec<Filter> {
        let mut filters = Vec::new();
        let mut one_of = |option, terms: Vec<Term>| {
            if !terms.is_empty() {
                filters.push(Filter::Option(option, Expr::any(terms)));
            }
        };
        let extension = |it: &Vec<u8>| Term::Extension(it.strip_prefix(b".").unwrap_or(it).into());
        one_of("--extension", self.extensions.iter().map(extension).collect());
        one_of("--name", self.names.iter().cloned().map(Term::Name).collect());
        one_of("--path", self.paths.iter().cloned().map(Term::Path).collect());
        one_of("--regex", self.regexes.iter().cloned().map(Term::PathRegex).collect());
        one_of("--type", self.types.into_iter().map(Term::Type).collect());
        self.sizes.iter().for_each(|size| one_of("--size", vec![size.clone()]));
        let modified = |ordering, time: Time| Term::Time(Stamp::Modified, Bound { ordering, value: time.0 });
        // At this time or later.
        let since = self.since.map(|since| modified(Ordering::Greater, Time(since.0 - 1)));
        one_of("--changed-within", since.into_iter().collect());
        let before = self.before.map(|before| modified(Ordering::Less, before));
        one_of("--changed-before", before.into_iter().collect());
        // Of several negations, one would always be true.
        let (not, owners): (Vec<Term>, _) = self
            .owners
            .iter()
            .cloned()
            .partition(|it| matches!(it, Term::Owner(owner) if owner.is_negated()));
        one_of("--owner", owners);
        not.into_iter().for_each(|owner| one_of("--owner", vec![owner]));
        one_of("--nouser", self.unnamed[0].then_some(Term::NoUser).into_iter().collect());
        one_of("--nogroup", self.unnamed[1].then_some(Term::NoGroup).into_iter().collect());
        one_of("--perm", self.perms.clone());
        self.links.iter().for_each(|links| one_of("--links", vec![links.clone()]));
        one_of("--samefile", self.same.clone());
        one_of("--empty", self.empty.then_some(Term::Empty).into_iter().collect());
        filters.extend(self.expressions.iter().cloned().map(Filter::Where));
        filters
    }
}

fn slash(glob: &[u8]) -> Option<usize> {
    glob.iter().position(|&byte| byte == b'/')
}
