//! `--format ncdu`: the whole tree for other tools.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use ftk_inventory::Budget;
use ftk_record::{quote, sanitize};
use ftk_select::Roots;
use ftk_usage::{Dump, check_dump, write_dump};
use ftk_walk::Follow;
use indicatif::HumanCount;

use super::DuArgs;
use super::source::sort_out;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::races::{Races, say_vanished};
use crate::scan::{Walked, say_skipped, too_large, walk, walk_error, walker};
use crate::stdout::{Lines, Stdout};

/// Writes the tree below the one PATH.
///
/// # Errors
/// If there are several paths, or another thing than a directory, or if the tree does not fit into the allowed memory.
pub(super) fn run(args: &DuArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let roots = args.selection.starts.read(&args.paths, &[c"."])?;
    let [root] = &*roots else { anyhow::bail!("--format ncdu needs one PATH: the format has one root") };
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(root.to_bytes()));
    let shown = || quote(root.to_bytes());
    let metadata = fs::symlink_metadata(path).with_context(|| format!("cannot stat {}", shown()))?;
    let is_directory = if args.selection.follow(Follow::Never) == Follow::Always {
        path.is_dir()
    } else {
        metadata.is_dir()
    };
    ensure!(is_directory, "--format ncdu needs a directory, which {} is not", shown());
    // ncdu shows the path of the root, which means little elsewhere unless it is absolute.
    let name =
        fs::canonicalize(path).map_or_else(|_| root.to_bytes().to_vec(), |it| it.into_os_string().into_vec());
    let selection = args.selection.clone().without_max_depth();
    let filter = selection.filter();
    let selection = selection.compile(&Roots::new(&roots), &[], console)?;
    let budget = Budget::new(globals.memory());
    let walker = walker(&roots, args.selection.follow(Follow::Never), globals);
    let visitor = |worker| Dump::new(worker, &budget);
    let progress = console.progress.during_output();
    let Walked { visitors: mut parts, mut skipped, rules, .. } =
        walk(walker, &selection, &budget, progress, console, visitor);
    let errors = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.errors)).collect();
    let races = Races::new(args.races, &roots);
    let (vanished, errors) = sort_out(errors, &races, &mut skipped);
    let failed = errors.iter().map(|error| &error.path).chain(&vanished).map(|path| &**path).collect();
    errors.iter().for_each(|error| walk_error(error, console));
    check_dump(&parts).with_context(|| too_large(&budget))?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let out = Stdout::default();
    let mut lines = Lines::new(&out);
    let is_shown = Stdout::is_terminal();
    // A failure is kept by `out`, which returns it below.
    let _ = write_dump(&parts, &failed, &name, seconds, filter, &mut |text| {
        let is_written = lines.line(|line| match is_shown {
            true => text.split_inclusive(|byte| *byte == b'\n').for_each(|row| {
                let (row, end) = row.split_at(row.len() - usize::from(row.ends_with(b"\n")));
                line.extend_from_slice(sanitize(row).as_bytes());
                line.extend_from_slice(end);
            }),
            false => line.extend_from_slice(text),
        });
        if is_written { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    });
    lines.flush();
    out.finish()?;
    say_skipped(skipped, Default::default(), console);
    say_vanished(vanished, console);
    rules.say(console);
    let unreadable = match errors.len() as u64 {
        0 => String::new(),
        n => format!("; {} unreadable (status 2)", HumanCount(n)),
    };
    console.summary(format_args!(
        "{} written in {}{unreadable}",
        human::entries(skipped.matched),
        human::time(start.elapsed())
    ));
    Ok(if errors.is_empty() { Outcome::Success } else { Outcome::Error })
}
