//! `--exec` and `--exec-batch`: run commands for entries during the search, without a shell.

mod batch;
mod children;
mod command;
mod operands;
mod options;
mod run;
mod template;

pub(super) use command::Templates;
pub(super) use operands::refuse_swallowed;
pub(super) use options::Commands;
pub(super) use run::run;
