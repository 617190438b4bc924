//! Journals: which ones are refused, how truncated ones are read, and where relative paths start.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use ftk_apply::{Action, Journal, JournalError, Undone, open_journal_to_undo, undo};
use ftk_sched::Stop;

use crate::faults::act_program;
use crate::harness::{Tree, ino};

fn read(journal: &[u8]) -> Result<usize, JournalError> {
    let mut steps = 0;
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("journal");
    fs::write(&path, journal).unwrap();
    undo(open_journal_to_undo(&path)?, &Stop::new(), |_, _| steps += 1).map(|()| steps)
}

/// Creates a journal of three steps that were performed.
fn three() -> (Tree, Vec<u8>) {
    let tree = Tree::new();
    tree.file("k", "same");
    for name in ["a", "b", "c"] {
        tree.file(name, "same");
    }
    let steps = ["a", "b", "c"].map(|name| tree.step(name, "k")).to_vec();
    for outcome in tree.run(Action::Hardlink, steps) {
        outcome.unwrap();
    }
    let journal = fs::read(tree.journal()).unwrap();
    (tree, journal)
}

#[test]
fn h29_an_incomplete_last_line_is_ignored() {
    let (tree, journal) = three();
    let ends: Vec<_> = (0..journal.len()).filter(|&at| journal[at] == b'\n').map(|at| at + 1).collect();
    assert_eq!(ends.len(), 8, "a header, the starting point, three intents, three outcomes");
    for cut in [ends[2], ends[2] + 1, ends[3] - 1, ends[2] + 100] {
        assert_eq!(read(&journal[..cut]).unwrap(), 1, "{cut}");
    }
    // After a power failure, the new part of a file may be zeros.
    let zeros = [&journal[..ends[3]], &[0; 500]].concat();
    assert_eq!(read(&zeros).unwrap(), 2);
    assert_eq!(read(&journal).unwrap(), 3);
    assert_eq!(fs::metadata(tree.path("k")).unwrap().nlink(), 1, "all steps were undone");
}

#[test]
fn h26_files_that_are_not_journals_are_refused() {
    let (_tree, journal) = three();
    let text = String::from_utf8(journal).unwrap();
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        read(text.replacen(from, to, 1).as_bytes()).unwrap_err()
    };
    assert!(matches!(read(b"").unwrap_err(), JournalError::Empty));
    assert!(matches!(read(b"{}\n").unwrap_err(), JournalError::NotJournal));
    assert!(matches!(with("\"journal\"", "\"manifest\""), JournalError::NotJournal));
    assert!(matches!(with("\"version\":2", "\"version\":3"), JournalError::Version(3)));
    assert!(matches!(with("\"step\":1", "\"step\":2"), JournalError::Malformed(4)));
    assert!(matches!(with("\"hardlink\"", "\"chmod\""), JournalError::Malformed(3)));
    assert!(matches!(with("\"outcome\"", "\"result\""), JournalError::Malformed(6)));
    assert!(matches!(with(".ftk-", "k/../"), JournalError::Malformed(3)));
}

/// The test vector in the documentation.
#[test]
fn the_documented_journal_is_read() {
    let page = include_str!("../../../../docs/json.md");
    let mut blocks = page.split("```json\n").filter_map(|block| block.split_once("```"));
    let (journal, _) = blocks.find(|(block, _)| block.contains("\"cwd_identity\"")).unwrap();
    let summary = ftk_apply::summarize(journal.as_bytes(), u64::MAX).unwrap();
    let one = std::collections::BTreeMap::from([(ftk_apply::ActionKind::Delete, 1)]);
    assert_eq!((summary.steps, summary.undone, summary.left), (one.clone(), one, 0));
    let digest = blake3::hash(b"same").to_hex();
    assert!(journal.contains(&format!("\"blake3\":\"{digest}\"")), "{digest}");
}

#[test]
fn a_journal_is_new_and_private() {
    let tree = Tree::new();
    let journal = Journal::create(&tree.journal()).unwrap();
    let metadata = fs::metadata(tree.journal()).unwrap();
    assert_eq!(journal.identity(), (metadata.dev(), metadata.ino()));
    assert_eq!(metadata.permissions().mode() & 0o077, 0);
    assert_eq!(Journal::create(&tree.journal()).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn relative_paths_start_from_the_directory_of_the_run() {
    let tree = Tree::new();
    let keeper = tree.file("here/k", "same");
    let victim = tree.file("here/v", "same");
    let run = |arguments: &[&str], directory: &str| {
        let output =
            Command::new(act_program()).args(arguments).current_dir(tree.path(directory)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["hardlink", "k", "./v", "../journal"], "here");
    assert_eq!(ino(&victim), ino(&keeper));
    assert_eq!(run(&["undo", "journal"], ""), format!("{:?}\n", Undone::Restored));
    assert_ne!(ino(&victim), ino(&keeper));
}
