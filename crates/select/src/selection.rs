//! The compiled selection.

use std::ffi::{CStr, CString};

use ftk_walk::{Entry, FileType, WalkError};

use crate::checks::Checks;
use crate::expression::{Expr, Term};
use crate::lines::Lists;
use crate::paths::{Excluded, Rest};
use crate::roots::PerRoot;
use crate::test::Node;
use crate::uses::Rule;
use crate::{Expression, SelectionBuilder};

/// A compiled selection of entries. [`SelectionBuilder`] makes it, and all workers of a walk share it.
#[derive(Clone, Debug)]
pub struct Selection {
    /// All rules together.
    pub(crate) test: Node,
    /// Device and inode numbers of files that the run writes itself. They are skipped under every name.
    pub(crate) own: Vec<(u64, u64)>,
    /// A directory that contains a regular file of this name is not entered.
    pub(crate) skipped_with: Option<&'static CStr>,
    /// The number of the first starting point of the walk.
    pub(crate) first_root: usize,
    /// Whether there are several starting points, so that one may be in a directory that is skipped below another one.
    pub(crate) has_other_roots: bool,
    pub(crate) excluded: Option<PerRoot<Excluded>>,
    /// An entry that matches one is skipped, with everything below it.
    pub(crate) excluded_expressions: Vec<(Expression, Node)>,
    /// Lists of patterns for entries to skip.
    pub(crate) lists: Lists,
    /// A directory that contains an entry with such a name is not entered.
    pub(crate) tags: Vec<CString>,
    /// Directories that are tagged as caches are not entered.
    pub(crate) skips_caches: bool,
    /// What is compared of each entry. An entry that is ignored is skipped, with everything below it.
    pub(crate) checks: Checks,
    /// The number of the rule of the first check.
    pub(crate) first_check: usize,
    pub(crate) min_depth: u32,
    pub(crate) max_depth: u32,
    pub(crate) one_file_system: bool,
    pub(crate) no_hidden: bool,
    pub(crate) ignore_files: bool,
    /// Whether an expression tests if entries are ignored.
    pub(crate) tests_ignored: bool,
    /// Whether a walk records what it does not show because of rules that skip entries.
    pub(crate) records_unseen: bool,
    /// Whether any test needs the path of an entry.
    pub(crate) needs_paths: bool,
    /// The path of the starting point below the directory that paths in the rules are relative to, with a slash after each
    /// name. Usually the starting point is that directory, and this is empty.
    pub(crate) base: Vec<u8>,
    /// Whether entries are those of a record.
    pub(crate) is_for_records: bool,
    /// The sources of `test`, for explanations.
    pub(crate) filters: Vec<Filter>,
    /// The rules whose use is counted: the globs of `excluded`, `excluded_expressions`, `lists`, `tags`, then those of
    /// `selecting` and `checks`.
    pub(crate) rules: Vec<Rule>,
    /// The tests of options on names and paths, each with the number of its first rule.
    pub(crate) selecting: Vec<(usize, Node)>,
}

/// A filter that an entry must match.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    /// An option of the command line, by its name.
    Option(&'static str, Expr),
    Where(Expression),
}

impl Filter {
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

    /// Returns the rules whose use a walk counts. Those that skip entries come first.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the same selection for a walk whose first starting point has this number among those that the selection
    /// was built for.
    #[must_use]
    pub fn numbered_from(&self, first_root: usize) -> Self {
        Self { first_root, ..self.clone() }
    }

    /// Returns the same selection without directories that contain a regular file of this name. Starting points are
    /// entered nevertheless. This costs one system call for each directory.
    #[must_use]
    pub fn skip_directories_with(self, name: &'static CStr) -> Self {
        Self { skipped_with: Some(name), ..self }
    }

    /// Returns the same selection for a walk that starts at `dir`, a path below the directory that paths and depths in the
    /// rules are relative to. The starting point has the name that `dir` has there, whatever it is called now.
    ///
    /// Ignore files between both are read only if the starting point is in a git repository that contains them.
    #[must_use]
    pub fn starting_at(self, dir: &[u8]) -> Self {
        Self { base: [dir, b"/"].concat(), needs_paths: true, ..self }
    }

    /// Returns the same selection without what these rules [ignore](crate::Check::Ignore). The use of all of them is counted.
    #[must_use]
    pub fn with_checks(mut self, checks: Checks) -> Self {
        let rule = |line: &Vec<u8>| Rule {
            option: "--rule",
            value: line.clone(),
            protects: false,
            names_root: false,
            lines: None,
        };
        self.rules.truncate(self.first_check);
        self.rules.extend(checks.lines().iter().map(rule));
        self.needs_paths |= !checks.is_empty();
        Self { checks, ..self }
    }

    /// Returns the depth of the starting point below the directory that the rules are relative to.
    pub(crate) fn base_depth(&self) -> u32 {
        self.base.iter().filter(|byte| **byte == b'/').count() as u32
    }

    /// Returns whether a rule skips entries, which protects them from what a command does with the others.
    pub fn protects(&self) -> bool {
        self.rules.iter().any(|rule| rule.protects)
    }

