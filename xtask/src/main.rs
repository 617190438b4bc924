//! Developer tasks: `cargo xtask ci [STEP...]`, `cargo xtask tidy`, `cargo xtask codegen`, `cargo xtask bench`.
#![expect(clippy::print_stdout, reason = "a developer tool reports on its standard output")]

mod bench;
mod ci;
mod codegen;
mod deny;
mod horrors;
mod soak;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "usage: cargo xtask ci [STEP...]   everything CI runs, or only the named steps
       cargo xtask tidy           the conventions of the project that a machine can check
       cargo xtask codegen [--check]   manual, completions and docs/coming-from.md
       cargo xtask bench [TABLE...] [--quick] [--tree DIR] [--scratch DIR] [--keep] [--peers DIR] [--runs N]
                         [--records DIR] [-a ALGORITHM]... [--profile NAME]
                                  ftk against its peers: find, find-cold, hash, hash-cold, lists, threads, scale,
                                  startup, kernels
       cargo xtask bench peers [--peers DIR]     which peers there are; installs those that are missing
       cargo xtask bench report [RECORD] [--check]
                                  shows a record, and brings the pages that quote it up to date
       cargo xtask bench compare OLD NEW         what changed beyond noise
       cargo xtask soak [PART...] [--minutes N] [--ftk PROGRAM] [--quick] [--scratch DIR] [--keep] [--peers DIR]
                        [--records DIR]
                                  the long runs: stress, races, limits, memory, exhaustive
       cargo xtask horrors [--peers [DIR]] [--only N,..] [--write] [--ftk PROGRAM] [-v]
                                  failures that such tools have had: how ftk and its peers come through
Relative paths are below the root of the workspace.";

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    std::env::set_current_dir(root)?;
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci", ref steps @ ..] => ci::run(steps),
        ["tidy"] => tidy::run(),
        ["codegen"] => codegen::run(false),
        ["codegen", "--check"] => codegen::run(true),
        ["bench", ref rest @ ..] => bench::run(rest),
        ["soak", ref rest @ ..] => soak::run(rest),
        ["horrors", ref rest @ ..] => horrors::run(rest),
        ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("unknown task {args:?}\n{USAGE}"),
    }
}
