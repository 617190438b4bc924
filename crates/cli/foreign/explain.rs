//! Hints for arguments that the parser rejects, and for starting points that do not exist.

use std::borrow::Cow;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use ftk_hash::Algorithm;
use ftk_record::{quote, sanitize, shell_argument};

use super::table::{COMMANDS, NO_DELETE, OPTIONS, TABLE, VERBS};
use super::{Row, answer, command_of, explained_cluster, hint, name_hint, plain, see};
use crate::line::{CommandLine, Role, WITH_EQUALS, Word};

/// Returns the hint for the argument of `line` that the parser rejected, if it is an option of another tool.
///
/// Also removes the suggestion of the parser from `error`, unless the suggestion differs from the argument by
/// a single typing error.
pub(crate) fn explain(error: &mut clap::Error, line: &CommandLine) -> Option<String> {
    let string = |error: &clap::Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    if error.kind() == ErrorKind::InvalidSubcommand {
        return other_command(&string(error, ContextKind::InvalidSubcommand)?, line);
    }
    if let Some(file) = file_like_an_option(line) {
        return Some(format!("'{file}' is a file: write `./*` instead of `*`, or -- before the names"));
    }
    // How to name a file that looks like an option; most are typing errors.
    if let (ErrorKind::UnknownArgument, Some(rejected)) =
        (error.kind(), string(error, ContextKind::InvalidArg))
        && !Path::new(&rejected).exists()
    {
        error.remove(ContextKind::Suggested);
    }
    let Some(command) = command_of(line) else {
        let rejected = string(error, ContextKind::InvalidArg)?;
        return guessed(&rejected, &line.command).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    };
    if error.kind() == ErrorKind::DisplayHelp {
        return readable_sizes(command, line);
    }
    if error.kind() == ErrorKind::MissingRequiredArgument {
        let is_swallowed = |pair: &&[Word]| {
            pair[0].text == "-n"
                && pair[1].role != Role::Operand
                && pair[1].text.as_encoded_bytes().starts_with(b"-")
        };
        let swallowed = line.words.windows(2).find(is_swallowed).filter(|_| command.starts_with("dup"));
        return swallowed.map(|pair| name_hint(&pair[1].text));
    }
    let argument = string(error, ContextKind::InvalidArg)?;
    match error.kind() {
        ErrorKind::UnknownArgument => {
            if let Some(hint) = explained_cluster(line) {
                return Some(hint);
            }
            let rejected = argument.split('=').next().unwrap_or_default();
            // GNU find has one dash, and some of its users type two.
            let with_one_dash =
                || rejected.strip_prefix("--").and_then(|_| answer(&rejected[1..], command, line));
            if let Some(hint) = answer(rejected, command, line).or_else(with_one_dash) {
                return Some(hint);
            }
            if let Some(hint) = guessed(rejected, command) {
                return Some(hint);
            }
            if (rejected, command) == ("--delete", "find") {
                return Some(format!("there is no --delete: {}", plain(NO_DELETE)));
            }
            if let Some(suggested) = string(error, ContextKind::SuggestedArg)
                && !is_slip(rejected, &suggested)
            {
                error.remove(ContextKind::SuggestedArg);
                error.remove(ContextKind::Usage);
            }
            let runs = |pair: &[Word]| {
                pair[0].text == "-x" && pair[1].role == Role::Operand && !Path::new(&pair[1].text).exists()
            };
            if rejected.starts_with('-') {
                let is_command = command == "find" && line.words.windows(2).any(runs);
                return if is_command { short_of(command, line, Row::is_flag_here) } else { None };
            }
            // A superfluous operand may be the value of an option that has no value in ftk, or follow an operator
            // such as `!`.
            let operands = || line.words.iter().filter(|word| word.role == Role::Operand);
            short_of(command, line, |row| row.is_flag_here())
                .or_else(|| operands().find_map(|word| hint(word.text.to_str()?, command)))
        }
        // The third operand of `cmp` must be a number of bytes. It too may be the value of an option that has
        // no value in ftk.
        ErrorKind::ValueValidation if argument.starts_with("[SKIP") => {
            short_of(command, line, |row| row.is_flag_here())
        }
        // The bits of a digest, as of `shasum -a 256`.
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
            if argument.starts_with("--algorithm ")
                && string(error, ContextKind::InvalidValue).is_some_and(|bits| of_sha(&bits).is_some()) =>
        {
            let bits = string(error, ContextKind::InvalidValue)?;
            Some(format!("'-a {bits}' is shasum syntax: use -a {}   ({})", of_sha(&bits)?, see("sha256sum")))
        }
        // A cluster such as `-avvk`: an audit of hashdeep.
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
            if argument.starts_with("--algorithm ")
                && string(error, ContextKind::InvalidValue).is_some_and(|it| is_audit(&it)) =>
        {
            short_of(command, line, |row| row.is_short_of("--algorithm"))
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
            if command == "dup"
                && argument.starts_with("--format")
                && string(error, ContextKind::InvalidValue).as_deref() == Some("html") =>
        {
            Some("ftk dup has no format html; for a page with the duplicates: ftk report --dup".into())
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
            if is_foreign(string(error, ContextKind::InvalidValue), line) =>
        {
            let long = argument.split(' ').next().unwrap_or_default();
            short_of(command, line, |row| row.is_short_of(long))
        }
        _ => None,
    }
}

/// Returns the first word that was read as options and is the name of a file, as the shell writes it for `*`.
fn file_like_an_option(line: &CommandLine) -> Option<Cow<'_, str>> {
    let is_file = |word: &&Word| word.text.len() > 2 && Path::new(&word.text).symlink_metadata().is_ok();
    let word = line.words.iter().filter(|word| word.is_option()).find(is_file)?;
    Some(sanitize(word.text.as_encoded_bytes()))
}

/// Returns the hint for an option that users guess.
fn guessed(rejected: &str, command: &str) -> Option<String> {
    let mut options =
        OPTIONS.iter().filter(|(words, of, _)| words.contains(&rejected) && of.contains(&command));
    let here = |here: &str| plain(here).replace("ALGO", rejected.trim_start_matches('-'));
    options.next().map(|(_, _, text)| format!("there is no option '{rejected}': {}", here(text)))
}

/// Returns the SHA of so many bits.
fn of_sha(bits: &str) -> Option<Algorithm> {
    bits.parse::<u64>().ok().and_then(|bits| format!("sha{bits}").parse().ok())
}

/// Returns whether this is what users of hashdeep write after the `-a` of an audit: nothing, or other options of an
/// audit in the same word, such as `vvk`. No other letter than `v` is written twice.
fn is_audit(value: &str) -> bool {
    let is_once = |letter: char| letter == 'v' || value.matches(letter).count() == 1;
    value.chars().all(|letter| "vkrle".contains(letter) && is_once(letter))
}

/// Returns the hint for a word in place of a command that other tools have.
fn other_command(typed: &str, line: &CommandLine) -> Option<String> {
    let (_, here) = COMMANDS.iter().find(|(words, _)| line.command.is_empty() && words.contains(&typed))?;
    Some(format!("there is no command '{typed}': {}", plain(here)))
}

/// Returns the hint for `find -lh`: in ftk, `-h` of this cluster asks for help.
fn readable_sizes(command: &str, line: &CommandLine) -> Option<String> {
    let is_long = |word: &Word| cluster_has(word, 'l') && cluster_has(word, 'h');
    let is_meant = command == "find" && line.words.iter().any(is_long);
    is_meant.then(|| "'-h' prints help in ftk; for readable sizes: ftk find -l --human-readable".to_owned())
}

/// Whether a rejected value was probably not meant for the option: it is missing, another option, a number or
/// a path.
fn is_foreign(value: Option<String>, line: &CommandLine) -> bool {
    value.is_none_or(|value| {
        (value.is_empty() && !line.words.iter().any(|word| word.text.is_empty()))
            || value.starts_with('-')
            // A cluster of fdupes, such as `-Sm`.
            || (value.bytes().all(|byte| byte.is_ascii_alphabetic())
                && line.words.iter().any(|word| word.text.to_str() == Some(&*format!("-S{value}"))))
            || value.parse::<u64>().is_ok()
            || Path::new(&value).exists()
    })
}

/// Returns the hint for a short option of `line` that means something else in `command`.
fn short_of(command: &str, line: &CommandLine, is_meant: impl Fn(&Row) -> bool) -> Option<String> {
    let rows = TABLE.iter().filter(|row| {
        row.differs.is_some()
            && row.commands.contains(&command)
            && is_meant(row)
            && line.words.iter().any(|word| cluster_has(word, row.letter()))
    });
    let mut rows = rows.peekable();
    let (key, ours) = (rows.peek()?.key(), rows.peek()?.differs?);
    let line = |row: &Row| format!("for {key} of {}: {}   ({})", row.tools(), plain(row.here), see(row.tool));
    let lines: Vec<_> = rows.filter(|row| row.key() == key).map(line).collect();
    Some(format!("'{key}' is {ours} in ftk; {}", lines.join("\n     ")))
}

/// Whether the word is a cluster of short options that contains this letter.
fn cluster_has(word: &Word, letter: char) -> bool {
    let letters = word.text.to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
    word.is_option() && !letters.starts_with('-') && letters.contains(letter)
}

/// Returns the hint for a starting point that does not exist.
pub(crate) fn operand_hint(path: &[u8], line: &CommandLine) -> Option<String> {
    let path = str::from_utf8(path).ok()?;
    let is_simple = |c: char| c.is_alphanumeric() || "._+-@,=~*? ".contains(c);
    let command = command_of(line)?;
    if let Some(row) = TABLE.iter().find(|row| row.key() == path && row.commands.contains(&command)) {
        return Some(format!("{path} is {} syntax: {}", row.tools(), plain(row.here)));
    }
    // The path may come from a list of starting points, not from the command line.
    let at = line.words.iter().position(|word| word.role == Role::Operand && word.text == path)?;
    let before = &line.words[at - 1];
    let is_open = |option: &str| before.role == Role::Option && before.text == *option;
    if let Some((option, keys)) = WITH_EQUALS.iter().find(|(option, _)| is_open(option)) {
        let keys = if keys.is_empty() { String::new() } else { format!(", with one of {}", keys.join(", ")) };
        return Some(format!("a value of {option} follows an equals sign: {option}={path}{keys}"));
    }
    if let Some((.., here)) =
        VERBS.iter().find(|(of, verbs, _)| *of == command && before.text == *command && verbs.contains(&path))
    {
        return Some(plain(here));
    }
    if command == "find" && before.text == "-x" {
        return Some("-x is --one-file-system in ftk; to run a command: ftk find --exec".into());
    }
    let is_algorithm = |name: &str| name.parse::<Algorithm>().is_ok();
    if command == "hash"
        && matches!(before.text.to_str(), Some("-c" | "--check"))
        && path.split(',').all(is_algorithm)
    {
        return Some(format!("-c is --check in ftk; for -c of hashdeep: ftk hash -a {path}"));
    }
    if command != "find" || path.is_empty() || path == "{}" || !path.chars().all(is_simple) {
        return None;
    }
    let glob = if path.contains(['*', '?']) { path.to_owned() } else { format!("*{path}*") };
    Some(format!("to search by name: ftk find -n '{glob}'"))
}

/// Returns the hint for `-x` with a checksum list after it: hashdeep lists what it does not have. `is_list` says
/// whether a file is one. In one word with other letters, `-x` is the last.
pub(crate) fn known_files(line: &CommandLine, is_list: impl Fn(&Path) -> bool) -> Option<String> {
    let is_meant = |pair: &&[Word]| {
        let flags = pair[0].text.as_encoded_bytes();
        pair[0].role == Role::Flags
            && !flags.starts_with(b"--")
            && flags.ends_with(b"x")
            && pair[1].role == Role::Operand
            && is_list(Path::new(&pair[1].text))
    };
    let at = line.words.windows(2).position(|pair| is_meant(&pair))?;
    let list = line.words[at + 1].text.as_encoded_bytes();
    let mut others = line.words[at + 2..].iter().chain(&line.words[..at]);
    let path = others.find(|word| word.role == Role::Operand);
    let path = path.map_or_else(|| "PATH".into(), |path| shell_argument(path.text.as_encoded_bytes()));
    Some(format!(
        "-x is --one-file-system in ftk, and {} is a checksum list; for -x of md5deep and hashdeep: ftk manifest import {} \
         -o k.jsonl, then ftk manifest unique {path} k.jsonl; to hash the list: --one-file-system   ({})",
        quote(list),
        shell_argument(list),
        see("hashdeep")
    ))
}

/// Removes the parser's suggestions for an unknown command, except those of which it may be a misspelling.
/// For example, `dup` is not suggested for `du`, which is another tool.
pub(crate) fn keep_slips(error: &mut clap::Error) {
    let (Some(ContextValue::String(typed)), Some(ContextValue::Strings(suggested))) =
        (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::SuggestedSubcommand))
    else {
        return;
    };
    let is_meant = |it: &String| typed.starts_with(&**it) || (typed.len() > 2 && is_slip(typed, it));
    let meant: Vec<_> = suggested.iter().filter(|it| is_meant(it)).cloned().collect();
    error.remove(ContextKind::SuggestedSubcommand);
    if !meant.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
    }
}

