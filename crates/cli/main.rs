//! The `ftk` command: arguments, output, progress, exit status. One file a subcommand; nothing here that
//! another program could want.

mod algorithm;
mod args;
mod calibrate;
mod cmp;
mod completions;
mod console;
mod counted;
mod describe;
mod dup;
mod engine;
mod failed;
mod find;
mod hash;
mod human;
mod input;
mod list;
mod man;
mod manifest;
mod meter;
mod outcome;
mod progress;
mod scan;
mod selection;
mod shown;
mod simd;
mod starts;
mod stats;
mod stdout;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use ftk_record::Output;
use signal_hook::consts::SIGABRT;
use signal_hook::flag::register_conditional_shutdown;

use crate::args::{Args, Command};
use crate::console::{Console, cause};
use crate::outcome::Outcome;

// The unwinder, linked in: a library less to load, which took a tenth of the time of a short run.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no function is declared, only where others are found")]
#[link(name = "gcc_eh", kind = "static", modifiers = "-bundle")]
unsafe extern "C" {}

/// Whether an abort ends the program with a status of its own: always.
static IS_FAILURE: AtomicBool = AtomicBool::new(true);

fn main() -> ExitCode {
    // Where memory runs out, the standard library says so and aborts: a run that failed, and no crash. Without the
    // handler the signal tells as much.
    let _ = register_conditional_shutdown(SIGABRT, Outcome::Error as i32, &IS_FAILURE);
    // The hook has said what happened; the status says that the answer is not to be relied on.
    catch_unwind(run).unwrap_or(Outcome::Error).into()
}

fn run() -> Outcome {
    let args = match Args::of_process() {
        Ok(args) => args,
        Err(error) => {
            args::color_of_process().write_global();
            // Help and version too are output that must arrive.
            let is_answer = error.exit_code() == 0;
            return if console::show(error).is_ok() && is_answer { Outcome::Success } else { Outcome::Error };
        }
    };
    args.globals.color.write_global();
    let mut console = Console::new(&args.globals);
    let Some(path) = &args.globals.stats else { return execute(&args, &console) };
    // Better to fail now than after hours of work.
    let written = Output::create(path).and_then(|output| {
        console.own = output.identities().to_vec();
        let outcome = catch_unwind(AssertUnwindSafe(|| execute(&args, &console))).unwrap_or(Outcome::Error);
        console.stats.write(output, args.command.name(), outcome).map(|()| outcome)
    });
    written.unwrap_or_else(|error| {
        console.path_error("write", path.as_os_str().as_encoded_bytes(), cause(&error));
        Outcome::Error
    })
}

fn execute(args: &Args, console: &Console) -> Outcome {
    let outcome = match &args.command {
        Command::Find(args_of) => find::run(args_of, &args.globals, console),
        Command::Hash(args_of) => hash::run(args_of, &args.globals, console),
        Command::Dup(args_of) => dup::run(args_of, &args.globals, console),
        Command::Manifest(args_of) => manifest::run(args_of, &args.globals, console),
        Command::Cmp(args_of) => cmp::run(args_of, &args.globals, console),
        Command::Calibrate(args_of) => calibrate::run(args_of, &args.globals, console),
        Command::Completions(args_of) => completions::run(args_of),
        Command::Man(args_of) => man::run(args_of, console),
        Command::Describe(_) => describe::run(),
    };
    outcome.unwrap_or_else(|error| console.fatal(&error))
}
