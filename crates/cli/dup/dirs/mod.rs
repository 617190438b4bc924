//! Directories with the same content: options, the search, the report, and what is done about them.

mod options;
mod print;
mod report;

pub(super) use options::{DirArgs, ShareArg};
pub(super) use print::{Printing, each_group, print};
pub(super) use report::{check_format, say, say_partial};
