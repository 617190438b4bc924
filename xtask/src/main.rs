//! Developer tasks: `cargo xtask ci [STEP...]`, `cargo xtask tidy`.
#![expect(clippy::print_stdout, reason = "a developer tool reports on its standard output")]

mod ci;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "usage: cargo xtask ci [STEP...]   everything CI runs, or only the named steps
       cargo xtask tidy           the conventions of the project that a machine can check";

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    std::env::set_current_dir(root)?;
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci", ref steps @ ..] => ci::run(steps),
        ["tidy"] => tidy::run(),
        ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("unknown task {args:?}\n{USAGE}"),
    }
}
