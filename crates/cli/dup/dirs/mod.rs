//! Directories with the same content: options, the search, the report, and what is done about them.

mod options;
mod print;
mod report;

pub(super) use options::{DirArgs, ShareArg};
pub(super) use print::Printing;
pub(super) use report::{DirReport, say_partial};
