//! The command line as a whole.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::sync::LazyLock;

use clap::{Arg, ArgAction, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use crate::cache::CacheCommandArgs;
use crate::calibrate::CalibrateArgs;
use crate::cmp::CmpArgs;
use crate::completions::CompletionsArgs;
use crate::config::{Defaults, with_defaults};
use crate::console::Outcome;
use crate::describe::DescribeArgs;
use crate::du::DuArgs;
use crate::dup::DupArgs;
use crate::files::Files;
use crate::find::FindArgs;
use crate::foreign;
use crate::globals::{Globals, When};
use crate::hash::HashArgs;
use crate::help::{self, HelpArgs};
use crate::line::{CommandLine, WITH_EQUALS};
use crate::man::ManArgs;
use crate::manifest::ManifestArgs;
use crate::query::QueryArgs;
use crate::report::ReportArgs;
use crate::stdout::Stdout;
use crate::undo::UndoArgs;

/// A toolkit for large file trees: find, hash, deduplicate, verify and compare
///
/// Every file is included by default, hidden and ignored ones too. The summary counts everything that was skipped,
/// except by filters.
#[derive(Debug, Parser)]
#[command(name = "ftk", version = version(), max_term_width = 80, disable_help_subcommand = true)]
#[command(help_template = one_screen(), after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) globals: Globals,

    #[command(subcommand)]
    pub(crate) command: Command,

    /// The files that the arguments name.
    #[arg(skip)]
    pub(crate) files: Files,

    /// The options that come from the file of defaults.
    #[arg(skip)]
    pub(crate) defaults: Defaults,
}

impl Args {
    /// Parses the arguments of this process, and those of the file of defaults.
    ///
    /// Defining the options of all commands would take longer than many a run. If the first word is a
    /// command, only its own options and the global ones are defined. Requests for help, and wrong arguments,
    /// need the whole definition.
    ///
    /// # Errors
    /// If the arguments are wrong, or ask for help or the version.
    pub(crate) fn of_process() -> Result<Self, Refused> {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        if words.iter().any(|word| word == "+" || foreign::is_expression(word)) {
            let line = CommandLine::new(words);
            if let Some(hint) = foreign::spot(&line) {
                return Err(Refused::Message(hint));
            }
            words = line.into_words();
        }
        if words.iter().any(|word| WITH_EQUALS.iter().any(|(option, _)| word == option)) {
            words = CommandLine::new(words).with_values_attached();
        }
        let all = |words: &[OsString]| {
            let explained =
                |mut error: clap::Error| match foreign::explain(&mut error, CommandLine::of_process()) {
                    Some(hint) => Refused::Message(hint),
                    None => {
                        foreign::keep_slips(&mut error);
                        error.into()
                    }
                };
            let mut definition = repeatable(help::arranged(Self::command()));
            let matches = definition.try_get_matches_from_mut(words);
            matches
                .and_then(|mut matches| {
                    let files = Files::of("", &matches);
                    Ok(Self { files, ..Self::from_arg_matches_mut(&mut matches)? })
                })
                .map_err(|error| explained(error.format(&mut definition)))
        };
        let parse = |words: &[OsString]| Self::of_one_command(words).map_or_else(|| all(words), Ok);
        let mut args = with_defaults(&words, parse)?;
        // `--status` implies `-q`.
        args.globals.quiet |= match &args.command {
            Command::Find(args) => args.prints_nothing(),
            Command::Cmp(args) => args.status,
            Command::Manifest(args) => args.prints_nothing(),
            _ => false,
        };
        Ok(args)
    }

    /// Parses `words` if they begin with a command and are correct.
    fn of_one_command(words: &[OsString]) -> Option<Self> {
        let rest = words.get(1..)?;
        match rest.first()?.to_str()? {
            "find" => Self::of(rest, Command::Find),
            "du" => Self::of(rest, Command::Du),
            "hash" => Self::of(rest, Command::Hash),
            "dup" => Self::of(rest, |args| Command::Dup(Box::new(args))),
            "manifest" => Self::of(rest, Command::Manifest),
            "cmp" => Self::of(rest, Command::Cmp),
            _ => None,
        }
    }

    fn of<T: clap::Args>(words: &[OsString], command: fn(T) -> Command) -> Option<Self> {
        // Dropping the definition would take longer than parsing the arguments, and so would making options repeatable:
        // a repeated one is refused here, and parsed with the definition of all commands.
        let mut definition = ManuallyDrop::new(OneCommand::<T>::command());
        let mut matches = definition.try_get_matches_from_mut(words).ok()?;
        let files = Files::of(words.first()?.to_str()?, &matches);
        let one = OneCommand::from_arg_matches_mut(&mut matches).ok()?;
        Some(Self { globals: one.globals, command: command(one.args), files, defaults: Defaults::default() })
    }

