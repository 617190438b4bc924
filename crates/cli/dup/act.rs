//! Prints a plan, writes it as a script, or carries it out.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::env;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use ftk_apply::{
    ActError, Action, ActionOptions, Check, Copies, Emptied, Engine, Freed, Journal, Need, Obstacle, Reach,
    Refusal, Seen, Step, Tree, TreeError, check, probe, script,
};
use ftk_dedup::Member;
use ftk_dedup::prune::{self, Decision, Effect, Gain, Item, Pruning, Sidecars, SkipReason};
use ftk_dedup::report::Group;
use ftk_process::Progress;
use ftk_record::{quote, sanitize};
use ftk_sched::Stop;

use crate::console::{Console, Outcome, cause, reason};
use crate::dup::keep::RuleNames;
use crate::dup::step_printer::{StepPrinter, Word, kept_because, verb};
use crate::rules::Rules;
use crate::signals::DeferredSignals;
use crate::stdout::{Lines, Stdout};

/// An action, and the rules that say to which members of a group it applies.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) action: Action,
    pub(super) action_options: ActionOptions,
    pub(super) pruning: Pruning,
    /// The rules about files and directories. Those that matched nothing have been named.
    pub(super) rules: Rules,
    /// The rules that choose the kept files, as they are shown.
    pub(super) rule_names: RuleNames,
    /// Upper limit of the number of files to process outside of directories, for progress.
    pub(super) most: u64,
    pub(super) json: bool,
    /// The extensions of sidecars, which go only together with their files.
    pub(super) sidecars: Vec<String>,
    /// If directories that become empty are removed: the starting points, which stay.
    pub(super) starts: Option<Vec<CString>>,
}

/// A part of the plan as it is printed or carried out.
#[derive(Debug)]
enum Work {
    /// A line about a file or directory without a step.
    Line { word: Word, path: Vec<u8>, is_directory: bool, why: String },
    /// A directory that is removed as a whole.
    Tree(Step),
    /// A file. `frees`: bytes that the step frees, provided that all steps before it are done.
    File { step: Step, gain: Gain },
}

impl Work {
    fn print(self, printer: &mut StepPrinter<'_>, console: &Console) {
        let Self::Line { word, path, is_directory, why } = self else { return };
        if word == Word::Refuse {
            console.stats.error("refused");
        }
        match is_directory {
            true => printer.say_dir(word, &path, why),
            false => printer.say(word, &path, why),
        }
    }
}

