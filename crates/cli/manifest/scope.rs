//! The scope of a manifest: options that select its entries, and the words that record these options in it.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, ensure};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Parser};
use ftk_manifest::OPTIONS;
use ftk_record::quote;
use ftk_select::{Roots, Selection};

use crate::console::Console;
use crate::exclusions::ExclusionArgs;
use crate::expression::ExpressionArgs;
use crate::manifest::checks::CheckArgs;
use crate::selection::{NameArgs, SelectionArgs, WalkArgs};

/// The options that select entries by name and place. Recorded properties such as sizes and times must not
/// select entries, because a changed file would drop out of the scope and its change would go unnoticed.
#[derive(Clone, Debug)]
pub(crate) struct ScopeArgs {
    selection: SelectionArgs,
    checks: CheckArgs,
    words: Vec<OsString>,
    follows: bool,
    /// Whether the options come from a manifest. Then paths in them are relative to its root.
    are_recorded: bool,
    /// The path of the tree below the root that paths in the options are relative to; `None` if the tree is that root.
    base: Option<Vec<u8>>,
}

#[derive(Args)]
struct Options {
    #[command(flatten)]
    names: NameArgs,

    #[command(flatten)]
    expressions: ExpressionArgs,

    #[command(flatten)]
    walk: WalkArgs,

    #[command(flatten)]
    exclusions: ExclusionArgs,

    #[command(flatten)]
    checks: CheckArgs,
}

/// The option to follow links, which is refused: a manifest records links.
const FOLLOW: &str = "follow";

/// The options with the name of a list, whose lines are recorded.
const EXCLUDE_FROM: &str = "exclude-from";
const RULES: &str = "rules";

/// Options of other commands, which are accepted by the parser only to explain why a manifest does not
/// support them: long form, short form, and whether they have a value.
const REFUSED: [(&str, Option<char>, bool); 12] = [
    ("size", Some('S'), true),
    ("newer", None, true),
    ("changed-within", None, true),
    ("changed-before", None, true),
    ("owner", None, true),
    ("nouser", None, false),
    ("nogroup", None, false),
    ("perm", None, true),
    ("links", None, true),
    ("samefile", None, true),
    ("empty", None, false),
    ("files-from", None, true),
];

