//! Options for which copies are kept.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, ensure};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use ftk_dedup::Member;
use ftk_dedup::prune::{Below, KeepRule, KeepRules, MemberTest, Pruning};
use ftk_record::{quote, sanitize};
use ftk_select::Glob;

use crate::console::Console;
use crate::number::at_least;

/// The rules that choose the kept files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kept files")]
pub(super) struct KeepArgs {
    /// Rule that chooses the kept file, such as oldest
    ///
    /// first, argument, oldest, newest, shortest, shallowest, deepest or path=GLOB. Repeatable: where the first rule does not
    /// decide, the next one does, and in the end the default order: a file that is not in a hidden directory, not on a
    /// read-only file system or subvolume, then the oldest (mtime; not for directories), the one with the shortest path,
    /// and the first path in byte order. A file in a trash or system directory (#recycle, @Recycle, @eaDir, $RECYCLE.BIN,
    /// .Trash*, .Trashes, lost+found, .snapshot, .snapshots, .zfs) is never kept in place of one outside, unless
    /// --reference or path= names it. `first` keeps the first file in
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
                KeepRule::Path(Box::new(move |member| glob.is_match(&member.path)))
            }
        }
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

impl KeepArgs {
    /// Returns the rules.
    ///
    /// # Errors
    /// If a directory of `--keep-one-per` does not exist.
    pub(super) fn rules(&self) -> anyhow::Result<KeepRules> {
        let keep = self.keep.iter().map(RuleArg::rule).collect();
        let one_per = |dir: &OsString| {
            let below = below(std::slice::from_ref(dir)).context("--keep-one-per")?;
            // A directory that contains DIR has its copies below DIR.
            let accepts = move |member: &Member| below.contains(&member.path) || below.touches(&member.path);
            Ok(Box::new(accepts) as MemberTest)
        };
        let one_per = self.keep_one_per.iter().map(one_per).collect::<anyhow::Result<_>>()?;
        let (isolate, min_copies) = (self.isolate, self.min_copies);
        Ok(KeepRules { keep, isolate, min_copies, one_per, chosen: HashSet::new() })
    }

    /// Returns whether the order of starting points chooses the kept file.
    pub(super) fn is_by_argument(&self) -> bool {
        let is_by_argument = |rule: &RuleArg| matches!(rule.kind, RuleKind::First | RuleKind::Argument);
        self.isolate || !self.references.is_empty() || self.keep.iter().any(is_by_argument)
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

    /// Returns the rules as they are shown.
    pub(super) fn names(&self) -> RuleNames {
        let shown = |option: &str, value: &OsString| format!("{option} {}", sanitize(value.as_bytes()));
        RuleNames {
            keep: self.keep.iter().map(|rule| shown("--keep", &rule.text)).collect(),
            one_per: self.keep_one_per.iter().map(|dir| shown("--keep-one-per", dir)).collect(),
        }
    }
}

/// The rules as they are shown.
#[derive(Debug)]
pub(super) struct RuleNames {
    keep: Vec<String>,
    one_per: Vec<String>,
}

impl RuleNames {
    /// Prints the rules that decided nothing, unless there was nothing to decide.
    pub(super) fn say_undecided(&self, pruning: &Pruning, console: &Console) {
        let (keep, one_per) = pruning.rule_use.undecided(&pruning.rules);
        let names =
            keep.iter().map(|&nth| &self.keep[nth]).chain(one_per.iter().map(|&nth| &self.one_per[nth]));
        names.for_each(|name| console.summary(format_args!("{name} decided nothing")));
    }
}

/// Resolves directories.
///
/// # Errors
/// If one does not exist.
pub(super) fn below(directories: &[OsString]) -> anyhow::Result<Below> {
    Below::new(directories).map_err(|(nth, error)| {
        anyhow::Error::new(error).context(format!("cannot open {}", quote(directories[nth].as_bytes())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_trash_and_system_directories() {
        let command = KeepArgs::augment_args(clap::Command::new("ftk"));
        let help = command.get_arguments().find(|it| it.get_id() == "keep").unwrap().get_long_help().unwrap();
        let listed = format!("({})", ftk_dedup::prune::TRASH.join(", "));
        assert!(help.to_string().contains(&listed), "{help}");
    }

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
