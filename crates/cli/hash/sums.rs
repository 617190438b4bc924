//! `ftk hash PATH...`: the digest of every file, as `sha256sum` prints it.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use ftk_inventory::{Budget, Keep};
use ftk_process::{Rows, Work, hash_stream, process};
use ftk_read::Span;
use ftk_record::{End, Style};
use ftk_sched::Stop;
use ftk_walk::Follow;

use crate::algorithm::wanted;
use crate::args::Globals;
use crate::console::{Console, cause};
use crate::engine::Engine;
use crate::failed::say_failed;
use crate::hash::HashArgs;
use crate::hash::list::{Format, emit};
use crate::human;
use crate::list::{List, cannot_write, refuse_own_input};
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
    let (algorithms, platform) = (&*wanted(&args.algorithms), simd::platform()?);
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
    let work = Work { inventory, algorithms, platform, only: None, span: Span::Whole };
    let report = engine.watch("hash", inventory.files(), |watch| {
        process(&work, &mut rows, &engine.env(&Stop::new(), watch))
    });
    engine.say_plan(&work, &report, console);
    say_failed(inventory, &report.failed, "not hashed", console);

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
