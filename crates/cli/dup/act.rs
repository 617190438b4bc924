//! Prints a plan, writes it as a script, or carries it out.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::env;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use ftk_apply::{
    ActError, Action, ActionOptions, Check, Engine, Freed, Journal, Obstacle, Reach, Refusal, Step, Tree,
    TreeError, check, probe, script,
};
use ftk_dedup::KeepRules;
use ftk_dedup::report::Group;
use ftk_process::Progress;
use ftk_record::{quote, sanitize};
use ftk_sched::Stop;

use crate::console::{Console, Outcome, cause, reason};
use crate::dup::dirs::DirItem;
use crate::dup::plan::{Item, Planner};
use crate::dup::rule_use::RuleUse;
use crate::dup::step_printer::{StepPrinter, Word, verb};
use crate::signals::DeferredSignals;
use crate::stdout::{Lines, Stdout};

/// An action, and the rules that say to which members of a group it applies.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) action: Action,
    pub(super) action_options: ActionOptions,
    /// Which copies are kept.
    pub(super) rules: KeepRules,
    pub(super) rule_use: RuleUse,
    /// Length of the path of each starting point, by its number.
    pub(super) roots: Vec<usize>,
    /// Members with this or a higher number of their starting point are inside directories that stay as a whole.
    pub(super) kept_from: usize,
    /// The plan for directories, which comes first.
    pub(super) dirs: Vec<DirItem>,
    /// Upper limit of the number of files to process, for progress.
    pub(super) most: u64,
    pub(super) json: bool,
}

impl Job {
    /// Plans a group. Returns no items if all members are kept.
    fn items(&self, group: Group) -> Vec<Item> {
        let Self { rules, rule_use, action, roots, kept_from, .. } = self;
        let planner = Planner { rules, rule_use, action, roots, kept_from: *kept_from };
        let mut items = planner.items(group);
        if self.action == Action::Reflink {
            // Cloning files that share their blocks already would free nothing, although the plan counts
            // their bytes.
            let mut reach = Reach::new();
            for item in &mut items {
                if let Item::Go { step, .. } = item
                    && let Ok(Check::Done) = self.check(&mut reach, step)
                {
                    let path = std::mem::take(&mut step.victim.path);
                    *item = Item::Keep { path, why: "already shares its blocks".into() };
                }
            }
            if items.iter().all(|item| matches!(item, Item::Keep { .. })) {
                items.clear();
            }
        }
        items
    }

    /// Carries out the plan if there is a journal. Otherwise prints it, as a script or as text.
    pub(super) fn run(
        &self,
        groups: &mut dyn Iterator<Item = Group>,
        journal: Option<(Journal, PathBuf)>,
        as_script: bool,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let out = Stdout::default();
        let outcome = match (journal, as_script) {
            (Some(journal), _) => self.act(groups, journal, &out, console)?,
            (None, true) => self.script(groups, &out, console)?,
            (None, false) => self.plan(groups, &out, console)?,
        };
        self.rule_use.say(console);
        out.finish()?;
        Ok(outcome)
    }

    /// Prints the last line of a plan that deletes.
    fn warn_of_deletion(&self, console: &Console) {
        if self.action == Action::Delete {
            console.summary("deletion cannot be undone: use --quarantine DIR to move the files away instead");
        }
    }