    /// Refuses conflicts that the parser does not know.
    ///
    /// # Errors
    /// If two options cannot be used together.
    pub(crate) fn refuse_conflicts(&self) -> anyhow::Result<()> {
        match &self.command {
            Command::Find(args) => args.refuse_conflicts_with(&self.globals),
            Command::Du(args) => args.refuse_conflicts_with(&self.globals),
            Command::Hash(args) => args.refuse_conflicts_with(&self.globals),
            _ => Ok(()),
        }
    }
}

/// Why the arguments cannot be used.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The arguments are wrong, or ask for help or the version.
    Parser(clap::Error),
    /// An argument belongs to another tool, or the file of defaults cannot be used. Contains what is said about it.
    Message(String),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Parser(error)
    }
}

/// Returns the value of `--color` on a command line that could not be parsed, or that asks for help.
pub(crate) fn color_of(line: &CommandLine) -> When {
    line.value("color").and_then(|value| When::from_str(value, false).ok()).unwrap_or_default()
}

/// Returns the definition of all commands, with the help pages arranged.
pub(crate) fn definition() -> clap::Command {
    let mut command = repeatable(help::arranged(Args::command()));
    command.build();
    command
}

/// Options with a value that only say how a run works or what it looks like: the last value counts.
const LAST_COUNTS: [&str; 9] =
    ["threads", "io", "memory", "limit_rate", "progress", "color", "top", "sort", "hyperlink"];

/// Accepts repeated options, so that an alias such as `ftk du -h` can be used with the same options.
///
/// Other options with a value are still refused: the first filter, file or action would be ignored without a word.
fn repeatable(command: clap::Command) -> clap::Command {
    let is_repeatable = |arg: &Arg| {
        let id = arg.get_id().as_str();
        // Only in `du`, this option is one of the output.
        let is_depth = || id == "max_depth" && arg.get_help_heading() == Some("Output");
        matches!(arg.get_action(), ArgAction::SetTrue) || LAST_COUNTS.contains(&id) || is_depth()
    };
    let with_itself = |arg: Arg| {
        let id = arg.get_id().clone();
        if is_repeatable(&arg) { arg.overrides_with(id) } else { arg }
    };
    command.mut_args(with_itself).mut_subcommands(repeatable)
}

/// One command with its own options and the global ones.
#[derive(Parser)]
struct OneCommand<T: clap::Args> {
    #[command(flatten)]
    args: T,

    #[command(flatten)]
    globals: Globals,
}

/// Prints the version if it is all that is wanted. The parser would first define every option, which takes longer.
pub(crate) fn print_version_if_asked() -> Option<anyhow::Result<Outcome>> {
    let mut words = std::env::args_os().skip(1);
    let is_asked =
        words.next().is_some_and(|word| word == "--version" || word == "-V") && words.next().is_none();
    is_asked.then(|| Stdout::print(format!("ftk {}\n", version()).as_bytes()).map(|()| Outcome::Success))
}

/// Returns the version. The programs of a release add the commit from which they were built, and its date.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version_of(option_env!("FTK_COMMIT")));
    &VERSION
}

fn version_of(commit: Option<&str>) -> String {
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    env!("CARGO_PKG_VERSION").to_owned() + &commit
}

const EXAMPLES: &str = "\
Options: ftk <COMMAND> -h (du: --help); details: --help; JSON: ftk --describe
Exit status: 0: success; 1: differences, failed checks; 2: any error

Examples:
  ftk find -e jpg -S +10M ~/Pictures    pictures larger than 10 MiB
  ftk hash -o SHA256SUMS .              the output of sha256sum for every file
  ftk dup ~/Pictures                    duplicates, the largest waste first";

