//! The words of a command line, and what each of them is.
//!
//! clap reports the first word that is wrong, but not which words are options, values or operands. Hints about options
//! of other tools depend on this. [`CommandLine`] derives it from clap's definition of the commands.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::LazyLock;

use clap::builder::Str;
use clap::{Arg, Command, CommandFactory as _, Id};

use crate::args::Args;

/// A command line.
#[derive(Debug)]
pub(crate) struct CommandLine {
    /// The command, such as `dup prune`; empty if none is given.
    pub(crate) command: String,
    pub(crate) words: Vec<Word>,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) text: OsString,
    pub(crate) role: Role,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The program, a command, or the first `--`.
    Other,
    /// Options without values.
    Flags,
    /// An option with a value, which is attached or follows. In a cluster of short options it is the last one.
    Option,
    /// The command does not have this option, or not all options of this cluster.
    Unknown,
    /// A value of the option with this id.
    Value(Id),
    /// Ends a list of values: the `;` of `--exec`, or a `+` after a word with `{}`.
    End,
    Operand,
}

impl Word {
    /// Whether the word is one or more options.
    pub(crate) fn is_option(&self) -> bool {
        matches!(self.role, Role::Flags | Role::Option | Role::Unknown)
    }
}

impl CommandLine {
    /// Returns the command line of this process.
    pub(crate) fn of_process() -> &'static Self {
        static LINE: LazyLock<CommandLine> = LazyLock::new(|| CommandLine::new(env::args_os().collect()));
        &LINE
    }

    /// Classifies the words of a command line, the first of which is the program.
    pub(crate) fn new(words: Vec<OsString>) -> Self {
        let mut definition = Args::command();
        definition.build();
        Self::within(&definition, words)
    }

    /// Does the same for a definition that is built.
    pub(crate) fn within(definition: &Command, words: Vec<OsString>) -> Self {
        let (reader, words) = Reader::read(definition, words);
        Self { command: reader.names.join(" "), words }
    }

    /// Returns the words for the parser, with `;` in place of every `+` that ends a list of values.
    pub(crate) fn into_words(self) -> Vec<OsString> {
        let text = |word: Word| if word.role == Role::End { ";".into() } else { word.text };
        self.words.into_iter().map(text).collect()
    }

    /// Returns the words for the parser, where a value after an option of [`WITH_EQUALS`] is attached to it.
    pub(crate) fn with_values_attached(self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::with_capacity(self.words.len());
        let mut before = Role::Other;
        for Word { text, role } in self.words {
            let attached =
                words.last().filter(|_| before == Role::Option && role == Role::Operand).and_then(|option| {
                    let (_, keys) = WITH_EQUALS.iter().find(|(name, _)| option == name)?;
                    let is_key =
                        keys.iter().any(|key| text == *key) && Path::new(&text).symlink_metadata().is_err();
                    is_key.then(|| [&**option, OsStr::new("="), &*text].into_iter().collect::<OsString>())
                });
            match (attached, words.last_mut()) {
                (Some(attached), Some(option)) => *option = attached,
                _ => words.push(text),
            }
            before = role;
        }
        words
    }

    /// Returns the letter of the last of these flags, each given by its letter and its long names, in words of flags.
    pub(crate) fn last_flag(&self, flags: &[(char, &[&str])]) -> Option<char> {
        let last = |word: &Word| {
            let text = word.text.to_str().filter(|_| word.role == Role::Flags)?;
            match text.strip_prefix("--") {
                Some(long) => {
                    flags.iter().find(|(_, names)| names.contains(&long)).map(|(letter, _)| *letter)
                }
                None => text.chars().rfind(|letter| flags.iter().any(|(it, _)| it == letter)),
            }
        };
        self.words.iter().rev().find_map(last)
    }

    /// Returns the first value of an option whose id is its long name.
    pub(crate) fn value(&self, long: &str) -> Option<&str> {
        self.words.iter().find_map(|word| match &word.role {
            Role::Option => word.text.to_str()?.strip_prefix("--")?.strip_prefix(long)?.strip_prefix('='),
            Role::Value(id) if id == long => word.text.to_str(),
            _ => None,
        })
    }
}

