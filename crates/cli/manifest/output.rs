//! The options of commands that write a new manifest.

use std::path::PathBuf;

use clap::Args;

use crate::list::named;
use crate::manifest::guard::refuse_to_overwrite;

// Not `next_help_heading`, which would also apply to the options of the command that follow.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Write to FILE, which appears only when it is complete
    ///
    /// If its name ends in .zst, FILE is compressed with Zstandard. All manifest commands read such files.
    /// `-`: standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Option<PathBuf>,

    /// Replace a manifest that already exists
    #[arg(long, requires = "output", help_heading = "Output")]
    pub(super) force: bool,
}

impl OutputArgs {
    /// Refuses to replace a manifest or a plan without `--force`.
    ///
    /// # Errors
    /// Those of [`refuse_to_overwrite`].
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.force { Ok(()) } else { refuse_to_overwrite(named(self.output.as_deref()), None, false) }
    }
}
