//! What ftk says to a person, on standard error.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use ftk_record::quote;

use crate::args::Globals;
use crate::outcome::Outcome;

/// Standard error. A message that cannot be written is lost: there is nowhere to say so.
#[derive(Debug)]
pub(crate) struct Console {
    quiet: bool,
    verbose: bool,
}

impl Console {
    pub(crate) fn new(globals: &Globals) -> Self {
        Self { quiet: globals.quiet, verbose: globals.verbose }
    }

    /// `ftk: cannot open 'private/keys': permission denied`
    pub(crate) fn error(&self, message: impl Display) {
        let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        let _ = writeln!(anstream::stderr().lock(), "{red}ftk:{red:#} {message}");
    }

    /// As `error`, for what a path could not be used for.
    pub(crate) fn path_error(&self, verb: &str, path: &[u8], cause: impl Display) {
        self.error(format_args!("cannot {verb} {}: {cause}", quote(path)));
    }

    /// An error that ends the run, with its chain of causes.
    pub(crate) fn fatal(&self, error: &anyhow::Error) -> Outcome {
        let text = |error: &(dyn std::error::Error + 'static)| match error.downcast_ref() {
            Some(error) => cause(error),
            None => error.to_string(),
        };
        self.error(error.chain().map(text).collect::<Vec<_>>().join(": "));
        Outcome::Error
    }

    /// A line of `-v`.
    pub(crate) fn verbose(&self, line: impl FnOnce() -> String) {
        if self.verbose {
            let _ = writeln!(anstream::stderr().lock(), "ftk: {}", line());
        }
    }

    /// A line that closes a run, unless `-q`.
    pub(crate) fn summary(&self, line: impl Display) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr().lock(), "  {line}");
        }
    }

    pub(crate) fn is_terminal() -> bool {
        std::io::stderr().is_terminal()
    }
}

/// The cause of a failed system call, in the words users know from other tools: without an error number and in
/// lower case.
pub(crate) fn cause(error: &std::io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().and_then(|_| text.rfind(" (os error "));
    let text = number.map_or(text.as_str(), |at| &text[..at]);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
