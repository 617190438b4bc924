//! The rules of `.gitignore` and `.ignore` files.
//!
//! Each directory that contains such files adds a level to the rules of its parent. Patterns are bytes and
//! have the same meaning as in git. The tests compare them with git.

mod brackets;
mod file;
mod line;
mod memory;
mod rules;
mod tokens;

pub(crate) use line::MAX_NAME;
pub use memory::IgnoreMemory;
pub(crate) use memory::Memory;
pub(crate) use rules::IgnoreRules;