    /// Prints the plan for directories. Calls `each` for every directory that is removed as a whole, if its present
    /// entries permit that. Returns the items for the files of directories whose files are replaced.
    fn dirs<'o>(
        &self,
        reach: &mut Reach,
        printer: &mut StepPrinter<'o>,
        console: &Console,
        mut each: impl FnMut(&mut StepPrinter<'o>, &Step, Tree),
    ) -> Vec<Item> {
        let mut items = Vec::new();
        for item in &self.dirs {
            let step = match item {
                DirItem::Keep { path, why } => {
                    printer.say_dir(Word::Keep, path, why);
                    continue;
                }
                DirItem::Leave { path, why } => {
                    printer.say_dir(Word::Leave, path, why);
                    continue;
                }
                DirItem::Refuse { path, why } => {
                    console.stats.error("refused");
                    printer.say_dir(Word::Refuse, path, why);
                    continue;
                }
                DirItem::Go(step) => step,
            };
            match Tree::list(reach, self.action.kind(), step) {
                Ok(tree) if self.removes() => each(printer, step, tree),
                Ok(tree) => {
                    let frees = tree.frees();
                    let files = tree.files.into_iter().zip(frees);
                    items.extend(files.map(|(file, frees)| {
                        let frees = match self.action {
                            Action::Reflink => file.blocks.saturating_mul(512),
                            _ => frees,
                        };
                        Item::Go { step: file.step, frees }
                    }));
                }
                Err(error) => {
                    console.stats.error("refused");
                    printer.say_dir(Word::Refuse, &step.victim.path, tree_reason(&error));
                }
            }
        }
        items
    }

    /// Whether the action removes the names of files, and with them whole directories.
    fn removes(&self) -> bool {
        matches!(self.action, Action::Delete | Action::Move(_))
    }

    fn cannot_start(&self) -> String {
        match &self.action {
            Action::Move(dir) => format!("cannot open or create {}", quote(dir.as_os_str().as_bytes())),
            action => format!("cannot prepare to {} files", verb(action.kind())),
        }
    }

    fn check(&self, reach: &mut Reach, step: &Step) -> Result<Check, Refusal> {
        let checked = check(reach, self.action.kind(), self.action_options, step)?;
        // `check` knows only the pair. The directory that files move to belongs to the action.
        if matches!(self.action, Action::Move(_))
            && let Err(Obstacle::OtherFileSystem) = probe(reach, &self.action, step)
        {
            return Err(Refusal::OtherFileSystem);
        }
        Ok(checked)
    }

    /// Prints what would be done and what would be refused. Changes nothing.
    fn plan(
        &self,
        groups: &mut dyn Iterator<Item = Group>,
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let mut reach = Reach::new();
        let mut printer = StepPrinter::new(out, self.action.kind(), self.json, false);
        let in_dirs = self.dirs(&mut reach, &mut printer, console, |printer, step, tree| {
            printer.tree(step, tree.files.len() as u64, tree.frees().into_iter().sum());
        });
        for item in in_dirs.into_iter().chain(groups.flat_map(|group| self.items(group))) {
            match item {
                Item::Keep { path, why } => printer.say(Word::Keep, &path, why),
                Item::Leave { path, why } => printer.say(Word::Leave, &path, why),
                Item::Go { step, frees } => match self.check(&mut reach, &step) {
                    Ok(Check::Fine { shared }) => printer.step(&step, frees.saturating_sub(shared)),
                    Ok(Check::Done) => {}
                    Err(refusal) => {
                        console.stats.error("refused");
                        printer.say(Word::Refuse, &step.victim.path, reason(&refusal));
                    }
                },
            }
        }
        printer.finish();
        console.summary(printer.summary());
        if printer.has_done() {
            self.warn_of_deletion(console);
        }
        Ok(if printer.has_trouble() { Outcome::Error } else { Outcome::Success })
    }

