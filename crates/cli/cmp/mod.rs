//! `ftk cmp`.

use clap::Args;

use crate::args::Globals;
use crate::console::Console;
use crate::outcome::Outcome;

/// Compare two files or two trees, byte by byte
#[derive(Debug, Args)]
pub(crate) struct CmpArgs {}

pub(crate) fn run(_args: &CmpArgs, _globals: &Globals, _console: &Console) -> anyhow::Result<Outcome> {
    anyhow::bail!("not built yet")
}
