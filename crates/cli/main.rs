//! The `ftk` command: arguments, output, progress, exit status. One file a subcommand; nothing here that
//! another program could want.

mod args;
mod calibrate;
mod completions;
mod console;
mod describe;
mod engine;
mod find;
mod hash;
mod human;
mod man;
mod outcome;
mod progress;
mod scan;
mod selection;
mod simd;
mod simd;
mod starts;
mod stdout;

use std::process::ExitCode;

use crate::args::{Args, Command};
use crate::console::Console;
use crate::outcome::Outcome;

fn main() -> ExitCode {
    // The hook has said what happened; the status says that the answer is not to be relied on.
    std::panic::catch_unwind(run).unwrap_or(Outcome::Error).into()
}

fn run() -> Outcome {
    let args = match Args::of_process() {
        Ok(args) => args,
        // Help and version too are output that must arrive.
        Err(error) if error.print().is_ok() && error.exit_code() == 0 => return Outcome::Success,
        Err(_) => return Outcome::Error,
    };
    args.globals.color.write_global();
    let console = Console::new(&args.globals);
    let outcome = match args.command {
        Command::Find(args_of) => find::run(&args_of, &args.globals, &console),
        Command::Hash(args_of) => hash::run(&args_of, &args.globals, &console),
        Command::Calibrate(args_of) => calibrate::run(&args_of, &console),
        Command::Completions(args_of) => completions::run(&args_of),
        Command::Man(args_of) => man::run(&args_of, &console),
        Command::Describe(_) => describe::run(),
    };
    outcome.unwrap_or_else(|error| console.fatal(&error))
}