/// The options whose value must follow `=`, because they can stand alone, and their values. A word after such an option
/// is a starting point; but if it is one of these values, and no file has this name, the value was meant.
pub(crate) const WITH_EQUALS: [(&str, &[&str]); 4] = [
    ("--sort", &["path", "name", "size", "mtime", "extension", "count"]),
    ("--hyperlink", &["auto", "always", "never"]),
    ("--tree", &["ftk", "git"]),
    ("--modify-window", &[]),
];

/// What may follow the words of a command line.
#[derive(Debug)]
pub(crate) struct Place<'d> {
    pub(crate) command: &'d Command,
    /// The command, such as `dup prune`; empty if none is given.
    pub(crate) name: String,
    /// The option whose value may be next.
    pub(crate) option: Option<&'d Arg>,
    pub(crate) may_be_command: bool,
    pub(crate) may_be_option: bool,
    pub(crate) operands: Vec<OsString>,
}

impl<'d> Place<'d> {
    /// Returns the place after these words, the first of which is the program. `definition` is built.
    pub(crate) fn after(definition: &'d Command, words: Vec<OsString>) -> Self {
        let (reader, words) = Reader::read(definition, words);
        let is_over = reader.has_arguments && reader.at.is_args_conflicts_with_subcommands_set();
        Self {
            command: reader.at,
            name: reader.names.join(" "),
            option: reader.open.map(|(arg, _)| arg),
            may_be_command: !is_over && !reader.is_trailing,
            may_be_option: !reader.is_trailing,
            operands: words
                .into_iter()
                .filter(|word| word.role == Role::Operand)
                .map(|word| word.text)
                .collect(),
        }
    }
}

/// Returns the option with this long name or alias.
pub(crate) fn option_named<'d>(command: &'d Command, name: &str) -> Option<&'d Arg> {
    let has_name = |arg: &&Arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
    };
    command.get_arguments().find(has_name)
}

/// Returns the option with this letter.
pub(crate) fn option_with_letter(command: &Command, letter: char) -> Option<&Arg> {
    let has_letter = |arg: &&Arg| {
        arg.get_short() == Some(letter)
            || arg.get_all_short_aliases().is_some_and(|all| all.contains(&letter))
    };
    command.get_arguments().find(has_letter)
}

/// The state between two words. The rules are those of clap's parser.
struct Reader<'d> {
    at: &'d Command,
    names: Vec<&'d str>,
    /// The option whose values come next, and how many more it accepts.
    open: Option<(&'d Arg, usize)>,
    /// Whether the command has had an argument.
    has_arguments: bool,
    /// Whether only operands follow.
    is_trailing: bool,
}

impl<'d> Reader<'d> {
    /// Classifies words, the first of which is the program. Returns the state after the last one, too.
    fn read(definition: &'d Command, words: Vec<OsString>) -> (Self, Vec<Word>) {
        let mut reader =
            Self { at: definition, names: Vec::new(), open: None, has_arguments: false, is_trailing: false };
        let mut line: Vec<Word> = Vec::with_capacity(words.len());
        for text in words {
            let role = line.last().map_or(Role::Other, |before| reader.role(&text, before));
            line.push(Word { text, role });
        }
        (reader, line)
    }

