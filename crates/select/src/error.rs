//! What is wrong with a filter as it was written.

use std::fmt;

/// A size or a list of types that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Bytes before the place the message is about.
    pub at: usize,
    /// What is wrong there.
    pub problem: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.problem, self.at + 1)
    }
}

impl std::error::Error for ParseError {}

/// A glob that cannot be understood; the cause says where.
#[derive(Clone, Debug)]
pub struct GlobError {
    /// The glob as it was written.
    pub glob: String,
    pub(crate) source: Problem,
}

/// What is wrong with a glob.
#[derive(Clone, Debug)]
pub(crate) enum Problem {
    Syntax(globset::Error),
    /// Understood by others, and not here.
    Unsupported(&'static str),
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot understand the glob `{}`", self.glob.escape_debug())
    }
}

impl std::error::Error for GlobError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "{}", error.kind()),
            Self::Unsupported(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Problem {}
