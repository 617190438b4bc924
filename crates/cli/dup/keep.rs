//! Options for which copies are kept.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, ensure};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use ftk_dedup::Member;
use ftk_dedup::prune::{Below, KeepRule, KeepRules, Pruning, root_lens};
use ftk_record::{quote, sanitize};
use ftk_select::{Roots, SpelledGlob};

use crate::console::Console;
use crate::number::at_least;
use crate::rules::{Rule, Rules};

/// The rules that choose the kept files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kept files")]
pub(super) struct KeepArgs {
    /// Rule that chooses the kept file, such as oldest
    ///
    /// first, argument, oldest, newest, shortest, shallowest, deepest or path=GLOB. Repeatable: where the first rule
    /// does not decide, the next one does, and in the end the default order: a file that is not in a hidden directory,
    /// not on a read-only file system or subvolume, then the oldest (mtime; not for directories), the one with the
    /// shortest path, and the first path in byte order. A file in a trash or system directory (#recycle, @Recycle,
    /// @eaDir, $RECYCLE.BIN, .Trash*, .Trashes, lost+found, .snapshot, .snapshots, .zfs) is never kept in place of one
    /// outside, unless --reference or path= names it. For delete and move, the same holds for a file on a read-only
    /// file system, mount or subvolume, such as a snapshot. If all names survive (hardlink, reflink, symlink), the
    /// default order begins with a file whose blocks stay in use anyway, by links outside of the scan or by shared
    /// blocks. `first` keeps the first file in the order of the arguments, then of paths. `argument` keeps a file under
    /// the first PATH that has one, and lets the next rule decide between files under the same PATH. `oldest` and
    /// `newest` compare the time of the last content change (mtime), `shortest` the length of the path, `shallowest`
    /// and `deepest` the number of directories in it. `path=GLOB` keeps a file whose whole path matches the glob, in
    /// which `*` also matches `/`. The summary lists rules that decided nothing.
    #[arg(long, value_name = "RULE", value_parser = OsStringValueParser::new().try_map(parse))]
    keep: Vec<OsString>,

    /// Keep all files below DIR, which prune also scans
    ///
    /// Repeatable. Files in DIR count as kept copies and are never changed.
    #[arg(long = "reference", value_name = "DIR")]
    pub(super) references: Vec<OsString>,

    /// Keep all copies under the PATH of the kept file
    ///
    /// Only copies under other PATHs are removed. A file counts for the innermost PATH above it: with `--isolate --keep
    /// argument photos photos/phone`, only copies in photos/phone of files elsewhere in photos are removed.
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

/// Checks a value of `--keep`.
fn parse(value: OsString) -> Result<OsString, String> {
    rule(&value, &[]).map(|_| value).map_err(|error| format!("{error:#}"))
}

/// Returns the rule with this text, for these starting points.
fn rule(text: &OsStr, roots: &[CString]) -> anyhow::Result<KeepRule> {
    if let Some(rule) = KeepRule::named(text.as_bytes()) {
        return Ok(rule);
    }
    let glob = text.as_bytes().strip_prefix(b"path=");
    let glob = glob.with_context(|| format!("expected {} or path=GLOB", KeepRule::NAMES.join(", ")))?;
    let (glob, root_lens) = (SpelledGlob::new(glob, &Roots::new(roots))?, root_lens(roots));
    let accepts = move |member: &Member| glob.is_match(member.root, &member.path, root_lens[member.root]);
    Ok(KeepRule::Path(Box::new(accepts)))
}

impl Default for KeepArgs {
    fn default() -> Self {
        let (keep, references, keep_one_per) = Default::default();
        Self { keep, references, isolate: false, keep_one_per, min_copies: 1 }
    }
}

impl KeepArgs {
    /// Returns the rules for these starting points.
    ///
    /// # Errors
    /// If a directory does not exist, or a glob cannot be used.
    pub(super) fn rules(&self, roots: &[CString]) -> anyhow::Result<KeepRules> {
        let keep = self.keep.iter().map(|text| rule(text, roots)).collect::<anyhow::Result<_>>()?;
        let (one_per, isolate, min_copies) = (self.one_per()?.tests(), self.isolate, self.min_copies);
        Ok(KeepRules { keep, isolate, min_copies, one_per, ..KeepRules::default() })
    }

    /// Returns the directories of `--keep-one-per`.
    pub(super) fn one_per(&self) -> anyhow::Result<Below> {
        below(&self.keep_one_per).context("--keep-one-per")
    }

    /// Returns the rules about directories and starting points. `references` and `one_per` say for each directory
    /// whether a file is below it, and `has_tree` whether a starting point is a directory.
    pub(super) fn place_rules(&self, references: &[bool], one_per: &[bool], has_tree: bool) -> Vec<Rule> {
        let rule = |option, (dir, &is_used): (&OsString, &bool)| {
            Rule::new(option, Some(dir.as_bytes().to_vec()), true, Some(is_used))
        };
        let references = self.references.iter().zip(references).map(|it| rule("--reference", it));
        let one_per = self.keep_one_per.iter().zip(one_per).map(|it| rule("--keep-one-per", it));
        let isolate = self.isolate.then(|| Rule::new("--isolate", None, true, Some(has_tree)));
        references.chain(one_per).chain(isolate).collect()
    }

    /// Returns the rules `--keep path=`, which match some of the members or none.
    pub(super) fn path_rules(&self, rules: &KeepRules, members: impl Iterator<Item = Member>) -> Vec<Rule> {
        let rule = |(nth, is_used): (usize, bool)| {
            Rule::new("--keep", Some(self.keep[nth].as_bytes().to_vec()), true, Some(is_used))
        };
        rules.used_paths(members).into_iter().map(rule).collect()
    }

    /// Returns whether a rule may prefer one starting point to another.
    pub(super) fn tells_places_apart(&self) -> bool {
        let is_by_place =
            |rule: &OsString| rule == "first" || rule == "argument" || rule.as_bytes().starts_with(b"path=");
        let has_places = !self.references.is_empty() || !self.keep_one_per.is_empty();
        self.isolate || has_places || self.keep.iter().any(is_by_place)
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

    /// Prints the rules that decided nothing, unless there was nothing to decide. Those that matched nothing are named
    /// elsewhere.
    pub(super) fn say_undecided(&self, pruning: &Pruning, rules: &Rules, console: &Console) {
        let (keep, one_per) = pruning.rule_use.undecided(&pruning.rules);
        let keep = keep.iter().map(|&nth| ("--keep", self.keep[nth].as_bytes()));
        let one_per = one_per.iter().map(|&nth| ("--keep-one-per", self.keep_one_per[nth].as_bytes()));
        let is_told = |(option, value): &(&str, &[u8])| {
            let is_default = console.is_default(&[option.as_bytes(), b"=", value].concat());
            !is_default && !rules.has_unused(option, value)
        };
        for (option, value) in keep.chain(one_per).filter(is_told) {
            console.summary(format_args!("{option} {} decided nothing", sanitize(value)));
        }
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
        for word in KeepRule::NAMES {
            assert_eq!(format!("{:?}", rule(OsStr::new(word), &[]).unwrap()).to_lowercase(), word);
        }
        assert!(matches!(rule(OsStr::new("path=*/a b/*"), &[]), Ok(KeepRule::Path(_))));
        assert_eq!(
            parse("largest".into()).unwrap_err(),
            "expected first, argument, oldest, newest, shortest, shallowest, deepest or path=GLOB"
        );
        assert!(parse("path=[".into()).unwrap_err().contains("(at byte"));
    }
}
