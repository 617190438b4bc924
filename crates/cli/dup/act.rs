//! Prints a plan, writes it as a script, or carries it out.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::env;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use ftk_apply::{
    ActError, Action, Check, Copies, Emptied, Engine, Freed, Journal, Need, Reach, Refusal, Seen, Step, Tree,
    check, script,
};
use ftk_dedup::Member;
use ftk_dedup::prune::{self, Decision, Gain, Item, Pruning, References, Sidecars, SkipReason, UnitTest};
use ftk_dedup::report::Group;
use ftk_record::{quote, sanitize};

use crate::console::{Console, Outcome, cause};
use crate::dup::action::ActionArgs;
use crate::dup::keep::KeepArgs;
use crate::dup::report::text::{end_of_path, push_path};
use crate::dup::step_printer::{Notice, StepPrinter, Word, kept_because, verb};
use crate::journal;
use crate::progress::{FileCounters, WorkCounters};
use crate::rules::Rules;
use crate::signals::DeferredSignals;
use crate::stdout::{Lines, Stdout};
use crate::step_lines::Weight;

/// An action, and the rules that say to which members of a group it applies.
#[derive(Debug)]
pub(super) struct Job<'a> {
    /// That of `act`: a deletion with a quarantine is a move.
    pub(super) action: Action,
    pub(super) act: &'a ActionArgs,
    pub(super) keep: &'a KeepArgs,
    pub(super) pruning: Pruning,
    /// The rules about files and directories. Those that matched nothing have been named.
    pub(super) rules: Rules,
    /// The starting points, which stay even if they become empty.
    pub(super) roots: Vec<CString>,
    /// Upper limit of the number of files to process outside of directories, for progress.
    pub(super) most: u64,
    pub(super) json: bool,
}

/// A part of the plan as it is printed or carried out.
#[derive(Debug)]
enum Work {
    /// A line about a file or directory without a step.
    Line(Notice),
    /// A directory that is removed as a whole.
    Tree(Step),
    /// A file. `gain`: what the step frees, provided that all steps before it are done.
    File { step: Step, gain: Gain },
}

/// A part of the plan that would be done now.
enum Checked {
    Line(Notice),
    Tree(Step, Tree),
    File(Step, Gain),
    /// The path of a directory that everything before it empties.
    Emptied(Vec<u8>),
}

impl<'a> Job<'a> {
    /// An action on what is below these starting points. `is_unit` returns whether a directory above one is a unit.
    pub(super) fn new(
        action: Action,
        act: &'a ActionArgs,
        keep: &'a KeepArgs,
        roots: Vec<CString>,
        references: References,
        is_unit: Option<UnitTest>,
        json: bool,
    ) -> anyhow::Result<Self> {
        let rules = act.with_rules(keep.rules(&roots)?);
        let pruning = Pruning::new(rules, references, act.effect(), &roots, is_unit);
        Ok(Self { action, act, keep, pruning, rules: Rules::default(), roots, most: 0, json })
    }

    /// Carries out the plan if there is a journal. Otherwise prints it, as a script or as text. `directories` is the
    /// plan for directories, which comes first.
    pub(super) fn run(
        &self,
        directories: Vec<Item>,
        groups: &mut dyn Iterator<Item = Group>,
        journal: Option<(Journal, PathBuf)>,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let out = Stdout::default();
        let files = |item: &Item| if let Decision::Go { files, .. } = item.decision { files } else { 0 };
        let most = self.most + directories.iter().map(files).sum::<u64>();
        let outcome = self.with_work(directories, groups, |work| match journal {
            Some(journal) => self.act(work, most, journal, &out, console),
            None if self.act.script => self.script(work, &out, console),
            None if self.act.list => self.list(work, &out, console),
            None => self.plan(work, &out, console),
        })?;
        self.keep.say_undecided(&self.pruning, &self.rules, console);
        out.finish()?;
        Ok(outcome)
    }

    /// Returns the lines of the plan for these groups.
    pub(super) fn preview(&self, groups: &mut dyn Iterator<Item = Group>) -> anyhow::Result<Vec<String>> {
        let verb = verb(self.action.kind());
        let mut lines = Vec::new();
        self.with_work(Vec::new(), groups, |work| {
            self.each_checked(work, |checked| {
                let (word, path, why) = match checked {
                    Checked::Line(Notice { word, path, why, .. }) => (word.shown().0, path, why),
                    Checked::Tree(step, _) => (verb, step.victim.path, String::new()),
                    Checked::File(step, _) => (verb, step.victim.path, String::new()),
                    Checked::Emptied(path) => (verb, path, "empty".into()),
                };
                lines.push(format!("{word:<8} {}  {why}", sanitize(&path)).trim_end().to_owned());
                Ok(())
            })
        })?;
        Ok(lines)
    }