/// The template of the first page. It fits one screen, because the global options are on other pages.
fn one_screen() -> String {
    let styles = clap::builder::Styles::styled();
    let header = styles.get_header();
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{header}Commands:{header:#}\n{{subcommands}}{{after-help}}"
    )
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Find(FindArgs),
    Du(DuArgs),
    Hash(HashArgs),
    Dup(Box<DupArgs>),
    Manifest(ManifestArgs),
    Cmp(CmpArgs),
    Report(ReportArgs),
    Query(QueryArgs),
    Undo(UndoArgs),
    Cache(CacheCommandArgs),
    Calibrate(CalibrateArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Help(HelpArgs),
    #[command(long_flag = "describe", hide = true)]
    Describe(DescribeArgs),
}

impl Command {
    /// Returns the name as it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Find(_) => "find",
            Self::Du(_) => "du",
            Self::Hash(_) => "hash",
            Self::Dup(_) => "dup",
            Self::Manifest(_) => "manifest",
            Self::Cmp(_) => "cmp",
            Self::Report(_) => "report",
            Self::Query(_) => "query",
            Self::Undo(_) => "undo",
            Self::Cache(_) => "cache",
            Self::Calibrate(_) => "calibrate",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Help(_) => "help",
            Self::Describe(_) => "describe",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::globals::ThreadsArg;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_version_names_the_commit_of_a_release() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(version_of(None), version);
        assert_eq!(
            version_of(Some("0123456789ab 2026-11-26")),
            format!("{version} (0123456789ab 2026-11-26)")
        );
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn parsing_one_command_gives_the_same_arguments() {
        for line in [
            "ftk find",
            "ftk find -j 2 -e rs . --json -q",
            "ftk hash",
            "ftk hash -v -- -x --help",
            "ftk hash find",
            "ftk manifest create . -j 2 -E x",
            "ftk manifest -q verify a b --mode content",
            "ftk manifest verify a --mode content b",
            "ftk manifest verify a --mode content",
            "ftk manifest verify -- a b",
            "ftk dup",
            "ftk dup a b --json",
            "ftk dup prune --action delete a",
            "ftk dup undo journal -q",
            "ftk manifest repair a b --from c --yes",
        ] {
            let (short, long) = (Args::of_one_command(&words(line)), Args::try_parse_from(words(line)));
            let shown = |args: Args| format!("{:?} {:?}", args.globals, args.command);
            assert_eq!(shown(short.unwrap()), shown(long.unwrap()), "{line}");
        }
        for line in ["ftk", "ftk hash -h", "ftk find --nonsense", "ftk -v find", "ftk fnid", "ftk find -V"] {
            assert!(Args::of_one_command(&words(line)).is_none(), "{line}");
        }
    }

    /// Flags may be repeated in every command; of other options, only those about the run and the output.
    #[test]
    fn repeated_options() {
        fn each(command: &clap::Command, above: &[&str]) {
            let path = [above, &[command.get_name()]].concat();
            let flags = command.get_arguments().filter(|arg| matches!(arg.get_action(), ArgAction::SetTrue));
            let flags = flags.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
            let twice = flags.flat_map(|flag| [flag.clone(), flag]);
            let line: Vec<_> = path.iter().map(|word| (*word).to_owned()).chain(twice).collect();
            // Other errors, such as conflicts, are found after this one.
            let error =
                definition().try_get_matches_from(&line).map_or_else(|it| it.to_string(), |_| String::new());
            assert!(!error.contains("multiple times"), "{line:?}: {error}");
            command.get_subcommands().for_each(|below| each(below, &path));
        }
        each(&definition(), &[]);
        let parse = |line: &str| {
            let matches = repeatable(Args::command()).try_get_matches_from(words(line)).ok()?;
            Args::from_arg_matches(&matches).ok()
        };
        let globals = "-j 1 -j 2 --io sync --io auto --memory 1G --memory 2G --color never --color auto";
        let args = parse(&format!("ftk du {globals} -d 1 -d 2 --top 3 --top 4")).unwrap();
        assert_eq!((args.globals.threads, args.globals.memory), (ThreadsArg::Fixed(2), Some(2 << 30)));
        assert!(parse("ftk find --sort --sort=size --reverse --reverse").is_some());
        for line in [
            "ftk find --max-depth 1 --max-depth 2",
            "ftk find --newer a --newer b",
            "ftk hash -o a -o b",
            "ftk hash --stats a --stats b",
            "ftk dup prune --action hardlink --action delete",
            "ftk dup prune --action delete --journal a --journal b",
            "ftk manifest create . -o a -o b",
        ] {
            assert!(parse(line).is_none(), "{line}");
        }
    }

    /// clap leaves a group empty whose struct flattens another one. A conflict with it would be no conflict.
    #[test]
    fn groups_of_options_are_not_empty() {
        fn check(command: &clap::Command) {
            for group in command.get_groups().filter(|group| group.get_id().as_str().ends_with("Args")) {
                let conflicts =
                    ["NameArgs", "InodeArgs", "ExpressionArgs", "WalkArgs", "ExclusionArgs", "StartArgs"];
                let is_used = conflicts.contains(&group.get_id().as_str());
                assert!(!is_used || group.get_args().next().is_some(), "{}", group.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&definition());
    }

    #[test]
    fn memory() {
        let memory =
            |text| Args::try_parse_from(["ftk", "--memory", text, "hash"]).map(|args| args.globals.memory());
        for (text, bytes) in
            [("4096", 4096), ("512M", 512 << 20), ("4g", 4 << 30), ("1.5G", 3 << 29), ("4kB", 4000)]
        {
            assert_eq!(memory(text).unwrap(), bytes);
        }
        for bad in ["", "G", "0.3", "+1G", "99999999999T", "1KB"] {
            assert!(memory(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn globals_stand_before_or_after_the_command() {
        for line in [["ftk", "-j", "2", "-v", "hash", "a"], ["ftk", "hash", "-j", "2", "-v", "a"]] {
            let args = Args::try_parse_from(line).unwrap();
            assert_eq!(args.globals.threads, ThreadsArg::Fixed(2));
            assert!(args.globals.verbose);
        }
    }
}
