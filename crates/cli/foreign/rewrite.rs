//! Rewrites a line of GNU find as one of ftk, with the values that were typed.

use std::slice::Iter;

use ftk_record::shell_argument;
use ftk_select::Glob;

use super::is_expression;
use super::table::{FIND, Row, TABLE};
use crate::line::{CommandLine, Role, Word};

/// Expressions of GNU find that ftk has as one option. If two of them are given, find wants both, and ftk accepts
/// either. With `-depth`, an action depends on an order that ftk does not have.
const EITHER: [&[&str]; 7] = [
    &["-name", "-iname"],
    &["-path", "-wholename"],
    &["-type"],
    &["-user", "-uid", "-group", "-gid"],
    &["-perm"],
    &["-samefile"],
    &["-depth", "-quit", "-exec"],
];

/// Options of ftk that can be given once.
const ONCE: [&str; 6] =
    ["--max-depth", "--min-depth", "--changed-before", "--changed-within", "--newer", "--max-results"];

/// Expressions of GNU find that print or run something. find does that for what the tests before them select.
const ACTIONS: [&str; 5] = ["-print", "-print0", "-ls", "-exec", "-quit"];

/// Expressions of GNU find that mean the same wherever they stand in the line.
const ANYWHERE: [&str; 12] = [
    "-and",
    "-maxdepth",
    "-mindepth",
    "-xdev",
    "-mount",
    "-follow",
    "-depth",
    "-noleaf",
    "-nowarn",
    "-warn",
    "-ignore_readdir_race",
    "-true",
];

/// Returns the line with options of ftk in place of the expressions of GNU find.
///
/// # Errors
/// The first word that has no exact equivalent here.
pub(super) fn rewritten<'w>(line: &'w CommandLine, command: &str) -> Result<String, &'w str> {
    let mut words = line.words.iter();
    words.next();
    let (mut out, mut seen) = (vec!["ftk".to_owned()], Vec::new());
    let mut roots = Vec::new();
    while let Some(word) = words.next() {
        let text = word.text.to_str().ok_or("")?;
        let Some(key) = expression(word, text) else {
            if word.role == Role::Unknown || (word.role == Role::Operand && ["!", "(", ")"].contains(&text)) {
                return Err(text);
            }
            if word.role == Role::Operand {
                roots.push(text);
            }
            out.push(quoted(text));
            continue;
        };
        let is_known = |row: &Row| row.tool == FIND && row.key() == key && row.commands.contains(&command);
        if !TABLE.iter().any(is_known) || (key == "-exec" && command != "find") {
            return Err(key);
        }
        let is_alternative = |of: &&&[&str]| of.contains(&key) && seen.iter().any(|it| of.contains(it));
        if EITHER.iter().any(|of| is_alternative(&of)) || !is_in_order(key, &seen) {
            return Err(key);
        }
        seen.push(key);
        let options = translated(key, &mut words, &roots).ok_or(key)?;
        if options.iter().any(|option| ONCE.contains(&&**option) && out.contains(option)) {
            return Err(key);
        }
        out.extend(options.iter().map(|word| quoted(word)));
    }
    if seen.is_empty() { Err("") } else { Ok(out.join(" ")) }
}

/// Whether an expression after those `seen` means what it means in any place. Only `-quit` may follow an action, and
/// alone it would suppress the output.
fn is_in_order(key: &str, seen: &[&str]) -> bool {
    let action = seen.iter().find(|key| ACTIONS.contains(key));
    match action {
        _ if ANYWHERE.contains(&key) => true,
        Some(action) => {
            key == "-quit" && ["-print", "-print0", "-ls"].contains(action) && !seen.contains(&key)
        }
        None => key != "-quit",
    }
}