impl Job {
    /// Carries out the plan if there is a journal. Otherwise prints it, as a script or as text. `directories` is the plan
    /// for directories, which comes first.
    pub(super) fn run(
        &self,
        directories: Vec<Item>,
        groups: &mut dyn Iterator<Item = Group>,
        journal: Option<(Journal, PathBuf)>,
        as_script: bool,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let out = Stdout::default();
        let (mut reach, mut reach_of_trees) = (Reach::new(), Reach::new());
        let shares = |victim: &Member, keeper: &Member| {
            let step = step(victim, keeper, &self.pruning.root_lens);
            matches!(self.check(&mut reach, &step), Ok(Check::Done))
        };
        let files = |item: &Item| if let Decision::Go { files, .. } = item.decision { files } else { 0 };
        let most = self.most + directories.iter().map(files).sum::<u64>();
        let files: Box<dyn Iterator<Item = Item> + '_> = match &self.sidecars[..] {
            [] => Box::new(self.pruning.items(groups, shares)),
            extensions => {
                let sidecars = Sidecars::new(extensions.iter().map(|it| it.as_bytes()));
                Box::new(self.pruning.items_with_sidecars(groups, sidecars).into_iter())
            }
        };
        let items = directories.into_iter().chain(files);
        let mut work = items.flat_map(|item| self.work(&mut reach_of_trees, item));
        let outcome = match (journal, as_script) {
            (Some(journal), _) => self.act(&mut work, most, journal, &out, console)?,
            (None, true) => self.script(&mut work, &out, console)?,
            (None, false) => self.plan(&mut work, &out, console)?,
        };
        self.rule_names.say_undecided(&self.pruning, &self.rules, console);
        out.finish()?;
        Ok(outcome)
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
        vec![Work::Line { word, path: member.path, is_directory, why }]
    }

    /// Returns what a step must prove besides its keeper.
    fn copies(&self, copies: &prune::Copies<Member>) -> Arc<Copies> {
        let files = copies.files.iter().map(|file| seen(file, &self.pruning.root_lens)).collect();
        let need = |need: &prune::Need| Need { count: need.count, among: need.among.clone() };
        Arc::new(Copies { files, needs: copies.needs.iter().map(need).collect() })
    }

    /// Returns the steps for the files of a directory.
    fn files(&self, reach: &mut Reach, step: &Step) -> Vec<Work> {
        match Tree::list(reach, self.action.kind(), step) {
            Ok(tree) => {
                let frees = tree.frees();
                let mut of_files = HashMap::new();
                for (file, frees) in tree.files.iter().zip(&frees) {
                    *of_files.entry(file.step.victim.version.identity()).or_insert(0) += frees;
                }
                let file = |(file, frees): (ftk_apply::TreeFile, u64)| {
                    let (certain, of_file) = match self.pruning.effect {
                        Effect::Clone => [file.blocks.saturating_mul(512); 2].into(),
                        _ => (frees, of_files[&file.step.victim.version.identity()]),
                    };
                    if of_file == 0 {
                        let (path, why) = (file.step.victim.path, SkipReason::FreesNothing.to_string());
                        return Work::Line { word: Word::Leave, path, is_directory: false, why };
                    }
                    Work::File { step: file.step, gain: Gain { certain, ..Gain::default() } }
                };
                tree.files.into_iter().zip(frees).map(file).collect()
            }
            Err(error) => {
                let (word, path, why) = (Word::Refuse, step.victim.path.clone(), tree_reason(&error));
                vec![Work::Line { word, path, is_directory: true, why }]
            }
        }
    }

    /// Prints the last line of a plan that deletes.
    fn warn_of_deletion(&self, console: &Console) {
        if self.action == Action::Delete {
            console.summary("deletion cannot be undone: use --quarantine DIR to move the files away instead");
        }
    }

    /// Returns what finds the directories that the run empties, if these are removed.
    fn emptied(&self) -> Option<Emptied> {
        let starts = self.starts.as_ref()?;
        Some(Emptied::new(starts.iter().map(|start| start.as_bytes())))
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
        work: &mut dyn Iterator<Item = Work>,
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let mut reach = Reach::new();
        let mut printer = StepPrinter::new(out, self.action.kind(), self.json, false);
        let mut emptied = self.emptied();
        let mut removes = |step: &Step| emptied.iter_mut().for_each(|emptied| emptied.remove(&step.victim));
        let refuse = |printer: &mut StepPrinter<'_>, step: Step, is_directory, why| {
            Work::Line { word: Word::Refuse, path: step.victim.path, is_directory, why }
                .print(printer, console);
        };
        for work in work {
            match work {
                Work::Line { .. } => work.print(&mut printer, console),
                Work::Tree(step) => match Tree::list(&mut reach, self.action.kind(), &step) {
                    Ok(tree) => {
                        printer.tree(&step, tree.files.len() as u64, tree.frees().into_iter().sum());
                        removes(&step);
                    }
                    Err(error) => refuse(&mut printer, step, true, tree_reason(&error)),
                },
                Work::File { step, gain } => match self.check(&mut reach, &step) {
                    Ok(Check::Fine) => {
                        printer.step(&step, gain);
                        removes(&step);
                    }
                    Ok(Check::Done) => {}
                    Err(refusal) => refuse(&mut printer, step, false, reason(&refusal)),
                },
            }
        }
        for (directory, planned) in emptied.map(|it| it.plan(&mut reach)).unwrap_or_default() {
            print_emptied(&mut printer, &directory.path, planned.map_err(ActError::from), console);
        }
        printer.finish(&self.rules);
        console.summary(printer.summary());
        if printer.has_done() {
            self.warn_of_deletion(console);
        }
        Ok(Outcome::error_if(printer.has_trouble()))
    }

    /// Prints a script that carries out the plan, without the steps that would be refused now.
    fn script(
        &self,
        work: &mut dyn Iterator<Item = Work>,
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let mut reach = Reach::new();
        let directory = env::current_dir().context("cannot determine the working directory")?;
        let mut outcome = Outcome::Success;
        let mut lines = Lines::new(out);
        let mut head = script::header(directory.as_os_str().as_bytes());
        head.append(&mut script::destination(&self.action));
        ensure_harmless(&head)?;
        lines.line(|out| out.append(&mut head));
        let mut nth = 0;
        let mut emptied = self.emptied();
        let mut removes = |step: &Step| emptied.iter_mut().for_each(|emptied| emptied.remove(&step.victim));
        let mut refuse = |path: &[u8], why: &str| {
            console.stats.error("refused");
            console.warning(format_args!("{}: refused: {why}", quote(path)));
            outcome = Outcome::Error;
        };
        for work in work {
            let mut commands = match work {
                Work::Line { word: Word::Refuse, path, why, .. } => {
                    refuse(&path, &why);
                    continue;
                }
                Work::Line { .. } => continue,
                Work::Tree(step) => match Tree::list(&mut reach, self.action.kind(), &step) {
                    Ok(tree) => {
                        removes(&step);
                        script::tree(&tree, &self.action, &mut nth)
                    }
                    Err(error) => {
                        refuse(&step.victim.path, &tree_reason(&error));
                        continue;
                    }
                },
                Work::File { step, .. } => match self.check(&mut reach, &step) {
                    Ok(Check::Done) => continue,
                    Ok(Check::Fine) => {
                        nth += 1;
                        removes(&step);
                        script::step(&step, &self.action, nth)
                    }
                    Err(refusal) => {
                        refuse(&step.victim.path, &reason(&refusal));
                        continue;
                    }
                },
            };
            ensure_harmless(&commands)?;
            lines.line(|out| out.append(&mut commands));
        }
        for (directory, planned) in emptied.map(|it| it.plan(&mut reach)).unwrap_or_default() {
            match planned {
                Ok(()) => {
                    nth += 1;
                    let mut command = script::emptied(&directory.path, nth);
                    ensure_harmless(&command)?;
                    lines.line(|out| out.append(&mut command));
                }
                Err(refusal) => refuse(&directory.path, &reason(&refusal)),
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
        work: &mut dyn Iterator<Item = Work>,
        most: u64,
        (mut journal, path): (Journal, PathBuf),
        out: &Stdout,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let path = quote(path.as_os_str().as_bytes());
        let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
        let engine = Engine::new(self.action.clone(), self.action_options);
        let mut engine = engine.with_context(|| self.cannot_start())?;
        if let Some(emptied) = self.emptied() {
            engine = engine.with_emptied(emptied);
        }
        let mut printer = StepPrinter::new(out, self.action.kind(), self.json, true);
        let begun = Instant::now();
        let (files, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let done = || {
            let (files, bytes) = (files.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
            Progress { files, bytes, ..Progress::default() }
        };
        let count = |step: &Step| {
            files.fetch_add(1, Ordering::Relaxed);
            bytes.fetch_add(step.victim.version.size, Ordering::Relaxed);
        };
        // The engine fetches steps before it has finished earlier ones. Work without a step waits here, so
        // that lines are printed in the order of the plan.
        let waiting = RefCell::new(VecDeque::new());
        let mut work = work.peekable();
        let verb = verb(self.action.kind());
        let run = console.progress.between_lines().counted(verb, most, false, &done, || {
            while let Some(work) = work.next_if(|work| !matches!(work, Work::File { .. })) {
                match work {
                    Work::Tree(step) => {
                        let (stop, journal) = (&signals.stop, &mut journal);
                        run_tree(&mut engine, &step, journal, stop, &count, &mut printer, console)?;
                    }
                    line => line.print(&mut printer, console),
                }
            }
            let steps = work.by_ref().filter_map(|work| {
                let step = if let Work::File { step, .. } = &work { Some(step.clone()) } else { None };
                waiting.borrow_mut().push_back(work);
                step
            });
            engine.run(steps, &mut journal, &signals.stop, |step, result| {
                count(step);
                let planned = print_waiting(&mut printer, &mut waiting.borrow_mut(), true, console);
                print_result(&mut printer, step, planned, result, console);
            })?;
            engine.remove_emptied(&mut journal, &signals.stop, |path, outcome| {
                print_emptied(&mut printer, path, outcome, console);
            })
        });
        // After a signal, the remaining steps are listed and not started.
        let rest = waiting.into_inner().into_iter().chain(work);
        rest.for_each(|work| _ = print_waiting(&mut printer, &mut [work].into(), false, console));
        let ended = run.and_then(|()| journal.finish());
        console.stats.phase(printer.phase(begun.elapsed()));
        printer.finish(&self.rules);
        console.summary(printer.summary());
        if printer.has_done() {
            match self.action {
                Action::Delete => console.summary("the deleted files cannot be restored"),
                _ => console.summary(format_args!("to undo this: ftk undo {path}")),
            }
        }
        let mut outcome = Outcome::error_if(printer.has_trouble());
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

/// Checks that no terminal interprets the commands of a script, which needs the names unescaped.
fn ensure_harmless(commands: &[u8]) -> anyhow::Result<()> {
    ensure!(
        !Stdout::is_terminal() || commands.split(|&byte| byte == b'\n').all(is_harmless),
        "the script contains names with control characters, which a terminal would interpret: write it to a file"
    );
    Ok(())
}

/// Prints a directory that the run has emptied, or would empty.
fn print_emptied(
    printer: &mut StepPrinter<'_>,
    path: &[u8],
    outcome: Result<(), ActError>,
    console: &Console,
) {
    match outcome {
        Ok(()) => printer.emptied(path),
        Err(error) => {
            let word = match &error {
                ActError::Refused(_) => Word::Refuse,
                ActError::Stopped => Word::NotDone,
                _ => Word::Fail,
            };
            console.stats.error(if word == Word::Refuse { "refused" } else { "act" });
            printer.say_dir(word, path, if word == Word::NotDone { String::new() } else { reason(&error) });
        }
    }
}

/// Prints waiting work, in the order of the plan. With `is_up_to_step`, stops at the step that was just
/// reported, removes it, and returns what it was to free. Otherwise prints everything, and steps as not done.
fn print_waiting(
    printer: &mut StepPrinter<'_>,
    waiting: &mut VecDeque<Work>,
    is_up_to_step: bool,
    console: &Console,
) -> Gain {
    while let Some(work) = waiting.pop_front() {
        match work {
            Work::File { gain, .. } if is_up_to_step => return gain,
            Work::File { step, .. } => printer.say(Word::NotDone, &step.victim.path, ""),
            Work::Tree(step) => printer.say_dir(Word::NotDone, &step.victim.path, ""),
            line => line.print(printer, console),
        }
    }
    Gain::default()
}

/// Prints the outcome of a step. `planned` is what it was to free.
fn print_result(
    printer: &mut StepPrinter<'_>,
    step: &Step,
    planned: Gain,
    result: Result<Freed, ActError>,
    console: &Console,
) {
    let path = &step.victim.path;
    match result {
        Ok(Freed(bytes)) => {
            // The file system may not have got to it yet.
            let possible = planned.most().saturating_sub(bytes).min(planned.possible);
            let is_held = bytes + possible == 0 && (planned.is_held || planned.certain > 0);
            printer.step(step, Gain { certain: bytes, possible, is_held });
        }
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

/// Returns a step for a victim and its keeper. `root_lens` are the lengths of the paths of starting points.
pub(super) fn step(victim: &Member, keeper: &Member, root_lens: &[usize]) -> Step {
    Step::new(seen(victim, root_lens), seen(keeper, root_lens))
}

pub(super) fn seen(member: &Member, root_lens: &[usize]) -> Seen {
    let Member { root, path, version, .. } = member.clone();
    // The path of a directory has lost the slashes at its end.
    Seen { root_len: root_lens[root].min(path.len()), path, version }
}

/// Whether the path has no control characters, which a terminal would interpret.
fn is_harmless(path: &[u8]) -> bool {
    matches!(sanitize(path), Cow::Borrowed(_))
}
