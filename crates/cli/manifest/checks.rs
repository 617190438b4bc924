//! Rules by path: the option, and the rules that a manifest records.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::Context as _;
use clap::Args;
use ftk_record::quote;
use ftk_select::Checks;

use crate::exclusions::ListFile;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct CheckArgs {
    #[command(flatten)]
    file: RulesArg,

    /// A rule, as manifests record it
    #[arg(long, value_name = "RULE", hide = true, allow_hyphen_values = true)]
    rule: Vec<OsString>,
}

/// `--rules`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct RulesArg {
    /// Compare entries by the rules in FILE from now on
    ///
    /// A rule is a line `CHECK GLOB`. The last rule that matches an entry or a directory above it decides; globs are
    /// those of -E, relative to ROOT, and `#` begins a comment. `all`: everything; `content`: type, size, content;
    /// `metadata`: all except content; `growing`: a file may grow, but what is recorded of it stays; `exists`: type;
    /// `ignore`: skip it, and all below. The manifest records the rules. `-`: standard input.
    #[arg(long, value_name = "FILE", value_parser = ListFile::parser())]
    rules: Option<ListFile>,
}

impl RulesArg {
    /// Returns the rules, if a file is given.
    ///
    /// # Errors
    /// If it cannot be read, or a line is malformed.
    pub(super) fn compile(&self) -> anyhow::Result<Option<Checks>> {
        let Some(file) = &self.rules else { return Ok(None) };
        let checks = Checks::parse(file.content()?);
        checks.map(Some).with_context(|| quote(file.name.as_bytes()).to_string())
    }
}

impl CheckArgs {
    /// Returns all rules.
    ///
    /// # Errors
    /// If a file cannot be read, or a rule is malformed.
    pub(super) fn compile(&self) -> anyhow::Result<Checks> {
        match self.file.compile()? {
            Some(checks) => Ok(checks),
            None => Checks::of_lines(self.rule.iter().map(|rule| rule.as_bytes())).context("--rule"),
        }
    }
}
