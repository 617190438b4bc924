//! Why a history cannot be used.

use std::fmt;
use std::io;

use ftk_inventory::Full;
use ftk_record::quote;

/// Why a history cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum HistoryError {
    /// A directory or file cannot be read.
    Io {
        /// Its path, below the root of the history.
        path: Vec<u8>,
        /// The cause.
        source: io::Error,
    },
    /// A file does not say what it must say.
    Invalid {
        /// Its path, below the root of the history.
        path: Vec<u8>,
        /// What is wrong.
        what: String,
    },
    /// The history does not fit into the memory budget.
    Full(Full),
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, .. } => write!(f, "cannot read {}", quote(path)),
            Self::Invalid { path, what } => write!(f, "{}: {what}", quote(path)),
            Self::Full(_) => f.write_str("the history is too large (raise --memory)"),
        }
    }
}

impl std::error::Error for HistoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Invalid { .. } => None,
            Self::Full(full) => Some(full),
        }
    }
}

impl From<Full> for HistoryError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}
