//! `ftk help`: the help of a command, and the page for users of other tools.

use std::io::ErrorKind;

use anyhow::{Context as _, bail};
use clap::{Args, Parser as _};

use crate::args::{self, Args as Line};
use crate::outcome::Outcome;
use crate::stdout::Stdout;
use crate::{console, foreign};

/// Print the help of a command, or what options of other tools are called here
///
/// `ftk help coming-from` prints what users of find, fd, fdupes, jdupes, fclones, rmlint, hashdeep, diff, cmp and AIDE
/// type there, and what they type here.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HelpArgs {
    /// A command, such as `dup prune`, or `coming-from` and the name of a tool
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  ftk help dup prune                      the same as ftk dup prune --help
  ftk help coming-from fd                 what fd calls it, and what ftk calls it";

pub(crate) fn run(args: &HelpArgs) -> anyhow::Result<Outcome> {
    let words: Vec<_> = args.words.iter().map(String::as_str).collect();
    let out = Stdout::default();
    match words[..] {
        ["coming-from"] => _ = out.write(foreign::page(None).unwrap_or_default().as_bytes()),
        ["coming-from", tool] => match foreign::page(Some(tool)) {
            Some(page) => _ = out.write(page.as_bytes()),
            None => bail!("no page about '{}': ftk help coming-from lists all tools", tool.escape_debug()),
        },
        _ => help_of(&words)?,
    }
    out.finish().context("cannot write to standard output")?;
    Ok(Outcome::Success)
}

/// Prints what `--help` after these words prints.
fn help_of(words: &[&str]) -> anyhow::Result<()> {
    let definition = args::definition();
    let mut at = &definition;
    for word in words {
        at = match at.find_subcommand(word) {
            Some(below) => below,
            None => {
                bail!("there is no command '{}': ftk help lists all commands", words.join(" ").escape_debug())
            }
        };
    }
    let line = ["ftk"].iter().chain(words).chain(&["--help"]);
    match Line::try_parse_from(line) {
        Err(help) => console::show(help)
            .or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
            .context("cannot write to standard output"),
        Ok(_) => bail!("internal error: --help was not recognised"),
    }
}
