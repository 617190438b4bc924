//! Checks whether an action works on the file systems of the files, before hours are spent on reading them.

use anyhow::bail;
use ftk_apply::{Action, Obstacle, Reach, probe};
use ftk_dedup::Member;
use ftk_record::quote;

use crate::console::Console;
use crate::dup::act::step;
use crate::dup::action::ActionArgs;

/// Warns about each file system on which the action does not work. `pairs` are two files of each file system, and
/// `root_lens` the lengths of the paths of starting points.
///
/// # Errors
/// If the action works on none of them.
pub(super) fn preflight(
    pairs: &[[Member; 2]],
    root_lens: &[usize],
    action: &Action,
    act: &ActionArgs,
    console: &Console,
) -> anyhow::Result<()> {
    let (mut reach, mut obstacles, option) = (Reach::new(), 0, act.option());
    for [victim, keeper] in pairs {
        // The other obstacles concern the probed files alone, which will be refused in their own steps.
        if let Err(obstacle) = probe(&mut reach, action, &step(victim, keeper, root_lens))
            && !matches!(obstacle, Obstacle::Unreachable(_) | Obstacle::Unknown(_) | Obstacle::NotWritable)
        {
            obstacles += 1;
            let place = quote(&victim.path);
            let why = match (action, &obstacle) {
                (Action::Move(_), Obstacle::OtherFileSystem) => "it is on another one".to_owned(),
                _ => obstacle.to_string(),
            };
            console.warning(format_args!("{option} does not work for the file system of {place}: {why}"));
        }
    }
    if obstacles > 0 && obstacles == pairs.len() {
        let other = if let Action::Move(_) = action { "directory" } else { "action" };
        bail!("{option} works for none of the file systems searched: choose another {other}");
    }
    Ok(())
}
