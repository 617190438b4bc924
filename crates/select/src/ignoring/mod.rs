//! What `.gitignore` and `.ignore` files say.
//!
//! Each directory in which there are such files adds a level to the rules of the directory above it. Patterns are bytes
//! and mean what they mean to git, which the tests ask.

mod brackets;
mod file;
mod line;
mod rules;
mod tokens;

pub(crate) use rules::IgnoreRules;
