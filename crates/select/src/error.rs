//! Errors in the text of a filter.

use std::fmt::{self, Write as _};

/// An invalid value, such as a size, a list of types, a time, or an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset of the error in the text.
    pub at: usize,
    /// Description of the error.
    pub problem: String,
}

impl ParseError {
    pub(crate) fn new(at: usize, problem: impl Into<String>) -> Self {
        Self { at, problem: problem.into() }
    }

    /// Returns the same error, with an offset for a text that begins `bytes` earlier.
    pub(crate) fn offset_by(self, bytes: usize) -> Self {
        Self { at: self.at + bytes, ..self }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escape control characters in quoted text, so that they cannot start a line or control the terminal.
        for c in self.problem.chars() {
            match u8::try_from(c) {
                Ok(byte) if byte.is_ascii_control() => write!(f, "{}", byte.escape_ascii())?,
                _ if c.is_control() => write!(f, "{}", c.escape_unicode())?,
                _ => f.write_char(c)?,
            }
        }
        write!(f, " (at byte {})", self.at + 1)
    }
}

impl std::error::Error for ParseError {}

/// An invalid glob or regular expression. The [source](std::error::Error::source) is the [`ParseError`].
#[derive(Clone, Debug)]
pub struct PatternError {
    pub(crate) kind: &'static str,
    /// The pattern as it was written.
    pub pattern: Vec<u8>,
    pub(crate) source: ParseError,
}

impl PatternError {
    pub(crate) fn glob(glob: &[u8], source: ParseError) -> Self {
        Self { kind: "glob", pattern: glob.into(), source }
    }

    pub(crate) fn regex(regex: &str, source: ParseError) -> Self {
        Self { kind: "regular expression", pattern: regex.into(), source }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = String::from_utf8_lossy(&self.pattern);
        write!(f, "cannot understand the {} `{}`", self.kind, pattern.escape_debug())
    }
}

impl std::error::Error for PatternError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
