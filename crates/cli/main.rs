//! The `ftk` command: arguments, output, progress, exit status. One file a subcommand; nothing here that
//! another program could want.

mod args;
mod calibrate;
mod console;
mod engine;
mod find;
mod hash;
mod human;
mod outcome;
mod progress;
mod scan;
mod selection;
mod stdout;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Args, Command};
use crate::console::Console;

fn main() -> ExitCode {
    let args = Args::parse();
    args.globals.color.write_global();
    let console = Console::new(&args.globals);
    let outcome = match args.command {
        Command::Find(args_of) => find::run(&args_of, &args.globals, &console),
        Command::Hash(args_of) => hash::run(&args_of, &args.globals, &console),
        Command::Calibrate(args_of) => calibrate::run(&args_of, &console),
    };
    outcome.unwrap_or_else(|error| console.fatal(&error)).into()
}
