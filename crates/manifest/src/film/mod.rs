//! Histories of ASC MHL 2.0: the generations below a directory `ascmhl`, and those of nested histories.
//!
//! The chain file lists each generation with its digest, so an edited or removed generation is found. Only generations that
//! are as the chain file says count: for each file, by each algorithm, the first digest that no failed check found.

mod directories;
mod error;
mod generation;
mod history;

pub use error::HistoryError;
pub use history::{Chain, ChainLink, GenerationState, History, HistoryFile, Inconsistency, UnusableItem};

/// The name of the directory of a history.
pub const ASCMHL: &str = "ascmhl";

/// The name of the chain file.
pub const CHAIN: &str = "ascmhl_chain.xml";

/// Returns `path` below `prefix`, which is empty or ends with a slash.
fn below(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    [prefix, path].concat()
}
