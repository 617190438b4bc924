//! The `ftk` command: arguments, output, progress and exit status. Each subcommand has its own module. Code
//! that another program could use belongs in the library crates.

mod agreement;
mod algorithm;
mod args;
mod asked;
mod attributes;
mod browser;
mod cache;
mod calibrate;
mod cmp;
mod colour;
mod completions;
mod config;
mod console;
mod costs;
mod describe;
mod documents;
mod du;
mod dup;
mod exclusions;
mod expression;
mod files;
mod film;
mod find;
mod foreign;
mod globals;
mod hash;
mod help;
mod human;
mod input;
mod journal;
mod line;
mod list;
mod lock;
mod man;
mod manifest;
mod meter;
mod metrics;
mod number;
mod polite;
mod progress;
mod query;
mod races;
mod report;
mod rules;
mod run;
mod run_files;
mod run_log;
mod scan;
mod selection;
mod signals;
mod size;
mod starts;
mod stats;
mod stdout;
mod step_lines;
mod tree_file;
mod undo;

use std::io::{Cursor, ErrorKind, Write as _, stderr};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Arc;

use ftk_file::StandardStream;
use signal_hook::consts::{SIGABRT, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::{exit, register};

use crate::args::{Args, Command, Refused};
use crate::console::{Console, Outcome, cause};
use crate::globals::ProgressArg;
use crate::line::CommandLine;
use crate::run_files::RunFiles;

/// The allocator of musl has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    set_hook(Box::new(print_panic));
    exit_on_abort();
    survive_size_limits();
    asked::listen();
    // The panic hook has printed the cause. The status tells callers that the output is not reliable.
    catch_unwind(run).unwrap_or(Outcome::Error).into()
}

/// Prints a panic: its place and message, cut off after some hundred bytes. It neither locks nor allocates. The hook of
/// the standard library does both for a backtrace, and deadlocks if there is no memory for it.
fn print_panic(panic: &PanicHookInfo<'_>) {
    let mut text = [0; 512];
    let mut line = Cursor::new(&mut text[..]);
    let _ = writeln!(line, "ftk: {panic}");
    let len = line.position() as usize;
    let _ = rustix::io::write(stderr(), &text[..len]);
}

/// Turns an abort into exit status 2. When memory runs out, the standard library prints the size of the
/// allocation and aborts. Callers should see a failed run, not a crash.
#[expect(unsafe_code, reason = "registers a signal handler, which must be async-signal-safe")]
fn exit_on_abort() {
    let end = || {
        let _ = rustix::io::write(stderr(), b"ftk: aborted: out of memory, or the cause printed above\n");
        exit(Outcome::Error.status().into());
    };
    // SAFETY: the handler only calls write(2) and `_exit`. It does not lock or allocate.
    // If it cannot be registered, the signal itself ends the run, which also counts as a failure.
    let _ = unsafe { register(SIGABRT, end) };
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) fail with `EFBIG`, which is reported like a full disk.
/// By default, `SIGXFSZ` ends the process. The commands of `--exec` do not inherit a handler, but they would inherit
/// that the signal is ignored.
fn survive_size_limits() {
    let _ = flag::register(SIGXFSZ, Arc::default());
}

fn run() -> Outcome {
    if let Some(result) = query::exec_if_asked().or_else(args::print_version_if_asked) {
        return result.unwrap_or_else(|error| {
            Console::complain(format_args!("{error:#}"));
            Outcome::Error
        });
    }
    let args = match Args::of_process() {
        Ok(args) => args,
        Err(Refused::Message(hint)) => {
            args::color_of(CommandLine::of_process()).write_global();
            Console::complain(hint);
            return Outcome::Error;
        }
        Err(Refused::Parser(error)) => {
            args::color_of(CommandLine::of_process()).write_global();
            // Help and version are output too: failing to write them is an error.
            let is_answer = error.exit_code() == 0;
            let is_shown = match console::show(error) {
                // A closed pipe means that the reader has seen enough. It is not an error.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
                Err(error) => {
                    Console::complain(format_args!("cannot write to standard output: {}", cause(&error)));
                    false
                }
                Ok(()) => true,
            };
            return if is_shown && is_answer { Outcome::Success } else { Outcome::Error };
        }
    };
    args.globals.color.write_global();
    if args.globals.progress == ProgressArg::Json && StandardStream::Error.is_closed() {
        // No message can say so.
        return Outcome::Error;
    }
    let mut console = Console::new(&args.globals, args.defaults.used().to_vec());
    args.defaults.say(&console);
    polite::begin(&args.globals, &console);
    if let Err(error) = args.files.check() {
        return console.fatal(&error);
    }
    let Some(files) = RunFiles::create(&args.globals, &console) else { return Outcome::Error };
    console.own = files.identities();
    // Messages change the content of their file, but listing its name is right.
    if !matches!(args.command, Command::Find(_) | Command::Du(_)) {
        console.own.extend(Console::identity());
    }
    if files.is_empty() {
        return execute(&args, &console);
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| execute(&args, &console))).unwrap_or(Outcome::Error);
    files.write(args.command.name(), outcome, &console)
}

fn execute(args: &Args, console: &Console) -> Outcome {
    let outcome = match &args.command {
        Command::Find(args_of) => find::run(args_of, &args.globals, console),
        Command::Du(args_of) => du::run(args_of, &args.globals, console),
        Command::Hash(args_of) => hash::run(args_of, &args.globals, console),
        Command::Dup(args_of) => dup::run(args_of, &args.globals, console),
        Command::Manifest(args_of) => manifest::run(args_of, &args.globals, console),
        Command::Cmp(args_of) => cmp::run(args_of, &args.globals, console),
        Command::Report(args_of) => report::run(args_of, &args.globals, console),
        Command::Query(args_of) => query::run(args_of),
        Command::Undo(args_of) => undo::run(args_of, &args.globals, console),
        Command::Cache(args_of) => cache::run(args_of, &args.globals, console),
        Command::Calibrate(args_of) => calibrate::run(args_of, &args.globals, console),
        Command::Completions(args_of) => completions::run(args_of),
        Command::Man(args_of) => man::run(args_of, console),
        Command::Help(args_of) => help::run(args_of),
        Command::Describe(_) => describe::run(),
    };
    polite::say_methods(&args.globals, console);
    outcome.unwrap_or_else(|error| {
        let outcome = console.fatal(&error);
        args.defaults.say_after_error(console);
        outcome
    })
}
