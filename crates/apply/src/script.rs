//! The same actions as a script for a POSIX shell, for who wants to read before it happens, or to run it
//! elsewhere.
//!
//! A script cannot do all that the engine does: it holds no directory open and cannot check what a name means in
//! the moment it changes, it does not compare owners and attributes, and keeps no journal. It compares the bytes of each
//! pair first, and makes each replacement under a name of its own before it takes the victim's. On FUSE, network and
//! overlay file systems it refuses every step that removes a file, since it cannot prove there that victim and keeper
//! are two files.

use std::os::unix::ffi::OsStrExt;

use crate::action::Action;
use crate::destination::below;
use crate::seen::Step;

/// What a script begins with: the functions of the steps, and the directory that relative paths start from.
pub fn header(cwd: &[u8]) -> Vec<u8> {
    let mut text = include_bytes!("functions.sh").to_vec();
    text.extend_from_slice(b"cd ");
    push_path(&mut text, cwd);
    text.extend_from_slice(b" || exit 2\n");
    text
}

/// One step, as one command; `nth` is the number that it is reported by. Only the paths of the step are looked at.
pub fn step(step: &Step, action: &Action, nth: usize) -> Vec<u8> {
    let mut text = format!("ftk_{} {nth} ", action.kind()).into_bytes();
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

/// What a script ends with.
pub fn footer() -> Vec<u8> {
    b"exit \"$failed\"\n".to_vec()
}

/// A path as one word of the shell that no command takes for an option.
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
    use super::*;
    use crate::seen::Seen;

    fn seen(path: &[u8]) -> Seen {
        Seen { path: path.to_vec(), root_len: 0, dev: 0, ino: 0, size: 0, mtime_ns: 0, ctime_ns: 0 }
    }

    #[test]
    fn a_step_is_one_command() {
        let pair = Step { victim: seen(b"-rf 'x'\n\xff"), keeper: seen(b"/k") };
        let text = step(&pair, &Action::Delete, 7);
        assert_eq!(text, b"ftk_delete 7 '/k' './-rf '\\''x'\\''\n\xff'\n");
        let pair = Step { victim: seen(b"../a/x"), keeper: seen(b"k") };
        let text = step(&pair, &Action::Move("to".into()), 0);
        assert_eq!(text, b"ftk_move 0 './k' './../a/x' './to/a/x'\n");
    }
}
