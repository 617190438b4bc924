//! The command line of the benchmark.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use super::build::{self, Programs, RELEASE};
use super::context::Context as Bench;
use super::machine::Machine;
use super::options::Options;
use super::peers::Peers;
use super::record::{self, Outcome, Table};
use super::{compare, floor, install, interrupt, once, report, tables};

/// Runs what the words after `cargo xtask bench` say.
pub(crate) fn run(args: &[&str]) -> Result<ExitCode> {
    match args {
        ["peers", rest @ ..] => install::run(folder(rest)?.as_deref())?,
        ["report", rest @ ..] => {
            let (checks, folders): (Vec<&str>, Vec<&str>) = rest.iter().partition(|arg| **arg == "--check");
            let folder = match folders[..] {
                [] => None,
                [folder] => Some(Path::new(folder)),
                _ => bail!("more than one record"),
            };
            return report::run(folder, !checks.is_empty());
        }
        ["compare", old, new] => compare::run(Path::new(old), Path::new(new))?,
        // The rest is what a run calls its own program for.
        ["floor", root, threads] => floor::run(Path::new(root), threads.parse()?, false)?,
        ["floor", root, threads, "--count"] => floor::run(Path::new(root), threads.parse()?, true)?,
        ["once", status, words @ ..] => once::run(status, words)?,
        _ => {
            let options = Options::parse(args)?;
            if options.profile == RELEASE && cfg!(debug_assertions) {
                // This build would take longer to compare answers of a million lines than the commands to give them.
                let optimised = build::optimised()?;
                return Err(Command::new(optimised).arg("bench").args(args).exec().into());
            }
            return measure(options).or_else(interrupted);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says so if a signal is why a run failed; its trees are gone by now. The status is that of a shell for SIGINT.
fn interrupted(error: anyhow::Error) -> Result<ExitCode> {
    if interrupt::check().is_ok() {
        return Err(error);
    }
    println!("interrupted: no record is written");
    Ok(ExitCode::from(130))
}

fn folder(args: &[&str]) -> Result<Option<PathBuf>> {
    match args {
        [] => Ok(None),
        ["--peers", folder] => Ok(Some(folder.into())),
        _ => bail!("expected --peers DIR, found {args:?}"),
    }
}

/// Makes the tables, prints them and keeps the record. The status says whether ftk's answers were right.
fn measure(options: Options) -> Result<ExitCode> {
    interrupt::watch()?;
    let programs = Programs::build(&options.profile)?;
    if options.profile != RELEASE {
        println!("the profile {} is for the answers: its times mean nothing", options.profile);
    }
    let peers = Peers::find(options.peers.as_deref());
    let machine = Machine::look(&programs.ftk, &peers)?;
    let missing: Vec<_> = peers.missing().map(|peer| peer.name).collect();
    if !missing.is_empty() {
        println!("missing, so not measured: {} (see `cargo xtask bench peers`)", missing.join(", "));
    }
    if machine.load > 0.5 {
        println!("this machine is busy (load {:.1}): expect noise", machine.load);
    }
    let bench = Bench::new(options, programs, peers)?;
    let mut made = Vec::new();
    for kind in tables::ALL.iter().filter(|kind| bench.options.tables.contains(&kind.name)) {
        println!("{}", kind.name);
        let sections = (kind.make)(&bench).with_context(|| format!("table {}", kind.name))?;
        if !sections.is_empty() {
            let machine = machine.clone();
            made.push(Table {
                name: kind.name.into(),
                title: kind.title.into(),
                per_file: kind.per_file,
                machine,
                sections,
            });
        }
    }
    if bench.options.profile == RELEASE {
        println!("\n{}", report::whole(&made, None));
    }
    let wrong: Vec<_> = made.iter().flat_map(Table::wrong).collect();
    if !wrong.is_empty() {
        println!("ftk gave another answer than its peers, and no record is written:\n{}", wrong.join("\n"));
        return Ok(ExitCode::FAILURE);
    }
    println!("\n{}", verdict(&made));
    interrupt::check()?;
    if bench.options.keeps_record() && !made.is_empty() {
        let folder = bench.options.records.join(machine.slug());
        record::save(&folder, &made)?;
        report::draw(&folder, &record::load(&folder)?)?;
        println!("the record is in {}; `cargo xtask bench report` shows it in the pages", folder.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// In a line, how the answers compared.
fn verdict(tables: &[Table]) -> String {
    let (mut alike, mut other) = (0, 0);
    for (.., row) in tables.iter().flat_map(Table::rows) {
        match row.outcome {
            Outcome::Measured { .. } => alike += 1,
            _ => other += 1,
        }
    }
    format!("{alike} commands gave the answer of the reference, ftk's all; {other} of peers another or none")
}
