//! Messages for people, on standard error, and the exit status.

use std::borrow::Cow;
use std::env::args_os;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::error::{ContextValue, ErrorKind};
use ftk_file::{Failure, FileType, StandardStream, Stat};
use ftk_inventory::Inventory;
use ftk_process::Failed;
use ftk_record::{quote, sanitize};
use indicatif::HumanCount;

use crate::globals::{Globals, ProgressArg};
use crate::line::CommandLine;
use crate::progress::Progress;
use crate::stats::Stats;

/// The result of a run. If several apply, the largest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Everything succeeded.
    Success,
    /// No match, or differences or failed checks were found.
    Negative,
    /// Damage was found, for which `--status-corrupted` gives this exit status.
    Corrupted(u8),
    /// At least one error occurred.
    Error,
}

impl Outcome {
    /// Returns the exit status.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Negative => 1,
            Self::Corrupted(status) => status,
            Self::Error => 2,
        }
    }

    /// Returns `Error` if something failed.
    pub(crate) fn error_if(has_failed: bool) -> Self {
        if has_failed { Self::Error } else { Self::Success }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.status())
    }
}

/// Prints messages on standard error and counts errors for `--stats`. Failures to write a message are
/// ignored, since they could not be reported anywhere.
#[derive(Debug)]
pub(crate) struct Console {
    quiet: bool,
    verbose: bool,
    pub(crate) progress: Progress,
    pub(crate) stats: Stats,
    /// Device and inode of files that the run writes with any command, such as that of `--stats`. A scan
    /// skips them.
    pub(crate) own: Vec<(u64, u64)>,
    /// The options that come from the file of defaults.
    defaults: Vec<String>,
}

impl Console {
    pub(crate) fn new(globals: &Globals, defaults: Vec<String>) -> Self {
        Self {
            quiet: globals.quiet,
            verbose: globals.verbose,
            progress: Progress::new(match globals.progress {
                ProgressArg::Auto if globals.quiet => ProgressArg::Never,
                how => how,
            }),
            stats: Stats::default(),
            own: Vec::new(),
            defaults,
        }
    }

    /// Whether an option, such as `--exclude=p/keep`, comes from the file of defaults.
    pub(crate) fn is_default(&self, word: &[u8]) -> bool {
        self.defaults.iter().any(|default| default.as_bytes() == word)
    }

    /// Prints an error: `ftk: cannot open 'private/keys': permission denied`
    pub(crate) fn error(&self, message: impl Display) {
        self.error_of("other", message);
    }

    /// Like `error`, counted under `kind` in `--stats`.
    pub(crate) fn error_of(&self, kind: &str, message: impl Display) {
        self.stats.error(kind);
        self.warning(message);
    }

    /// Prints a message in the form of an error without counting it, such as a summary of errors printed
    /// before.
    pub(crate) fn warning(&self, message: impl Display) {
        Self::complain(message);
    }

    /// Like `warning`, for use before there is a console.
    pub(crate) fn complain(message: impl Display) {
        let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        Self::line(format_args!("{red}ftk:{red:#} {message}"));
    }

    /// Prints `cannot VERB 'PATH': CAUSE`, counted under `verb` in `--stats`.
    pub(crate) fn path_error(&self, verb: &str, path: &[u8], cause: impl Display) {
        self.error_of(verb, format_args!("cannot {verb} {}: {cause}", quote(path)));
    }

    /// Prints an error that ends the run, with its chain of causes.
    pub(crate) fn fatal(&self, error: &anyhow::Error) -> Outcome {
        self.error(chain(error));
        Outcome::Error
    }

    /// Prints a line if `-v` was given.
    pub(crate) fn verbose(&self, line: impl FnOnce() -> String) {
        if self.verbose {
            Self::line(format_args!("ftk: {}", line()));
        }
    }

    /// Prints a line of the summary, unless `-q` was given.
    pub(crate) fn summary(&self, line: impl Display) {
        if !self.quiet {
            Self::line(format_args!("  {line}"));
        }
    }

    /// Prints a line like those of the summary, also with `-q`.
    pub(crate) fn note(line: impl Display) {
        Self::line(format_args!("  {line}"));
    }

    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a line without indenting it. The line is formatted first and written by one system call,
    /// because standard error has no buffer and would otherwise write every piece separately.
    pub(crate) fn line(line: impl Display) {
        let _ = anstream::stderr().lock().write_all(format!("{line}\n").as_bytes());
    }

    /// Writes text with the control characters of a terminal, whether or not there are colours.
    pub(crate) fn draw(text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    pub(crate) fn is_terminal() -> bool {
        std::io::stderr().is_terminal()
    }

    /// Device and inode of standard error if it is a regular file. A scan that reads files should skip that file.
    pub(crate) fn identity() -> Option<(u64, u64)> {
        Stat::of(io::stderr()).ok().filter(Stat::is_regular).map(|stat| stat.identity())
    }

    /// Whether standard error shows colours.
    pub(crate) fn is_coloured() -> bool {
        anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
    }
}

/// Returns an error and its chain of causes.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let text = |error: &(dyn std::error::Error + 'static)| match error.downcast_ref() {
        Some(error) => cause(error),
        None => error.to_string(),
    };
    error.chain().map(text).collect::<Vec<_>>().join(": ")
}

/// Returns the cause of a failed system call as other tools print it: in lower case and without the error
/// number.
pub(crate) fn cause(error: &std::io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().and_then(|_| text.rfind(" (os error "));
    let text = number.map_or(text.as_str(), |at| &text[..at]);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Returns the text of an error, with the system's cause if there is one:
/// `cannot rename the file: read-only file system`
pub(crate) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    match error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
        Some(source) => format!("{error}: {}", cause(source)),
        None => error.to_string(),
    }
}