/// Returns the expression of GNU find that a word is, with one dash.
fn expression<'w>(word: &Word, text: &'w str) -> Option<&'w str> {
    let key = match word.role {
        Role::Unknown => text.strip_prefix('-').filter(|rest| rest.starts_with('-')).unwrap_or(text),
        Role::Flags | Role::Option => text,
        _ => return None,
    };
    is_expression(key.as_ref()).then_some(key)
}

/// Returns the options for an expression, whose values are the next words, after these starting points.
fn translated(key: &str, words: &mut Iter<'_, Word>, roots: &[&str]) -> Option<Vec<String>> {
    let mut value = || words.next()?.text.to_str();
    let one = |option: &str, value: &str| Some(vec![option.to_owned(), value.to_owned()]);
    let is_id = |value: &&str| value.bytes().all(|byte| byte.is_ascii_digit());
    match key {
        "-name" => one("-n", glob(value()?).filter(|it| !it.contains('/'))?),
        // The order of characters in brackets depends on the case.
        "-iname" => one("--iname", glob(value()?).filter(|it| it.is_ascii() && !it.contains(['[', '/']))?),
        "-path" | "-wholename" => one("--path", path(value()?, roots)?),
        "-type" => one("-t", value()?),
        "-size" => size(value()?),
        "-mtime" => days(value()?),
        "-mmin" => match value()?.split_at_checked(1)? {
            ("+", n) => one("--changed-before", &format!("{}min", n.parse::<u32>().ok()?)),
            ("-", n) => one("--changed-within", &format!("{}min", n.parse::<u32>().ok()?)),
            _ => None,
        },
        "-newer" | "-newermm" => one("--newer", value()?),
        "-samefile" => one("--samefile", value()?),
        "-links" => one("--links", value()?),
        "-perm" => one("--perm", value()?),
        "-user" => one("--owner", value()?),
        "-uid" => one("--owner", Some(value()?).filter(is_id)?),
        "-group" => one("--owner", &format!(":{}", value()?)),
        "-gid" => one("--owner", &format!(":{}", Some(value()?).filter(is_id)?)),
        "-maxdepth" => one("--max-depth", value()?),
        "-mindepth" => one("--min-depth", value()?),
        "-fstype" => {
            let name =
                value().filter(|it| it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'))?;
            one("--where", &format!("fstype = {name}"))
        }
        "-readable" | "-writable" | "-executable" => one("--where", &key[1..]),
        "-nouser" | "-nogroup" => Some(vec![format!("-{key}")]),
        "-inum" => one("--where", &format!("inode = {}", Some(value()?).filter(is_id)?)),
        "-newermt" => one("--changed-within", value().filter(|it| is_date(it))?),
        "-empty" => Some(vec!["--empty".into()]),
        "-xdev" | "-mount" => Some(vec!["-x".into()]),
        "-follow" => Some(vec!["-L".into()]),
        "-print0" => Some(vec!["-0".into()]),
        "-ls" => Some(vec!["-l".into()]),
        "-quit" => one("--max-results", "1"),
        "-and" | "-true" | "-depth" | "-print" | "-noleaf" | "-nowarn" | "-warn" | "-ignore_readdir_race" => {
            Some(Vec::new())
        }
        "-exec" => exec(words),
        _ => None,
    }
}

/// Returns a command with the option that runs it.
fn exec(words: &mut Iter<'_, Word>) -> Option<Vec<String>> {
    let mut command = Vec::new();
    let mut places = 0;
    loop {
        let word = words.next()?.text.to_str()?;
        let is_batch = word == "+" && command.last().is_some_and(|last| last == "{}");
        if word == ";" || is_batch {
            // Without a place for the path, ftk would append it.
            if places == 0 || (is_batch && places > 1) {
                return None;
            }
            // find runs one command after another; --exec runs several at once.
            let option: &[&str] = if is_batch { &["--exec-batch"] } else { &["-j", "1", "--exec"] };
            command.splice(..0, option.iter().map(|&word| word.to_owned()));
            command.push(";".to_owned());
            return Some(command);
        }
        // `{/}` and its like are parts of the path in ftk.
        if word.replace("{}", "").contains('{') {
            return None;
        }
        places += word.matches("{}").count();
        command.push(word.to_owned());
    }
}

/// Whether this is a date without a time zone, such as 2024-01-31.
fn is_date(value: &str) -> bool {
    let is_digit =
        |at: usize, byte: u8| if [4, 7].contains(&at) { byte == b'-' } else { byte.is_ascii_digit() };
    value.len() == 10 && value.bytes().enumerate().all(|(at, byte)| is_digit(at, byte))
}

/// Returns a glob of find if it means the same here. In find, braces are no alternatives, an open bracket without an
/// end stands for itself, and `?` and brackets match characters; here they match bytes.
fn glob(value: &str) -> Option<&str> {
    let is_bytewise = !value.contains(['{', '?']) && ["[!", "[^"].iter().all(|it| !value.contains(it));
    let is_plain = !value.contains('[') || value.is_ascii();
    (is_bytewise && is_plain && Glob::new(value).is_ok()).then_some(value)
}

/// Returns a glob of find for whole paths if it means the same here. find matches the path as it prints it; here, the
/// path below the starting point and the absolute path may match too.
fn path<'v>(value: &'v str, roots: &[&str]) -> Option<&'v str> {
    let is_same = match value.as_bytes() {
        [b'*', b'/', ..] | [b'.', b'/', b'*', ..] | [.., b'/'] => false,
        [b'*', ..] | [b'.', b'/', ..] => roots.iter().all(|root| *root == "."),
        [b'/', ..] => !roots.is_empty() && roots.iter().all(|root| root.starts_with('/')),
        _ => false,
    };
    glob(value).filter(|_| is_same)
}