    /// Prints a script that carries out the plan, without the steps that would be refused now.
    fn script(
        &self,
        groups: &mut dyn Iterator<Item = Group>,
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let mut reach = Reach::new();
        let directory = env::current_dir().context("cannot determine the working directory")?;
        let mut outcome = Outcome::Success;
        let mut lines = Lines::new(out);
        lines.line(|out| out.append(&mut script::header(directory.as_os_str().as_bytes())));
        let mut nth = 0;
        let mut printer = StepPrinter::silent(out, self.action.kind());
        let mut trees = Vec::new();
        let in_dirs = self.dirs(&mut reach, &mut printer, console, |_, _, tree| trees.push(tree));
        if printer.has_trouble() {
            outcome = Outcome::Error;
        }
        for tree in trees {
            let mut commands = script::tree(&tree, &self.action, &mut nth);
            ensure!(
                !Stdout::is_terminal() || is_harmless_script(&commands),
                "the script contains names with control characters, which a terminal would interpret: write it to a file"
            );
            lines.line(|out| out.append(&mut commands));
        }
        for item in in_dirs.into_iter().chain(groups.flat_map(|group| self.items(group))) {
            let Item::Go { step, .. } = item else { continue };
            match self.check(&mut reach, &step) {
                Ok(Check::Done) => {}
                Ok(Check::Fine { .. }) => {
                    // A script needs the names unescaped.
                    ensure!(
                        !Stdout::is_terminal()
                            || [&step.victim, &step.keeper].iter().all(|it| is_harmless(&it.path)),
                        "the script contains names with control characters, which a terminal would interpret: write it to a file"
                    );
                    nth += 1;
                    lines.line(|out| out.append(&mut script::step(&step, &self.action, nth)));
                }
                Err(refusal) => {
                    console.stats.error("refused");
                    console.warning(format_args!(
                        "{}: refused: {}",
                        quote(&step.victim.path),
                        reason(&refusal)
                    ));
                    outcome = Outcome::Error;
                }
            }
        }
        lines.line(|out| out.append(&mut script::footer()));
        lines.flush();
        if nth > 0 {
            self.warn_of_deletion(console);
        }
        Ok(outcome)
    }

