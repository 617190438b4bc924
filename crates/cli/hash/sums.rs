//! `ftk hash PATH...`: prints the digest of every file in the format of `sha256sum`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use ftk_file::Stream;
use ftk_hash::{Algorithm, Digest, Platform};
use ftk_inventory::{Budget, Keep};
use ftk_process::{Rows, Work, hash_stream, process};
use ftk_read::Span;
use ftk_record::{End, Style};
use ftk_sched::Stop;
use ftk_walk::Follow;

use crate::algorithm::wanted;
use crate::args::Globals;
use crate::asked;
use crate::console::{Console, cause};
use crate::engine::Engine;
use crate::failed::say_failed;
use crate::hash::HashArgs;
use crate::hash::list::{Format, emit};
use crate::human;
use crate::list::{List, cannot_write, refuse_own_input};
use crate::outcome::Outcome;
use crate::scan::{scan_hinting, too_large, walker};
use crate::simd;
use crate::stats::{Phase, nanos};
use crate::stdout::Stdout;

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    if args.zero && globals.json {
        bail!("--zero cannot be used with --json: each object is one line");
    }
    let engine = Engine::new(globals, console)?;
    let (algorithms, platform) = (&*wanted(&args.algorithms), simd::platform()?);
    let is_stdin = |path: &OsString| path == "-";
    let (special, starts): (Vec<_>, Vec<_>) = args
        .paths
        .iter()
        .filter(|path| !is_stdin(path))
        .cloned()
        .partition(|path| args.special && is_special(path));
    let stdout = Stdout::default();
    let mut list = List::create(args.output.as_deref(), &stdout)?;
    let own = list.own();
    refuse_own_input(&args.paths, &own)?;
    // Compiled first, so that a bad pattern is refused before anything is read.
    let selection = args.selection.compile(&own, console)?;
    let mut outcome = Outcome::Success;
    let lists = &args.selection.starts;
    let wants_stdin = args.paths.iter().any(is_stdin) || (args.paths.is_empty() && !lists.has_list());
    ensure!(
        !(wants_stdin && lists.takes_stdin()),
        "standard input cannot be both a list of paths and a file to hash"
    );
    let starts = lists.read(&starts, &[])?;
    let mut streams = Vec::new();
    let mut add = |path: &[u8], hashed: Result<Vec<Digest>, (&str, io::Error)>| match hashed {
        Ok(digests) => streams.push((path.to_vec(), digests)),
        Err((verb, error)) => {
            console.path_error(verb, path, cause(&error));
            outcome = Outcome::Error;
        }
    };
    if wants_stdin {
        asked::doing(&"hashing standard input");
        add(b"-", hash_special("stdin", io::stdin(), algorithms, platform, console));
    }
    for path in &special {
        asked::doing(&"hashing a device or FIFO");
        let opened = File::open(path).map_err(|error| ("open", error));
        let hashed = opened.and_then(|file| hash_special("special", file, algorithms, platform, console));
        add(path.as_bytes(), hashed);
    }
    streams.sort_by(|a, b| a.0.cmp(&b.0));

    let has_starts = !starts.is_empty();
    let start = Instant::now();
    let walker = walker(starts, args.selection.follow(Follow::Roots), globals);
    let budget = Budget::new(globals.memory());
    let hint = if args.special { "" } else { " (add --special to read it)" };
    let scanned = scan_hinting(hint, walker, &selection, Keep::Files, &budget, console)?;
    scanned.say_filtered(console);
    let inventory = &scanned.inventory;
    let row = Rows::bytes_per_file(algorithms) as u64;
    budget.reserve(u64::from(inventory.files()) * row).with_context(|| too_large(&budget))?;
    let mut rows = Rows::new(inventory.files(), algorithms);
    let work = Work { inventory, algorithms, platform, only: None, span: Span::Whole };
    let report = engine.watch("hash", inventory.files(), |watch| {
        process(&work, &mut rows, &engine.resources(&Stop::new(), watch))
    });
    engine.say_plan(&work, &report, console);
    say_failed(inventory, &report.failed, "not hashed", console);

    let format = Format {
        algorithms,
        // Without tags, lines of different algorithms would be indistinguishable.
        style: if args.tag || algorithms.len() > 1 { Style::Tagged } else { Style::Untagged },
        end: if args.zero { End::Nul } else { End::Newline },
        json: globals.json,
        is_shown: list.is_shown(),
    };
    emit(&mut list, inventory, &rows, streams, format)
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

/// Whether a path leads to a FIFO or a device.
fn is_special(path: &OsString) -> bool {
    let file_type = fs::metadata(path).map(|metadata| metadata.file_type());
    file_type.is_ok_and(|it| it.is_fifo() || it.is_char_device() || it.is_block_device())
}

/// Returns the digests of a stream. The error contains the operation that failed.
fn hash_special(
    phase: &'static str,
    input: impl AsFd,
    algorithms: &[Algorithm],
    platform: Platform,
    console: &Console,
) -> Result<Vec<Digest>, (&'static str, io::Error)> {
    let start = Instant::now();
    let mut input = Stream::new(input).take(u64::MAX);
    let hashed = hash_stream(&mut input, algorithms, platform);
    console.stats.phase(Phase {
        phase,
        elapsed_ns: nanos(start.elapsed()),
        files: Some(1),
        failed: Some(u64::from(hashed.is_err())),
        bytes: Some(u64::MAX - input.limit()),
        ..Phase::default()
    });
    hashed.map_err(|error| ("read", error))
}
