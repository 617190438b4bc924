//! `ftk completions`: scripts that complete commands, options and values in a shell.

use clap::Args;
use clap_complete::Shell;

use crate::args;
use crate::console::Outcome;
use crate::stdout::Stdout;

/// Print a script that completes ftk's arguments in a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk completions bash > ~/.local/share/bash-completion/completions/ftk
  ftk completions zsh > \"${fpath[1]}/_ftk\"
  ftk completions fish > ~/.config/fish/completions/ftk.fish";

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::definition(), "ftk", &mut script);
    Stdout::print(&script)?;
    Ok(Outcome::Success)
}
