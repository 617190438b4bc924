//! The command line as a whole: the commands, and the options they share.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use ftk_sched::{Backend, Threads, logical_cpus, physical_cores};
use ftk_select::parse_bytes;

use crate::cache::CacheCommandArgs;
use crate::calibrate::CalibrateArgs;
use crate::cmp::CmpArgs;
use crate::completions::CompletionsArgs;
use crate::describe::DescribeArgs;
use crate::du::DuArgs;
use crate::dup::DupArgs;
use crate::files::Files;
use crate::find::FindArgs;
use crate::foreign;
use crate::hash::HashArgs;
use crate::help::{self, HelpArgs};
use crate::line::Line;
use crate::man::ManArgs;
use crate::manifest::ManifestArgs;
use crate::polite::parse_rate;
use crate::query::QueryArgs;
use crate::report::ReportArgs;
use crate::undo::UndoArgs;

/// A toolkit for large file trees: find, hash, deduplicate, verify and compare
///
/// Every file is included by default, hidden and ignored ones too. The summary counts everything that was skipped.
#[derive(Debug, Parser)]
#[command(name = "ftk", version, max_term_width = 80, disable_help_subcommand = true)]
#[command(help_template = one_screen(), after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) globals: Globals,

    #[command(subcommand)]
    pub(crate) command: Command,

    /// The files that the arguments name.
    #[arg(skip)]
    pub(crate) files: Files,
}

impl Args {
    /// Parses the arguments of this process.
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
            let line = Line::new(words);
            if let Some(hint) = foreign::spot(&line) {
                return Err(Refused::Foreign(hint));
            }
            words = line.into_words();
        }
        if let [_, word] = &*words
            && (word == "--version" || word == "-V")
        {
            NoCommand::try_parse_from(&words).map_err(Refused::from)?;
        }
        let known = Self::of_one_command(&words);
        let all = || {
            let explained = |mut error: clap::Error| match foreign::explain(&mut error, Line::of_process()) {
                Some(hint) => Refused::Foreign(hint),
                None => {
                    foreign::keep_slips(&mut error);
                    error.into()
                }
            };
            let mut definition = help::arranged(Self::command());
            let matches = definition.try_get_matches_from_mut(&words);
            matches
                .and_then(|mut matches| {
                    let files = Files::of("", &matches);
                    Ok(Self { files, ..Self::from_arg_matches_mut(&mut matches)? })
                })
                .map_err(|error| explained(error.format(&mut definition)))
        };
        let mut args = known.map_or_else(all, Ok)?;
        // `cmp -s` is the same as `-q`.
        args.globals.quiet |= matches!(&args.command, Command::Cmp(args) if args.silent);
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
        // Dropping the definition would take longer than parsing the arguments.
        let mut definition = ManuallyDrop::new(OneCommand::<T>::command());
        let mut matches = definition.try_get_matches_from_mut(words).ok()?;
        let files = Files::of(words.first()?.to_str()?, &matches);
        let one = OneCommand::from_arg_matches_mut(&mut matches).ok()?;
        Some(Self { globals: one.globals, command: command(one.args), files })
    }
}

/// Why the arguments cannot be used.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The arguments are wrong, or ask for help or the version.
    Parser(clap::Error),
    /// An argument belongs to another tool. Contains the hint.
    Foreign(String),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Parser(error)
    }
}

/// Returns the value of `--color` on a command line that could not be parsed, or that asks for help.
pub(crate) fn color_of(line: &Line) -> When {
    line.value("color").and_then(|value| When::from_str(value, false).ok()).unwrap_or_default()
}

/// Returns the definition of all commands, with the help pages arranged.
pub(crate) fn definition() -> clap::Command {
    let mut command = help::arranged(Args::command());
    command.build();
    command
}

/// One command with its own options and the global ones.
#[derive(Parser)]
struct OneCommand<T: clap::Args> {
    #[command(flatten)]
    args: T,

    #[command(flatten)]
    globals: Globals,
}

/// Answers `--version` without defining anything else.
#[derive(Parser)]
#[command(name = "ftk", version)]
struct NoCommand;

const EXAMPLES: &str = "\
Options: ftk <COMMAND> -h; with details: --help; as JSON: ftk --describe
Exit status: 0: success; 1: no match, differences or failed checks; 2: any error

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

