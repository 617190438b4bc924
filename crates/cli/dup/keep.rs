//! Options for which copies are kept.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, ensure};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use ftk_dedup::{KeepRule, KeepRules, PathTest};
use ftk_record::sanitize;
use ftk_select::Glob;

use crate::dup::below::Below;
use crate::dup::rule_use::RuleUse;
use crate::number::at_least;

/// The rules that choose the kept files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kept files")]
pub(super) struct KeepArgs {
    /// Rule that chooses the kept file, such as oldest
    ///
    /// first, argument, oldest, newest, shortest, shallowest, deepest or path=GLOB. Repeatable: where the first rule does not decide, the next one does, and `first` in the end. `first` keeps the first file in
    /// the order of the arguments, then of paths. `argument` keeps a file under the first PATH that has one, and lets the
    /// next rule decide between files under the same PATH. `oldest` and `newest` compare the time of the last content
    /// change (mtime), `shortest` the length of the path, `shallowest` and `deepest` the number of directories in it. `path=GLOB` keeps a file whose whole path matches the glob, in which `*`
    /// also matches `/`. The summary lists rules that decided nothing.
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

    /// Keep a copy below DIR if there is one; repeatable
    ///
    /// For example, `--keep-one-per /mnt/a --keep-one-per /mnt/b` keeps one copy on each disk. The other rules choose
    /// which one.
    #[arg(long, value_name = "DIR")]
    keep_one_per: Vec<OsString>,

    /// Keep at least N copies
    ///
    /// Hard links of one file count as one copy.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least(1_usize))]
    min_copies: usize,
}

/// A value of `--keep`.
#[derive(Clone, Debug)]
struct RuleArg {
    /// The value as it was given.
    text: OsString,
    kind: RuleKind,
}

#[derive(Clone, Debug)]
enum RuleKind {
    First,
    Argument,
    Oldest,
    Newest,
    Shortest,
    Shallowest,
    Deepest,
    Path(Glob),
}

impl RuleArg {
    fn parse(text: OsString) -> Result<Self, String> {
        let kind = match text.as_bytes() {
            b"first" => RuleKind::First,
            b"argument" => RuleKind::Argument,
            b"oldest" => RuleKind::Oldest,
            b"newest" => RuleKind::Newest,
            b"shortest" => RuleKind::Shortest,
            b"shallowest" => RuleKind::Shallowest,
            b"deepest" => RuleKind::Deepest,
            value => match value.strip_prefix(b"path=") {
                Some(glob) => RuleKind::Path(Glob::new(glob).map_err(|error| with_cause(&error))?),
                None => {
                    return Err("expected first, argument, oldest, newest, shortest, shallowest, deepest or path=GLOB".into());
                }
            },
        };
        Ok(Self { text, kind })
    }

    fn rule(&self) -> KeepRule {
        match &self.kind {
            RuleKind::First => KeepRule::First,
            RuleKind::Argument => KeepRule::Argument,
            RuleKind::Oldest => KeepRule::Oldest,
            RuleKind::Newest => KeepRule::Newest,
            RuleKind::Shortest => KeepRule::Shortest,
            RuleKind::Shallowest => KeepRule::Shallowest,
            RuleKind::Deepest => KeepRule::Deepest,
            RuleKind::Path(glob) => {
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
    ///
    /// # Errors
    /// If a directory of `--keep-one-per` does not exist.
    pub(super) fn rules(&self, references: BTreeSet<usize>) -> anyhow::Result<KeepRules> {
        let keep = self.keep.iter().map(RuleArg::rule).collect();
        let one_per = |dir: &OsString| {
            let below = Below::new(std::slice::from_ref(dir)).context("--keep-one-per")?;
            // A directory that contains DIR has its copies below DIR.
            Ok(Box::new(move |path: &[u8]| below.contains(path) || below.touches(path)) as PathTest)
        };
        let one_per = self.keep_one_per.iter().map(one_per).collect::<anyhow::Result<_>>()?;
        let (isolate, min_copies) = (self.isolate, self.min_copies);
        Ok(KeepRules { keep, references, isolate, min_copies, one_per, chosen: HashSet::new() })
    }

    /// Rejects rules that would choose other files than the decisions do.
    ///
    /// # Errors
    /// If one of these options was given.
    pub(super) fn refuse_with_decisions(&self) -> anyhow::Result<()> {
        for (option, is_used) in [
            ("--keep", !self.keep.is_empty()),
            ("--keep-one-per", !self.keep_one_per.is_empty()),
            ("--isolate", self.isolate),
        ] {
            ensure!(!is_used, "{option} cannot be used with decisions, which say what to keep");
        }
        Ok(())
    }

    /// Returns a count of what each rule decides.
    pub(super) fn rule_use(&self) -> RuleUse {
        let shown = |option: &str, value: &OsString| format!("{option} {}", sanitize(value.as_bytes()));
        RuleUse::new(
            self.keep.iter().map(|rule| shown("--keep", &rule.text)),
            self.keep_one_per.iter().map(|dir| shown("--keep-one-per", dir)),
        )
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
        for word in ["first", "argument", "oldest", "newest", "shortest", "shallowest", "deepest"] {
            let rule = parse(word).unwrap();
            assert_eq!(format!("{:?}", rule.rule()).to_lowercase(), word);
            assert_eq!(rule.text, word);
        }
        let RuleKind::Path(glob) = parse("path=*/a b/*").unwrap().kind else { panic!("no glob") };
        assert!(glob.is_match(b"x/a b/y") && !glob.is_match(b"x/a/y"));
        assert_eq!(
            parse("largest").unwrap_err(),
            "expected first, argument, oldest, newest, shortest, shallowest, deepest or path=GLOB"
        );
        assert!(parse("path=[").unwrap_err().contains("(at byte"));
    }
}
