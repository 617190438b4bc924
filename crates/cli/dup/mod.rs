//! `ftk dup`.

use clap::Args;

use crate::args::Globals;
use crate::console::Console;
use crate::outcome::Outcome;

/// Find files with the same content
#[derive(Debug, Args)]
pub(crate) struct DupArgs {}

pub(crate) fn run(_args: &DupArgs, _globals: &Globals, _console: &Console) -> anyhow::Result<Outcome> {
    anyhow::bail!("not built yet")
}
