//! A visitor that applies a selection.

use std::mem;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use ftk_file::{Stat, Symlinks};
use ftk_ignore::{IgnoreFiles, IgnoreMemory, IgnoreRules, Loaded};
use ftk_walk::{Directory, Entry, Fields, FileType, Op, Repeat, Step, Visitor, WalkError};
use rustix::fs::{AtFlags, CWD, statat};

use crate::checks::Check;
use crate::paths::Excluded;
use crate::selection::last_part;
use crate::tags;
use crate::test::{Node, Seen};
use crate::{Selection, Skipped, SkippedEntry, SkippedFile, Unseen, Used};

/// A visitor that shows the selected entries to an inner visitor.
///
/// A directory that fails a filter is not shown, but is still walked. A directory that is shown is walked if
/// the inner visitor answers [`Step::Descend`]. The walk itself is limited by exclusions, ignore files,
/// hidden names, depth and file systems. Starting points are given by name, so ignore files and hidden names do not apply
/// to them, and exclusions only to those that are no directories; everything else does.
///
/// No other visitor filters entries for this one.
///
/// A rule that skips entries counts as used if it matches an entry that is skipped, whichever rule was the first, or if
/// it matches only a path that exists in a directory that is not entered. A rule on names or paths that selects entries
/// counts as used if it matches an entry that is selected.
#[derive(Debug)]
pub struct Filtered<'s, V> {
    pub(crate) selection: &'s Selection,
    inner: V,
    skipped: Skipped,
    used: Used,
    unseen: Unseen,
    /// Device and inode number of the directory being listed.
    directory: (u64, u64),
    /// The globs of entries to skip in the directory being listed.
    pub(crate) excluded: Option<&'s Excluded>,
    /// The metadata that the inner visitor will read.
    reads: Fields,
    /// Whether entries at the current depth may be shown.
    pub(crate) lists: bool,
    /// Whether directories at the current depth may be entered.
    pub(crate) descends: bool,
    /// The path of the directory being listed, with a slash after each name, if any test needs paths. It
    /// begins at the topmost directory with ignore files that apply, or else below the starting point.
    pub(crate) path: Vec<u8>,
    /// Length of the part of `path` that is above the starting point's entries.
    pub(crate) above_root: usize,
    /// The end of `path` after the base of the selection, if it has one, and the length of the directory in it.
    based: Vec<u8>,
    based_dir: usize,
    /// The ignore rules that apply in the directory being listed.
    pub(crate) rules: Option<Arc<IgnoreRules>>,
    /// Whether the current entry is ignored, or is in an ignored directory.
    pub(crate) is_ignored: bool,
    ignore_files: IgnoreFiles,
}

/// The results of one worker.
#[derive(Debug)]
pub struct Parts<V> {
    /// The inner visitor.
    pub visitor: V,
    /// Counts of what was skipped.
    pub skipped: Skipped,
    /// The rules that have matched.
    pub used: Used,
    /// What was not shown, if the selection records it.
    pub unseen: Unseen,
}

/// The tag of a queued directory.
#[derive(Debug, Default)]
pub struct Tag<D> {
    /// Length of the starting point and the slash after it, the prefix of every path below it.
    root_len: usize,
    /// The ignore rules of the parent, or for a starting point the rules above it.
    rules: Option<Arc<IgnoreRules>>,
    /// Whether the directory is ignored, or is in an ignored directory.
    is_ignored: bool,
    inner: D,
}

/// The reason why an entry and everything below it is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prune {
    Hidden,
    Excluded,
    Ignored,
    /// The visitor wants to stop, after an error.
    Stop,
}

/// The reason why a directory is not entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    OtherFileSystem,
    Pseudo,
    Own,
    Marked,
    Cache,
    /// It contains the tag with this number.
    Tagged(usize),
}

