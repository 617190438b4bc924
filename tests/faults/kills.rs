//! Commands that change a tree, killed before each call that changes anything: between two of these the disk does not
//! change, so this is every state that a killed run can leave. `undo` brings back what there was, and finds nothing to
//! do after that.

use super::acts::{Action, Command, Stage};
use super::trace::{Call, Fault, calls, failing};
use crate::harness::needs;

/// Calls after which a file system is another one.
fn changes(call: &Call) -> bool {
    let names = [
        "copy_file_range",
        "fallocate",
        "fchmod",
        "fchown",
        "fremovexattr",
        "fsetxattr",
        "ftruncate",
        "linkat",
        "mkdir",
        "mkdirat",
        "pwrite64",
        "renameat",
        "renameat2",
        "symlinkat",
        "unlinkat",
        "utimensat",
        "write",
    ];
    names.contains(&&*call.name) || (call.name == "openat" && call.line.contains("O_CREAT"))
}

fn play(command: Command, action: Action) {
    needs!("strace");
    let stage = Stage::new(command, action);
    let (_, calls) = calls(stage.command(command), &stage.dir);
    let calls: Vec<_> = calls.iter().filter(|call| changes(call)).collect();
    assert!(calls.len() > 5, "{calls:?}");
    let mut problems = Vec::new();
    for call in &calls {
        let stage = Stage::new(command, action);
        let run = failing(stage.command(command), &stage.dir, call, Fault::Kill).run();
        let judge = || {
            if run.code() != 128 + 9 {
                return Err(format!("it was not killed: status {}", run.code()));
            }
            stage.keeps()?;
            if action == Action::Delete || !stage.dir.aside("journal").exists() {
                // What was killed before it had a journal has done nothing.
                return if action == Action::Delete { Ok(()) } else { stage.is_as_before() };
            }
            for turn in ["undo", "undo once more"] {
                let undone = stage.command(Command::Undo).run();
                let what = || format!("{turn}: {}{}{:?}", undone.text(), undone.err, stage.strays());
                let is_back = stage.is_as_before().and_then(|()| stage.is_one_file());
                is_back.map_err(|why| format!("{why}\n{}", what()))?;
                if undone.code() != 0 && !is_begun(&stage) {
                    return Ok(()); // not even the first line of the journal
                }
                if undone.code() != 0 || (turn != "undo" && undone.text().contains("  restore ")) {
                    return Err(what());
                }
            }
            Ok(())
        };
        if let Err(why) = judge() {
            problems.push(format!("before {} number {}: {why}\n  {}", call.name, call.nth, call.line));
        }
    }
    assert!(problems.is_empty(), "{command:?} {action:?}:\n{}", problems.join("\n"));
}

/// Whether there is a whole line in the journal.
fn is_begun(stage: &Stage) -> bool {
    std::fs::read(stage.dir.aside("journal")).unwrap().contains(&b'\n')
}

#[test]
fn h06_killed_while_linking() {
    play(Command::Prune, Action::Hardlink);
}

#[test]
fn h06_killed_while_making_symbolic_links() {
    play(Command::Prune, Action::Symlink);
}

#[test]
fn h06_killed_while_deleting() {
    play(Command::Prune, Action::Delete);
}

#[test]
fn h06_killed_while_moving() {
    play(Command::Prune, Action::Move);
}

#[test]
fn h06_killed_while_a_report_is_applied() {
    play(Command::Apply, Action::Symlink);
}

#[test]
fn h06_killed_while_links_are_taken_back() {
    play(Command::Undo, Action::Hardlink);
}

#[test]
fn h06_killed_while_symbolic_links_are_taken_back() {
    play(Command::Undo, Action::Symlink);
}

#[test]
fn h06_killed_while_moves_are_taken_back() {
    play(Command::Undo, Action::Move);
}
