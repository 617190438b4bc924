//! `ftk man`: shows or installs the manual, one page per command, from the definition of the command line.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::thread;

use anyhow::{Context as _, bail};
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, roman};
use ftk_record::{Output, quote};

use crate::args;
use crate::console::{Console, Outcome};
use crate::help::{self, End};
use crate::human;
use crate::stdout::Stdout;

/// Show the manual page of a command, or install all pages
///
/// The program `man` shows the page. Where it is not installed, the help of the command is printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// A command, such as `dup prune` [default: ftk itself]
    #[arg(value_name = "COMMAND", conflicts_with = "install")]
    words: Vec<String>,

    /// Write all pages to DIR, which is created if missing
    #[arg(long, value_name = "DIR")]
    install: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk man find                                 read the page of a command
  ftk man --install ~/.local/share/man/man1    install all; then: man ftk-hash";

pub(crate) fn run(args: &ManArgs, console: &Console) -> anyhow::Result<Outcome> {
    match &args.install {
        Some(dir) => install(dir, console),
        None => show(&args.words),
    }
}

/// Writes every page to `dir`.
fn install(dir: &Path, console: &Console) -> anyhow::Result<Outcome> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", shown(dir)))?;
    let definition = args::definition();
    let commands = commands(&definition);
    commands.iter().try_for_each(|command| write(command, dir))?;
    let pages = human::count(commands.len() as u64, "page");
    console.summary(format_args!("{pages} in {}", shown(dir)));
    Ok(Outcome::Success)
}

/// Shows the page of a command with the program `man`.
fn show(words: &[String]) -> anyhow::Result<Outcome> {
    let definition = args::definition();
    let mut command = &definition;
    // The name of a page is accepted too: `ftk-dup-prune`.
    let page_name =
        |word: &String| word.strip_prefix("ftk-").unwrap_or(word).split('-').map(str::to_owned).collect();
    let words: Vec<String> = if let [word] = words { page_name(word) } else { words.to_vec() };
    for word in &words {
        let Some(below) = command.find_subcommand(word).filter(|it| !it.is_hide_set()) else {
            bail!(
                "there is no command '{}'; to write all pages: ftk man --install DIR",
                words.join(" ").escape_debug()
            );
        };
        command = below;
    }
    let page = page(command, &manual(command))?;
    // `-l -` reads the page from standard input.
    // Without a terminal there is no pager, and `man` does not report that a write has failed.
    let stdout = if Stdout::is_terminal() { Stdio::inherit() } else { Stdio::piped() };
    match Process::new("man").args(["-l", "-"]).stdin(Stdio::piped()).stdout(stdout).spawn() {
        Ok(mut shown) => {
            let pipe = shown.stdin.take();
            let output = thread::scope(|scope| {
                // A user who leaves the pager early closes the pipe.
                scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(&page)));
                shown.wait_with_output()
            });
            let output = output.context("cannot wait for man")?;
            Stdout::print(&output.stdout)?;
            if output.status.success() {
                Ok(Outcome::Success)
            } else {
                bail!("man has failed ({})", output.status)
            }
        }
        Err(_) => {
            help::help_of(&words.iter().map(String::as_str).collect::<Vec<_>>()).map(|()| Outcome::Success)
        }
    }
}

/// Returns every page that is written to `dir`.
pub(crate) fn pages(dir: &Path) -> Vec<PathBuf> {
    let definition = args::definition();
    commands(&definition)
        .into_iter()
        .map(|command| dir.join(Man::new(command.clone()).get_filename()))
        .collect()
}

/// Returns a command and all its subcommands that have pages.
fn commands(command: &Command) -> Vec<&Command> {
    let inner = command.get_subcommands().filter(|it| !it.is_hide_set()).flat_map(commands);
    [command].into_iter().chain(inner).collect()
}

/// Writes the page of a command.
fn write(command: &Command, dir: &Path) -> anyhow::Result<()> {
    let man = manual(command);
    let path = dir.join(man.get_filename());
    page(command, &man)
        .and_then(|page| {
            let mut output = Output::create(&path)?;
            output.write_all(&page)?;
            output.commit()
        })
        .with_context(|| format!("cannot write {}", shown(&path)))
}

fn manual(command: &Command) -> Man {
    Man::new(command.clone()).source(concat!("ftk ", env!("CARGO_PKG_VERSION"))).manual("ftk manual")
}

/// Renders a page. The examples keep their lines and come last.
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
    let End { status, examples } = End::of(command);
    let status = status.unwrap_or_default();
    let status: Vec<_> = status.split("; ").filter_map(|part| part.split_once(": ")).collect();
    section(&mut rest, "EXIT STATUS", &status);
    section(&mut rest, "ENVIRONMENT", ENVIRONMENT);
    section(&mut rest, "FILES", FILES);
    rest.control("SH", ["EXAMPLES"]).control("nf", []);
    examples.unwrap_or_default().lines().for_each(|line| _ = rest.text([roman(line)]));
    rest.control("fi", []);
    rest.to_writer(&mut page)?;
    Ok(page)
}

/// Appends a section of terms and their meanings.
fn section(roff: &mut Roff, title: &str, terms: &[(&str, &str)]) {
    roff.control("SH", [title]);
    for (term, meaning) in terms {
        roff.control("TP", []).text([Inline::Bold((*term).into())]).text([roman(*meaning)]);
    }
}

const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "Whether output is coloured with --color auto."),
    ("LS_COLORS", "The colours of names in the output of ftk find."),
    (
        "XDG_CACHE_HOME, HOME",
        "Where ftk calibrate stores its figures, and where runs keep what they learned.",
    ),
    ("XDG_STATE_HOME, HOME", "Where ftk dup stores its journals."),
    ("XDG_CONFIG_HOME, HOME", "Where the file of defaults is."),
    (
        "FTK_SIMD",
        "portable, neon, avx2, sha-ni or avx512: the fastest CPU feature that digests may use, for comparisons and tests.",
    ),
];

const FILES: &[(&str, &str)] = &[
    (
        "$XDG_CONFIG_HOME/ftk/config.toml",
        "Defaults of the user; without XDG_CONFIG_HOME, ~/.config/ftk/config.toml. See --no-config.",
    ),
    (
        "$XDG_CACHE_HOME/ftk/constants",
        "The figures of ftk calibrate, as text; without XDG_CACHE_HOME, ~/.cache/ftk/constants. Can be deleted: ftk then uses built-in figures.",
    ),
    (
        "$XDG_CACHE_HOME/ftk/learned",
        "Figures that runs measured, as JSON; without XDG_CACHE_HOME, ~/.cache/ftk/learned. Can be deleted.",
    ),
    (
        "$XDG_STATE_HOME/ftk/",
        "Journals of ftk dup prune, dup apply and manifest repair, and the damaged content that repair replaced; without XDG_STATE_HOME, in ~/.local/state/ftk. Keep a journal as long as you may want to undo its run: ftk undo needs it.",
    ),
];

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_encoded_bytes())
}
