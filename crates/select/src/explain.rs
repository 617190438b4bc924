//! Explains why an entry is selected or not.

use std::collections::BTreeSet;

use ftk_walk::{Directory, Entry, Fields, FileType, Step, Visitor, WalkError};

use crate::expression::Expr;
use crate::filtered::{Barrier, Tag};
use crate::selection::{Filter, last_part};
use crate::test::Node;
use crate::{Expression, Filtered, Roots, Selection};

/// A visitor that explains what a selection does with one path.
///
/// It walks only the directories that lead to the path, with the filters of [`Filtered`]. Give it to a walk of one
/// starting point with one worker.
#[derive(Debug)]
pub struct Explain<'s> {
    filtered: Filtered<'s, Silent>,
    roots: &'s Roots<'s>,
    /// The names below the starting point.
    names: Vec<Vec<u8>>,
    explanation: Explanation,
}

/// What a selection does with a path.
#[derive(Debug, Default)]
pub struct Explanation {
    /// The rules that were applied to the path and the directories above it, in order.
    pub findings: Vec<Finding>,
    /// What becomes of the path.
    pub fate: Fate,
    /// The errors of the walk. The explanation is not reliable if there are any.
    pub errors: Vec<WalkError>,
}

/// What becomes of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The entry does not exist.
    #[default]
    Missing,
    /// It is selected.
    Selected,
    /// A rule rejects it.
    Rejected,
    /// A directory above it is skipped by a rule. This is its path.
    Skipped(Vec<u8>),
    /// A directory above it is not entered. These are its path and the reason.
    NotEntered(Vec<u8>, &'static str),
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The path that the rule was applied to.
    pub path: Vec<u8>,
    /// The option, such as `--name`.
    pub rule: &'static str,
    /// The rule as an expression, a glob, or a line of an ignore file. Empty if the option says it all.
    pub text: Vec<u8>,
    /// The ignore file and the number of the line, if the rule is a line of an ignore file.
    pub source: Option<(Vec<u8>, usize)>,
    /// Whether the rule lets the path pass.
    pub passes: bool,
    /// Whether this is a term of the expression before it. A term passes if it matches.
    pub is_term: bool,
}

/// The inner visitor, which has nothing to do.
#[derive(Debug)]
struct Silent(Vec<WalkError>);

impl Visitor for Silent {
    type Dir = ();

    fn entry(&mut self, _tag: Option<&()>, _entry: &mut Entry<'_>) -> Step {
        Step::Descend
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.0.push(error);
        Step::Next
    }
}

impl<'s> Explain<'s> {
    /// Explains the path with these names below the starting point. Without names it is the starting point.
    /// `roots` are those that the selection was built for.
    pub fn new(selection: &'s Selection, roots: &'s Roots<'s>, names: Vec<Vec<u8>>) -> Self {
        let filtered = Filtered::new(selection, Silent(Vec::new()));
        Self { filtered, roots, names, explanation: Explanation::default() }
    }

    /// Returns the explanation.
    pub fn into_explanation(self) -> Explanation {
        let Silent(errors) = self.filtered.into_parts().visitor;
        Explanation { errors, ..self.explanation }
    }