/// Options of every command, accepted before and after its name.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Number of workers: auto, mono, compute, io or a number
    ///
    /// `auto`: ftk chooses, using the figures of `ftk calibrate`; `mono`: 1; `compute`: one per physical core; `io`:
    /// one per logical CPU.
    #[arg(short = 'j', long, global = true, value_name = "N", default_value = "auto")]
    pub(crate) threads: ThreadsArg,

    /// How to read files
    ///
    /// `auto` uses io_uring where it is available and faster. `uring` fails where io_uring is not available.
    #[arg(long, global = true, value_name = "READER", default_value = "auto")]
    pub(crate) io: IoArg,

    /// Limit for buffers and tables, such as 512M
    ///
    /// The default is a quarter of the memory.
    #[arg(long, alias = "memory-budget", global = true, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,

    /// Read at the lowest priority, and leave the page cache as it was
    ///
    /// Sets the idle I/O class and the lowest CPU priority. Pages that ftk loads are dropped; pages that were
    /// cached before stay. If the kernel does not say which pages of a file are cached, none are dropped.
    #[arg(long, global = true)]
    pub(crate) polite: bool,

    /// Read at most this many bytes per second, such as 50M
    ///
    /// The limit applies to all workers together. The units are those of sizes, and `/s` may follow.
    #[arg(long, global = true, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) limit_rate: Option<u64>,

    /// How to show progress on standard error
    ///
    /// `auto`: on a terminal, after one second. `always`: from the start; without a terminal, one line every ten
    /// seconds. `json`: one object per line, every half second and at the end of each phase.
    #[arg(long, global = true, value_name = "HOW", default_value = "auto")]
    pub(crate) progress: ProgressArg,

    /// When to use colours
    ///
    /// `auto`: on a terminal, unless NO_COLOR is set. CLICOLOR_FORCE=1 makes `auto` the same as `always`.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,

    /// Print JSON on standard output, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print no summary
    ///
    /// `find` and `cmp` print nothing and only set the exit status.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Explain on standard error what was decided, why, and with what result
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// Write statistics of the run to FILE, as JSON
    ///
    /// They include the time, files and bytes of each phase, errors, skipped entries and memory. `-`: standard output.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) stats: Option<PathBuf>,

    /// Write the result of the run to FILE, for Prometheus
    ///
    /// FILE is for the textfile collector of node_exporter, which needs a name that ends in `.prom`. It has the exit
    /// status, the time of the last success, and the number of errors, files, bytes and findings. `-`: standard output.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
}

impl Globals {
    /// Returns the limit for buffers and tables, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(|| physical_memory() / 4)
    }

    /// Returns the number of workers that was requested, if any.
    pub(crate) fn workers(&self) -> Option<usize> {
        match self.threads.resolve() {
            Threads::Auto => None,
            Threads::Fixed(n) => Some(n),
        }
    }
}

/// Returns the bytes of memory in this machine; 4 GiB where the system does not report it.
fn physical_memory() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let info = rustix::system::sysinfo();
        info.totalram as u64 * u64::from(info.mem_unit)
    }
    #[cfg(not(target_os = "linux"))]
    {
        4 << 30
    }
}

/// `auto`, `always` or `never`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl When {
    /// Sets the colours of everything written through `anstream`.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The value of `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArg {
    Auto,
    Always,
    Never,
    Json,
}

/// The value of `--io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IoArg {
    Auto,
    Sync,
    Uring,
}

impl IoArg {
    /// Returns the reader that was requested, if any.
    pub(crate) fn backend(self) -> Option<Backend> {
        match self {
            Self::Auto => None,
            Self::Sync => Some(Backend::Sync),
            Self::Uring => Some(Backend::Uring),
        }
    }
}

/// The value of `--threads`, not yet compared with this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadsArg {
    Auto,
    Compute,
    Io,
    Fixed(usize),
}

impl FromStr for ThreadsArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "mono" => Ok(Self::Fixed(1)),
            "compute" => Ok(Self::Compute),
            "io" => Ok(Self::Io),
            _ => match text.parse() {
                Ok(n @ 1..=MOST_THREADS) => Ok(Self::Fixed(n)),
                _ => Err(format!("expected auto, mono, compute, io or a number from 1 to {MOST_THREADS}")),
            },
        }
    }
}

/// More workers than this only cost memory.
const MOST_THREADS: usize = 1024;

impl ThreadsArg {
    /// Returns the number of workers on this machine.
    pub(crate) fn resolve(self) -> Threads {
        match self {
            Self::Auto => Threads::Auto,
            Self::Compute => Threads::Fixed(physical_cores()),
            Self::Io => Threads::Fixed(logical_cpus()),
            Self::Fixed(n) => Threads::Fixed(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
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

    #[test]
    fn threads() {
        assert_eq!("auto".parse(), Ok(ThreadsArg::Auto));
        assert_eq!("mono".parse(), Ok(ThreadsArg::Fixed(1)));
        assert_eq!("compute".parse(), Ok(ThreadsArg::Compute));
        assert_eq!("io".parse(), Ok(ThreadsArg::Io));
        assert_eq!("7".parse(), Ok(ThreadsArg::Fixed(7)));
        for bad in ["0", "1025", "-1", "", "many"] {
            assert!(bad.parse::<ThreadsArg>().is_err(), "{bad}");
        }
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
