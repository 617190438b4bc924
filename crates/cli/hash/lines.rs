//! `ftk hash --lines`.

use crate::args::Globals;
use crate::console::Console;
use crate::hash::HashArgs;
use crate::outcome::Outcome;

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let _ = (args, globals, console);
    todo!("being written")
}
