//! Developer tasks: `cargo xtask ci [STEP...]`, `cargo xtask tidy`, `cargo xtask codegen`, `cargo xtask bench`.
#![expect(clippy::print_stdout, reason = "a developer tool reports on its standard output")]

mod bench;
mod ci;
mod codegen;
mod deny;
mod horrors;
mod scale;
mod soak;
mod spark;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "usage: cargo xtask ci [STEP...]   all that CI runs, or only the named steps
       cargo xtask ci quick       a part for every change: style, and most of the tests
       cargo xtask ci nightly     what takes too long for CI
       cargo xtask tidy           check the conventions of the project
       cargo xtask codegen [--check]   generate manual, completions and docs/coming-from.md
       cargo xtask bench [TABLE...] [--quick] [--tree DIR] [--scratch DIR] [--keep] [--peers DIR] [--runs N]
                         [--records DIR] [-a ALGORITHM]... [--profile NAME] [--before FTK]
                                  benchmark ftk and its peers: find, find-cold, expressions, du, hash, hash-cold, lists, dup,
                                  dup-cold, cache, manifest, cmp, threads, scaling, scale, startup, kernels
       cargo xtask bench peers [--peers DIR]     list the peers, and install missing ones
       cargo xtask bench report [--check]        update the charts and pages that show the records
       cargo xtask bench compare OLD NEW         show changes that exceed the noise
       cargo xtask soak [PART...] [--minutes N] [--kills N] [--ftk PROGRAM] [--quick] [--scratch DIR] [--keep]
                        [--peers DIR] [--records DIR]
                                  long tests: stress, races, kills, stale, limits, memory, shards, busy
       cargo xtask horrors [--peers [DIR]] [--only N,..] [--write] [--ftk PROGRAM] [-v]
                                  reproduce failures of file tools with ftk and its peers
       cargo xtask scale [--write]   model many hosts that record one tree, and update docs/cluster.md
Relative paths start from the root of the workspace.";

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is in the workspace")?;
    std::env::set_current_dir(root)?;
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["help" | "-h" | "--help"] | [_, "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        ["ci", ref steps @ ..] => ci::run(steps),
        ["tidy"] => tidy::run(),
        ["codegen"] => codegen::run(false),
        ["codegen", "--check"] => codegen::run(true),
        ["bench", ref rest @ ..] => bench::run(rest),
        ["soak", ref rest @ ..] => soak::run(rest),
        ["horrors", ref rest @ ..] => horrors::run(rest),
        ["scale", ref rest @ ..] => scale::run(rest),
        _ => bail!("unknown task {args:?}\n{USAGE}"),
    }
}
