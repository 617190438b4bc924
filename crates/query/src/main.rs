//! The program that runs as `ftk query`: SQL over manifests, duplicate reports and S3 Inventory.
//!
//! `convert` makes sets of Parquet files, and everything else answers questions about sets. `docs/parquet.md` describes
//! the files, and `sql` has the questions. The engine is DataFusion; nothing here sorts, groups or joins by itself.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod console;
mod convert;
mod engine;
mod functions;
mod input;
mod memory;
mod own_table;
mod progress;
mod questions;
mod report;
mod schema;
mod seal;
mod sets;
mod spill;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::{ArgMatches, FromArgMatches as _};
use ftk_file::StandardStream;

use crate::answer::Parameters;
use crate::args::{
    AnswerArgs, AtArgs, ByArgs, CheckArgs, ConvertArgs, DepthArgs, ExpectedArgs, NameArgs, QuestionArgs,
    ReportArgs, SinceArgs, SqlArgs,
};
use crate::console::{Console, Outcome};
use crate::own_table::TableFile;
use crate::questions::{Parameter, Question};
use crate::sets::Sets;

fn main() -> ExitCode {
    let matches = args::definition().get_matches();
    let outcome = match matches.subcommand() {
        Some((name, matches)) => run(name, matches),
        None => Ok(Outcome::Error),
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) if console::is_closed(&error) => Outcome::Success,
        Err(error) => Console::fatal(&error),
    };
    outcome.into()
}

fn run(name: &str, matches: &ArgMatches) -> Result<Outcome> {
    match name {
        "convert" => {
            let args = ConvertArgs::from_arg_matches(matches)?;
            convert::run(&args, &Console { is_quiet: args.quiet.quiet })
                .map_err(|error| args.limits.limits().explained(error))
        }
        "sql" => sql(SqlArgs::from_arg_matches(matches)?),
        "check" => check(CheckArgs::from_arg_matches(matches)?),
        "list" => list(),
        _ => {
            let question = questions::ALL.iter().find(|question| question.name == name);
            ask(question.context("no such question")?, matches)
        }
    }
}

/// Answers a question.
fn ask(question: &Question, matches: &ArgMatches) -> Result<Outcome> {
    let QuestionArgs { sets, show, answer } = QuestionArgs::from_arg_matches(matches)?;
    if show {
        return print(question.sql);
    }
    let mut parameters = Parameters::default();
    match question.parameter {
        None => {}
        Some(Parameter::Since) => parameters.since_ns = SinceArgs::from_arg_matches(matches)?.since,
        Some(Parameter::Name) => parameters.name = NameArgs::from_arg_matches(matches)?.name,
        Some(Parameter::At) => parameters.at_ns = Some(AtArgs::from_arg_matches(matches)?.at_ns()?),
        Some(Parameter::Depth) => parameters.depth = Some(DepthArgs::from_arg_matches(matches)?.depth),
        Some(Parameter::ByAndDepth) => {
            parameters.depth = Some(DepthArgs::from_arg_matches(matches)?.depth);
            parameters.by = Some(ByArgs::from_arg_matches(matches)?.by.name());
        }
        Some(Parameter::Expected) => {
            let file = ExpectedArgs::from_arg_matches(matches)?.expected;
            parameters.tables.extend(file.map(|file| TableFile::new("expected", file, true)).transpose()?);
        }
    }
    let sets = Sets::open(&sets)?;
    sets.say_limits(&console(&answer));
    if question.needs_snapshots {
        sets.need_snapshots()?;
    }
    if question.needs_one_source {
        sets.need_one_source()?;
    }
    if question.needs_trees {
        sets.need_trees()?;
    }
    if question.needs_one_algorithm {
        sets.need_one_algorithm()?;
    }
    if question.has_report
        && let Some(output) = ReportArgs::from_arg_matches(matches)?.output
    {
        return report::run(question, &sets, &output, &answer, &console(&answer))
            .map_err(|error| answer.limits.limits().explained(error));
    }
    answer::run(question.sql, question.may_be_unknown, &sets, &parameters, &answer, &console(&answer))
        .map_err(|error| answer.limits.limits().explained(error))
}

/// Runs a SELECT of the user.
fn sql(args: SqlArgs) -> Result<Outcome> {
    let SqlArgs { sql, mut sets, tables, file, answer } = args;
    let text = match &file {
        None => sql.context("a SELECT is missing")?,
        Some(file) => {
            // Without a SELECT, the first argument is a directory too.
            sets.splice(0..0, sql.map(Into::into));
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?
        }
    };
    ensure!(!sets.is_empty() || !tables.is_empty(), "no directory was given");
    let sets = Sets::open(&sets)?;
    sets.say_limits(&console(&answer));
    let parameters = Parameters { tables, ..Parameters::default() };
    answer::run(&text, false, &sets, &parameters, &answer, &console(&answer))
        .map_err(|error| answer.limits.limits().explained(error))
}

/// Checks all bytes of sets.
fn check(args: CheckArgs) -> Result<Outcome> {
    let console = Console { is_quiet: args.quiet.quiet };
    Sets::open(&args.sets)?.check(&console)?;
    console.summary(format_args!("{} sets are complete and unchanged", args.sets.len()));
    Ok(Outcome::Success)
}

fn console(args: &AnswerArgs) -> Console {
    Console { is_quiet: args.quiet.quiet }
}

/// Lists the questions.
fn list() -> Result<Outcome> {
    let width = questions::ALL.iter().map(|question| question.name.len()).max().unwrap_or(0);
    let lines = questions::ALL.iter().map(|it| format!("{:width$}  {}\n", it.name, it.about()));
    print(&lines.collect::<String>())
}

fn print(text: &str) -> Result<Outcome> {
    StandardStream::Output.check().context("cannot write to standard output")?;
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Outcome::Success)
}