    /// Adds the rules for an entry that nothing skips, or says why a directory cannot be entered.
    fn examine(&mut self, entry: &mut Entry<'_>) -> Result<Step, WalkError> {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        if entry.depth() as usize == self.names.len() {
            let passes = self.examine_last(&path, entry)?;
            self.explanation.fate = if passes { Fate::Selected } else { Fate::Rejected };
            return Ok(Step::Stop);
        }
        let obstacle = match entry.file_type() {
            FileType::Directory if self.filtered.descends => return Ok(Step::Descend),
            FileType::Directory => "--max-depth",
            FileType::Symlink => "a symbolic link, followed only with --follow",
            // Any future type is not one either.
            _ => "not a directory",
        };
        self.explanation.fate = Fate::NotEntered(path, obstacle);
        Ok(Step::Stop)
    }

    /// Applies the rules that decide whether an entry is shown. Returns whether it passes all.
    fn examine_last(&mut self, path: &[u8], entry: &mut Entry<'_>) -> Result<bool, WalkError> {
        let selection = self.filtered.selection;
        let first = self.explanation.findings.len();
        if selection.min_depth > 0 {
            self.find(path, "--min-depth", &[], self.filtered.lists);
        }
        for filter in &selection.filters {
            match filter {
                Filter::Option(option, expr) => {
                    let Expr::Leaf(leaf) = expr else { continue };
                    let passes = self.evaluate(expr, entry)?;
                    self.find(path, option, leaf.to_string().as_bytes(), passes);
                }
                Filter::Where(expression) => {
                    let passes = self.evaluate(expression.tree(), entry)?;
                    self.find(path, "--where", expression.text(), passes);
                    self.examine_terms(path, "--where", expression, entry)?;
                }
            }
        }
        if !selection.own.is_empty() && selection.is_own(entry)? {
            self.find(path, "own output", b"a file that this run writes", false);
        }
        Ok(self.explanation.findings[first..].iter().all(|finding| finding.passes || finding.is_term))
    }

    /// Adds the result of each term of an expression, if there are several.
    fn examine_terms(
        &mut self,
        path: &[u8],
        rule: &'static str,
        expression: &Expression,
        entry: &mut Entry<'_>,
    ) -> Result<(), WalkError> {
        let mut leaves = Vec::new();
        expression.tree().visit(&mut |leaf| leaves.push(leaf.clone()));
        if leaves.len() < 2 {
            return Ok(());
        }
        for leaf in leaves {
            let span = leaf.span.clone();
            let passes = self.evaluate(&Expr::Leaf(leaf), entry)?;
            self.find(path, rule, &expression.text()[span], passes);
            self.explanation.findings.last_mut().expect("it was just added").is_term = true;
        }
        Ok(())
    }

    fn evaluate(&self, expr: &Expr, entry: &mut Entry<'_>) -> Result<bool, WalkError> {
        // The whole expression has been compiled, so each part of it can be.
        let Ok(node) = Node::compile(expr, self.roots) else { return Ok(false) };
        let is_root = entry.depth() == 0;
        let name = entry.name();
        node.matches(&self.filtered.seen(entry, name, is_root), entry, Fields::NONE)
    }

    fn find(&mut self, path: &[u8], rule: &'static str, text: &[u8], passes: bool) {
        self.explanation.findings.push(Finding {
            path: path.to_vec(),
            rule,
            text: text.to_vec(),
            source: None,
            passes,
            is_term: false,
        });
    }

    /// Applies the rules that skip an entry with everything below it. Returns whether it passes all.
    ///
    /// A starting point has no `tag`.
    fn examine_pruning(&mut self, tag: Option<&Tag<()>>, entry: &mut Entry<'_>) -> Result<bool, WalkError> {
        let selection = self.filtered.selection;
        let mut path = Vec::new();
        entry.push_path(&mut path);
        let first = self.explanation.findings.len();
        if selection.no_hidden && tag.is_some() {
            self.find(&path, "--no-hidden", &[], !entry.name().starts_with(b"."));
        }
        let mut matching = BTreeSet::new();
        let mut visit = |glob| _ = matching.insert(glob);
        if tag.is_none() {
            selection.each_glob_of_start(entry, &mut visit);
        } else if let Some(excluded) = self.filtered.excluded {
            excluded.each_match(entry.name(), self.filtered.below_root(), entry.file_type(), &mut visit);
        }
        for (number, rule) in selection.rules[..selection.excluded_globs()].iter().enumerate() {
            self.find(&path, rule.option, &rule.value, !matching.contains(&number));
        }
        let below = if tag.is_some() { self.filtered.below_root() } else { last_part(entry.name()) }.to_vec();
        self.examine_lists(&path, &below, entry);
        if let Some(tag) = tag {
            self.examine_ignore_files(&path, tag, entry);
        }
        for (expression, node) in &selection.excluded_expressions {
            let seen = self.filtered.seen(entry, entry.name(), tag.is_none());
            let matches = node.matches(&seen, entry, Fields::NONE)?;
            self.find(&path, "--exclude-where", expression.text(), !matches);
            self.examine_terms(&path, "--exclude-where", expression, entry)?;
        }
        Ok(self.explanation.findings[first..].iter().all(|finding| finding.passes || finding.is_term))
    }

    /// Adds the line of a list of patterns that decides, if there are lists.
    fn examine_lists(&mut self, path: &[u8], below: &[u8], entry: &Entry<'_>) {
        let lists = &self.filtered.selection.lists;
        let is_dir = entry.file_type() == FileType::Directory;
        let Some(decisive) = lists.find(below, is_dir) else {
            if let Some(list) = lists.iter().next() {
                self.find(path, list.option, b"no line matches", true);
            }
            return;
        };
        self.find(path, decisive.list.option, decisive.line.text, !decisive.line.ignores);
        let finding = self.explanation.findings.last_mut().expect("it was just added");
        finding.source = Some((decisive.list.name.clone(), decisive.line.number));
    }

    /// Adds the line of an ignore file that decides, if ignore files are read.
    fn examine_ignore_files(&mut self, path: &[u8], tag: &Tag<()>, entry: &Entry<'_>) {
        let selection = self.filtered.selection;
        self.filtered.is_ignored = self.filtered.ignores(tag, entry);
        if !selection.reads_ignore_files() {
            return;
        }
        let is_dir = entry.file_type() == FileType::Directory;
        let rules = self.filtered.rules.clone();
        let Some(decisive) = rules.as_ref().and_then(|rules| rules.find(&self.filtered.path, is_dir)) else {
            if selection.ignore_files {
                self.find(path, "--ignore-files", b"no line matches", true);
            }
            return;
        };
        // The path of the ignore file: its directory is above the starting point, or leads to the entry.
        let file = match decisive.dir {
            Some(dir) => dir.join(decisive.file).into_os_string().into_encoded_bytes(),
            None => {
                let below = self.filtered.path.len() - decisive.skip;
                [&path[..path.len() - below], decisive.file.as_bytes()].concat()
            }
        };
        self.find(path, "--ignore-files", decisive.line.text, !decisive.line.ignores);
        let finding = self.explanation.findings.last_mut().expect("it was just added");
        finding.source = Some((file, decisive.line.number));
        if !selection.ignore_files {
            // Only a term of an expression asks for it.
            (finding.rule, finding.is_term) = ("ignored", true);
        }
    }

    /// Notes that a rule skips an entry with everything below it.
    fn skip(&mut self, entry: &Entry<'_>) -> Step {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        let is_last = entry.depth() as usize == self.names.len();
        self.explanation.fate = if is_last { Fate::Rejected } else { Fate::Skipped(path) };
        Step::Stop
    }

    fn or_error(&mut self, result: Result<Step, WalkError>) -> Step {
        result.unwrap_or_else(|error| {
            self.filtered.error(error);
            Step::Stop
        })
    }
}

