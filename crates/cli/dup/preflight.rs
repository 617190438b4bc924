//! Checks whether an action works on the file systems of the files, before hours are spent on reading them.

use anyhow::bail;
use ftk_apply::{Action, Obstacle, Reach, probe};
use ftk_dedup::Member;
use ftk_record::quote;

use crate::console::Console;
use crate::dup::act::step;

/// Warns about each file system on which the action does not work. `pairs` are two files of each file system, and
/// `root_lens` the lengths of the paths of starting points.
///
/// # Errors
/// If the action works on none of them.
pub(super) fn preflight(
    pairs: &[[Member; 2]],
    root_lens: &[usize],
    action: &Action,
    console: &Console,
) -> anyhow::Result<()> {
    let mut reach = Reach::new();
    let n_pairs = pairs.len();
    let mut obstacles = 0;
    for [victim, keeper] in pairs {
        let place = quote(&victim.path);
        match probe(&mut reach, action, &step(victim, keeper, root_lens)) {
            Ok(_) => {}
            // These obstacles concern the probed files alone, which will be refused in their own steps.
            Err(Obstacle::Unreachable(_) | Obstacle::Unknown(_) | Obstacle::NotWritable) => {}
            Err(obstacle) => {
                obstacles += 1;
                let kind = action.kind();
                console
                    .warning(format_args!("{kind} does not work on the file system of {place}: {obstacle}"));
            }
        }
    }
    if n_pairs > 0 && obstacles == n_pairs {
        bail!("--action {} works on none of the file systems searched: choose another action", action.kind());
    }
    Ok(())
}