impl<'s, V: Visitor> Filtered<'s, V> {
    /// Wraps `inner` with `selection`.
    pub fn new(selection: &'s Selection, inner: V) -> Self {
        Self {
            selection,
            reads: inner.reads(),
            inner,
            skipped: Skipped::default(),
            used: Used::new(selection),
            unseen: Unseen::default(),
            directory: (0, 0),
            excluded: None,
            lists: false,
            descends: false,
            path: Vec::new(),
            above_root: 0,
            based: Vec::new(),
            based_dir: 0,
            rules: None,
            is_ignored: false,
            ignore_files: IgnoreFiles::new(),
        }
    }

    /// Takes the memory for ignore files from a limit. A file that does not fit is an error, as one that cannot be read.
    #[must_use]
    pub fn within(self, memory: Arc<dyn IgnoreMemory>) -> Self {
        Self { ignore_files: self.ignore_files.within(memory), ..self }
    }

    /// Returns the inner visitor, the counts of what was skipped, and which rules have matched.
    pub fn into_parts(self) -> Parts<V> {
        Parts { visitor: self.inner, skipped: self.skipped, used: self.used, unseen: self.unseen }
    }

    fn set_depth(&mut self, depth: u32) {
        let depth = depth + self.selection.base_depth();
        self.lists = depth >= self.selection.min_depth;
        self.descends = depth < self.selection.max_depth;
    }

    /// Shows the entry if it is selected, and returns the next step. A starting point has no `tag`.
    fn offer(&mut self, entry: &mut Entry<'_>, tag: Option<&V::Dir>) -> Step {
        let is_counted = tag.is_some() || entry.file_type() != FileType::Directory;
        let selected = match self.matches(entry, tag) {
            Ok(selected) => selected,
            // The walk will report the same error when it enters the directory.
            Err(error) if error.op == Op::Open && self.descends => false,
            Err(error) => {
                if self.inner.error(error) == Step::Stop {
                    return Step::Stop;
                }
                false
            }
        };
        self.skipped.matched += u64::from(selected && is_counted);
        let step = match tag {
            _ if selected => self.inner.entry(tag, entry),
            Some(tag) if entry.file_type() == FileType::Directory => self.inner.hidden(tag, entry),
            _ => Step::Descend,
        };
        if step == Step::Descend && !self.descends { Step::Next } else { step }
    }

    /// Shows an entry of a directory if it is selected, and returns the next step.
    fn entry_of(&mut self, tag: &Tag<V::Dir>, entry: &mut Entry<'_>) -> Step {
        let dir_len = self.path.len();
        self.push_name(entry.name());
        let step = match self.pruned(tag, entry) {
            None => self.offer(entry, Some(&tag.inner)),
            Some(Prune::Stop) => Step::Stop,
            Some(reason) => {
                match reason {
                    Prune::Hidden => self.skipped.hidden += 1,
                    Prune::Ignored => self.skipped.ignored += 1,
                    Prune::Excluded | Prune::Stop => self.count_filtered(entry),
                }
                self.inner.filtered(&tag.inner);
                Step::Next
            }
        };
        if step == Step::Next && self.used.has_unused_skipping() {
            self.note_inside(entry);
        }
        if step == Step::Next && self.selection.records_unseen {
            self.record(tag, entry);
        }
        self.path.truncate(dir_len);
        step
    }

