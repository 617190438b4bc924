//! What `.gitignore` and `.ignore` files say.
//!
//! Each directory in which there are such files adds a level to the rules of the directory above it. Matching is
//! the [`ignore`] crate's; reading is our own, since that must work past any limit on paths.

mod file;
mod line;
mod rules;

pub(crate) use rules::Rules;