    /// Carries out the plan. Each step is written to the journal first. A signal stops the run between two
    /// steps: the remaining steps are listed, and the process ends by that signal.
    fn act(
        &self,
        groups: &mut dyn Iterator<Item = Group>,
        (mut journal, path): (Journal, PathBuf),
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let path = quote(path.as_os_str().as_bytes());
        let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
        let engine = Engine::new(self.action.clone(), self.action_options);
        let mut engine = engine.with_context(|| self.cannot_start())?;
        let mut printer = StepPrinter::new(out, self.action.kind(), self.json, true);
        let begun = Instant::now();
        let (mut trees, mut n_files) = (Vec::new(), self.most);
        let in_dirs = self.dirs(&mut Reach::new(), &mut printer, console, |_, step, tree| {
            trees.push(step.clone());
            n_files += tree.files.len() as u64;
        });
        // The engine fetches steps before it has finished earlier ones. Items without a step wait here, so
        // that lines are printed in the order of the plan.
        let waiting = RefCell::new(VecDeque::new());
        let mut items = in_dirs.into_iter().chain(groups.flat_map(|group| self.items(group)));
        let mut steps = items.by_ref().filter_map(|item| {
            let step = if let Item::Go { step, .. } = &item { Some(step.clone()) } else { None };
            waiting.borrow_mut().push_back(item);
            step
        });
        let (files, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let done = || {
            let (files, bytes) = (files.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
            Progress { files, bytes, ..Progress::default() }
        };
        let count = |step: &Step| {
            files.fetch_add(1, Ordering::Relaxed);
            bytes.fetch_add(step.victim.version.size, Ordering::Relaxed);
        };
        let verb = verb(self.action.kind());
        let run = console.progress.between_lines().counted(verb, n_files, false, &done, || {
            for step in &trees {
                run_tree(&mut engine, step, &mut journal, &signals.stop, &count, &mut printer, console)?;
            }
            engine.run(&mut steps, &mut journal, &signals.stop, |step, result| {
                count(step);
                print_waiting(&mut printer, &mut waiting.borrow_mut(), true);
                print_result(&mut printer, step, result, console);
            })
        });
        // After a signal, the remaining steps are listed and not started.
        steps.for_each(drop);
        print_waiting(&mut printer, &mut waiting.borrow_mut(), false);
        let ended = run.and_then(|()| journal.finish());
        console.stats.phase(printer.phase(begun.elapsed()));
        printer.finish();
        console.summary(printer.summary());
        if printer.has_done() {
            match self.action {
                Action::Delete => console.summary("the deleted files cannot be restored"),
                _ => console.summary(format_args!("to undo this: ftk undo {path}")),
            }
        }
        let mut outcome = if printer.has_trouble() { Outcome::Error } else { Outcome::Success };
        if let Err(error) = ended {
            console.error(format_args!(
                "the run ended early: cannot write the journal {path}, or sync the file system: {}",
                cause(&error)
            ));
            outcome = Outcome::Error;
        }
        signals.raise_again();
        Ok(outcome)
    }
}

/// Performs the action on a directory, and prints the outcome. Calls `count` for each file.
fn run_tree(
    engine: &mut Engine,
    step: &Step,
    journal: &mut Journal,
    stop: &Stop,
    count: &dyn Fn(&Step),
    printer: &mut StepPrinter<'_>,
    console: &Console,
) -> std::io::Result<()> {
    let (done, ended) = engine.run_tree(step, journal, stop, |file, _| count(file))?;
    match ended {
        Ok(()) => printer.tree(step, done.files, done.freed.0),
        Err(error) => {
            // What was done before is done, and has a copy.
            printer.add_files(done.files, done.freed.0);
            let word = match &error.error {
                ActError::Refused(_) => Word::Refuse,
                ActError::Stopped => Word::NotDone,
                _ => Word::Fail,
            };
            console.stats.error(if word == Word::Refuse { "refused" } else { "act" });
            printer.say_dir(word, &step.victim.path, tree_reason(&error));
        }
    }
    Ok(())
}

/// Returns why a directory was not handled, or not completely.
fn tree_reason(error: &TreeError) -> String {
    if let ActError::Stopped = error.error { String::new() } else { reason(error) }
}

/// Returns whether a terminal would interpret nothing in a script.
fn is_harmless_script(commands: &[u8]) -> bool {
    commands.split(|&byte| byte == b'\n').all(is_harmless)
}

/// Prints waiting items, in the order of the plan. With `is_up_to_step`, stops at the step that was just
/// reported, and removes it. Otherwise prints all items, and their steps as not done.
fn print_waiting(printer: &mut StepPrinter<'_>, waiting: &mut VecDeque<Item>, is_up_to_step: bool) {
    while let Some(item) = waiting.pop_front() {
        match item {
            Item::Keep { path, why } => printer.say(Word::Keep, &path, why),
            Item::Leave { path, why } => printer.say(Word::Leave, &path, why),
            Item::Go { .. } if is_up_to_step => return,
            Item::Go { step, .. } => printer.say(Word::NotDone, &step.victim.path, ""),
        }
    }
}

fn print_result(
    printer: &mut StepPrinter<'_>,
    step: &Step,
    result: Result<Freed, ActError>,
    console: &Console,
) {
    let path = &step.victim.path;
    match result {
        Ok(Freed(bytes)) => printer.step(step, bytes),
        // The victim is kept, and the following copies are linked to it instead of to the full keeper.
        Err(error @ ActError::Refused(Refusal::TooManyLinks)) => {
            printer.say(Word::Keep, path, reason(&error))
        }
        Err(error @ ActError::Refused(_)) => {
            console.stats.error("refused");
            printer.say(Word::Refuse, path, reason(&error));
        }
        Err(ActError::Stopped) => printer.say(Word::NotDone, path, ""),
        Err(error) => {
            console.stats.error("act");
            printer.say(Word::Fail, path, reason(&error));
        }
    }
}

/// Whether the path has no control characters, which a terminal would interpret.
fn is_harmless(path: &[u8]) -> bool {
    matches!(sanitize(path), Cow::Borrowed(_))
}