impl Args for ScopeArgs {
    fn augment_args(command: Command) -> Command {
        let command = Options::augment_args(command).mut_arg(FOLLOW, |arg| arg.hide(true));
        REFUSED.iter().fold(command, |command, &(long, short, has_value)| {
            let action = if has_value { ArgAction::Append } else { ArgAction::Count };
            let arg = Arg::new(long).long(long).short(short).action(action);
            command.arg(arg.allow_hyphen_values(has_value).hide(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ScopeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
        if let Some(refused) = REFUSED.iter().map(|(long, ..)| *long).find(is_given) {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                format!(
                    "--{refused} cannot select the entries of a manifest: select by name or place, \
                     so that a changed file does not drop out of it"
                ),
            ));
        }
        let Options { names, expressions, walk, exclusions, checks } = Options::from_arg_matches(matches)?;
        let follows = matches.get_flag(FOLLOW);
        Ok(Self {
            selection: SelectionArgs::by_place(names, expressions, walk, exclusions),
            checks,
            words: words(matches),
            follows,
            are_recorded: false,
            base: None,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the given options, each in its long form and with its value in the same word.
fn words(matches: &ArgMatches) -> Vec<OsString> {
    let mut words = Vec::new();
    for option in Options::augment_args(Command::new("")).get_arguments() {
        let id = option.get_id().as_str();
        let long = option.get_long().expect("every option has a long form");
        let is_recorded =
            [EXCLUDE_FROM, RULES].contains(&long) || OPTIONS.iter().any(|(known, _)| *known == long);
        if !is_recorded || matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let long = format!("--{long}");
        if option.get_action().takes_values() {
            for value in matches.get_raw(id).into_iter().flatten() {
                let mut word = OsString::from(format!("{long}="));
                word.push(value);
                words.push(word);
            }
        } else {
            words.push(long.into());
        }
    }
    words
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Alone {
    #[command(flatten)]
    scope: ScopeArgs,
}

impl ScopeArgs {
    /// Parses the recorded words of a manifest.
    ///
    /// # Errors
    /// If they are not valid options, such as those of a later version.
    pub(crate) fn of_words(words: &[Vec<u8>]) -> anyhow::Result<Self> {
        let shown = || words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
        let Alone { mut scope } =
            Alone::try_parse_from(words.iter().map(|word| OsStr::from_bytes(word))).ok().with_context(
                || format!("it was made with options that this version does not know: {}", shown()),
            )?;
        // A record never makes ftk read a file that it names.
        for option in [EXCLUDE_FROM, RULES] {
            let names_list = |word: &Vec<u8>| {
                word.strip_prefix(b"--").is_some_and(|word| word.starts_with(option.as_bytes()))
            };
            ensure!(!words.iter().any(names_list), "it has --{option}, which no manifest can record");
        }
        scope.are_recorded = true;
        scope.words(OsStr::new("")).map(|_| scope)
    }

    /// Returns the recorded options for a tree that is the directory `base` below the recorded root.
    ///
    /// # Errors
    /// If they depend on files above it.
    pub(super) fn based(self, base: Option<&[u8]>) -> anyhow::Result<Self> {
        let ignores = |word: &OsString| word == "--ignore-files";
        ensure!(
            base.is_none() || !self.words.iter().any(ignores),
            "it was recorded with --ignore-files, which also reads files above this part: \
             verify the recorded root with --path"
        );
        Ok(Self { base: base.map(<[u8]>::to_vec), ..self })
    }

    /// Returns an option, such as `--exclude=GLOB`, as options that mean the same relative to the tree `root`. Without
    /// a root, it is relative already.
    ///
    /// # Errors
    /// If its value is wrong.
    pub(super) fn relative(word: OsString, root: Option<&OsStr>) -> anyhow::Result<Vec<Vec<u8>>> {
        let Alone { mut scope } = Alone::try_parse_from([word])?;
        scope.are_recorded = root.is_none();
        scope.words(root.unwrap_or_default())
    }

    /// Whether no options were given.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.follows
    }

    /// Returns the words that record these options for the tree `root`. Paths in them are relative to it.
    ///
    /// # Errors
    /// If links should be followed, or an option is wrong.
    pub(super) fn words(&self, root: &OsStr) -> anyhow::Result<Vec<Vec<u8>>> {
        ensure!(!self.follows, "a manifest records links instead of following them: drop --{FOLLOW}");
        let roots = self.roots(root)?;
        let roots = Roots::new(roots.as_slice());
        let relative = |word: &OsString| match word.as_bytes() {
            word if word.starts_with(b"--rule") => Ok(Vec::new()),
            word => self.selection.relative_words(word, &roots),
        };
        let rules = self.checks.compile()?;
        let rules = rules.lines().iter().map(|line| Ok(vec![[b"--rule=", &**line].concat()]));
        let words = self.words.iter().map(relative).chain(rules);
        Ok(words.collect::<anyhow::Result<Vec<_>>>()?.concat())
    }

    /// Returns the starting point that paths in the options may begin with, if they may.
    fn roots(&self, root: &OsStr) -> anyhow::Result<Option<CString>> {
        Ok(if self.are_recorded { None } else { Some(CString::new(root.as_bytes())?) })
    }

    /// Compiles the selection for the tree `root`. `own`: device and inode of files to skip.
    pub(crate) fn compile(
        &self,
        root: &OsStr,
        own: &[(u64, u64)],
        console: &Console,
    ) -> anyhow::Result<Selection> {
        let roots = self.roots(root)?;
        let selection = self.selection.compile(&Roots::new(roots.as_slice()), own, console)?;
        let selection = selection.with_checks(self.checks.compile()?);
        Ok(match &self.base {
            Some(base) => selection.starting_at(base),
            None => selection,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn parse(line: &[&[u8]]) -> ScopeArgs {
        Alone::try_parse_from(line.iter().map(|word| OsStr::from_bytes(word))).unwrap().scope
    }

    #[test]
    fn recorded_words_parse_to_the_same_scope() {
        let line: [&[u8]; 12] = [
            b"-E",
            b"*.o",
            b"-E",
            b"-x/",
            b"-n",
            b"\xff *",
            b"-t",
            b"f,d",
            b"--no-hidden",
            b"-x",
            b"--max-depth",
            b"3",
        ];
        let scope = parse(&line);
        let words = scope.words(OsStr::new("root")).unwrap();
        let expected: [&[u8]; 7] = [
            b"--name=\xff *",
            b"--type=f,d",
            b"--exclude=*.o",
            b"--exclude=-x/",
            b"--no-hidden",
            b"--max-depth=3",
            b"--one-file-system",
        ];
        assert_eq!(words, expected);
        let scope = ScopeArgs { are_recorded: true, ..scope };
        assert_eq!(format!("{:?}", ScopeArgs::of_words(&words).unwrap()), format!("{scope:?}"));
        assert!(parse(&[]).words(OsStr::new("root")).unwrap().is_empty());
    }

    /// Every option that selects entries can be recorded.
    #[test]
    fn options_are_those_of_the_manifest_format() {
        let ours = Options::augment_args(Command::new(""));
        let mut ours: Vec<_> = ours
            .get_arguments()
            .filter(|option| ![FOLLOW, EXCLUDE_FROM, RULES].contains(&option.get_long().unwrap()))
            .map(|option| (option.get_long().unwrap(), option.get_action().takes_values()))
            .collect();
        let mut known = OPTIONS;
        ours.sort_unstable();
        known.sort_unstable();
        assert_eq!(ours, known);
    }

    #[test]
    fn options_that_a_manifest_cannot_record_are_refused() {
        assert!(parse(&[b"-L"]).words(OsStr::new("root")).unwrap_err().to_string().contains("--follow"));
        for word in [&b"file"[..], b"--size=+1", b"--files-from=/etc/passwd", b"--follow", b"--help", b"-j2"]
        {
            assert!(ScopeArgs::of_words(&[word.to_vec()]).is_err(), "{word:?}");
        }
    }

    /// Parts from which the test below makes up words.
    const PARTS: [&[u8]; 24] = [
        b"-",
        b"--",
        b"=",
        b"E",
        b"n",
        b"t",
        b"x",
        b"L",
        b"name",
        b"type",
        b"exclude",
        b"exclude-line",
        b"exclude-from",
        b"exclude-caches",
        b"max-depth",
        b"follow",
        b"no-hidden",
        b"one-file-system",
        b"*.o",
        b"f,d",
        b"3",
        b"\xff",
        b"\0",
        b" ",
    ];

    proptest! {
        #[test]
        fn made_up_words_are_a_valid_scope_or_refused(
            words in vec(vec(select(&PARTS[..]), 0..4).prop_map(|parts| parts.concat()), 0..4),
        ) {
            let scope = ScopeArgs::of_words(&words);
            // Most made-up words are refused. A valid word added to them makes some more lists valid.
            let with = ScopeArgs::of_words(&[&words[..], &[b"--exclude=*.o".to_vec()]].concat());
            for scope in [scope, with].into_iter().flatten() {
                let words = scope.words(OsStr::new("root")).unwrap();
                prop_assert!(words.iter().all(|word| word.starts_with(b"--") && word != b"--follow"));
                let again = ScopeArgs::of_words(&words).unwrap();
                prop_assert_eq!(format!("{again:?}"), format!("{scope:?}"));
            }
        }
    }
}