    fn role(&mut self, text: &OsStr, before: &Word) -> Role {
        let text = &*text.to_string_lossy();
        let is_option = text.len() > 1 && text.starts_with('-');
        let open = self.open.take().filter(|(arg, _)| !is_option || arg.is_allow_hyphen_values_set());
        if self.is_trailing {
            Role::Operand
        } else if let Some((arg, left)) = open {
            self.value(arg, left, text, before)
        } else if let Some(command) = self.command(text) {
            (self.at, self.has_arguments) = (command, false);
            self.names.extend(Some(command.get_name()).filter(|_| !command.is_hide_set()));
            Role::Other
        } else if text == "--" {
            self.is_trailing = true;
            Role::Other
        } else if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            self.option(option_named(self.at, name), long.contains('=')).unwrap_or(Role::Flags)
        } else if is_option {
            let mut letters = text.char_indices().skip(1);
            let role = letters.find_map(|(at, letter)| {
                let is_last = at + letter.len_utf8() == text.len();
                self.option(option_with_letter(self.at, letter), !is_last)
            });
            role.unwrap_or(Role::Flags)
        } else {
            self.has_arguments = true;
            Role::Operand
        }
    }

    /// Returns the subcommand of this name, where one may be.
    fn command(&self, name: &str) -> Option<&'d Command> {
        let is_over = self.has_arguments && self.at.is_args_conflicts_with_subcommands_set();
        self.at.find_subcommand(name).filter(|_| !is_over)
    }

    /// Returns the role of a word that follows an option with values.
    fn value(&mut self, arg: &'d Arg, left: usize, text: &str, before: &Word) -> Role {
        // In `find`, it means one command for many entries.
        let is_plus =
            text == "+" && arg.get_id() == "exec-batch" && before.text.to_string_lossy().contains("{}");
        let is_end = |end: &Str| text == end.as_str() || is_plus;
        if arg.get_value_terminator().is_some_and(is_end) {
            return Role::End;
        }
        self.open = (left > 1).then_some((arg, left - 1));
        Role::Value(arg.get_id().clone())
    }

    /// Returns the role of a word that ends with this option; `None` for a flag, after which more may follow.
    fn option(&mut self, arg: Option<&'d Arg>, has_value: bool) -> Option<Role> {
        let Some(arg) = arg else { return Some(Role::Unknown) };
        self.has_arguments = true;
        if !arg.get_action().takes_values() {
            return None;
        }
        let most = arg.get_num_args().map_or(1, |range| range.max_values());
        self.open = (!has_value && !arg.is_require_equals_set()).then_some((arg, most));
        Some(Role::Option)
    }
}

