//! Options for which copies are kept.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use ftk_dedup::{KeepRule, KeepRules};
use ftk_select::Glob;

use crate::number::at_least;

/// The rules that choose the kept files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kept files")]
pub(super) struct KeepArgs {
    /// Keep first, oldest, newest, shortest or path=GLOB
    ///
    /// Repeatable: where the first rule does not decide, the next one does, and `first` in the end. `first` keeps the first file in
    /// the order of the arguments, then of paths. `oldest` and `newest` compare the time of the last content change
    /// (mtime), `shortest` the length of the path. `path=GLOB` keeps a file whose whole path matches the glob, in which `*`
    /// also matches `/`.
    #[arg(long, value_name = "RULE", value_parser = OsStringValueParser::new().try_map(RuleArg::parse))]
    keep: Vec<RuleArg>,

    /// Keep all files below DIR, which prune also scans
    ///
    /// Repeatable. Files in DIR count as kept copies and are never changed.
    #[arg(long = "reference", value_name = "DIR")]
    pub(super) references: Vec<OsString>,

    /// Keep all copies under the PATH of the kept file
    ///
    /// Only copies under other PATHs are removed.
    #[arg(long)]
    isolate: bool,

    /// Keep at least N copies
    ///
    /// Hard links of one file count as one copy.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least(1_usize))]
    min_copies: usize,
}

/// A value of `--keep`.
#[derive(Clone, Debug)]
enum RuleArg {
    First,
    Oldest,
    Newest,
    Shortest,
    Path(Glob),
}

impl RuleArg {
    fn parse(value: OsString) -> Result<Self, String> {
        match value.as_bytes() {
            b"first" => Ok(Self::First),
            b"oldest" => Ok(Self::Oldest),
            b"newest" => Ok(Self::Newest),
            b"shortest" => Ok(Self::Shortest),
            _ => match value.as_bytes().strip_prefix(b"path=") {
                Some(glob) => Glob::new(glob).map(Self::Path).map_err(|error| with_cause(&error)),
                None => Err("expected first, oldest, newest, shortest or path=GLOB".into()),
            },
        }
    }

    fn rule(&self) -> KeepRule {
        match self {
            Self::First => KeepRule::First,
            Self::Oldest => KeepRule::Oldest,
            Self::Newest => KeepRule::Newest,
            Self::Shortest => KeepRule::Shortest,
            Self::Path(glob) => {
                let glob = glob.clone();
                KeepRule::Path(Box::new(move |path| glob.is_match(path)))
            }
        }
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

impl KeepArgs {
    /// Returns the rules. `references` are the numbers of the starting points whose files are never removed.
    pub(super) fn rules(&self, references: BTreeSet<usize>) -> KeepRules {
        let keep = self.keep.iter().map(RuleArg::rule).collect();
        KeepRules { keep, references, isolate: self.isolate, min_copies: self.min_copies }
    }
}

/// Returns the numbers of the starting points that are references or lie below one, after resolving links.
pub(super) fn protected<'r>(
    references: &[OsString],
    roots: impl Iterator<Item = &'r [u8]>,
) -> std::io::Result<BTreeSet<usize>> {
    let references: Vec<_> = references.iter().map(std::fs::canonicalize).collect::<Result<_, _>>()?;
    // A starting point that cannot be resolved has no files to protect.
    let is_protected = |root: &[u8]| {
        let root = std::fs::canonicalize(OsStr::from_bytes(root));
        root.is_ok_and(|root| references.iter().any(|reference| root.starts_with(reference)))
    };
    Ok(roots.enumerate().filter(|(_, root)| is_protected(root)).map(|(number, _)| number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_rules_are_words_or_globs() {
        let parse = |text: &str| RuleArg::parse(text.into());
        assert!(matches!(parse("first"), Ok(RuleArg::First)));
        assert!(matches!(parse("newest"), Ok(RuleArg::Newest)));
        let Ok(RuleArg::Path(glob)) = parse("path=*/a b/*") else { panic!("no glob") };
        assert!(glob.is_match(b"x/a b/y") && !glob.is_match(b"x/a/y"));
        assert_eq!(parse("largest").unwrap_err(), "expected first, oldest, newest, shortest or path=GLOB");
        assert!(parse("path=[").unwrap_err().contains("(at byte"));
    }
}
