//! Directories with the same content: options, the search, the report, and what is done about them.

mod options;
mod plan;
mod print;
mod report;
mod shared;

pub(super) use options::{DirArgs, ShareArg};
pub(super) use plan::{DirItem, DirPlanner};
pub(super) use print::Printing;
pub(super) use report::DirReport;
