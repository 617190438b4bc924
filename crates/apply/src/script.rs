//! The actions as a script for a POSIX shell, to be read before it runs, or to be run elsewhere.
//!
//! A script cannot do everything that the engine does. It cannot hold directories open or check a name at the
//! moment it changes, it does not compare owners and attributes, and it keeps no journal. It first compares
//! the bytes of each pair, and creates each replacement under a temporary name before it replaces the victim.
//! On FUSE, network and overlay file systems it refuses every step that removes a file, since it cannot prove
//! there that victim and keeper are two files.

use std::os::unix::ffi::OsStrExt;

use crate::action::Action;
use crate::destination::{SAID, below};
use crate::seen::{Need, Step};
use crate::tree::Tree;

/// Returns the start of a script: the functions of the steps, and a `cd` to the directory from which relative
/// paths start.
pub fn header(cwd: &[u8]) -> Vec<u8> {
    let mut text = include_bytes!("functions.sh").to_vec();
    text.extend_from_slice(b"cd ");
    push_path(&mut text, cwd);
    text.extend_from_slice(b" || exit 2\n");
    text
}

/// Returns the command that creates and marks the directory for moved files, if the action is a move.
pub fn destination(action: &Action) -> Vec<u8> {
    let mut text = Vec::new();
    if let Action::Move(directory) = action {
        text.extend_from_slice(b"ftk_destination ");
        push_path(&mut text, directory.as_os_str().as_bytes());
        text.extend_from_slice(b" '");
        text.extend_from_slice(SAID);
        text.extend_from_slice(b"'\n");
    }
    text
}

/// Returns the command for one step, after the commands that check the further copies. `nth` is the number used in
/// messages. Only the paths of the step are used.
pub fn step(step: &Step, action: &Action, nth: usize) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(copies) = &step.copies {
        for Need { count, among } in &copies.needs {
            text.extend(format!("ftk_need {nth} {count} ").into_bytes());
            push_path(&mut text, &step.victim.path);
            for &copy in among {
                text.push(b' ');
                push_path(&mut text, &copies.files[copy].path);
            }
            text.extend_from_slice(b" && ");
        }
    }
    text.extend(format!("ftk_{} {nth} ", action.kind()).into_bytes());
    push_path(&mut text, &step.keeper.path);
    text.push(b' ');
    push_path(&mut text, &step.victim.path);
    if let Action::Move(directory) = action {
        text.push(b' ');
        push_path(&mut text, &below(directory.as_os_str().as_bytes(), &step.victim.path).path);
    }
    text.push(b'\n');
    text
}

/// Returns the commands for a directory: a step for each file, then the removal of its links and of the directories.
/// `nth` is the number of the first step, and becomes that after the last.
pub fn tree(tree: &Tree, action: &Action, nth: &mut usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut number = || {
        *nth += 1;
        *nth - 1
    };
    for file in &tree.files {
        text.extend(step(&file.step, action, number()));
    }
    let links = tree.links.iter().map(|link| ("unlink", &link.step));
    let directories = tree.directories.iter().rev().map(|directory| ("rmdir", &directory.step));
    for (command, step) in links.chain(directories) {
        text.extend(format!("ftk_{command} {} ", number()).into_bytes());
        push_path(&mut text, &step.keeper.path);
        text.push(b' ');
        push_path(&mut text, &step.victim.path);
        if let (Action::Move(directory), "unlink") = (action, command) {
            text.push(b' ');
            push_path(&mut text, &below(directory.as_os_str().as_bytes(), &step.victim.path).path);
        }
        text.push(b'\n');
    }
    text
}

/// Returns the command that removes a directory which the commands before it have emptied.
pub fn emptied(directory: &[u8], nth: usize) -> Vec<u8> {
    let mut text = format!("ftk_rmdir_emptied {nth} ").into_bytes();
    push_path(&mut text, directory);
    text.push(b'\n');
    text
}

/// Returns the end of a script.
pub fn footer() -> Vec<u8> {
    b"exit \"$failed\"\n".to_vec()
}

/// Appends a path as one shell word that no command interprets as an option.
fn push_path(text: &mut Vec<u8>, path: &[u8]) {
    text.push(b'\'');
    if !path.starts_with(b"/") {
        text.extend_from_slice(b"./");
    }
    for &byte in path {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(byte),
        }
    }
    text.push(b'\'');
}

#[cfg(test)]
mod tests {
    use ftk_file::Version;

    use super::*;
    use crate::seen::{Copies, Seen};

    fn seen(path: &[u8]) -> Seen {
        Seen { path: path.to_vec(), root_len: 0, version: Version::default() }
    }

    #[test]
    fn a_step_is_one_command() {
        let pair = Step::new(seen(b"-rf 'x'\n\xff"), seen(b"/k"));
        let text = step(&pair, &Action::Delete, 7);
        assert_eq!(text, b"ftk_delete 7 '/k' './-rf '\\''x'\\''\n\xff'\n");
        let copies = Copies {
            files: vec![seen(b"k"), seen(b"/c")],
            needs: vec![Need { count: 2, among: vec![0, 1] }, Need { count: 1, among: vec![1] }],
        };
        let pair = Step { copies: Some(copies.into()), ..Step::new(seen(b"v"), seen(b"k")) };
        let text = step(&pair, &Action::Delete, 3);
        assert_eq!(
            text,
            b"ftk_need 3 2 './v' './k' '/c' && ftk_need 3 1 './v' '/c' && ftk_delete 3 './k' './v'\n"
        );
        let pair = Step::new(seen(b"../a/x"), seen(b"k"));
        let text = step(&pair, &Action::Move("to".into()), 0);
        assert_eq!(text, b"ftk_move 0 './k' './../a/x' './to/a/x'\n");
    }
}
