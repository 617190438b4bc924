//! `ftk hash PATH...`: prints the digest of every file in the format of `sha256sum`.

use std::ffi::{CString, OsStr, OsString};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use ftk_file::Stream;
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::Keep;
use ftk_process::hash_stream;
use ftk_record::{End, Style, quote, shell_word};
use ftk_select::Roots;
use ftk_walk::Follow;
use jiff::Timestamp;

use crate::algorithm::wanted;
use crate::asked;
use crate::cache;
use crate::console::{Console, Outcome, cause, say_failed};
use crate::foreign;
use crate::globals::Globals;
use crate::hash::list::{Format, below, emit};
use crate::hash::reading::is_list;
use crate::hash::{HashArgs, ListFormatArg, mhl};
use crate::human;
use crate::input;
use crate::line::CommandLine;
use crate::list::{List, named};
use crate::run::{Hashed, Run};
use crate::scan::too_large;
use crate::stdout::Stdout;

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    // The command line is only classified if it may be one of hashdeep: this takes longer than many a run.
    if args.selection.one_file_system()
        && let Some(hint) = foreign::known_files(CommandLine::of_process(), is_list)
    {
        bail!(hint);
    }
    let mut run = Run::new(globals, console)?;
    let started = Timestamp::now();
    let algorithms = match &*args.algorithms() {
        _ if args.sfv => vec![Algorithm::Crc32],
        [] if args.format.is_some() => vec![mhl::DEFAULT],
        given => wanted(given),
    };
    let algorithms = &*algorithms;
    let is_stdin = |path: &OsString| path == "-";
    let (special, starts): (Vec<_>, Vec<_>) = args
        .paths
        .iter()
        .filter(|path| !is_stdin(path))
        .cloned()
        .partition(|path| (args.special && is_special(path)) || input::is_pipe_of_caller(path));
    let stdout = Stdout::default();
    let mut list = List::create(named(args.output.as_deref()), &stdout)?;
    let mut own = list.own_records();
    own.extend(run.reuse(args.cache)?);
    let mut outcome = Outcome::Success;
    let lists = &args.selection.starts;
    let takes_stdin_alone = args.paths.is_empty() && !lists.has_list();
    // As in sha256sum, each `-` reads on where the one before has ended.
    let stdins = if takes_stdin_alone {
        usize::from(args.check.root.is_none())
    } else {
        args.paths.iter().filter(|path| is_stdin(path)).count()
    };
    ensure!(
        !(stdins > 0 && lists.takes_stdin()),
        "standard input cannot be both a list of paths and a file to hash"
    );
    // Names in a film hash list are relative to its directory.
    let film_root = args.format.and(list.path()).and_then(Path::parent).filter(|dir| *dir != Path::new(""));
    let root = args.check.root.as_deref().or(film_root);
    let root = root.map(|root| without_slashes(root.as_os_str().as_bytes()));
    ensure!(args.format.is_none() || stdins == 0, "--format mhl needs a PATH: standard input has no name");
    let starts = match root {
        Some(root) if takes_stdin_alone => vec![CString::new(root)?],
        _ => lists.read(&starts, &[])?,
    };
    if let Some(root) = root {
        ensure!(
            stdins == 0 && special.is_empty(),
            "--root cannot be used with standard input, FIFOs or devices"
        );
        ensure!(Path::new(OsStr::from_bytes(root)).is_dir(), "--root {} is not a directory", quote(root));
        for start in &starts {
            let is_root = without_slashes(start.as_bytes()) == root;
            let is_below = is_root || below(root, start.as_bytes()).is_some();
            ensure!(is_below, "{} is not below --root {}", quote(start.as_bytes()), quote(root));
        }
    }
    // Compiled now, so that a bad pattern is refused before anything is hashed.
    let selection = args.selection.compile(&Roots::new(&starts), &own, console)?;
    let mut streams = Vec::new();
    let mut add = |path: &[u8], hashed: Result<Vec<Digest>, (&str, io::Error)>| match hashed {
        Ok(digests) => streams.push((path.to_vec(), digests)),
        Err((verb, error)) => {
            console.path_error(verb, path, cause(&error));
            outcome = Outcome::Error;
        }
    };
    for _ in 0..stdins {
        asked::doing(&"hashing standard input");
        let stdin = input::stdin().map_err(|error| ("read", error));
        add(b"-", stdin.and_then(|stdin| hash_special("stdin", stdin, algorithms, &run)));
    }
    for path in &special {
        asked::doing(&"hashing a device or FIFO");
        let opened = File::open(path).map_err(|error| ("open", error));
        let hashed = opened.and_then(|file| hash_special("special", file, algorithms, &run));
        add(path.as_bytes(), hashed);
    }
    streams.sort_by(|a, b| a.0.cmp(&b.0));

    // In the directory of the list, its names would lead nowhere.
    let list_dir =
        list.path().and_then(Path::parent).filter(|dir| ![Path::new(""), Path::new(".")].contains(dir));
    let misplaced = list_dir.filter(|dir| {
        root.is_none()
            && starts.iter().any(|start| without_slashes(start.as_bytes()) == dir.as_os_str().as_bytes())
    });
    let has_starts = !starts.is_empty();
    if let Some(option) = lists.list_option().filter(|_| !has_starts && stdins == 0 && special.is_empty()) {
        console.summary(format_args!("the list of {option} is empty: no file hashed"));
    }
    // The rate in the summary is that of the files.
    run.start = Instant::now();
    let hint = if args.special { "" } else { " (add --special to read it)" };
    let follow = args.selection.follow(Follow::Roots);
    let scanned = run.walk(starts, follow, &selection, Keep::Files, hint)?;
    scanned.rules.say(console);
    scanned.say_filtered(console);
    let work = run.whole(&scanned.inventory, None, algorithms);
    let rows = run.rows(&work, args.format.is_some()).with_context(|| too_large(&run.budget))?;
    let Hashed { rows, done, failed } = run.read(&work, rows)?;
    say_failed(work.inventory, &failed, NOT_HASHED, console);

    let format = Format {
        algorithms,
        // Without tags, lines of different algorithms would be indistinguishable.
        style: if args.tag || algorithms.len() > 1 { Style::Tagged } else { Style::Untagged },
        end: if args.zero { End::Nul } else { End::Newline },
        base64: args.base64,
        json: globals.json,
        sfv: args.sfv,
        is_shown: list.is_shown(),
        root,
    };
    let n_streams = streams.len() as u64;
    let mut unnamed = 0;
    let mut refuse = |path: &[u8], why: &dyn Display| {
        console.error(format_args!("cannot list {}: {why}", quote(path)));
        unnamed += 1;
    };
    match args.format {
        Some(ListFormatArg::Mhl) => {
            let refuse = |path: &[u8], why: String| refuse(path, &why);
            mhl::emit(&mut list, work.inventory, &rows, algorithms, root, started, refuse);
        }
        None => emit(&mut list, work.inventory, &rows, streams, format, |path, why| refuse(path, &why)),
    }
    let failed = failed.len() as u64;
    let records = n_streams + done.files - failed - unnamed;
    outcome = outcome.max(scanned.outcome).max(Outcome::error_if(failed + unnamed > 0));
    outcome = list.finish_records(outcome, records, console)?;

    if let Some(dir) = misplaced {
        let dir = dir.as_os_str().as_bytes();
        let (shown, word) = (quote(&[dir, b"/"].concat()), shell_word(dir));
        console.summary(format_args!(
            "names begin with {shown}: --root {word} writes them for a check in {word}"
        ));
    }
    let reused = cache::reused(run.close_cache());
    if has_starts {
        let hashed = human::count(done.files - failed, "file");
        run.say_done(&format!("{hashed}{reused}"), done.bytes, algorithms);
    }
    Ok(outcome.max(run.say_unread(failed, NOT_HASHED)))
}

/// Returns a path without the slashes at its end.
fn without_slashes(mut path: &[u8]) -> &[u8] {
    while let Some(rest) = path.strip_suffix(b"/").filter(|rest| !rest.is_empty()) {
        path = rest;
    }
    path
}

/// The consequence for files that could not be read.
const NOT_HASHED: &str = "not hashed";

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
    run: &Run<'_>,
) -> Result<Vec<Digest>, (&'static str, io::Error)> {
    let start = Instant::now();
    let mut input = Stream::new(input).take(u64::MAX);
    let hashed = hash_stream(&mut input, algorithms, run.platform);
    run.console.stats.files(phase, start, 1, u64::from(hashed.is_err()), u64::MAX - input.limit());
    hashed.map_err(|error| ("read", error))
}