    fn matches(&mut self, entry: &mut Entry<'_>, tag: Option<&V::Dir>) -> Result<bool, WalkError> {
        let is_root = tag.is_none();
        let matches = |this: &Self, entry: &mut Entry<'_>| {
            let name = entry.name();
            this.selection.test.matches(&this.seen(entry, name, is_root), entry, this.reads)
        };
        if !self.lists || !matches(self, entry)? {
            if !is_root || entry.file_type() != FileType::Directory {
                self.count_filtered(entry);
            }
            if let Some(tag) = tag {
                self.inner.filtered(tag);
            }
            return Ok(false);
        }
        if self.used.has_unused_selecting() {
            self.note_selecting(entry, is_root);
        }
        let is_own = !self.selection.own.is_empty() && self.selection.is_own(entry)?;
        self.skipped.own_output += u64::from(is_own);
        Ok(!is_own)
    }

    /// Returns what the tests see of an entry. The name and path of a starting point are its last name.
    pub(crate) fn seen<'e>(&'e self, entry: &Entry<'_>, name: &'e [u8], is_root: bool) -> Seen<'e> {
        let selection = self.selection;
        if let Some(base) = selection.base.strip_suffix(b"/").filter(|_| is_root) {
            return Seen::new(entry, last_part(base), base, false, selection);
        }
        if is_root {
            let name = last_part(name);
            return Seen::new(entry, name, name, false, selection);
        }
        Seen::new(entry, name, self.below_root(), self.is_ignored, selection)
    }

    /// Appends the name of an entry to the path of its directory, if any test needs paths.
    pub(crate) fn push_name(&mut self, name: &[u8]) {
        if self.selection.needs_paths {
            self.path.extend_from_slice(name);
        }
        if !self.selection.base.is_empty() {
            self.based.truncate(self.based_dir);
            self.based.extend_from_slice(name);
        }
    }

    fn count_filtered(&mut self, entry: &Entry<'_>) {
        match entry.file_type() {
            FileType::Regular => self.skipped.filtered_files += 1,
            _ => self.skipped.filtered_others += 1,
        }
    }

    /// Returns the path that rules see: that below the starting point, after the base of the selection. Only valid if some
    /// test needs paths.
    pub(crate) fn below_root(&self) -> &[u8] {
        if self.selection.base.is_empty() { &self.path[self.above_root..] } else { &self.based }
    }

    /// Returns why the entry and everything below it is skipped, or `None` if it is not. Notes which rules skip it.
    fn pruned(&mut self, tag: &Tag<V::Dir>, entry: &mut Entry<'_>) -> Option<Prune> {
        let reason = self.reason_to_prune(tag, entry)?;
        // An entry that is a starting point is walked under its other name.
        if self.used.has_unused_skipping() && !entry.is_covered() {
            self.note_skipping(tag, entry);
        }
        Some(reason)
    }

    fn reason_to_prune(&mut self, tag: &Tag<V::Dir>, entry: &mut Entry<'_>) -> Option<Prune> {
        let selection = self.selection;
        if selection.no_hidden && entry.name().starts_with(b".") {
            return Some(Prune::Hidden);
        }
        if let Some(excluded) = self.excluded
            && excluded.matches(entry.name(), self.below_root(), entry.file_type())
        {
            return Some(Prune::Excluded);
        }
        if self.is_unchecked(entry) {
            return Some(Prune::Excluded);
        }
        if !selection.lists.is_empty() {
            if self.used.has_unused_lines() && !entry.is_covered() {
                self.note_lines(entry);
            }
            if selection.lists.skips(self.below_root(), is_directory(entry)).is_some() {
                return Some(Prune::Excluded);
            }
        }
        self.is_ignored = self.ignores(tag, entry);
        if selection.ignore_files && self.is_ignored {
            return Some(Prune::Ignored);
        }
        for (_, node) in &selection.excluded_expressions {
            let seen = self.seen(entry, entry.name(), false);
            match node.matches(&seen, entry, Fields::NONE) {
                Ok(true) => return Some(Prune::Excluded),
                Ok(false) => {}
                // What cannot be tested is skipped, and the error says so.
                Err(error) => {
                    let stops = self.inner.error(error) == Step::Stop;
                    return Some(if stops { Prune::Stop } else { Prune::Excluded });
                }
            }
        }
        None
    }

    /// Notes all rules that skip this entry, whichever was the first.
    fn note_skipping(&mut self, tag: &Tag<V::Dir>, entry: &mut Entry<'_>) {
        let selection = self.selection;
        if let Some(excluded) = self.excluded {
            let mut used = mem::take(&mut self.used);
            let mut note = |glob| used.mark(glob);
            excluded.each_match(entry.name(), self.below_root(), entry.file_type(), &mut note);
            self.used = used;
        }
        if self.used.has_unused_lines() {
            self.note_lines(entry);
        }
        self.is_ignored = self.ignores(tag, entry);
        for (rule, (_, node)) in (selection.excluded_globs()..).zip(&selection.excluded_expressions) {
            // An entry that cannot be tested is not matched. The error was reported, unless an earlier rule decided.
            if !self.used.is_used(rule)
                && let Ok(true) = node.matches(&self.seen(entry, entry.name(), false), entry, Fields::NONE)
            {
                self.used.mark(rule);
            }
        }
    }

    /// Returns whether the checks ignore this entry. Notes all of them that match it.
    fn is_unchecked(&mut self, entry: &Entry<'_>) -> bool {
        let (selection, file_type) = (self.selection, entry.file_type());
        if selection.checks.is_empty() {
            return false;
        }
        if self.used.has_unused_selecting() && !entry.is_covered() {
            let mut used = mem::take(&mut self.used);
            let mut note = |nth| used.mark(selection.first_check + nth);
            selection.checks.each_match(self.below_root(), file_type, &mut note);
            self.used = used;
        }
        selection.checks.ignore() && selection.checks.of(self.below_root(), file_type) == Check::Ignore
    }

    /// Notes all lines of lists that match this entry.
    fn note_lines(&mut self, entry: &Entry<'_>) {
        let (selection, mut used) = (self.selection, mem::take(&mut self.used));
        let first = selection.first_list();
        let mut note = |list, line| used.mark_line(first + list, line);
        selection.lists.each_match(self.below_root(), is_directory(entry), &mut note);
        self.used = used;
    }

    /// Notes all rules on names and paths that match an entry which all filters select.
    fn note_selecting(&mut self, entry: &Entry<'_>, is_root: bool) {
        let mut used = mem::take(&mut self.used);
        let seen = self.seen(entry, entry.name(), is_root);
        for (first, node) in &self.selection.selecting {
            node.each_match(&seen, &mut |nth| used.mark(first + nth));
        }
        self.used = used;
    }

    /// Notes the rules for paths in this directory, which is not entered. Its other entries do not matter to them.
    fn note_inside(&mut self, entry: &Entry<'_>) {
        if entry.file_type() == FileType::Directory && !entry.is_covered() {
            let dir = self.below_root().to_vec();
            self.note_below(&dir, entry.as_fd(), entry.name());
        }
    }

    /// Records an entry that a rule skips, or a directory that is not entered for another reason.
    fn record(&mut self, tag: &Tag<V::Dir>, entry: &mut Entry<'_>) {
        let is_directory = entry.file_type() == FileType::Directory;
        if !is_directory && entry.file_type() != FileType::Regular {
            return;
        }
        let option = match self.protected(tag, entry) {
            Some(option) => option,
            None if is_directory => return self.record_not_entered(|path| entry.push_path(path)),
            None => return,
        };
        let (directory, listed, via_link) = (self.directory, entry.ino(), entry.via_link());
        let file = match entry.metadata() {
            _ if is_directory => None,
            Ok(metadata) => Some(SkippedFile {
                directory,
                identity: (metadata.dev, metadata.ino),
                is_unique: via_link || metadata.nlink == 1 || metadata.ino != listed,
            }),
            // It cannot be found under another name either.
            Err(_) => return,
        };
        let mut path = Vec::new();
        entry.push_path(&mut path);
        self.unseen.entries.push(SkippedEntry { path, option, file });
    }

    /// Returns the option of a rule that skips the entry, even if something else skipped it before.
    fn protected(&mut self, tag: &Tag<V::Dir>, entry: &mut Entry<'_>) -> Option<&'static str> {
        if let Some(excluded) = self.excluded
            && excluded.matches(entry.name(), self.below_root(), entry.file_type())
        {
            return Some("--exclude");
        }
        if let Some(option) = self.selection.lists.skips(self.below_root(), is_directory(entry)) {
            return Some(option);
        }
        self.is_ignored = self.ignores(tag, entry);
        let mut expressions = self.selection.excluded_expressions.iter();
        // What cannot be tested was skipped.
        let skips = |node: &Node, entry: &mut Entry<'_>| {
            node.matches(&self.seen(entry, entry.name(), false), entry, Fields::NONE).unwrap_or(true)
        };
        expressions.any(|(_, node)| skips(node, entry)).then_some("--exclude-where")
    }

    /// Records a directory that is not entered under this path.
    fn record_not_entered(&mut self, push_path: impl FnOnce(&mut Vec<u8>)) {
        if self.selection.records_unseen {
            let mut path = Vec::new();
            push_path(&mut path);
            self.unseen.not_entered.push(path);
        }
    }

    /// Notes the rules for paths that exist below `dir`, a path below the starting point. `name` leads to it from `at`.
    fn note_below(&mut self, dir: &[u8], at: BorrowedFd<'_>, name: &[u8]) {
        let Some(excluded) = self.excluded.filter(|_| !self.selection.has_other_roots) else { return };
        let (used, is_for_records) = (&mut self.used, self.selection.is_for_records);
        excluded.each_inside(dir, &mut |glob, below| {
            let path = || [name, b"/", below].concat();
            let exists = || !is_for_records && statat(at, path(), AtFlags::SYMLINK_NOFOLLOW).is_ok();
            if !used.is_used(glob) && (below.is_empty() || exists()) {
                used.mark(glob);
            }
        });
    }

    /// Sets which globs apply below the starting point of a directory.
    fn set_root(&mut self, dir: &Directory<'_>) {
        let root = self.selection.first_root + dir.root();
        self.excluded = self.selection.excluded.as_ref().map(|excluded| excluded.of(root));
    }

    /// Returns why a directory is not entered, or `None` if it is.
    ///
    /// # Errors
    /// If it cannot be determined whether the directory is tagged. Then it is not entered either.
    pub(crate) fn barrier(&self, dir: &Directory<'_>) -> Result<Option<Barrier>, WalkError> {
        let selection = self.selection;
        if selection.one_file_system && dir.dev() != dir.root_dev() {
            return Ok(Some(Barrier::OtherFileSystem));
        }
        if dir.is_mount() && dir.is_pseudo() {
            return Ok(Some(Barrier::Pseudo));
        }
        if !selection.is_for_records && selection.own.contains(&(dir.dev(), dir.ino())) {
            return Ok(Some(Barrier::Own));
        }
        if let Some(name) = selection.skipped_with.filter(|_| dir.depth() > 0)
            && let Ok(stat) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
            && rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file()
        {
            return Ok(Some(Barrier::Marked));
        }
        let fail = |op, name: &[u8], error| {
            let mut path = Vec::new();
            dir.push_path(&mut path);
            WalkError::new(op, [&path, &b"/"[..], name].concat(), error)
        };
        for (number, name) in selection.tags.iter().enumerate() {
            let has_entry = tags::has_entry(dir.as_fd(), name);
            if has_entry.map_err(|error| fail(Op::Stat, name.as_bytes(), error))? {
                return Ok(Some(Barrier::Tagged(number)));
            }
        }
        let is_cache = selection.skips_caches && {
            tags::is_cache(dir.as_fd()).map_err(|error| fail(Op::Read, b"CACHEDIR.TAG", error))?
        };
        Ok(is_cache.then_some(Barrier::Cache))
    }

    /// Notes all tags of a directory that is not entered, and that a rule protects it.
    fn note_tags(&mut self, dir: &Directory<'_>, first: Option<usize>) {
        let selection = self.selection;
        for (number, name) in selection.tags.iter().enumerate().skip(first.unwrap_or(selection.tags.len())) {
            let rule = selection.first_tag() + number;
            if !self.used.is_used(rule) && tags::has_entry(dir.as_fd(), name).unwrap_or(false) {
                self.used.mark(rule);
            }
        }
        if selection.records_unseen {
            let mut path = Vec::new();
            dir.push_path(&mut path);
            let option = if first.is_some() { "--exclude-if-present" } else { "--exclude-caches" };
            self.unseen.entries.push(SkippedEntry { path, option, file: None });
        }
    }

    /// Returns whether ignore files ignore the entry, or a directory above it.
    pub(crate) fn ignores(&self, tag: &Tag<V::Dir>, entry: &Entry<'_>) -> bool {
        let is_dir = entry.file_type() == FileType::Directory;
        tag.is_ignored || self.rules.as_ref().is_some_and(|rules| rules.ignores(&self.path, is_dir))
    }

    /// Sets `path` to the path of a directory, and reads its ignore files.
    fn look_into(&mut self, tag: &Tag<V::Dir>, dir: &Directory<'_>) -> Step {
        let up = tag.rules.as_ref();
        self.above_root = IgnoreRules::set_path(up, dir, tag.root_len, &mut self.path);
        if !self.selection.reads_ignore_files() {
            return Step::Descend;
        }
        let Loaded { rules, errors, are_slow } = self.ignore_files.of(dir, up, self.path.len());
        self.rules = rules;
        let step = self.report(errors);
        if step == Step::Descend && are_slow { Step::Next } else { step }
    }

    fn report(&mut self, errors: Vec<WalkError>) -> Step {
        let stops = errors.into_iter().any(|error| self.inner.error(error) == Step::Stop);
        if stops { Step::Stop } else { Step::Descend }
    }

    /// Notes whether the walk stops.
    fn noted(&mut self, step: Step) -> Step {
        if step == Step::Stop {
            self.used.stop();
        }
        step
    }

    fn show_root(&mut self, root: &mut Entry<'_>) -> Step {
        self.set_depth(0);
        if self.selection.reads_ignore_files() && root.file_type() == FileType::Directory {
            let Loaded { rules, errors, .. } = self.ignore_files.above(root);
            self.rules = rules;
            if self.report(errors) == Step::Stop {
                return Step::Stop;
            }
        }
        if !self.descends && root.file_type() == FileType::Directory {
            self.skipped.filtered_others += 1;
        }
        match self.root_is_excluded(root) {
            Ok(false) => self.offer(root, None),
            Ok(true) => {
                self.count_filtered(root);
                Step::Next
            }
            // What cannot be tested is skipped, and the error says so.
            Err(error) => match self.inner.error(error) {
                Step::Stop => Step::Stop,
                _ => Step::Next,
            },
        }
    }

    /// Returns whether an exclusion skips this starting point, which it does only if it is no directory. Notes all that do.
    ///
    /// # Errors
    /// If an expression cannot be tested.
    fn root_is_excluded(&mut self, root: &mut Entry<'_>) -> Result<bool, WalkError> {
        let (selection, name) = (self.selection, root.name());
        if !selection.protects() || root.file_type() == FileType::Directory {
            return Ok(false);
        }
        let (mut used, mut option) = (mem::take(&mut self.used), None);
        selection.each_glob_of_start(root, &mut |glob| {
            option = Some("--exclude");
            used.mark(glob);
        });
        let first = selection.first_list();
        let mut note = |list, line| used.mark_line(first + list, line);
        selection.lists.each_match(last_part(name), false, &mut note);
        self.used = used;
        option = option.or_else(|| selection.lists.skips(last_part(name), false));
        for (rule, (_, node)) in (selection.excluded_globs()..).zip(&selection.excluded_expressions) {
            if node.matches(&self.seen(root, name, true), root, Fields::NONE)? {
                self.used.mark(rule);
                option = option.or(Some("--exclude-where"));
            }
        }
        if let Some(option) = option.filter(|_| selection.records_unseen) {
            self.record_root(root, option);
        }
        Ok(option.is_some())
    }

    /// Records a starting point that a rule skips.
    fn record_root(&mut self, root: &mut Entry<'_>, option: &'static str) {
        let path = root.name().to_vec();
        let above = &path[..path.len() - last_part(&path).len()];
        let above = if above.is_empty() { b"." } else { above };
        let via_link = root.via_link();
        if root.file_type() == FileType::Regular
            && let (Ok(directory), Ok(metadata)) = (Stat::at(CWD, above, Symlinks::Follow), root.metadata())
        {
            let file = SkippedFile {
                directory: directory.identity(),
                identity: (metadata.dev, metadata.ino),
                is_unique: via_link || metadata.nlink == 1,
            };
            self.unseen.entries.push(SkippedEntry { path, option, file: Some(file) });
        }
    }

    fn enter_dir(&mut self, tag: &Tag<V::Dir>, dir: &Directory<'_>) -> Step {
        self.set_root(dir);
        let barrier = match self.barrier(dir) {
            Ok(barrier) => barrier,
            Err(error) => return if self.inner.error(error) == Step::Stop { Step::Stop } else { Step::Next },
        };
        if let Some(barrier) = barrier {
            if self.used.has_unused_skipping() {
                let mut path = Vec::new();
                dir.push_path(&mut path);
                let below = path.get(tag.root_len..).unwrap_or_default();
                let below = [&self.selection.base, below].concat();
                self.note_below(&below, dir.as_fd(), b".");
            }
            match barrier {
                Barrier::Tagged(number) => self.note_tags(dir, Some(number)),
                Barrier::Cache => self.note_tags(dir, None),
                _ => self.record_not_entered(|path| dir.push_path(path)),
            }
            match barrier {
                Barrier::OtherFileSystem => self.skipped.other_file_systems += 1,
                Barrier::Pseudo => self.skipped.pseudo_file_systems += 1,
                Barrier::Own => self.skipped.own_output += 1,
                Barrier::Marked => self.skipped.marked += 1,
                Barrier::Tagged(_) | Barrier::Cache => self.skipped.tagged += 1,
            }
            return Step::Next;
        }
        self.directory = (dir.dev(), dir.ino());
        self.set_depth(dir.depth() + 1);
        if self.selection.needs_paths {
            let step = self.look_into(tag, dir);
            if step != Step::Descend {
                return step;
            }
            if !self.selection.base.is_empty() {
                self.based = [&*self.selection.base, &self.path[self.above_root..]].concat();
                self.based_dir = self.based.len();
            }
        }
        self.inner.enter(&tag.inner, dir)
    }
}

