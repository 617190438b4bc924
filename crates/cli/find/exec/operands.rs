//! Refuses a command that ends with paths which were probably meant as starting points.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::bail;
use ftk_record::{quote, shell_argument};

use super::options::Commands;
use super::template::has_place;
use crate::line::{CommandLine, Role};

/// Refuses `find --exec gzip srv/log`, which would give srv/log to gzip and search the working directory. The caller
/// has found that no starting point was given.
///
/// # Errors
/// If the last command ends with paths that exist, has no placeholder, and nothing marks its end.
pub(in crate::find) fn refuse_swallowed(
    commands: &Commands,
    line: impl Fn() -> &'static CommandLine,
) -> anyhow::Result<()> {
    let (option, each) =
        if commands.batch.is_empty() { ("exec", &commands.each) } else { ("exec-batch", &commands.batch) };
    let Some(command) = each.last().filter(|command| !has_place(command)) else { return Ok(()) };
    let is_path =
        |word: &&OsString| !word.as_bytes().starts_with(b"-") && Path::new(word).symlink_metadata().is_ok();
    let paths = command[1..].iter().rev().take_while(is_path).count();
    if paths == 0 {
        return Ok(());
    }
    let (command, paths) = command.split_at(command.len() - paths);
    match meant(line(), option, command, paths) {
        Some(meant) => bail!(
            "{} belongs to the command, and no PATH says where to search; write: {meant}   (or, to search the working \
             directory, end the command with \\;)",
            quote(paths[0].as_bytes())
        ),
        None => Ok(()),
    }
}

/// Returns the command line with `paths` as starting points. `None` if a `;` ends the last command.
fn meant(line: &CommandLine, option: &str, command: &[OsString], paths: &[OsString]) -> Option<String> {
    let words = &line.words;
    if !matches!(&words.last()?.role, Role::Value(id) if id.as_str() == option) {
        return None;
    }
    let name = words.iter().position(|word| word.role == Role::Other && word.text == "find")?;
    let at = words.iter().rposition(|word| word.role == Role::Option)?;
    let texts = |range: Range<usize>| words[range].iter().map(|word| &*word.text);
    let before = [OsStr::new("ftk")].into_iter().chain(texts(1..name + 1));
    let after = texts(name + 1..at + 1).chain(command.iter().map(|word| &**word));
    let all = before.chain(paths.iter().map(|path| &**path)).chain(after);
    Some(all.map(|word| shell_argument(word.as_bytes())).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is meant by a line whose command ends with this number of paths.
    fn of(line: &str, n: usize) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let line = CommandLine::new(words.clone());
        let at = words.iter().rposition(|word| word.to_str().unwrap().starts_with("--exec"))?;
        let option = words[at].to_str().unwrap().trim_start_matches('-').to_owned();
        let (command, paths) = words[at + 1..].split_at(words.len() - at - 1 - n);
        meant(&line, &option, command, paths)
    }

    #[test]
    fn the_line_is_written_as_it_was_meant() {
        for (typed, n, expected) in [
            ("ftk find --exec gzip -k srv/log", 1, "ftk find srv/log --exec gzip -k"),
            ("ftk -j 2 find -t f --exec-batch rm a b", 2, "ftk -j 2 find a b -t f --exec-batch rm"),
            ("ftk find -n *.c --exec x ; --exec y z", 1, "ftk find z -n '*.c' --exec x ';' --exec y"),
        ] {
            assert_eq!(of(typed, n).as_deref(), Some(expected));
        }
        assert_eq!(of("ftk find --exec cp -t x ;", 1), None);
        assert_eq!(of("ftk find --exec cp x ; -n y", 1), None);
    }
}
