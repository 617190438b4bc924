//! `ftk dup prune --ask`: asks the user which copies of each group are kept.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, ensure};
use dialoguer::Input;
use dialoguer::console::Term;
use ftk_dedup::Member;
use ftk_dedup::prune::{MemberDecision, Pruning, kept_by_each};
use ftk_dedup::report::Group;
use ftk_record::sanitize;
use indicatif::DecimalBytes;

use crate::console::Console;
use crate::dup::action::ActionArgs;
use crate::dup::step_printer::date;
use crate::globals::Globals;
use crate::human;

/// Checks that a user can answer.
///
/// # Errors
/// If standard input, standard error or the output of the plan is not a terminal, or the plan is to be JSON.
pub(super) fn require_terminal(act: &ActionArgs, globals: &Globals) -> anyhow::Result<()> {
    let is_shown = act.script || io::stdout().is_terminal();
    ensure!(
        io::stdin().is_terminal() && io::stderr().is_terminal() && is_shown,
        "--ask needs a terminal for questions and answers"
    );
    ensure!(!globals.json, "--ask cannot be used with --json");
    Ok(())
}

/// The answer for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// Keep what the rules keep.
    Rules,
    /// Keep the copies with these indices.
    Keep(BTreeSet<usize>),
    All,
    Skip,
    Stop,
}

/// Asks about each group in which a copy could be removed. Returns the groups that the plan is about, and adds the
/// chosen paths to the rules. `n_groups` is the number of groups, for people.
///
/// # Errors
/// If the terminal cannot be read or written.
pub(super) fn ask(
    groups: &mut dyn Iterator<Item = Group>,
    n_groups: u64,
    pruning: &mut Pruning,
) -> anyhow::Result<Vec<Group>> {
    let mut asked = Vec::new();
    for (number, mut group) in (1..).zip(groups) {
        let decisions = pruning.decide(&mut group.members).decisions;
        if !decisions.iter().any(|decision| matches!(decision, MemberDecision::Goes { .. })) {
            continue;
        }
        let title = format!("group {number} of {n_groups}");
        Console::line(format_args!("\n{title}: {}", describe(&group)));
        for line in lines(&group.members, &decisions) {
            Console::line(line);
        }
        let question = "keep (numbers, Enter: as marked, all, skip, stop)";
        match input(question, |text| parse(text, &group.members))? {
            Answer::Rules => {}
            Answer::Keep(numbers) => {
                pruning.rules.chosen.extend(numbers.into_iter().map(|at| group.members[at].path.clone()));
            }
            Answer::All | Answer::Skip => continue,
            Answer::Stop => break,
        }
        asked.push(group);
    }
    Console::line("");
    Ok(asked)
}

/// Asks whether to carry out the plan.
///
/// # Errors
/// If the terminal cannot be read or written.
pub(super) fn confirm() -> anyhow::Result<bool> {
    // `dialoguer::Confirm` hides the cursor, which would stay hidden after Ctrl-C.
    input("carry out this plan? (y, Enter: no)", parse_consent)
}

/// Parses the answer to a question: yes, no, or nothing for no.
fn parse_consent(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "" | "n" | "no" => Ok(false),
        _ => Err("answer y or n".into()),
    }
}

/// Asks until `parse` accepts the answer.
fn input<T>(question: &str, parse: impl Fn(&str) -> Result<T, String>) -> anyhow::Result<T> {
    let text: String = Input::new()
        .with_prompt(question)
        .allow_empty(true)
        .validate_with(|text: &String| parse(text).map(drop))
        .interact_text_on(&Term::stderr())
        .context("cannot ask on the terminal")?;
    parse(&text).map_err(anyhow::Error::msg)
}

/// Returns `3 copies of 48.20 MB`.
fn describe(group: &Group) -> String {
    let files = group.clusters().into_iter().max().map_or(0, |last| last as u64 + 1);
    format!("{} of {}", human::count(files, "file"), DecimalBytes(group.size))
}

