//! `ftk query`: runs the program `ftk-query`, which is installed separately because its SQL engine is large.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::bail;
use clap::Args;

use crate::console::{Outcome, cause};
use crate::help;
use crate::stdout::Stdout;

/// Ask questions about manifests, reports and S3 Inventory with SQL
///
/// Runs the program `ftk-query`, which is searched in the directory of ftk and then in PATH. It is installed
/// separately, because its SQL engine is many times as large as ftk. `ftk query --help` shows its commands.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QueryArgs {
    /// The arguments of ftk-query
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk query convert disk1.jsonl -o lake/disk1    convert a manifest to Parquet
  ftk query duplicates lake/*                    duplicates on all disks
  ftk query list                                 all questions";

const PROGRAM: &str = "ftk-query";

/// Becomes the program if the first word of this process is `query`, so that it gets every option as it was typed.
/// Returns only if it cannot: then, help is printed if it was asked for.
pub(crate) fn exec_if_asked() -> Option<anyhow::Result<Outcome>> {
    let mut words = std::env::args_os().skip(1);
    (words.next().as_deref() == Some(OsStr::new("query"))).then(|| exec(words.collect()))
}

/// Refuses options before the word `query`, which would not reach the program.
pub(crate) fn run(_: &QueryArgs) -> anyhow::Result<Outcome> {
    bail!("the options of `ftk query` follow the word `query`")
}

/// The named questions, which work only with the program. A test compares them with its own.
const QUESTIONS: &str = "\
Questions that ftk-query answers:
  duplicates             files with equal content, the most waste first
  duplicate-directories  directories with equal trees
  missing-in             files whose content is in none of the other trees
  changed                entries that differ between two records of a tree
  rotten                 files that are marked as damaged
  unverified-since       files that no run has verified since a given time
  cold                   files that were not modified since a given time
  by-age                 files and bytes by the time since their modification
  by-directory           files and bytes below each directory
  largest                files by size
  oldest                 files by time of modification
  by-owner               files and bytes of each owner
  by-extension           files and bytes of each extension
  growth                 directories that grew or shrank
  trend                  files and bytes in each snapshot of a tree
  orphans                files that a list of expected files lacks
  zero-size              empty files
  versions-of            files with the same name but different content
  old-versions           what old versions of objects use

ftk-query is not installed here: run
  cargo install --profile query --path crates/query
in the source of ftk.
";

/// Whether the arguments ask for help or for the questions, which ftk itself can print.
fn asks_for_help(arguments: &[OsString]) -> bool {
    match arguments {
        [] => true,
        [word] => ["-h", "--help", "list"].iter().any(|asked| word == asked),
        _ => false,
    }
}

fn exec(arguments: Vec<OsString>) -> anyhow::Result<Outcome> {
    let sibling = std::env::current_exe().ok().map(|ftk| ftk.with_file_name(PROGRAM));
    let program = sibling.filter(|program| program.is_file()).unwrap_or_else(|| PROGRAM.into());
    // Returns only if the program cannot be run.
    let error = Command::new(program).args(&arguments).exec();
    match error.kind() {
        ErrorKind::NotFound if asks_for_help(&arguments) => {
            help::help_of(&["query"])?;
            Stdout::print(format!("\n{QUESTIONS}").as_bytes())?;
            Ok(Outcome::Success)
        }
        ErrorKind::NotFound => bail!(
            "`ftk query` needs the program {PROGRAM}, which is not installed: run `cargo install --profile query --path \
             crates/query` in the source of ftk"
        ),
        _ => bail!("cannot run {PROGRAM}: {}", cause(&error)),
    }
}