fn is_directory(entry: &Entry<'_>) -> bool {
    entry.file_type() == FileType::Directory
}

impl<V: Visitor> Visitor for Filtered<'_, V> {
    type Dir = Tag<V::Dir>;

    fn descend(&mut self, from: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Self::Dir {
        let (root_len, rules, is_ignored) = match from {
            Some(from) => (from.root_len, self.rules.clone(), self.is_ignored),
            None => {
                let slash = usize::from(!entry.name().ends_with(b"/"));
                (entry.name().len() + slash, self.rules.take(), false)
            }
        };
        Tag { root_len, rules, is_ignored, inner: self.inner.descend(from.map(|from| &from.inner), entry) }
    }

    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        let step = self.enter_dir(tag, dir);
        self.noted(step)
    }

    fn entry(&mut self, tag: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Step {
        let step = match tag {
            Some(tag) => self.entry_of(tag, entry),
            None => self.show_root(entry),
        };
        self.noted(step)
    }

    fn leave(&mut self, tag: &Self::Dir) {
        self.inner.leave(&tag.inner);
    }

    fn covered(&mut self, path: &[u8]) {
        self.skipped.covered += 1;
        self.record_not_entered(|at| at.extend_from_slice(path));
        self.inner.covered(path);
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        self.skipped.repeated += 1;
        self.record_not_entered(|path| repeat.push_path(path));
        self.inner.again(repeat);
    }

    fn error(&mut self, error: WalkError) -> Step {
        if matches!(error.op, Op::Loop | Op::Cycle) {
            self.skipped.loops += 1;
            self.record_not_entered(|path| path.extend_from_slice(&error.path));
        }
        let step = self.inner.error(error);
        self.noted(step)
    }
}