/// Whether the words differ by one letter added, removed or replaced, or by two adjacent letters swapped.
fn is_slip(typed: &str, meant: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), meant.chars().collect());
    let front = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&a[..a.len() - back], &b[..b.len() - back]) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_typing_error_is_a_slip() {
        for (typed, meant) in [
            ("--exclde", "--exclude"),
            ("--thread", "--threads"),
            ("--algorihtm", "--algorithm"),
            ("--naem", "--name"),
            ("--xname", "--iname"),
        ] {
            assert!(is_slip(typed, meant), "{typed}");
        }
        for (typed, meant) in [("--hidden", "--no-hidden"), ("--digest", "--diff"), ("--delete", "--newer")] {
            assert!(!is_slip(typed, meant), "{typed}");
        }
    }

    #[test]
    fn a_missing_starting_point_may_be_a_name() {
        let hint = |path: &str| {
            operand_hint(path.as_bytes(), &CommandLine::new(["ftk", "find", path].map(Into::into).into()))
        };
        assert_eq!(hint("jpg").unwrap(), "to search by name: ftk find -n '*jpg*'");
        assert_eq!(hint("*.jpg").unwrap(), "to search by name: ftk find -n '*.jpg'");
        for path in ["", "a/b", "it's", "\u{1b}[31m", "a\nb", "$x", "[a"] {
            assert_eq!(hint(path), None, "{path:?}");
        }
    }
}
