//! Developer tasks: `cargo xtask ci [STEP...]`, `cargo xtask tidy`, `cargo xtask codegen`, `cargo xtask bench`.
#![expect(clippy::print_stdout, reason = "a developer tool reports on its standard output")]

mod bench;
mod ci;
mod codegen;
mod deny;
mod dist;
mod fuzz;
mod horrors;
mod oldest;
mod scale;
mod semver;
mod soak;
mod spark;
mod targets;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Developer tasks
///
/// Relative paths start from the root of the workspace.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run all that CI runs, or only the named steps
    ///
    /// `quick` runs a part for every change: style, and most of the tests. `nightly` runs what takes too long for CI.
    Ci {
        steps: Vec<String>,
    },
    /// Check the conventions of the project
    Tidy,
    /// Generate the manual and docs/coming-from.md
    Codegen {
        /// Write nothing, and fail if a file is outdated
        #[arg(long)]
        check: bool,
    },
    Bench(bench::Args),
    Dist(dist::Options),
    Soak(soak::Options),
    Horrors(horrors::Options),
    /// Model many hosts that record one tree
    Scale {
        /// Update docs/cluster.md
        #[arg(long)]
        write: bool,
    },
}

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is in the workspace")?;
    std::env::set_current_dir(root)?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["bench", words @ ..] = &words[..]
        && let Some(result) = bench::help_out(words)
    {
        return result;
    }
    match Args::parse().task {
        Task::Ci { steps } => ci::run(&steps.iter().map(String::as_str).collect::<Vec<_>>()),
        Task::Tidy => tidy::run(),
        Task::Codegen { check } => codegen::run(check),
        Task::Bench(args) => bench::run(args),
        Task::Dist(options) => dist::run(&options),
        Task::Soak(options) => soak::run(options),
        Task::Horrors(options) => horrors::run(&options),
        Task::Scale { write } => scale::run(write),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    /// Returns the task of a command line, or the message.
    fn task(words: &str) -> Result<Task, String> {
        let args = Args::try_parse_from(["xtask"].into_iter().chain(words.split(' ')));
        args.map(|args| args.task).map_err(|error| error.to_string())
    }

    #[test]
    fn tables_and_options_of_bench_mix() {
        let options = |words: &str| match task(words).unwrap() {
            Task::Bench(args) => args.options,
            other => panic!("{other:?}"),
        };
        let some = options("bench hash --runs 7 --tree . -a md5 scale --keep --quick");
        assert!(some.wants("hash") && some.wants("scale") && !some.wants("find"));
        assert_eq!((some.runs(), &*some.algorithms), (7, &["md5".to_owned()][..]));
        assert!(some.tree.as_ref().unwrap().is_absolute() && some.common.keep && !some.keeps_record());
        let all = options("bench");
        assert!(all.wants("find") && all.keeps_record() && !all.common.keep);
        assert_eq!((all.runs(), options("bench --quick").runs()), (5, 3));
        assert!(!options("bench --profile dev").keeps_record());
    }

    #[test]
    fn mistakes_are_named() {
        for (words, part) in [
            ("bench --fast", "'--fast'"),
            ("bench none", "'none'"),
            ("bench --tree", "--tree <DIR>"),
            ("bench --tree Cargo.toml", "Cargo.toml is not a directory"),
            ("bench -a crc32", "'crc32'"),
            ("bench --before no/ftk", "no file no/ftk"),
            ("soak sleep", "'sleep'"),
            ("soak --minutes few", "'few'"),
            ("soak --kills -1", "'-1'"),
            ("dist --profile fast", "'fast'"),
            ("horrors --only x", "'x'"),
            ("horrors --write", "--peers"),
            ("horrors --write --peers --only 1", "--only"),
            ("none", "'none'"),
        ] {
            let said = task(words).unwrap_err();
            assert!(said.contains(part), "{words}: {said}");
        }
    }

    #[test]
    fn every_form_is_accepted() {
        for words in [
            "ci fmt tidy",
            "codegen --check",
            "bench peers --peers /opt",
            "bench report --check",
            "bench compare a b",
            "soak races --minutes 2 --ftk x/ftk stress --quick",
            "dist --profile dev --clone x --tools y",
            "dist --twice --profile dev --target x86_64",
            "dist --check",
            "horrors --peers --only 1,22",
            "horrors --peers /opt -v --write",
            "scale --write",
        ] {
            assert!(task(words).is_ok(), "{words}");
        }
    }
}
