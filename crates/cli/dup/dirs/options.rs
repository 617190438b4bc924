//! Options for comparing directories.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use ftk_dedup::{Names, Share};
use ftk_select::{Roots, SpelledGlob};

use crate::rules::Rule;

/// What is compared besides files.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(in crate::dup) struct DirArgs {
    /// Compare whole directories first
    ///
    /// Directories are equal if they have the same names with the same contents, down to empty directories, symbolic
    /// links and special files. Only the outermost equal directories are reported, then the duplicate files outside of
    /// them. A directory is equal to no other if an entry in it was excluded or could not be read.
    #[arg(long)]
    pub(in crate::dup) dirs: bool,

    /// Never take directories of this name apart
    ///
    /// Repeatable. Directories whose name matches GLOB, such as `*.app` or `.git`, are compared as a whole, also
    /// without --dirs. The files in them are never removed as copies of other files. A GLOB with a slash is for paths,
    /// as with --exclude. Directories above a PATH count too.
    #[arg(long = "unit", value_name = "GLOB", value_parser = OsStringValueParser::new().try_map(parse_unit))]
    pub(in crate::dup) units: Vec<OsString>,
}

fn parse_unit(value: OsString) -> Result<OsString, String> {
    let glob = SpelledGlob::new(value.as_bytes(), &Roots::none());
    glob.map(|_| value).map_err(|error| format!("{:#}", anyhow::Error::new(error)))
}

impl DirArgs {
    /// Returns `--unit` as rules. `are_used`: whether each has matched a directory.
    pub(in crate::dup) fn rules(&self, are_used: impl Iterator<Item = bool>) -> Vec<Rule> {
        let rule = |(unit, is_used): (&OsString, bool)| {
            Rule::new("--unit", Some(unit.as_bytes().to_vec()), true, Some(is_used))
        };
        self.units.iter().zip(are_used).map(rule).collect()
    }

    /// Whether directories are compared.
    pub(in crate::dup) fn is_used(&self) -> bool {
        self.dirs || !self.units.is_empty()
    }
}

/// Options for the report of directories, which pruning does not have.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(in crate::dup) struct ShareArg {
    /// With --dirs: compare contents only
    ///
    /// Names and subdirectories do not matter. Directories are equal if they contain the same contents equally often.
    #[arg(long, requires = "dirs", hide_short_help = true)]
    ignore_names: bool,

    /// Report directories of which P% exists elsewhere
    ///
    /// At least this share of the files and of the bytes must also exist outside of the directory. With --json, the
    /// report lists the files that exist nowhere else; of nested directories, it has only the outermost. Examples: 90%,
    /// 99.5%.
    #[arg(long, value_name = "P%", value_parser = parse_share)]
    pub(in crate::dup) contained: Option<Share>,
}

impl ShareArg {
    pub(in crate::dup) fn names(&self) -> Names {
        if self.ignore_names { Names::Ignored } else { Names::Compared }
    }
}

/// Parses a share: more than 0 and at most 100, with up to two decimals.
fn parse_share(text: &str) -> Result<Share, String> {
    let wrong = || "expected more than 0% and at most 100%, with up to two decimals".to_owned();
    let number = text.strip_suffix('%').unwrap_or(text);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || whole.len() > 3 || part.len() > 2 {
        return Err(wrong());
    }
    let hundredths = format!("{whole}{part:0<2}").parse().map_err(|_| wrong())?;
    let share = Share(hundredths);
    (Share(1)..=Share::ALL).contains(&share).then_some(share).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        for (text, share) in [("90%", 9000), ("99.5", 9950), ("0.01%", 1), ("100%", 10_000), ("007.25%", 725)]
        {
            assert_eq!(parse_share(text), Ok(Share(share)), "{text}");
        }
        for bad in ["", "%", "0", "0.00%", "100.01%", "101", "-1", "1e1", "1.", ".5", "1.234", "9O%", "1000"]
        {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
    }
}
