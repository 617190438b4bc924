//! `ftk hash`: the digest of every file, as `sha256sum` prints it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use ftk_hash::{Algorithm, Digest, Platform};
use ftk_inventory::{Budget, FileNo, Inventory, Keep};
use ftk_process::{Failed, Rows, Work, hash_stream, process};
use ftk_read::Failure;
use ftk_record::{End, Output, Style, SumFormat, quote, sanitize, write_path};
use ftk_sched::Stop;
use ftk_walk::Follow;
use indicatif::HumanCount;

use crate::args::Globals;
use crate::console::{Console, cause};
use crate::engine::Engine;
use crate::outcome::Outcome;
use crate::scan::{TOO_LARGE, paths, scan, walker};
use crate::selection::SelectionArgs;
use crate::stdout::{Lines, Stdout};

/// Print the digest of every file, sorted by path
///
/// The lines are those of sha256sum and its kin, byte for byte. Directories are walked, and every regular file
/// in them is read, hidden and ignored ones too. A file that cannot be read, or changes while it is read, is
/// an error and has no line.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HashArgs {
    /// Files and directories; `-` or none: standard input
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    /// Which digest
    #[arg(short, long, value_name = "ALGO", default_value = "sha256", help_heading = "Output")]
    algorithm: Algorithm,

    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// One JSON object a line
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    selection: SelectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  ftk hash -o SHA256SUMS ~/archive        a list that `sha256sum -c` accepts
  ftk hash -a xxh128 -e iso /srv          fast and not cryptographic, of some files only
  tar c . | ftk hash -a blake3            a stream";

pub(crate) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let engine = Engine::new(globals, console)?;
    let platform = Platform::detect();
    let is_stdin = |path: &OsString| path == "-";
    let starts: Vec<_> = args.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    let wants_stdin = args.paths.is_empty() || args.paths.iter().any(is_stdin);

    let stdout = Stdout::default();
    let mut list = match &args.output {
        Some(path) => List::File(Output::create(path).with_context(|| cannot("write", path.as_os_str()))?),
        None => List::Stdout(Lines::new(&stdout)),
    };
    let own = list.own();
    let mut outcome = Outcome::Success;

    let mut stdin = None;
    if wants_stdin {
        match hash_stream(io::stdin().lock(), args.algorithm, platform) {
            Ok(digest) => stdin = Some(digest),
            Err(error) => {
                console.path_error("read", b"-", cause(&error));
                outcome = Outcome::Error;
            }
        }
    }

    let start = Instant::now();
    let walker = walker(paths(&starts), args.selection.follow(Follow::Roots), globals);
    let budget = Budget::new(globals.memory());
    let scanned = scan(walker, &args.selection.compile(&own)?, Keep::Files, &budget, console)?;
    outcome = outcome.max(scanned.outcome);
    let inventory = &scanned.inventory;
    let row = 1 + args.algorithm.digest_len() as u64;
    budget.draw(u64::from(inventory.files()) * row).context(TOO_LARGE)?;
    let mut rows = Rows::new(inventory.files(), args.algorithm.digest_len());
    let work = Work { inventory, algorithm: args.algorithm, platform };
    let report =
        engine.watch(inventory.files(), |watch| process(&work, &mut rows, &engine.env(&Stop::new(), watch)));
    engine.say_plan(&work, &report, console);
    if !report.failed.is_empty() {
        say_failed(inventory, &report.failed, console);
        outcome = Outcome::Error;
    }

    let format = SumFormat::new(args.algorithm.tag(), Style::Untagged, End::Newline);
    let is_shown = args.output.is_none() && Stdout::is_terminal();
    let line = |out: &mut Vec<u8>, digest: &[u8], path: &[u8]| {
        let start = out.len();
        if args.json {
            json_line(out, args.algorithm, digest, path)
        } else {
            format.write_line(out, digest, path)
        }
        if is_shown {
            let shown = sanitize(&out[start..out.len() - 1]).into_owned();
            out.truncate(start);
            out.extend_from_slice(shown.as_bytes());
            out.push(b'\n');
        }
    };
    emit(&mut list, inventory, &rows, stdin, line).with_context(|| list_error(args))?;
    list.finish().with_context(|| list_error(args))?;
    stdout.finish().context("cannot write to standard output")?;

    if !starts.is_empty() {
        let failed = report.failed.len() as u64;
        let hashed = HumanCount(report.done.files - failed);
        engine.say_done(
            &format!("{hashed} files"),
            report.done,
            start.elapsed(),
            args.algorithm.name(),
            console,
        );
        if failed > 0 {
            console.summary(format_args!("{} not hashed (listed above; status 2)", HumanCount(failed)));
        }
    }
    Ok(outcome)
}

/// Writes a line for every row that is `Ok`, and for standard input, in path order.
fn emit(
    list: &mut List<'_>,
    inventory: &Inventory,
    rows: &Rows,
    mut stdin: Option<Digest>,
    line: impl Fn(&mut Vec<u8>, &[u8], &[u8]),
) -> io::Result<()> {
    let mut order = inventory.in_path_order();
    let mut pending = 0_u64;
    while let Some(item) = order.next() {
        let FileNo(file) = item.file.expect("only regular files were kept");
        if item.path > b"-".as_slice()
            && let Some(digest) = stdin.take()
        {
            list.line(|out| line(out, digest.as_bytes(), b"-"))?;
        }
        pending += u64::from(rows.is_pending(file));
        if let Some(digest) = rows.digest(file) {
            list.line(|out| line(out, digest, item.path))?;
        }
    }
    if let Some(digest) = stdin {
        list.line(|out| line(out, digest.as_bytes(), b"-"))?;
    }
    if pending > 0 {
        return Err(io::Error::other(format!("internal error: {pending} files were not processed")));
    }
    Ok(())
}

/// Where the lines go.
enum List<'o> {
    Stdout(Lines<'o>),
    File(Output),
}

impl List<'_> {
    /// Device and inode of the files that are this list.
    fn own(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Stdout(_) => Stdout::identity().into_iter().collect(),
            Self::File(output) => output.identities().to_vec(),
        }
    }

    fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        match self {
            // A failure is kept by `Stdout` and comes up when that is finished.
            Self::Stdout(lines) => {
                lines.line(push);
                Ok(())
            }
            Self::File(output) => {
                let mut line = Vec::new();
                push(&mut line);
                output.write_all(&line)
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut lines) => {
                lines.flush();
                Ok(())
            }
            Self::File(output) => output.commit(),
        }
    }
}

fn json_line(out: &mut Vec<u8>, algorithm: Algorithm, digest: &[u8], path: &[u8]) {
    out.push(b'{');
    write_path(out, "path", path);
    let _ = writeln!(out, ",\"algorithm\":\"{algorithm}\",\"digest\":\"{}\"}}", Digest::from_bytes(digest));
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
                console.error(format_args!("{} is no regular file any more: not hashed", quote(path)))
            }
            Failure::Changed { before, after, .. } if before.size != after.size => {
                console.error(format_args!(
                    "{} changed while it was read (size {} then {}): not hashed",
                    quote(path),
                    HumanCount(before.size),
                    HumanCount(after.size),
                ))
            }
            _ => console.error(format_args!("{} changed while it was read: not hashed", quote(path))),
        }
    }
}

fn list_error(args: &HashArgs) -> String {
    cannot("write", args.output.as_ref().map_or(OsStr::new("standard output"), |path| path.as_os_str()))
}

fn cannot(verb: &str, path: &OsStr) -> String {
    format!("cannot {verb} {}", quote(path.as_encoded_bytes()))
}