impl Visitor for Explain<'_> {
    type Dir = Tag<()>;

    fn descend(&mut self, from: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Self::Dir {
        self.filtered.descend(from, entry)
    }

    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        let barrier = match self.filtered.barrier(dir) {
            Err(error) => return self.or_error(Err(error)),
            Ok(None) => return self.filtered.enter(tag, dir),
            Ok(Some(barrier)) => barrier,
        };
        let obstacle = match barrier {
            Barrier::OtherFileSystem => "--one-file-system",
            Barrier::Pseudo => "a pseudo file system",
            Barrier::Own => "a directory that this run writes",
            Barrier::Marked => "a file that marks the directory",
            Barrier::Tagged(_) => "--exclude-if-present",
            Barrier::Cache => "--exclude-caches",
        };
        let mut path = Vec::new();
        dir.push_path(&mut path);
        self.explanation.fate = Fate::NotEntered(path, obstacle);
        Step::Stop
    }

    fn entry(&mut self, tag: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Step {
        let Some(tag) = tag else {
            self.filtered.entry(None, entry);
            let is_dir = entry.file_type() == FileType::Directory;
            let passes = if is_dir { Ok(true) } else { self.examine_pruning(None, entry) };
            let examined =
                passes.and_then(|passes| if passes { self.examine(entry) } else { Ok(self.skip(entry)) });
            return self.or_error(examined);
        };
        if self.names.get(entry.depth() as usize - 1).is_none_or(|name| name != entry.name()) {
            return Step::Next;
        }
        let dir_len = self.filtered.path.len();
        self.filtered.push_name(entry.name());
        let examined = match self.examine_pruning(Some(tag), entry) {
            Ok(true) => self.examine(entry),
            Ok(false) => Ok(self.skip(entry)),
            Err(error) => Err(error),
        };
        self.filtered.path.truncate(dir_len);
        self.or_error(examined)
    }

    fn leave(&mut self, tag: &Self::Dir) {
        self.filtered.leave(tag);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.filtered.error(error)
    }
}
