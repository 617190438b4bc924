//! Commands that change a tree, with each call of theirs failing: nothing is lost, what is said is so, nothing is left
//! behind, and `undo` brings back what there was.

use super::acts::{Action, Command, Stage};
use super::scene::{Extent, faults};
use super::trace::{Fault, calls, failing};
use crate::harness::{Run, needs};

fn play(command: Command, action: Action, extent: Extent) {
    needs!("strace");
    let stage = Stage::new(command, action);
    let (clean, calls) = calls(stage.command(command), &stage.dir);
    let clean = clean.status(0);
    let faults = faults(&calls, extent);
    assert!(faults.len() > 30, "{}", faults.len());
    let (mut told, mut problems) = (0, Vec::new());
    for &(call, error) in &faults {
        let stage = Stage::new(command, action);
        let run = failing(stage.command(command), &stage.dir, call, Fault::Error(error)).run();
        let has_failed = run.code() == 2 || (run.code() == 134 && run.err.contains("memory allocation of "));
        let judge = || {
            stage.keeps()?;
            stage.is_so(&run)?;
            if run.err.contains("panicked") {
                return Err("it panics".into());
            }
            // Where one cannot be removed either, it is told.
            if let Some(stray) = stage.strays().iter().find(|stray| !run.text().contains(*stray)) {
                return Err(format!("{stray} is left"));
            }
            // How much is free by now is told as far as it can be asked.
            let is_right = run.code() == 0 && words(&run) == words(&clean);
            // A file that cannot be linked is the one that others are linked to from then on.
            let is_full =
                error == "EMLINK" && run.code() == 0 && run.text().contains("as many hard links as");
            if !is_right && !is_full && !has_failed {
                return Err("it is neither right nor a failure".into());
            }
            let is_said = run.err.contains("ftk: ")
                || run.text().contains("  fail ")
                || run.text().contains("  refuse ");
            if has_failed && !is_said && !call.line.starts_with("write(2") {
                return Err("nothing is said".into());
            }
            if is_right && command == Command::Undo {
                stage.is_as_before()?;
            }
            if action != Action::Delete && stage.dir.aside("journal").exists() {
                let undone = stage.command(Command::Undo).run();
                let is_empty = || std::fs::read(stage.dir.aside("journal")).unwrap().is_empty();
                if undone.code() != 0 && !is_empty() {
                    return Err(format!("undo fails: {}{}", undone.text(), undone.err));
                }
                stage.is_as_before()?;
            }
            Ok::<(), String>(())
        };
        told += usize::from(has_failed);
        if let Err(why) = judge() {
            problems.push(format!(
                "{error} of {} number {}: {why}\n  {}\n  status {}\n{}{}",
                call.name,
                call.nth,
                call.line,
                run.code(),
                run.text(),
                run.err
            ));
        }
    }
    let n = problems.len();
    problems.truncate(30);
    assert!(n == 0, "{command:?} {action:?}: {n} of {}:\n{}", faults.len(), problems.join("\n"));
    assert!(told > 0);
}

/// What was done to which file.
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
    apply_hardlink: Apply, Hardlink;
    undo_of_hardlink: Undo, Hardlink;
    undo_of_symlink: Undo, Symlink;
    undo_of_move: Undo, Move;
}
