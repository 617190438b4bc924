//! Finds expressions of GNU find that ftk would parse as clusters of short options: it would read `-empty` as
//! `-e mpty`.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};

use super::table::{FIND, TABLE};
use super::{command_of, hint};
use crate::args::Args;

/// Returns the hint for the first word of `words` that is an expression of `find`.
///
/// A word counts only where an option may be: not as the value of an option, in a command of `--exec`, or
/// after `--`. Without such a word this only compares a few strings and does not build the parser.
pub(crate) fn spot(words: &[OsString]) -> Option<String> {
    (1..words.len()).find_map(|at| {
        let word = words[at].to_str().filter(|word| is_expression(word))?;
        let command = command_of(words);
        if command.is_empty() || !is_option(words, at) || is_cluster(word, &command) {
            return None;
        }
        hint(word, &command)
    })
}

fn is_expression(word: &str) -> bool {
    word.len() > 2
        && word.starts_with('-')
        && !word.starts_with("--")
        && TABLE.iter().any(|row| row.tool == FIND && row.key() == word)
}

/// Whether the parser treats the word at `at` as an option: then an unknown option in its place is an error.
fn is_option(words: &[OsString], at: usize) -> bool {
    const UNKNOWN: &str = "--word-of-another-tool";
    let mut words = words.to_vec();
    words[at] = UNKNOWN.into();
    let Err(error) = Args::command().try_get_matches_from(words) else { return false };
    error.kind() == ErrorKind::UnknownArgument
        && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if word == UNKNOWN)
}

/// Whether the word consists of options without values, as `-ls` does for `cmp`. Then it means these options.
fn is_cluster(word: &str, command: &str) -> bool {
    let mut at: &Command = &crate::args::definition();
    for name in command.split(' ') {
        let Some(below) = at.find_subcommand(OsStr::new(name)) else { return false };
        at = below;
    }
    let is_flag = |letter| {
        let mut flags = at.get_arguments().filter(|arg| !arg.get_action().takes_values());
        flags.any(|arg| arg.get_short() == Some(letter))
    };
    word.chars().skip(1).all(is_flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spotted(line: &str) -> Option<String> {
        spot(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn expressions_are_found_in_place_of_options() {
        for line in [
            "ftk find -empty",
            "ftk find . -name x",
            "ftk hash -j 2 . -newer f",
            "ftk -q dup prune --action delete -size +1",
            "ftk cmp -newer a b",
            "ftk find --exec ls ; -exec ls",
            "ftk manifest create . -empty",
        ] {
            assert!(spotted(line).is_some(), "{line}");
        }
        let hint = spotted("ftk find src -empty").unwrap();
        assert_eq!(hint, "'-empty' is GNU find syntax: use --empty   (ftk help coming-from find)");
    }

    #[test]
    fn values_commands_and_operands_are_ignored() {
        for line in [
            "ftk find -n -name",
            "ftk find --exec find {} -empty ;",
            "ftk find --exec-batch ls -ls",
            "ftk find -- -empty",
            "ftk cmp -ls a b",
            "ftk find -e mpty",
            "ftk hash -rq .",
            "ftk find",
            "ftk man -empty",
        ] {
            assert_eq!(spotted(line), None, "{line}");
        }
    }
}