    /// Calls `run` with all parts of the plan.
    fn with_work<T>(
        &self,
        directories: Vec<Item>,
        groups: &mut dyn Iterator<Item = Group>,
        run: impl FnOnce(&mut dyn Iterator<Item = Work>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let (mut reach, mut reach_of_trees) = (Reach::new(), Reach::new());
        let shares = |victim: &Member, keeper: &Member| {
            let step = step(victim, keeper, &self.pruning.root_lens);
            matches!(self.check(&mut reach, &step), Ok(Check::Done))
        };
        let files: Box<dyn Iterator<Item = Item> + '_> = match &self.act.with_sidecars[..] {
            [] => Box::new(self.pruning.items(groups, shares)),
            extensions => {
                let sidecars = Sidecars::new(extensions.iter().map(|it| it.as_bytes()));
                Box::new(self.pruning.items_with_sidecars(groups, sidecars).into_iter())
            }
        };
        let items = directories.into_iter().chain(files);
        run(&mut items.flat_map(|item| self.work(&mut reach_of_trees, item)))
    }

    /// Returns what an item means for the action. A directory that is not removed as a whole is taken apart: its files
    /// are replaced one by one.
    fn work(&self, reach: &mut Reach, item: Item) -> Vec<Work> {
        let Item { member, is_directory, decision, with_next } = item;
        let (word, why) = match decision {
            Decision::Keep(why) => (Word::Keep, kept_because(why, &member)),
            Decision::Leave(why) => (Word::Leave, why.to_string()),
            Decision::Apart(sidecar) => {
                let why = "is not a copy of a sidecar of the kept file";
                (Word::Leave, format!("its sidecar {} {why}", quote(&sidecar)))
            }
            Decision::Refuse(error) => (Word::Refuse, cause(&error)),
            Decision::Go { keeper, copies, gain, .. } => {
                let copies = copies.map(|copies| self.copies(&copies));
                let step = Step { copies, with_next, ..step(&member, &keeper, &self.pruning.root_lens) };
                return match is_directory {
                    false => vec![Work::File { step, gain }],
                    true if self.pruning.effect.removes() => vec![Work::Tree(step)],
                    true => self.files(reach, &step),
                };
            }
        };
        vec![Work::Line(Notice { word, path: member.path, is_directory, why })]
    }

    /// Returns what a step must prove besides its keeper.
    fn copies(&self, copies: &prune::Copies<Member>) -> Arc<Copies> {
        let files = copies.files.iter().map(|file| seen(file, &self.pruning.root_lens)).collect();
        let need = |need: &prune::Need| Need { count: need.count, among: need.among.clone() };
        Arc::new(Copies { files, needs: copies.needs.iter().map(need).collect() })
    }

    /// Returns the steps for the files of a directory.
    fn files(&self, reach: &mut Reach, step: &Step) -> Vec<Work> {
        let tree = match Tree::list(reach, self.action.kind(), step) {
            Ok(tree) => tree,
            Err(error) => return vec![Work::Line(Notice::of_tree(&step.victim.path, &error))],
        };
        let file = |(step, frees): (Step, Option<u64>)| match frees {
            Some(certain) => Work::File { step, gain: Gain { certain, ..Gain::default() } },
            None => {
                let (path, why) = (step.victim.path, SkipReason::FreesNothing.to_string());
                Work::Line(Notice { word: Word::Leave, path, is_directory: false, why })
            }
        };
        tree.into_steps(self.action.kind()).into_iter().map(file).collect()
    }

    /// Says on what the undo of a deletion depends.
    fn warn_of_deletion(&self, console: &Console) {
        if self.action == Action::Delete {
            console.summary("undo restores these files as long as a kept copy is unchanged");
        }
    }

    /// Returns what finds the directories that the run empties, if these are removed.
    fn emptied(&self) -> Option<Emptied> {
        let starts = || self.roots.iter().map(|start| start.as_bytes());
        self.act.remove_empty_dirs.then(|| Emptied::new(starts()))
    }

    fn check(&self, reach: &mut Reach, step: &Step) -> Result<Check, Refusal> {
        check(reach, &self.action, self.act.action_options(), step)
    }