    /// Returns the same selection for a walk that records what it does not show: see [`Unseen`](crate::Unseen). This costs
    /// memory, and one `stat` for each file that a rule skips.
    #[must_use]
    pub fn recording_unseen(self) -> Self {
        Self { records_unseen: true, ..self }
    }

    /// Returns whether a rule asks if users or groups have names.
    pub fn asks_for_names(&self) -> bool {
        self.has(|term| matches!(term, Term::NoUser | Term::NoGroup))
    }

    /// Returns what the globs of entries to skip mean below a directory with the path `dir` below starting point number
    /// `root`. Globs for names are not among them: they mean the same everywhere.
    pub fn excluded_below(&self, root: usize, dir: &[u8]) -> Vec<Rest> {
        self.excluded.as_ref().map_or_else(Vec::new, |excluded| excluded.of(root).below(dir))
    }

    /// Calls `visit` with the number of each glob that skips a starting point, which must not be a directory.
    pub(crate) fn each_glob_of_start(&self, start: &Entry<'_>, visit: &mut dyn FnMut(usize)) {
        if let Some(excluded) = &self.excluded {
            excluded.each_match_of_start(self.first_root + start.root(), start.name(), visit);
        }
    }

    /// Returns the first test that no record can answer, and what it needs. Tests of [recorded](ftk_walk::Recorded) facts that
    /// one record lacks are errors when they are made.
    pub fn needs_tree(&self) -> Option<(&'static str, &'static str)> {
        let options = [
            (self.ignore_files, "--ignore-files", "the ignore files"),
            (self.tests_ignored, "`ignored`", "the ignore files"),
            (self.skips_caches, "--exclude-caches", "the content of CACHEDIR.TAG"),
            (!self.tags.is_empty(), "--exclude-if-present", "the entries of a directory when it is entered"),
        ];
        type IsTerm = fn(&Term) -> bool;
        let terms: [(IsTerm, _, _); 7] = [
            (|it| matches!(it, Term::SameFile(..)), "samefile", "a device number that is valid now"),
            (|it| matches!(it, Term::FsType(_)), "fstype", "the fs_type of an entry"),
            (|it| *it == Term::Readable, "readable", "the caller's permissions"),
            (|it| *it == Term::Writable, "writable", "the caller's permissions"),
            (|it| *it == Term::Executable, "executable", "the caller's permissions"),
            (|it| *it == Term::Broken, "broken", "what a link leads to"),
            (|it| matches!(it, Term::Has(_)), "has", "the entries of a directory when it is tested"),
        ];
        let of_option =
            options.into_iter().find_map(|(is_given, test, needs)| is_given.then_some((test, needs)));
        let of_term =
            || terms.into_iter().find_map(|(is, test, needs)| self.has(is).then_some((test, needs)));
        of_option.or_else(of_term)
    }

    /// Returns whether the selection asks if directories are empty.
    pub fn tests_empty(&self) -> bool {
        self.has(|term| *term == Term::Empty)
    }

    /// Returns whether directories on other file systems are not entered.
    pub fn stays_on_file_system(&self) -> bool {
        self.one_file_system
    }

    /// Returns the same selection for entries of a record: no directory is looked into.
    #[must_use]
    pub fn for_records(self) -> Self {
        Self { is_for_records: true, ..self }
    }

    fn has(&self, is_wanted: impl Fn(&Term) -> bool) -> bool {
        let excluded = self.excluded_expressions.iter().map(|(expression, _)| expression.tree());
        self.filters.iter().map(Filter::expr).chain(excluded).any(|expr| expr.has(&is_wanted))
    }

    /// Returns the option of an expression or list that skips entries by their path, so that it may not mean the same under
    /// another path.
    pub fn excludes_by_path(&self) -> Option<&'static str> {
        let is_place = |term: &Term| term.needs_path() || matches!(term, Term::Depth(_));
        let mut expressions = self.excluded_expressions.iter();
        let by_expression = expressions.any(|(expression, _)| expression.tree().has(is_place));
        by_expression.then_some("--exclude-where").or_else(|| self.lists.by_path())
    }

    /// Returns the number of the globs of entries to skip, which are the first rules.
    pub(crate) fn excluded_globs(&self) -> usize {
        self.first_list() - self.excluded_expressions.len()
    }

    /// Returns the number of the rule of the first list of patterns.
    pub(crate) fn first_list(&self) -> usize {
        self.first_tag() - self.lists.iter().len()
    }

    /// Returns the number of the rule of the first name of a tag.
    pub(crate) fn first_tag(&self) -> usize {
        self.rules.iter().take_while(|rule| rule.protects).count() - self.tags.len()
    }

    /// Returns whether ignore files must be read: those in the tree decide what is selected.
    pub fn reads_ignore_files(&self) -> bool {
        self.ignore_files || self.tests_ignored
    }

    /// Returns whether this is a file that the run writes itself.
    ///
    /// Reads the metadata only if the inode number matches, or if the entry is a followed link, whose
    /// metadata is known.
    pub(crate) fn is_own(&self, entry: &mut Entry<'_>) -> Result<bool, WalkError> {
        if self.is_for_records {
            return Ok(false);
        }
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