/// Returns a line for each member: a mark if the rules keep it, number, date, path, and the rules that would keep
/// it if they were the first ones.
fn lines(members: &[Member], decisions: &[MemberDecision]) -> Vec<String> {
    let lines = members.iter().zip(decisions).zip(kept_by_each(members)).zip(1..);
    let line = |(((member, decision), kept_by), number): (((&Member, &MemberDecision), Vec<&str>), usize)| {
        let mark = if matches!(decision, MemberDecision::Goes { .. }) { ' ' } else { '*' };
        let (date, path) = (date(member).unwrap_or_default(), sanitize(&member.path));
        let rules = if kept_by.is_empty() { String::new() } else { format!("   ({})", kept_by.join(", ")) };
        format!("  {mark} {number:>3}  {date:<16}  {path}{rules}")
    };
    lines.map(line).collect()
}

/// Parses an answer: nothing, `all`, `skip`, `stop` or their first letters, or numbers and ranges from 1 such as
/// `1,3-5`.
fn parse(text: &str, members: &[Member]) -> Result<Answer, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" => return Ok(Answer::Rules),
        "a" | "all" => return Ok(Answer::All),
        "s" | "skip" => return Ok(Answer::Skip),
        "q" | "quit" | "stop" => return Ok(Answer::Stop),
        _ => {}
    }
    let mut numbers = BTreeSet::new();
    for part in text.split([' ', ',']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let number = text.parse().ok().filter(|number| (1..=members.len()).contains(number));
            number.ok_or_else(|| {
                format!("{part:?} is not a number from 1 to {}, all, skip or stop", members.len())
            })
        };
        numbers.extend(number(first)? - 1..number(last)?);
    }
    if let Some(at) = numbers.iter().find(|&&at| members[at].via_link) {
        return Err(format!("{} is a symbolic link, which is not a copy", at + 1));
    }
    if numbers.is_empty() { Err("no number".into()) } else { Ok(Answer::Keep(numbers)) }
}

#[cfg(test)]
mod tests {
    use ftk_dedup::prune::{KeepRule, KeepRules, plan};
    use ftk_file::Version;

    use super::*;

    fn members() -> Vec<Member> {
        let member = |nth: u64| {
            let path = format!("{}x", "d/".repeat(4 - nth as usize)).into_bytes();
            let mtime_ns = i128::from(nth) * 60_000_000_000;
            let version = Version { dev: 1, ino: nth, size: 5, mtime_ns, ctime_ns: 0 };
            Member { blocks: 8, via_link: nth == 3, ..Member::new(0, path, version) }
        };
        (0..4).map(member).collect()
    }

    #[test]
    fn answers_are_numbers_or_words() {
        let keep = |numbers: &[usize]| Ok(Answer::Keep(numbers.iter().copied().collect()));
        for (text, answer) in [
            ("", Ok(Answer::Rules)),
            (" ", Ok(Answer::Rules)),
            ("a", Ok(Answer::All)),
            ("All", Ok(Answer::All)),
            ("skip", Ok(Answer::Skip)),
            ("q", Ok(Answer::Stop)),
            ("stop", Ok(Answer::Stop)),
            ("2", keep(&[1])),
            (" 1, 3", keep(&[0, 2])),
            ("1-3", keep(&[0, 1, 2])),
        ] {
            assert_eq!(parse(text, &members()), answer, "{text:?}");
        }
        for bad in ["0", "5", "4", "x", "1-", "3-1", "1 x", ",", "-1", "1-9"] {
            assert!(parse(bad, &members()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn only_yes_is_consent() {
        for (text, answer) in [("y", true), (" Yes ", true), ("", false), ("n", false), ("NO", false)] {
            assert_eq!(parse_consent(text), Ok(answer), "{text:?}");
        }
        assert!(parse_consent("yep").is_err() && parse_consent("j").is_err());
    }

    #[test]
    fn lines_show_what_each_rule_keeps() {
        let members = &members()[..3];
        let decisions =
            plan(members, &KeepRules { keep: vec![KeepRule::Newest], ..KeepRules::default() }).decisions;
        let lines = lines(members, &decisions);
        assert!(
            lines[0].starts_with("      1  ") && lines[0].ends_with("d/d/d/d/x   (first, oldest, deepest)"),
            "{}",
            lines[0]
        );
        assert!(lines[1].starts_with("      2  ") && lines[1].ends_with("d/d/d/x"), "{}", lines[1]);
        assert!(
            lines[2].starts_with("  *   3  ") && lines[2].ends_with("(newest, shortest, shallowest)"),
            "{}",
            lines[2]
        );
    }
}
