//! Messages for people, on standard error, and the exit status.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstream::stderr;
use datafusion::error::DataFusionError;
use ftk_record::sanitize;

/// The result of a run, which is its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything succeeded.
    Success = 0,
    /// At least one error occurred.
    Error = 2,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome as u8)
    }
}

/// Prints messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    pub(crate) is_quiet: bool,
}

impl Console {
    /// Prints a line of the summary, unless `-q` was given.
    pub(crate) fn summary(&self, line: impl Display) {
        if !self.is_quiet {
            Self::line(format_args!("  {line}"));
        }
    }

    /// Prints what makes an answer incomplete, also if `-q` was given.
    pub(crate) fn warning(&self, line: impl Display) {
        Self::line(format_args!("ftk query: {line}"));
    }

    /// Prints an error that ends the run, with its chain of causes.
    pub(crate) fn fatal(error: &anyhow::Error) -> Outcome {
        // The text of an error of the engine includes its causes.
        let engine = error.chain().position(|cause| cause.is::<DataFusionError>());
        let causes = error.chain().take(engine.map_or(usize::MAX, |at| at + 1));
        let text = causes.map(message).collect::<Vec<_>>().join(": ");
        Self::line(format_args!("ftk query: {}", sanitize(text.as_bytes())));
        Outcome::Error
    }

    /// Prints a line by one system call.
    pub(crate) fn line(line: impl Display) {
        let _ = stderr().lock().write_all(format!("{line}\n").as_bytes());
    }

    /// Whether progress may be shown.
    pub(crate) fn has_progress(&self) -> bool {
        !self.is_quiet && io::stderr().is_terminal()
    }
}

/// Returns whether an output was closed by its reader, which has seen enough.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Returns the text of one error of a chain, without its causes.
fn message(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<DataFusionError>() {
        return of_engine(error);
    }
    match error.downcast_ref::<io::Error>() {
        Some(error) => cause(error),
        None => error.to_string(),
    }
}

/// Returns the text of an error of the engine, in the words of this program.
fn of_engine(error: &DataFusionError) -> String {
    if let Some(span) = error.diagnostic().and_then(|diagnostic| Some((diagnostic.span?, diagnostic))) {
        let (span, diagnostic) = span;
        return format!("line {}, column {}: {}", span.start.line, span.start.column, diagnostic.message);
    }
    match error.find_root() {
        DataFusionError::IoError(error) => cause(error),
        DataFusionError::ResourcesExhausted(_) => "the memory does not suffice".to_owned(),
        DataFusionError::SQL(error, _) => error.to_string(),
        DataFusionError::NotImplemented(text) => text.clone(),
        DataFusionError::Plan(text) | DataFusionError::Execution(text) => text.clone(),
        other => other.strip_backtrace(),
    }
}

/// Returns the cause of a failed system call as other tools print it: in lower case and without the error number.
pub(crate) fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().and_then(|_| text.rfind(" (os error "));
    let text = number.map_or(text.as_str(), |at| &text[..at]);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
