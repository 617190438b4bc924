//! Directories with the same content: options, the search, the report, and what is done about them.

mod linked;
mod options;
mod plan;
mod print;
mod report;

pub(super) use linked::joins_linked;
pub(super) use options::{DirArgs, ShareArg};
pub(super) use plan::{DirItem, DirPlanner};
pub(super) use print::Printing;
pub(super) use report::DirReport;