/// Returns the options for an age in days. find drops the fraction of a day: `+2` is three days or more.
fn days(value: &str) -> Option<Vec<String>> {
    let option = |option: &str, days: u32| vec![option.to_owned(), format!("{days}d")];
    let (within, before) = ("--changed-within", "--changed-before");
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
    Some(match value.as_bytes().first()? {
        b'+' => option(before, number(&value[1..])?.checked_add(1)?),
        b'-' => option(within, number(&value[1..])?),
        _ => match number(value)? {
            // Times in the future are no part of the last day.
            0 => return None,
            n => [option(before, n), option(within, n.checked_add(1)?)].concat(),
        },
    })
}

/// Returns the options for a size. find rounds sizes up to the unit, so `-2M` is at most 1 MiB.
fn size(value: &str) -> Option<Vec<String>> {
    let (sign, rest) = match value.as_bytes().first()? {
        b'+' | b'-' => value.split_at(1),
        _ => ("", value),
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = rest.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let (unit, letter) = match unit {
        "c" => (1, ""),
        "w" => (2, ""),
        "" | "b" => (512, ""),
        "k" => (1 << 10, "K"),
        "M" => (1 << 20, "M"),
        "G" => (1 << 30, "G"),
        _ => return None,
    };
    let bytes = number.checked_mul(unit)?;
    let option = |text: String| ["-S".to_owned(), text];
    let above = |bytes: u64| option(format!("+{bytes}"));
    let up_to = |bytes: u64| option(format!("-{}", bytes + 1));
    Some(match (sign, number) {
        ("+", _) if !letter.is_empty() => option(format!("+{number}{letter}")).to_vec(),
        ("+", _) => above(bytes).to_vec(),
        ("-", 0) => return None,
        ("-", _) => up_to(bytes - unit).to_vec(),
        (_, 0) => option("0".into()).to_vec(),
        (..) if unit == 1 => option(bytes.to_string()).to_vec(),
        (..) => [above(bytes - unit), up_to(bytes)].concat(),
    })
}

/// Quotes a word for the shell, but not what ftk itself reads in a command of `--exec`.
fn quoted(word: &str) -> String {
    match word {
        ";" => "\\;".into(),
        "{}" => word.into(),
        _ => shell_argument(word.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<String> {
        let line = CommandLine::new(line.split(' ').map(Into::into).collect());
        rewritten(&line, &line.command).ok()
    }

    #[test]
    fn whole_lines_are_rewritten_with_their_values() {
        for (typed, meant) in [
            ("find srv/log -type f -mtime +60 -c", "find srv/log -t f --changed-before 61d -c"),
            ("find -t f --mtime -3", "find -t f --changed-within 3d"),
            ("find -mtime 2", "find --changed-before 2d --changed-within 3d"),
            ("find -uid 1234 -perm -0002", "find --owner 1234 --perm -0002"),
            ("find -n -name -group x", "find -n -name --owner :x"),
            ("find . -size +10M -size -2k -size 3", "find . -S +10M -S -1025 -S +1024 -S -1537"),
            ("find . -size -7c -size 8c -size 0", "find . -S -7 -S 8 -S 0"),
            ("find . -name a*b -exec rm -f {} ;", "find . -n 'a*b' -j 1 --exec rm -f {} \\;"),
            ("find . -path ./s/*", "find . --path './s/*'"),
            ("find -path *x", "find --path '*x'"),
            ("find . -exec ls -size {} + -xdev", "find . --exec-batch ls -size {} \\; -x"),
            ("hash -newer f -maxdepth 2 d", "hash --newer f --max-depth 2 d"),
            ("find -nouser -writable -inum 7", "find --nouser --where writable --where 'inode = 7'"),
            ("find -newermt 2024-01-31", "find --changed-within 2024-01-31"),
            ("find -mmin +5 -print0 -quit", "find --changed-before 5min -0 --max-results 1"),
        ] {
            assert_eq!(of(&format!("ftk {typed}")), Some(format!("ftk {meant}")), "{typed}");
        }
    }

    #[test]
    fn lines_without_an_exact_equivalent_are_left() {
        for typed in [
            "find -name a -name b",
            "find -user a -gid 1",
            "find ! -name a",
            "find -name a -o -name b",
            "find -not -empty",
            "find -printf %p",
            "find -empty --nonsense",
            "find -size -0",
            "find -mtime ++2",
            "find -uid +5",
            "hash -empty -print",
            "hash -exec ls {} ;",
            "find -name *.{c,h}",
            "find -xtype f",
            "find -newermt yesterday",
            "find -inum +7",
            "find -exec rm {}",
            "find -name",
            "find -t f",
            "find -print -name a",
            "find -exec ls {} ; -print",
            "find -print -print0",
            "find -ls -exec ls {} ;",
            "find -name a -quit",
            "find -print -quit -quit",
            "find -exec ls {} ; -empty",
            "find -maxdepth 1 -maxdepth 2",
            "find -mtime 2 -mmin -5",
            "find -mtime +2 -mtime +3",
            "find -newer a -newer b",
            "find -depth -print -quit",
            "find -exec echo {/} ;",
            "find -exec echo {}{.} ;",
            "find -name ?.c",
            "find -name [!a]",
            "find -name [a",
            "find -name [é]",
            "find -iname é",
            "find -fstype \"tmpfs\"",
            "find -xtype l",
            "find -mtime 0",
            "find -exec cp {} {} +",
            "find -exec ;",
            "find -exec rm marker ;",
            "find -newermt 1234",
            "find -newermt 2026-1-1",
            "find -iname [Z-a]*",
            "find -name s/x",
            "find -depth -exec rmdir {} ;",
            "find -path s/*",
            "find -path */s/*",
            "find -path *s/",
            "find ./s -path ./s/*",
            "find -path /*",
            "find . -path ./*",
            "find s -path *s*",
            "find /srv s -path /srv/*",
        ] {
            assert_eq!(of(&format!("ftk {typed}")), None, "{typed}");
        }
    }
}
