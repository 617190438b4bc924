//! The command line of `cargo xtask bench`.

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
use super::{compare, floor, install, interrupt, markdown, once, report, tables};

/// Runs `cargo xtask bench` with these arguments.
pub(crate) fn run(args: &[&str]) -> Result<ExitCode> {
    match args {
        ["peers", rest @ ..] => install::run(folder(rest)?.as_deref())?,
        ["report"] => return report::run(false),
        ["report", "--check"] => return report::run(true),
        ["compare", old, new] => compare::run(Path::new(old), Path::new(new))?,
        // The benchmark runs this program itself with the following arguments.
        ["floor", root, threads] => floor::run(Path::new(root), threads.parse()?, false)?,
        ["floor", root, threads, "--count"] => floor::run(Path::new(root), threads.parse()?, true)?,
        ["once", status, words @ ..] => once::run(status, words)?,
        _ => {
            let options = Options::parse(args)?;
            if options.profile == RELEASE && cfg!(debug_assertions) {
                // A debug build would compare results of a million lines more slowly than the commands produce them.
                let optimised = build::optimised()?;
                return Err(Command::new(optimised).arg("bench").args(args).exec().into());
            }
            return measure(options).or_else(interrupted);
        }
    }
    Ok(ExitCode::SUCCESS)
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

fn folder(args: &[&str]) -> Result<Option<PathBuf>> {
    match args {
        [] => Ok(None),
        ["--peers", folder] => Ok(Some(folder.into())),
        _ => bail!("expected --peers DIR, found {args:?}"),
    }
}

/// Makes the tables, prints them and stores the record. The status is 1 if a result of ftk is wrong.
fn measure(options: Options) -> Result<ExitCode> {
    interrupt::watch()?;
    let programs = Programs::build(&options.profile)?;
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
    for kind in tables::ALL.iter().filter(|kind| bench.options.tables.contains(&kind.name)) {
        println!("{}", kind.name);
        let sections = (kind.make)(&bench).with_context(|| format!("table {}", kind.name))?;
        if !sections.is_empty() {
            let machine = machine.clone();
            let mut table = Table {
                name: kind.name.into(),
                title: kind.title.into(),
                per_file: kind.per_file,
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
