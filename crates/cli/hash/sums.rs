//! `ftk hash PATH...`: the digest of every file, as `sha256sum` prints it.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use ftk_inventory::{Budget, Inventory, Keep};
use ftk_process::{Failed, Rows, Work, hash_stream, process};
use ftk_read::Failure;
use ftk_record::{End, Style, quote};
use ftk_sched::Stop;
use ftk_walk::Follow;
use indicatif::HumanCount;

use crate::args::Globals;
use crate::console::{Console, cause};
use crate::engine::Engine;
use crate::hash::HashArgs;
use crate::hash::list::{Format, List, cannot_write, emit, refuse_own_input};
use crate::human;
use crate::outcome::Outcome;
use crate::scan::{TOO_LARGE, scan, walker};
use crate::simd;
use crate::stats::{Phase, nanos};
use crate::stdout::Stdout;

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if args.zero && globals.json {
        bail!("--json ends every object with a newline: leave out --zero");
    }
    let engine = Engine::new(globals, console)?;
    let (algorithms, platform) = (&*args.algorithms(), simd::platform()?);
    let is_stdin = |path: &OsString| path == "-";
    let starts: Vec<_> = args.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    let stdout = Stdout::default();
    let mut list = List::create(args.output.as_deref(), &stdout)?;
    let own = list.own();
    refuse_own_input(&args.paths, &own)?;
    // A wrong pattern is refused before anything is read.
    let selection = args.selection.compile(&own, console)?;
    let mut outcome = Outcome::Success;
    let mut stdin = None;
    let lists = &args.selection.starts;
    let wants_stdin = args.paths.iter().any(is_stdin) || (args.paths.is_empty() && !lists.has_list());
    ensure!(!(wants_stdin && lists.takes_stdin()), "standard input cannot be both a list and a file");
    let starts = lists.read(&starts, &[])?;
    if wants_stdin {
        let start = Instant::now();
        let mut input = io::stdin().lock().take(u64::MAX);
        let hashed = hash_stream(&mut input, algorithms, platform);
        console.stats.phase(Phase {
            phase: "stdin",
            elapsed_ns: nanos(start.elapsed()),
            files: Some(1),
            failed: Some(u64::from(hashed.is_err())),
            bytes: Some(u64::MAX - input.limit()),
            ..Phase::default()
        });
        match hashed {
            Ok(digests) => stdin = Some(digests),
            Err(error) => {
                console.path_error("read", b"-", cause(&error));
                outcome = Outcome::Error;
            }
        }
    }

    let has_starts = !starts.is_empty();
    let start = Instant::now();
    let walker = walker(starts, args.selection.follow(Follow::Roots), globals);
    let budget = Budget::new(globals.memory());
    let scanned = scan(walker, &selection, Keep::Files, &budget, console)?;
    let inventory = &scanned.inventory;
    let row = Rows::bytes_per_file(algorithms) as u64;
    budget.draw(u64::from(inventory.files()) * row).context(TOO_LARGE)?;
    let mut rows = Rows::new(inventory.files(), algorithms);
    let work = Work { inventory, algorithms, platform };
    let report =
        engine.watch(inventory.files(), |watch| process(&work, &mut rows, &engine.env(&Stop::new(), watch)));
    engine.say_plan(&work, &report, console);
    say_failed(inventory, &report.failed, console);

    let format = Format {
        algorithms,
        // Untagged lines of several algorithms could not be told apart.
        style: if args.tag || algorithms.len() > 1 { Style::Tagged } else { Style::Untagged },
        end: if args.zero { End::Nul } else { End::Newline },
        json: globals.json,
        is_shown: list.is_shown(),
    };
    emit(&mut list, inventory, &rows, stdin, format)
        .and_then(|()| list.finish())
        .and_then(|()| stdout.finish())
        .with_context(|| cannot_write(args.output.as_deref()))?;

    let failed = report.failed.len() as u64;
    if has_starts {
        let hashed = human::count(report.done.files - failed, "file");
        engine.say_done(
            &hashed,
            report.done,
            start.elapsed(),
            &algorithms.iter().map(|it| it.name()).collect::<Vec<_>>().join(" + "),
            console,
        );
    }
    if failed > 0 {
        console.summary(format_args!("{} not hashed (listed above; status 2)", human::count(failed, "file")));
        outcome = Outcome::Error;
    }
    Ok(outcome.max(scanned.outcome))
}

/// A line for each file that has no digest, by path.
fn say_failed(inventory: &Inventory, failed: &[Failed], console: &Console) {
    let path = |failed: &Failed| {
        let mut path = Vec::new();
        inventory.push_path(failed.file, &mut path);
        path
    };
    let mut failed: Vec<_> = failed.iter().map(|failed| (path(failed), &failed.failure)).collect();
    failed.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    for (path, failure) in &failed {
        match failure {
            Failure::Io { op, source } => console.path_error(op, path, cause(source)),
            Failure::NotRegular => {
                let what = format_args!("{} is no regular file any more: not hashed", quote(path));
                console.error_of("not regular", what);
            }
            Failure::Changed { before, after, .. } if before.size != after.size => {
                let (before, after) = (HumanCount(before.size), HumanCount(after.size));
                let how = format_args!("(size {before} then {after}): not hashed");
                console.error_of("changed", format_args!("{} changed while it was read {how}", quote(path)));
            }
            _ => {
                let what = format_args!("{} changed while it was read: not hashed", quote(path));
                console.error_of("changed", what);
            }
        }
    }
}
