//! `ftk manifest`.

use clap::Args;

use crate::args::Globals;
use crate::console::Console;
use crate::outcome::Outcome;

/// Record what a tree is, and verify it later
#[derive(Debug, Args)]
pub(crate) struct ManifestArgs {}

pub(crate) fn run(_args: &ManifestArgs, _globals: &Globals, _console: &Console) -> anyhow::Result<Outcome> {
    anyhow::bail!("not built yet")
}
