//! Walks with ignore files.

mod git;
mod search;
mod walks;