#[cfg(test)]
mod tests {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn line(line: &str) -> CommandLine {
        CommandLine::new(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn the_command_is_found() {
        for (text, command) in [
            ("ftk find -empty", "find"),
            ("ftk -j 2 dup prune -r", "dup prune"),
            ("ftk dup prune -x", "dup prune"),
            ("ftk dup a prune", "dup"),
            ("ftk dup -r prune", "dup"),
            ("ftk manifest -q verify a", "manifest verify"),
            ("ftk manifest --init", "manifest"),
            ("ftk --nonsense hash find", "hash"),
            ("ftk hash -o find", "hash"),
            ("ftk -empty", ""),
        ] {
            assert_eq!(line(text).command, command, "{text}");
        }
    }

    #[test]
    fn the_last_of_several_flags_is_found() {
        for (text, expected) in [
            ("ftk du -k -b", Some('b')),
            ("ftk du -bk .", Some('k')),
            ("ftk du --kibibytes --bytes -x", Some('b')),
            ("ftk du -b --kibibytes --apparent-size", Some('k')),
            ("ftk du -k -n b", Some('k')),
            ("ftk du -- -b", None),
        ] {
            let flags: [(char, &[&str]); 2] = [('k', &["kibibytes"]), ('b', &["bytes"])];
            assert_eq!(line(text).last_flag(&flags), expected, "{text}");
        }
    }

    #[test]
    fn a_plus_after_braces_ends_a_command() {
        let ended = |text: &str| line(text).into_words().join(OsStr::new(" ")).into_string().unwrap();
        assert_eq!(ended("ftk find --exec-batch ls {} + x"), "ftk find --exec-batch ls {} ; x");
        assert_eq!(ended("ftk find --exec-batch ls ./{} + -t f"), "ftk find --exec-batch ls ./{} ; -t f");
        assert_eq!(
            ended("ftk find --exec-batch a {} + --exec-batch b {} +"),
            "ftk find --exec-batch a {} ; --exec-batch b {} ;"
        );
        for text in [
            "ftk find --exec a {} +",
            "ftk find {} +",
            "ftk find --exec a + {}",
            "ftk find --exec a ; {} +",
            "ftk find -- --exec {} +",
            "ftk find -n --exec {} +",
        ] {
            assert_eq!(ended(text), text);
        }
    }

    #[test]
    fn values_of_options() {
        for text in ["ftk find --color never", "ftk --color=never find", "ftk find --bad --color never"] {
            assert_eq!(line(text).value("color"), Some("never"), "{text}");
        }
        for text in ["ftk find -n --color=never", "ftk find -- --color never", "ftk find --colors=never"] {
            assert_eq!(line(text).value("color"), None, "{text}");
        }
    }

    #[test]
    fn values_are_attached_to_options_that_need_an_equals_sign() {
        let attached =
            |text: &str| line(text).with_values_attached().join(OsStr::new(" ")).into_string().unwrap();
        for (text, meant) in [
            ("ftk find --sort size .", "ftk find --sort=size ."),
            ("ftk find . --hyperlink always --sort mtime", "ftk find . --hyperlink=always --sort=mtime"),
            ("ftk hash --tree git src", "ftk hash --tree=git src"),
        ] {
            assert_eq!(attached(text), meant);
        }
        for text in [
            "ftk find --sort sizes",
            "ftk find --sort=size name",
            "ftk find -n --sort size",
            "ftk find -- --sort size",
            "ftk find --sort -- size",
            "ftk find --exec ls --sort size ;",
        ] {
            assert_eq!(attached(text), text);
        }
    }

    /// The table has every option of this kind, with the values that the parser accepts.
    #[test]
    fn every_option_that_needs_an_equals_sign_is_in_the_table() {
        let mut definition = Args::command();
        definition.build();
        let mut found = Vec::new();
        for command in definition.get_subcommands() {
            for arg in command.get_arguments().filter(|arg| arg.is_require_equals_set()) {
                let keys: Vec<_> =
                    arg.get_possible_values().iter().map(|key| key.get_name().to_owned()).collect();
                found.push((format!("--{}", arg.get_long().unwrap()), keys));
            }
        }
        found.sort();
        let mut table =
            WITH_EQUALS.map(|(name, keys)| (name.to_owned(), keys.iter().map(|&it| it.to_owned()).collect()));
        table.sort();
        assert_eq!(found, table);
    }

    /// Words from which the test below makes up command lines.
    const WORDS: [&str; 30] = [
        "-", "--", "-n", "-nx", "-n=x", "--name", "--name=x", "-E", "-x", "-rq", "-qx", "-j", "-j2", "2",
        "-t", "f", "-o", "-tf", "a", "prune", "find", "--exec", "{}", ";", "-empty", "-zq", "--json",
        "--sort", "\u{e9}", "-\u{e9}",
    ];

    proptest! {
        /// The words have the roles that the parser gives them.
        #[test]
        fn the_parser_agrees(
            command in select(&["find", "hash", "dup", "dup prune", "cmp", "manifest create"][..]),
            words in vec(select(&WORDS[..]), 0..7),
        ) {
            let words: Vec<_> = ["ftk"].into_iter().chain(command.split(' ')).chain(words).collect();
            let line = CommandLine::new(words.iter().map(OsString::from).collect());
            let unknown = line.words.iter().find(|word| word.role == Role::Unknown);
            match Args::command().try_get_matches_from(&words) {
                Ok(matches) => {
                    prop_assert_eq!(unknown.map(|word| &word.text), None);
                    let mut matches = matches.subcommand().unwrap().1;
                    while let Some((_, below)) = matches.subcommand() {
                        matches = below;
                    }
                    if let Ok(Some(paths)) = matches.try_get_raw("paths") {
                        let operands = line.words.iter().filter(|word| word.role == Role::Operand);
                        prop_assert!(paths.eq(operands.map(|word| &word.text)));
                    }
                }
                Err(error) if error.kind() == ErrorKind::UnknownArgument => {
                    let Some(ContextValue::String(text)) = error.get(ContextKind::InvalidArg) else { panic!() };
                    // The parser names the letter of a cluster, and no value.
                    let is_trailing = |word: &Word| word.text == "--" && word.role == Role::Other;
                    if text.starts_with('-') && !line.words.iter().any(is_trailing) {
                        let found = unknown.map(|word| word.text.to_str().unwrap()).unwrap_or_default();
                        let is_same = found.split('=').next() == Some(text)
                            || (text.len() < 5 && found.contains(&text[1..]));
                        prop_assert!(is_same, "{text}: {found}");
                    }
                }
                Err(_) => {}
            }
        }
    }
}