/// Prints a line for each file that was not read completely, sorted by path. `so` is the consequence, such as
/// `not hashed`.
pub(crate) fn say_failed(inventory: &Inventory, failed: &[Failed], so: &str, console: &Console) {
    let mut failed: Vec<_> =
        failed.iter().map(|failed| (inventory.path(failed.file), &failed.failure)).collect();
    failed.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    failed.iter().for_each(|(path, failure)| say_failure(path, failure, so, console));
}

/// Prints the line for one file.
pub(crate) fn say_failure(path: &[u8], failure: &Failure, so: &str, console: &Console) {
    match failure {
        Failure::Io { op, source } => console.path_error(op, path, cause(source)),
        Failure::NotRegular => {
            let what = format_args!("{} is no longer a regular file: {so}", quote(path));
            console.error_of("not regular", what);
        }
        Failure::Changed { before, after, .. } if before.size != after.size => {
            let (before, after) = (HumanCount(before.size), HumanCount(after.size));
            let how = format_args!("(size {before} then {after}): {so}");
            console.error_of("changed", format_args!("{} changed while being read {how}", quote(path)));
        }
        _ => {
            let what = format_args!("{} changed while being read: {so}", quote(path));
            console.error_of("changed", what);
        }
    }
}

/// Prints help, the version, or one line about wrong arguments. The line quotes them, and an argument may be
/// the name of a file: if a control character in it would act on a terminal, the line is escaped and has no
/// colours.
pub(crate) fn show(mut message: clap::Error) -> io::Result<()> {
    if !message.use_stderr() {
        StandardStream::Output.check()?;
    }
    if !message.use_stderr() || message.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return message.print();
    }
    let acts = |argument: OsString| matches!(sanitize(argument.as_encoded_bytes()), Cow::Owned(_));
    if !args_os().any(acts) {
        Console::complain(in_one_line(&message.render().to_string()));
        return Ok(());
    }
    // Escaped first by itself, so that a newline in an argument does not split the message below.
    let harmless = |text: &dyn Display| sanitize(text.to_string().as_bytes()).into_owned();
    let quoted = message.context().filter_map(|(kind, value)| {
        let value = match value {
            ContextValue::String(text) => ContextValue::String(harmless(text)),
            ContextValue::Strings(texts) => {
                ContextValue::Strings(texts.iter().map(|text| harmless(text)).collect())
            }
            ContextValue::StyledStrs(texts) => {
                ContextValue::StyledStrs(texts.iter().map(|text| harmless(text).into()).collect())
            }
            _ => return None,
        };
        Some((kind, value))
    });
    for (kind, value) in quoted.collect::<Vec<_>>() {
        message.insert(kind, value);
    }
    let line = in_one_line(&message.render().to_string());
    io::stderr().write_all(format!("ftk: {}\n", sanitize(line.as_bytes())).as_bytes())
}

/// Turns a message of the parser into one line: what is wrong, what may be meant, and where to read more.
fn in_one_line(text: &str) -> String {
    let command = &CommandLine::of_process().command;
    let mut parts = Vec::new();
    for paragraph in text.trim_end().split("\n\n") {
        let line = paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let line = line.trim();
        if line.is_empty() || line.starts_with("Usage: ") || line.starts_with("For more information") {
            continue;
        }
        let line = line.strip_prefix("error: ").unwrap_or(line);
        let line = line.strip_prefix("tip: ").unwrap_or(line);
        let line = line.replace("unrecognized subcommand", "unknown command");
        let line = line.replace("the following required arguments were not provided:", "missing:");
        let line = line.replace(
            "missing: --action <ACTION>",
            "missing: --action hardlink, reflink, symlink, delete, trash or move=DIR",
        );
        // Only a command that acts has no default for its paths.
        let line = match line.strip_suffix("<PATH>...").filter(|_| command == "dup prune") {
            Some(missing) if missing.ends_with("DIR ") => format!("{}, and {}", missing.trim_end(), a_path()),
            Some(missing) => format!("{missing}{}", a_path()),
            None => line,
        };
        parts.push(line.replace("a similar subcommand", "a similar command"));
    }
    let space = if command.is_empty() { "" } else { " " };
    // -h of du prints human-readable sizes, as in GNU du.
    let help = if command == "du" { "--help" } else { "-h" };
    parts.push(format!("see `ftk {command}{space}{help}`"));
    parts.join("; ")
}

/// Returns what to name in place of a missing PATH. Names may be waiting in a pipe.
fn a_path() -> &'static str {
    match Stat::of(io::stdin()) {
        Ok(stat) if stat.file_type == FileType::Fifo => {
            "a PATH: `.` is the working directory; `--files0-from -` reads names from the pipe, each with NUL after it"
        }
        _ => "a PATH: `.` is the working directory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_parser_become_one_line() {
        let text = "error: unexpected argument '--exclde' found\n\n  tip: a similar argument exists: '--exclude'\n\n\
            Usage: ftk find --exclude <GLOB> [PATH]...\n\nFor more information, try '--help'.\n";
        let line =
            "unexpected argument '--exclde' found; a similar argument exists: '--exclude'; see `ftk -h`";
        assert_eq!(in_one_line(text), line);
        let text = "error: invalid value 'x' for '<SHELL>'\n  [possible values: a, b]\n\nFor more information, try '--help'.\n";
        assert_eq!(
            in_one_line(text),
            "invalid value 'x' for '<SHELL>' [possible values: a, b]; see `ftk -h`"
        );
    }
}