    /// Checks the plan as far as this is possible without reading a file, and calls `each` with every part of it. A
    /// step that would be refused now is a line. Changes nothing.
    fn each_checked(
        &self,
        work: &mut dyn Iterator<Item = Work>,
        mut each: impl FnMut(Checked) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut reach = Reach::new();
        let mut emptied = self.emptied();
        let refused = |path: &[u8], is_directory, refusal: Refusal| {
            let error = ActError::from(refusal);
            Checked::Line(Notice::of_error(path, is_directory, &error, &error))
        };
        for work in work {
            let checked = match work {
                Work::Line(line) => Checked::Line(line),
                Work::Tree(step) => match Tree::list(&mut reach, self.action.kind(), &step) {
                    Ok(tree) => Checked::Tree(step, tree),
                    Err(error) => Checked::Line(Notice::of_tree(&step.victim.path, &error)),
                },
                Work::File { step, gain } => match self.check(&mut reach, &step) {
                    Ok(Check::Fine) => Checked::File(step, gain),
                    Ok(Check::Done) => continue,
                    Err(refusal) => refused(&step.victim.path, false, refusal),
                },
            };
            if let Checked::Tree(step, _) | Checked::File(step, _) = &checked {
                emptied.iter_mut().for_each(|emptied| emptied.remove(&step.victim));
            }
            each(checked)?;
        }
        for (directory, planned) in emptied.map(|it| it.plan(&mut reach)).unwrap_or_default() {
            each(match planned {
                Ok(()) => Checked::Emptied(directory.path),
                Err(refusal) => refused(&directory.path, true, refusal),
            })?;
        }
        Ok(())
    }

    /// Prints what would be done and what would be refused.
    fn plan(
        &self,
        work: &mut dyn Iterator<Item = Work>,
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let mut printer = StepPrinter::new(out, &self.action, self.json, false, console);
        self.each_checked(work, |checked| {
            match checked {
                Checked::Line(line) => printer.say(line),
                Checked::Tree(step, tree) => {
                    printer.tree(&step, tree.files.len() as u64, tree.freed_by(self.action.kind()));
                }
                Checked::File(step, gain) => printer.step(&step, gain),
                Checked::Emptied(path) => printer.emptied(&path),
            }
            Ok(())
        })?;
        printer.finish(&self.rules);
        if printer.has_done() {
            self.warn_of_deletion(console);
        }
        Ok(Outcome::error_if(printer.has_trouble()))
    }

    /// Prints only the paths of the steps.
    fn list(
        &self,
        work: &mut dyn Iterator<Item = Work>,
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let (mut lines, mut outcome) = (Lines::new(out), Outcome::Success);
        let (end, is_shown) = (end_of_path(self.act.null), !self.act.null && Stdout::is_terminal());
        self.each_checked(work, |checked| {
            let path = match checked {
                Checked::Line(line) => {
                    outcome = outcome.max(say_error(&line, console));
                    return Ok(());
                }
                Checked::Tree(step, _) | Checked::File(step, _) => step.victim.path,
                Checked::Emptied(path) => path,
            };
            lines.line(|out| push_path(out, &path, end, is_shown));
            Ok(())
        })?;
        lines.flush();
        Ok(outcome)
    }

    /// Prints a script that carries out the plan, without the steps that would be refused now.
    fn script(
        &self,
        work: &mut dyn Iterator<Item = Work>,
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let directory = env::current_dir().context("cannot determine the working directory")?;
        let mut outcome = Outcome::Success;
        let mut lines = Lines::new(out);
        let mut push = |mut commands: Vec<u8>| {
            ensure_harmless(&commands)?;
            lines.line(|out| out.append(&mut commands));
            anyhow::Ok(())
        };
        push(script::header(directory.as_os_str().as_bytes()))?;
        push(script::destination(&self.action))?;
        let mut nth = 0;
        self.each_checked(work, |checked| match checked {
            Checked::Line(line) => {
                outcome = outcome.max(say_error(&line, console));
                Ok(())
            }
            Checked::Tree(_, tree) => push(script::tree(&tree, &self.action, &mut nth)),
            Checked::File(step, _) => {
                nth += 1;
                push(script::step(&step, &self.action, nth))
            }
            Checked::Emptied(path) => {
                nth += 1;
                push(script::emptied(&path, nth))
            }
        })?;
        push(script::footer())?;
        lines.flush();
        if nth > 0 && self.action == Action::Delete {
            console.summary("a script keeps no journal, so its deletions cannot be undone");
        }
        Ok(outcome)
    }

