//! Options of other tools and their equivalents in ftk.
//!
//! One [`table`] is the source of the hints on the command line ([`spot`], [`mod@explain`]), of the page of
//! `ftk help coming-from` ([`mod@page`]), and of the tests, which try every row.

mod dup;
mod explain;
mod page;
mod rewrite;
mod table;

use std::ffi::OsStr;

use dup::{explained_cluster, name_hint};
pub(crate) use dup::{refuse_in_search, refuse_output};
pub(crate) use explain::{explain, keep_slips, known_files, operand_hint};
pub(crate) use page::page;
pub(crate) use table::TOOLS;

use self::table::{FIND, RDFIND, Row, TABLE};
use crate::line::{CommandLine, Role};

/// Returns the hint for the first word that is an expression of GNU find, where an option may be. ftk would read it as
/// a cluster of short options: `-empty` as `-e mpty`. Words after an unknown option are left to the parser.
pub(crate) fn spot(line: &CommandLine) -> Option<String> {
    let options = line.words.iter().filter(|word| matches!(word.role, Role::Option | Role::Unknown));
    for word in options {
        if is_expression(&word.text) {
            return answer(word.text.to_str()?, command_of(line)?, line);
        } else if word.role == Role::Unknown {
            break;
        }
    }
    None
}

/// Whether a word is an expression of GNU find, or an option of rdfind, with one dash and more than one letter.
pub(crate) fn is_expression(word: &OsStr) -> bool {
    word.len() > 2
        && word.as_encoded_bytes().starts_with(b"-")
        && TABLE.iter().any(|row| [FIND, RDFIND].contains(&row.tool) && row.key() == word)
}

/// Returns the command of the line if it is, or belongs to, a command of the table.
fn command_of(line: &CommandLine) -> Option<&str> {
    let first = |command: &str| command.split(' ').next() == line.command.split(' ').next();
    let is_known = TABLE.iter().any(|row| row.commands.iter().any(|command| first(command)));
    is_known.then_some(&*line.command)
}

/// Returns the hint for `typed` in this line, which is one of `command`: the whole line if all of it can be rewritten,
/// or else what the table has for the first word that cannot, or for `typed`.
fn answer(typed: &str, command: &str, line: &CommandLine) -> Option<String> {
    let of_typed = hint(typed, command)?;
    if !is_expression(typed.as_ref()) {
        return Some(of_typed);
    }
    Some(match rewrite::rewritten(line, command) {
        Ok(line) => format!("'{typed}' is {FIND} syntax; in ftk: {line}   ({})", see(FIND)),
        Err(word) => hint(word, command).unwrap_or(of_typed),
    })
}

/// Returns the hint for `typed` in `command`, if the table lists it.
fn hint(typed: &str, command: &str) -> Option<String> {
    let rows = || TABLE.iter().filter(|row| row.differs.is_none() && row.key() == typed);
    let fitting: Vec<_> = rows().filter(|row| row.commands.contains(&command)).collect();
    if let [row] = *fitting {
        return Some(format!(
            "'{typed}' is {} syntax: {}   ({})",
            row.tools(),
            plain(row.here),
            see(row.tool)
        ));
    }
    if !fitting.is_empty() {
        let line = |row: &&Row| format!("\n     {}: {}   ({})", row.tools(), plain(row.here), see(row.tool));
        let lines: String = fitting.iter().map(line).collect();
        return Some(format!("'{typed}' is not an option of ftk {command}:{lines}"));
    }
    // The table lists the option, but for other commands only.
    let row = rows().find(|row| row.tool == FIND && typed.len() > 2)?;
    Some(format!(
        "'{typed}' is {} syntax: ftk {command} has no equivalent   ({})",
        row.tools(),
        see(row.tool)
    ))
}

fn see(tool: &str) -> String {
    let tool = tool.trim_start_matches("GNU ").split(',').next_back().unwrap_or_default().trim_start();
    format!("ftk help coming-from {tool}")
}

/// Removes the backquotes.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn spotted(line: &str) -> Option<String> {
        spot(&CommandLine::new(line.split(' ').map(OsString::from).collect()))
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
        assert_eq!(
            hint,
            "'-empty' is GNU find syntax; in ftk: ftk find src --empty   (ftk help coming-from find)"
        );
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
            "ftk -empty",
            "ftk find --nonsense -empty",
        ] {
            assert_eq!(spotted(line), None, "{line}");
        }
    }

    /// Each option in a hint must exist in the command that the hint is for.
    #[test]
    fn hints_name_options_that_exist() {
        let (definition, mut wrong) = (crate::args::definition(), Vec::new());
        for row in TABLE {
            for &command in row.commands {
                for code in row.here.split('`').skip(1).step_by(2) {
                    let mut words: Vec<_> = code.split(' ').collect();
                    let command = if words[0] == "ftk" {
                        words.remove(0);
                        words.join(" ")
                    } else {
                        command.into()
                    };
                    let mut at = &definition;
                    for word in command.split(' ') {
                        let Some(below) = at.find_subcommand(word) else { break };
                        at = below;
                    }
                    assert!(!std::ptr::eq(at, &definition), "{command}: {}", row.here);
                    for option in
                        words.iter().filter(|word| word.len() > 1 && word.starts_with('-') && **word != "--")
                    {
                        let name = option.split('=').next().unwrap();
                        let has = at.get_arguments().any(|arg| match name.strip_prefix("--") {
                            Some(long) => {
                                arg.get_long_and_visible_aliases().is_some_and(|it| it.contains(&long))
                            }
                            None => name.chars().nth(1).is_some_and(|c| {
                                name.len() == 2
                                    && arg.get_short_and_visible_aliases().is_some_and(|it| it.contains(&c))
                            }),
                        });
                        if !has {
                            wrong.push(format!("ftk {command} has no {option}: {}", row.there));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
