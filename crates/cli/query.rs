//! `ftk query`: runs the program `ftk-query`, which is installed separately because its SQL engine is large.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::bail;
use clap::Args;

use crate::console::{Outcome, cause};

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
/// Returns only if it cannot.
pub(crate) fn exec_if_asked() -> Option<anyhow::Error> {
    let mut words = std::env::args_os().skip(1);
    (words.next().as_deref() == Some(OsStr::new("query"))).then(|| exec(words))
}

/// Refuses options before the word `query`, which would not reach the program.
pub(crate) fn run(_: &QueryArgs) -> anyhow::Result<Outcome> {
    bail!("the options of `ftk query` follow the word `query`")
}

fn exec(arguments: impl Iterator<Item = OsString>) -> anyhow::Error {
    let sibling = std::env::current_exe().ok().map(|ftk| ftk.with_file_name(PROGRAM));
    let program = sibling.filter(|program| program.is_file()).unwrap_or_else(|| PROGRAM.into());
    // Returns only if the program cannot be run.
    let error = Command::new(program).args(arguments).exec();
    match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!(
            "`ftk query` needs the program {PROGRAM}, which is not installed: run `cargo install --profile query --path \
             crates/query` in the source of ftk"
        ),
        _ => anyhow::anyhow!("cannot run {PROGRAM}: {}", cause(&error)),
    }
}