    /// Carries out the plan. Each step is written to the journal first. A signal stops the run between two
    /// steps: the remaining steps are listed, and the process ends by that signal.
    fn act(
        &self,
        work: &mut dyn Iterator<Item = Work>,
        most: u64,
        (mut journal, path): (Journal, PathBuf),
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let shown = quote(path.as_os_str().as_bytes());
        let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
        let engine = Engine::new(self.action.clone(), self.act.action_options());
        let mut engine = engine.with_context(|| match &self.action {
            Action::Move(dir) => format!("cannot open or create {}", quote(dir.as_os_str().as_bytes())),
            action => format!("cannot prepare to {} files", verb(action.kind())),
        })?;
        if let Some(emptied) = self.emptied() {
            engine = engine.with_emptied(emptied);
        }
        let mut printer = StepPrinter::new(out, &self.action, self.json, true, console);
        let begun = Instant::now();
        let counters = FileCounters::default();
        let done = WorkCounters::Files(&counters);
        let count = |step: &Step| counters.add(step.victim.version.size);
        // The engine fetches steps before it has finished earlier ones. Work without a step waits here, so
        // that lines are printed in the order of the plan.
        let waiting = RefCell::new(VecDeque::new());
        let mut work = work.peekable();
        let verb = verb(self.action.kind());
        let run = console.progress.between_lines().counted(verb, most, false, done, || {
            while let Some(work) = work.next_if(|work| !matches!(work, Work::File { .. })) {
                let Work::Tree(step) = work else {
                    print_rest(&mut printer, work);
                    continue;
                };
                let (done, ended) =
                    engine.run_tree(&step, &mut journal, &signals.stop, |file, _| count(file))?;
                match ended {
                    Ok(()) => printer.tree(&step, done.files, done.freed.0),
                    Err(error) => {
                        // What was done before is done, and has a copy.
                        printer.add_files(done.files, done.freed.0);
                        printer.say(Notice::of_tree(&step.victim.path, &error));
                    }
                }
            }
            let steps = work.by_ref().filter_map(|work| {
                let step = if let Work::File { step, .. } = &work { Some(step.clone()) } else { None };
                waiting.borrow_mut().push_back(work);
                step
            });
            engine.run(steps, &mut journal, &signals.stop, |step, result| {
                count(step);
                // What waits before this step is printed first.
                let planned = loop {
                    match waiting.borrow_mut().pop_front() {
                        Some(Work::File { gain, .. }) => break gain,
                        Some(work) => print_rest(&mut printer, work),
                        None => break Gain::default(),
                    }
                };
                match result {
                    Ok(Freed(bytes)) => printer.step(step, planned.when_done(bytes)),
                    Err(error) => printer.say(Notice::of_error(&step.victim.path, false, &error, &error)),
                }
            })?;
            engine.remove_emptied(&mut journal, &signals.stop, |path, outcome| match outcome {
                Ok(()) => printer.emptied(path),
                Err(error) => printer.say(Notice::of_error(path, true, &error, &error)),
            })
        });
        // After a signal, the remaining steps are listed and not started.
        waiting.into_inner().into_iter().chain(work).for_each(|work| print_rest(&mut printer, work));
        let has_steps = journal.has_steps();
        let ended = run.and_then(|()| journal.finish());
        console.stats.phase(printer.phase(begun.elapsed()));
        if has_steps {
            printer.recorded_in(&path);
        }
        printer.finish(&self.rules);
        if !has_steps {
            console.summary(journal::REMOVED);
        }
        if printer.has_done() {
            Console::note(format_args!("to undo this: ftk undo {shown}"));
            self.warn_of_deletion(console);
        }
        let mut outcome = Outcome::error_if(printer.has_trouble());
        if let Err(error) = ended {
            console.error(format_args!(
                "the run ended early: cannot write the journal {shown}, or sync the file system: {}",
                cause(&error)
            ));
            outcome = Outcome::Error;
        }
        signals.raise_again();
        Ok(outcome)
    }
}

/// Reports a step that would be refused or would fail, where the output has no line for it.
fn say_error(line: &Notice, console: &Console) -> Outcome {
    let done = line.done();
    if done.weight != Weight::Error {
        return Outcome::Success;
    }
    console.stats.error("refused");
    done.complain(&line.why);
    Outcome::Error
}

/// Checks that no terminal interprets the commands of a script, which needs the names unescaped.
fn ensure_harmless(commands: &[u8]) -> anyhow::Result<()> {
    let is_harmless = |line: &[u8]| matches!(sanitize(line), std::borrow::Cow::Borrowed(_));
    ensure!(
        !Stdout::is_terminal() || commands.split(|&byte| byte == b'\n').all(is_harmless),
        "the script contains names with control characters, which a terminal would interpret: write it to a file"
    );
    Ok(())
}

/// Prints a line, or a step as not done.
fn print_rest(printer: &mut StepPrinter<'_>, work: Work) {
    let not_done = |step: Step, is_directory| {
        Notice::of_error(&step.victim.path, is_directory, &ActError::Stopped, &ActError::Stopped)
    };
    printer.say(match work {
        Work::Line(line) => line,
        Work::Tree(step) => not_done(step, true),
        Work::File { step, .. } => not_done(step, false),
    });
}

/// Returns a step for a victim and its keeper. `root_lens` are the lengths of the paths of starting points.
pub(super) fn step(victim: &Member, keeper: &Member, root_lens: &[usize]) -> Step {
    Step::new(seen(victim, root_lens), seen(keeper, root_lens))
}

pub(super) fn seen(member: &Member, root_lens: &[usize]) -> Seen {
    let Member { root, path, version, .. } = member.clone();
    // The path of a directory has lost the slashes at its end.
    Seen { root_len: root_lens[root].min(path.len()), path, version }
}
