//! `ftk man`: the manual, a page a command, from the definition of the command line.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, roman};
use ftk_record::{Output, quote};

use crate::args;
use crate::console::Console;
use crate::human;
use crate::outcome::Outcome;

/// Write the manual, a page a command
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Where the pages go; made if it is missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  ftk man ~/.local/share/man/man1         then: man ftk-hash
  ftk man . && man -l ftk.1               without installing them";

pub(crate) fn run(args: &ManArgs, console: &Console) -> anyhow::Result<Outcome> {
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot make {}", shown(&args.dir)))?;
    let mut pages = 0;
    write(&args::definition(), &args.dir, &mut pages)?;
    console.summary(format_args!("{} in {}", human::count(pages, "page"), shown(&args.dir)));
    Ok(Outcome::Success)
}

/// Writes the page of a command, and those of the commands below it.
fn write(command: &Command, dir: &Path, pages: &mut u64) -> anyhow::Result<()> {
    let man =
        Man::new(command.clone()).source(concat!("ftk ", env!("CARGO_PKG_VERSION"))).manual("ftk manual");
    let path = dir.join(man.get_filename());
    page(command, &man)
        .and_then(|page| {
            let mut output = Output::create(&path)?;
            output.write_all(&page)?;
            output.commit()
        })
        .with_context(|| format!("cannot write {}", shown(&path)))?;
    *pages += 1;
    command.get_subcommands().filter(|it| !it.is_hide_set()).try_for_each(|it| write(it, dir, pages))
}

/// The examples keep their lines, and every page says what the status means.
fn page(command: &Command, man: &Man) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let usage = command.clone().render_usage().to_string();
    let mut synopsis = Roff::new();
    synopsis.control("SH", ["SYNOPSIS"]).text([roman(usage.trim_start_matches("Usage: "))]);
    synopsis.to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    if let Some(examples) = command.get_after_long_help().or(command.get_after_help()) {
        rest.control("SH", ["EXAMPLES"]).control("nf", []);
        let examples = examples.to_string();
        let lines = examples.lines().filter(|line| *line != "Examples:").map(|line| line.trim_start());
        lines.for_each(|line| _ = rest.text([roman(line)]));
        rest.control("fi", []);
    }
    section(&mut rest, "EXIT STATUS", EXIT_STATUS);
    section(&mut rest, "ENVIRONMENT", ENVIRONMENT);
    section(&mut rest, "FILES", FILES);
    rest.to_writer(&mut page)?;
    Ok(page)
}

/// A section of terms and what they mean.
fn section(roff: &mut Roff, title: &str, terms: &[(&str, &str)]) {
    roff.control("SH", [title]);
    for (term, meaning) in terms {
        roff.control("TP", []).text([Inline::Bold((*term).into())]).text([roman(*meaning)]);
    }
}

const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "Done. A reader that closed the pipe is no failure."),
    ("1", "The answer is no: nothing found by find -q, a list that does not verify, a difference."),
    ("2", "Something failed, even once, or the arguments make no sense. When 1 applies too, 2 it is."),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "Whether messages are coloured, where --color does not say."),
    ("LS_COLORS", "How ftk find colours names on a terminal."),
    ("XDG_CACHE_HOME, HOME", "Where ftk calibrate keeps its figures."),
    ("XDG_STATE_HOME, HOME", "Where ftk dup keeps its journals."),
    (
        "FTK_SIMD",
        "portable, avx2, sha-ni or avx512: the most that digests may use of the CPU, to compare or test.",
    ),
];

const FILES: &[(&str, &str)] = &[
    (
        "$XDG_CACHE_HOME/ftk/constants",
        "What ftk calibrate measured, as text; else ~/.cache/ftk/constants. May be deleted.",
    ),
    (
        "$XDG_STATE_HOME/ftk/dup-*.jsonl",
        "Journals of ftk dup prune and apply; else in ~/.local/state/ftk. What has one can be undone; may be deleted.",
    ),
];

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes())
}
