//! Commands that change a tree, killed before each system call that changes anything. The disk does not
//! change between two such calls, so these are all states that a killed run can leave. `undo` restores the
//! tree, and another `undo` finds nothing to do.

use super::acts::{Action, Command, Stage};
use super::trace::{Call, Fault, calls, can_inject, failing};

/// Returns whether the call changes the file system.
pub(super) fn changes(call: &Call) -> bool {
    let names = [
        "copy_file_range",
        "fallocate",
        "fchmod",
        "fchmodat",
        "fchown",
        "fchownat",
        "fremovexattr",
        "fsetxattr",
        "ftruncate",
        "linkat",
        "mkdir",
        "mkdirat",
        "pwrite64",
        "removexattr",
        "renameat",
        "renameat2",
        "setxattr",
        "symlinkat",
        "unlinkat",
        "utimensat",
        "write",
    ];
    names.contains(&&*call.name) || (call.name == "openat" && call.line.contains("O_CREAT"))
}

fn play(command: Command, action: Action) {
    if !can_inject() {
        return;
    }
    let stage = Stage::new(command, action);
    let (_, calls) = calls(stage.command(command), &stage.dir);
    let calls: Vec<_> = calls.iter().filter(|call| changes(call)).collect();
    assert!(calls.len() > 5, "{calls:?}");
    let mut problems = Vec::new();
    for call in &calls {
        let stage = Stage::new(command, action);
        let run = failing(stage.command(command), &stage.dir, call, Fault::Kill).run();
        let check = || {
            if run.code() != 128 + 9 {
                return Err(format!("it was not killed: status {}", run.code()));
            }
            stage.check_contents()?;
            if !stage.dir.aside("journal").exists() {
                // A run that was killed before it had a journal has changed nothing.
                return stage.check_unchanged();
            }
            for turn in ["undo", "undo once more"] {
                let undone = stage.command(Command::Undo).run();
                let what = || format!("{turn}: {}{}{:?}", undone.text(), undone.err, stage.strays());
                let is_back = stage.check_unchanged().and_then(|()| stage.check_hard_links());
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
        if let Err(why) = check() {
            problems.push(format!("before {} number {}: {why}\n  {}", call.name, call.nth, call.line));
        }
    }
    assert!(problems.is_empty(), "{command:?} {action:?}:\n{}", problems.join("\n"));
}

/// Returns whether the journal has a complete line.
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
fn h06_killed_while_files_go_to_the_trash() {
    play(Command::Prune, Action::Trash);
}

#[test]
fn h06_killed_while_a_directory_goes_to_the_trash() {
    play(Command::PruneDirs, Action::Trash);
}

#[test]
fn h06_killed_while_files_come_back_from_the_trash() {
    play(Command::Undo, Action::Trash);
}

#[test]
fn h06_killed_while_a_report_is_applied() {
    play(Command::Apply, Action::Symlink);
}

#[test]
fn h06_killed_while_a_report_of_manifests_is_applied() {
    play(Command::ApplyRecorded, Action::Hardlink);
}

#[test]
fn h06_killed_while_files_of_a_directory_are_linked() {
    play(Command::PruneDirs, Action::Hardlink);
}

#[test]
fn h06_killed_while_a_directory_is_deleted() {
    play(Command::PruneDirs, Action::Delete);
}

#[test]
fn h06_killed_while_a_directory_is_moved() {
    play(Command::PruneDirs, Action::Move);
}

#[test]
fn h06_killed_while_empty_directories_are_removed() {
    play(Command::PruneEmptied, Action::Move);
}

#[test]
fn h06_killed_while_files_are_deleted_and_empty_directories_are_removed() {
    play(Command::PruneEmptied, Action::Delete);
}

#[test]
fn h06_killed_while_empty_directories_are_restored() {
    play(Command::UndoEmptied, Action::Move);
}

#[test]
fn h06_killed_while_deleted_files_and_empty_directories_are_restored() {
    play(Command::UndoEmptied, Action::Delete);
}

#[test]
fn h06_killed_while_a_directory_is_restored() {
    play(Command::UndoDirs, Action::Move);
}

#[test]
fn h06_killed_while_links_are_undone() {
    play(Command::Undo, Action::Hardlink);
}

#[test]
fn h06_killed_while_symbolic_links_are_undone() {
    play(Command::Undo, Action::Symlink);
}

#[test]
fn h06_killed_while_deletions_are_undone() {
    play(Command::Undo, Action::Delete);
}

#[test]
fn h06_killed_while_a_deleted_directory_is_restored() {
    play(Command::UndoDirs, Action::Delete);
}

#[test]
fn h06_killed_while_moves_are_undone() {
    play(Command::Undo, Action::Move);
}
