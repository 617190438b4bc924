//! The order of writes, syncs and changes of names. A power failure check_contents everything that was synced and any
//! part of the rest.

use std::collections::BTreeSet;

use super::acts::{Action, Command, Stage};
use super::trace::{Call, calls};
use crate::harness::{Dir, needs};

/// Parts of the records of a journal, as `strace` prints them.
const ACTION: &str = r#"\"action\":"#;
const DONE: &str = r#"\"outcome\":\"done\""#;

/// Returns the path of the descriptor that is the `nth` argument.
fn path(call: &Call, nth: usize) -> &str {
    let path = call.line.split('<').nth(nth + 1).and_then(|rest| rest.split('>').next());
    path.unwrap_or_else(|| panic!("no path: {}", call.line))
}

/// Checks that the intent is synced before its step, the kept file before the other is removed, and the names
/// before the journal records the step as done.
fn steps_are_in_order(action: Action) {
    needs!("strace");
    let stage = Stage::new(Command::Prune, action);
    let (run, calls) = calls(stage.command(Command::Prune), &stage.dir);
    run.status(0);
    let journal = stage.dir.aside("journal").to_str().unwrap().to_owned();
    let parent = stage.dir.aside("").to_str().unwrap().trim_end_matches('/').to_owned();
    let keepers = [stage.dir.path("a/x1"), stage.dir.path("b/y1")];
    let (mut is_journal_named, mut is_journal_synced, mut announced, mut acts, mut done) =
        (false, true, 0, 0, 0);
    let mut synced_files = BTreeSet::new();
    let mut unsynced_names = BTreeSet::new();
    for call in &calls {
        let line = &*call.line;
        match &*call.name {
            "write" if path(call, 0) == journal => {
                let n = line.matches(DONE).count();
                if n > 0 {
                    assert!(unsynced_names.is_empty(), "done before {unsynced_names:?}: {line}");
                }
                announced += line.matches(ACTION).count();
                done += n;
                is_journal_synced = false;
            }
            "fdatasync" if path(call, 0) == journal => is_journal_synced = true,
            "fsync" if path(call, 0) == parent => is_journal_named = true,
            "fsync" => {
                synced_files.insert(path(call, 0).to_owned());
                unsynced_names.remove(path(call, 0));
            }
            "syncfs" => unsynced_names.clear(),
            "linkat" | "symlinkat" | "renameat2" | "unlinkat" | "mkdirat" => {
                acts += 1;
                assert!(is_journal_named && is_journal_synced, "before its intent: {line}");
                let is_step = call.name != "mkdirat"; // where nothing has been made before
                assert!(announced >= 4 || !is_step, "before it is announced: {line}");
                for keeper in keepers.iter().filter(|_| is_step) {
                    assert!(synced_files.contains(keeper.to_str().unwrap()), "before {keeper:?}: {line}");
                }
                let dirs = line.matches('<').count().min(2);
                unsynced_names.extend((0..dirs).map(|nth| path(call, nth).to_owned()));
            }
            _ => {}
        }
    }
    assert_eq!((announced, done), (4, 4));
    assert!(acts >= 4 && is_journal_synced);
}

#[test]
fn h06_links_are_made_in_order() {
    steps_are_in_order(Action::Hardlink);
}

#[test]
fn h06_symbolic_links_are_made_in_order() {
    steps_are_in_order(Action::Symlink);
}

#[test]
fn h06_deletes_are_done_in_order() {
    steps_are_in_order(Action::Delete);
}

#[test]
fn h06_moves_are_done_in_order() {
    steps_are_in_order(Action::Move);
}

#[test]
fn h06_moves_to_the_trash_are_done_in_order() {
    steps_are_in_order(Action::Trash);
}

/// A restored file gets a name that other users can see when its content is checked and its metadata is set. Before that,
/// another user could give it the name of a journal or a program.
#[test]
fn a_restored_file_has_no_name_before_it_is_complete() {
    needs!("strace");
    for action in [Action::Hardlink, Action::Symlink, Action::Delete] {
        let stage = Stage::new(Command::Undo, action);
        let (run, calls) = calls(stage.command(Command::Undo), &stage.dir);
        run.status(0);
        let is_unnamed = |call: &&Call| call.line.contains("(deleted)");
        let Some(first) = calls.iter().find(|call| call.line.contains("O_TMPFILE")) else {
            panic!("no new file")
        };
        let mut complete = 0;
        for call in calls.iter().skip_while(|call| *call != first) {
            let made = call.name == "openat" && call.line.contains("O_CREAT");
            assert!(!made, "{}", call.line);
            if ["pread64", "fchmod", "fsync"].contains(&&*call.name) && is_unnamed(&call) {
                complete += usize::from(call.name == "fsync");
            } else if ["fchmod", "fchown", "fsetxattr", "pwrite64"].contains(&&*call.name) {
                assert!(is_unnamed(&call), "{}", call.line);
            } else if call.name == "linkat" && call.line.contains("/fd/") {
                assert!(complete > 0, "{}", call.line);
            }
        }
        assert!(complete >= 3, "{complete}");
    }
}

/// A list or manifest is synced before it gets its name.
#[test]
fn h29_an_output_is_synced_before_it_has_its_name() {
    needs!("strace");
    for args in [&["hash", "."][..], &["dup", "--json"], &["manifest", "create", "."]] {
        for has_old in [false, true] {
            let dir = Dir::new();
            dir.file("a", b"same").file("b", b"same");
            if has_old {
                dir.file("../out", b"old");
            }
            let (run, calls) = calls(dir.ftk(args).args(["-o", "../out", "-j", "mono"]), &dir);
            run.status(0);
            let (mut is_synced, mut named) = (false, 0);
            for call in calls {
                match &*call.name {
                    "write" => is_synced &= call.line.starts_with("write(2<"),
                    "fsync" => is_synced = true,
                    "linkat" | "renameat" | "renameat2" => {
                        named += 1;
                        assert!(is_synced, "{}", call.line);
                    }
                    _ => {}
                }
            }
            // An unnamed file can only get an unused name, and is then renamed over the old file.
            assert_eq!(named, if has_old { 3 } else { 1 }, "{args:?}");
        }
    }
}
