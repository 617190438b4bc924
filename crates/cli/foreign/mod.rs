//! Options of other tools and their equivalents in ftk.
//!
//! One [`table`] is the source of the hints on the command line ([`mod@spot`], [`mod@explain`]), of the page
//! of `ftk help coming-from` ([`mod@page`]), and of the tests, which try every row.

mod explain;
mod page;
mod spot;
mod table;

pub(crate) use explain::{explain, keep_slips, operand_hint};
pub(crate) use page::page;
pub(crate) use spot::spot;

use table::{FIND, Row, TABLE};

/// Returns the command in `words`, such as `dup prune`. Empty if no command is given. The first word is the
/// program.
fn command_of(words: &[impl AsRef<std::ffi::OsStr>]) -> String {
    const COMMANDS: [&str; 5] = ["find", "hash", "dup", "manifest", "cmp"];
    const BELOW_DUP: [&str; 3] = ["prune", "apply", "undo"];
    const BELOW_MANIFEST: [&str; 5] = ["create", "verify", "diff", "update", "unique"];
    let mut plain = words.iter().skip(1).filter_map(|word| word.as_ref().to_str());
    let Some(command) = plain.find(|word| COMMANDS.contains(word)) else { return String::new() };
    let below = match command {
        "dup" => &BELOW_DUP[..],
        "manifest" => &BELOW_MANIFEST,
        _ => &[],
    };
    match plain.find(|word| !word.starts_with('-')) {
        Some(word) if below.contains(&word) => format!("{command} {word}"),
        _ => command.into(),
    }
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
    use super::*;

    #[test]
    fn the_command_is_found() {
        for (line, command) in [
            ("ftk find -empty", "find"),
            ("ftk -j 2 dup -r prune", "dup prune"),
            ("ftk dup prune -x", "dup prune"),
            ("ftk dup a prune", "dup"),
            ("ftk manifest -q verify a", "manifest verify"),
            ("ftk manifest --init", "manifest"),
            ("ftk -empty", ""),
        ] {
            assert_eq!(command_of(&line.split(' ').collect::<Vec<_>>()), command, "{line}");
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
                    for option in words.iter().filter(|word| word.len() > 1 && word.starts_with('-')) {
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
