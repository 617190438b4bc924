//! Commands that change a tree, with each of their system calls failing: nothing is lost, the report is true,
//! no temporary files are left over, and `undo` restores the tree.

use super::acts::{Action, Command, Stage};
use super::scene::{Extent, faults};
use super::trace::{Call, Fault, calls, can_inject, failing};
use crate::harness::Run;

fn play(command: Command, action: Action, extent: Extent) {
    if !can_inject() {
        return;
    }
    let stage = Stage::new(command, action);
    let (clean, calls) = calls(stage.command(command), &stage.dir);
    let clean = clean.status(0);
    let faults = faults(&calls, extent);
    assert!(faults.len() > 20, "{}", faults.len());
    let (mut reported, mut problems) = (0, Vec::new());
    for &(call, error) in &faults {
        let stage = Stage::new(command, action);
        let run = failing(stage.command(command), &stage.dir, call, Fault::Error(error)).run();
        let has_failed = run.code() == 2 || (run.code() == 134 && run.err.contains("memory allocation of "));
        let check = || {
            stage.check_contents()?;
            stage.check_report(&run)?;
            if run.err.contains("panicked") {
                return Err("it panics".into());
            }
            // A temporary file that cannot be removed must be reported.
            if let Some(stray) = stage.strays().iter().find(|stray| !run.says(stray)) {
                return Err(format!("{stray} is left"));
            }
            // The number of freed bytes may be unknown, so only actions and paths are compared.
            let is_right = run.code() == 0 && words(&run) == words(&clean);
            // A copy that cannot be linked becomes the keeper for the following ones.
            let is_full =
                error == "EMLINK" && run.code() == 0 && run.text().contains("as many hard links as");
            // Without the identity of a directory its files are handled one by one.
            let is_by_file = command == Command::PruneDirs
                && run.code() == 0
                && run.err.contains("not compared as a whole");
            if !is_right && !is_full && !is_by_file && !has_failed {
                return Err("it is neither right nor a failure".into());
            }
            let is_said = run.err.contains("ftk: ") || run.err.contains(", which the caller may not set");
            if has_failed && !is_said && !call.line.starts_with("write(2") {
                return Err("the failure is not reported".into());
            }
            if is_right && matches!(command, Command::Undo | Command::UndoDirs | Command::UndoEmptied) {
                stage.check_unchanged()?;
            }
            if stage.dir.aside("journal").exists() {
                let undone = stage.command(Command::Undo).run();
                let is_empty = || std::fs::read(stage.dir.aside("journal")).unwrap().is_empty();
                if undone.code() != 0 && !is_empty() {
                    return Err(format!("undo fails: {}{}", undone.text(), undone.err));
                }
                stage.check_unchanged()?;
            }
            Ok::<(), String>(())
        };
        reported += usize::from(has_failed);
        if let Err(why) = check() {
            problems.push(problem(call, error, &run, &why));
        }
    }
    let n = problems.len();
    problems.truncate(30);
    assert!(n == 0, "{command:?} {action:?}: {n} of {}:\n{}", faults.len(), problems.join("\n"));
    assert!(reported > 0);
}

/// Returns the description of a run in which a call failed and that did something wrong.
pub(super) fn problem(call: &Call, error: &str, run: &Run, why: &str) -> String {
    let Call { name, nth, line } = call;
    let (status, out, err) = (run.code(), run.text(), &run.err);
    format!("{error} of {name} number {nth}: {why}\n  {line}\n  status {status}\n{out}{err}")
}

/// Returns the action and the path of each line.
fn words(run: &Run) -> Vec<(&str, &str)> {
    let line = |line| {
        let mut words = str::split_whitespace(line);
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    };
    run.text().lines().map(line).collect()
}

macro_rules! plays {
    ($($name:ident: $command:ident, $action:ident;)*) => {
        mod some {
            $(#[test] fn $name() { super::$name(super::Extent::Some); })*
        }

        mod all {
            $(
                #[test]
                #[ignore = "takes minutes: every call and every error, which a soak runs"]
                fn $name() { super::$name(super::Extent::All); }
            )*
        }

        $(fn $name(extent: Extent) { play(Command::$command, Action::$action, extent); })*
    };
}

plays! {
    prune_hardlink: Prune, Hardlink;
    prune_symlink: Prune, Symlink;
    prune_delete: Prune, Delete;
    prune_move: Prune, Move;
    prune_dirs_hardlink: PruneDirs, Hardlink;
    prune_dirs_delete: PruneDirs, Delete;
    prune_dirs_move: PruneDirs, Move;
    prune_emptied_delete: PruneEmptied, Delete;
    prune_emptied_move: PruneEmptied, Move;
    apply_hardlink: Apply, Hardlink;
    undo_of_hardlink: Undo, Hardlink;
    undo_of_symlink: Undo, Symlink;
    undo_of_move: Undo, Move;
    undo_of_delete: Undo, Delete;
    undo_of_moved_directories: UndoDirs, Move;
    undo_of_deleted_directories: UndoDirs, Delete;
    undo_of_emptied_directories: UndoEmptied, Move;
    undo_of_emptied_and_deleted_files: UndoEmptied, Delete;
}
