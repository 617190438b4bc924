//! The command line of `cargo xtask bench`.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use super::build::{self, Programs, RELEASE};
use super::context::Context as Bench;
use super::machine::Machine;
use super::options::Options;
use super::peers::Peers;
use super::record::{self, Outcome, Table};
use super::{compare, floor, install, interrupt, late, markdown, once, report, tables};

/// Benchmark ftk and its peers
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the peers, and install missing ones
    Peers {
        /// A folder of peers that is searched first
        #[arg(long, value_name = "DIR")]
        peers: Option<PathBuf>,
    },
    /// Update the charts and pages that show the records
    Report {
        /// Write nothing, and fail if a file is outdated
        #[arg(long)]
        check: bool,
    },
    /// Show changes that exceed the noise
    Compare { old: PathBuf, new: PathBuf },
}

/// Runs `cargo xtask bench`.
pub(crate) fn run(Args { action, options }: Args) -> Result<ExitCode> {
    match action {
        Some(Action::Peers { peers }) => install::run(peers.as_deref())?,
        Some(Action::Report { check }) => return report::run(check),
        Some(Action::Compare { old, new }) => compare::run(&old, &new)?,
        None if options.profile == RELEASE && cfg!(debug_assertions) => {
            // A debug build would compare results of a million lines more slowly than the commands produce them.
            return Err(Command::new(build::optimised()?).args(std::env::args_os().skip(1)).exec().into());
        }
        None => return measure(options).or_else(interrupted),
    }
    Ok(ExitCode::SUCCESS)
}

/// Does what the benchmark runs this program itself for; `None` for other words. The options are not parsed, because
/// the memory of this process is the least that a command can be seen to use.
pub(crate) fn help_out(words: &[&str]) -> Option<Result<ExitCode>> {
    let result = match words {
        ["floor", root, threads, rest @ ..] => threads
            .parse()
            .map_err(Into::into)
            .and_then(|threads| floor::run(Path::new(root), threads, rest == ["--count"])),
        ["once", status, words @ ..] => once::run(status, words),
        ["remount", delay_us, source, points @ ..] => late::remount(delay_us, source, points),
        // sshfs adds the arguments of ssh.
        ["late", delay_us, ..] => late::serve(delay_us),
        _ => return None,
    };
    Some(result.map(|()| ExitCode::SUCCESS))
}

/// Reports an interrupt if a signal made the run fail. Its trees are removed by now. The status is that of SIGINT in a
/// shell.
fn interrupted(error: anyhow::Error) -> Result<ExitCode> {
    if interrupt::check().is_ok() {
        return Err(error);
    }
    println!("interrupted: no record is written");
    Ok(ExitCode::from(130))
}

/// Makes the tables, prints them and stores the record. The status is 1 if a result of ftk is wrong.
fn measure(options: Options) -> Result<ExitCode> {
    interrupt::watch()?;
    let mut programs = Programs::build(&options.profile)?;
    if options.wants_query() {
        programs = programs.with_query(&options.profile)?;
    }
    if options.profile != RELEASE {
        println!("the profile {} only checks results: its times are meaningless", options.profile);
    }
    let peers = Peers::find(options.common.peers.as_deref());
    let machine = Machine::look(&programs.ftk, &peers)?;
    let missing: Vec<_> = peers.missing().map(|peer| peer.name).collect();
    if !missing.is_empty() {
        println!("missing and not measured: {} (see `cargo xtask bench peers`)", missing.join(", "));
    }
    if machine.load > 0.5 {
        println!("this machine is busy (load {:.1}): expect noise", machine.load);
    }
    let bench = Bench::new(options, programs, peers)?;
    let (mut made, mut earlier) = (Vec::new(), Vec::new());
    for kind in tables::ALL.iter().filter(|kind| bench.options.wants(kind.name)) {
        println!("{}", kind.name);
        let sections = (kind.make)(&bench).with_context(|| format!("table {}", kind.name))?;
        if !sections.is_empty() {
            let machine = machine.clone();
            let mut table = Table {
                name: kind.name.into(),
                title: kind.title.into(),
                per_file: kind.per_file,
                shows_cpu: kind.shows_cpu,
                machine,
                sections,
            };
            earlier.push(record::split_earlier(&mut table));
            made.push(table);
        }
    }
    if bench.options.profile == RELEASE {
        println!("\n{}\n\n{}", markdown::LEGEND, report::whole(&made, None));
    }
    let wrong: Vec<_> = made.iter().flat_map(Table::wrong).collect();
    if !wrong.is_empty() {
        println!(
            "ftk gave a different result from its peers, so no record is written:\n{}",
            wrong.join("\n")
        );
        return Ok(ExitCode::FAILURE);
    }
    println!("\n{}", verdict(&made));
    if let Some(program) = &bench.options.before {
        println!("compared with {}:", program.display());
        compare::print(&earlier, &made);
    }
    interrupt::check()?;
    if bench.options.keeps_record() && !made.is_empty() {
        let folder = bench.options.common.records.join(machine.slug());
        record::save(&folder, &made)?;
        report::draw(&folder, &record::load(&folder)?)?;
        println!("the record is in {}; `cargo xtask bench report` updates the pages", folder.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Summarises in one line how the results compared.
fn verdict(tables: &[Table]) -> String {
    let (mut alike, mut other) = (0, 0);
    for (.., row) in tables.iter().flat_map(Table::rows) {
        match row.outcome {
            Outcome::Measured { .. } => alike += 1,
            _ => other += 1,
        }
    }
    format!(
        "{alike} commands gave the result of the reference, including all of ftk; {other} of peers did not"
    )
}
