//! Finds the directories to report.

use anyhow::ensure;
use ftk_dedup::{
    Choice, Contained, Contents, DirGroup, Directories, DirectoryRules, Fates, Names, Share, UnitPlace,
    contained,
};
use ftk_inventory::{DirNo, Inventory};
use indicatif::{DecimalBytes, HumanCount};

use crate::console::Console;
use crate::dup::dirs::{DirArgs, ShareArg};
use crate::dup::options::Format;
use crate::human;

/// The directories to report.
#[derive(Debug)]
pub(in crate::dup) struct DirReport {
    pub(in crate::dup) names: Names,
    pub(in crate::dup) groups: Vec<DirGroup>,
    pub(in crate::dup) contained: Vec<Contained>,
    /// Which directories the groups account for.
    pub(in crate::dup) fates: Fates,
    /// Whether groups of directories, and then groups of files, are reported.
    pub(in crate::dup) has_groups: bool,
    /// Directories that are equal to no other because an entry of them is unknown.
    partial: u64,
}

impl DirReport {
    /// Rejects options that make the output ambiguous.
    ///
    /// # Errors
    /// If they do.
    pub(in crate::dup) fn check(args: &DirArgs, share: &ShareArg, format: Format) -> anyhow::Result<()> {
        let is_used = args.is_used() || share.contained.is_some();
        ensure!(!is_used || format != Format::Csv, "a table of --format csv has only files: use --json");
        let has_both = args.is_used() && share.contained.is_some();
        ensure!(
            !has_both || format != Format::Fdupes,
            "--contained and groups cannot be told apart in this format: use --json or --format screen"
        );
        Ok(())
    }

    pub(in crate::dup) fn new(
        inventory: &Inventory,
        contents: &Contents,
        args: &DirArgs,
        place: &dyn Fn(DirNo) -> UnitPlace,
        share: &ShareArg,
    ) -> Self {
        let (names, has_groups) = (share.names(), args.is_used());
        let rules = DirectoryRules { all: args.dirs, place, names };
        let directories = Directories::new(inventory, contents, &rules);
        let (groups, fates) = directories.decide(first_stays);
        let groups: Vec<_> = groups.into_iter().map(|(group, _)| group).collect();
        let elsewhere = |share: Share| contained(&directories, share, has_groups.then_some(&fates));
        let contained = share.contained.map(elsewhere).unwrap_or_default();
        Self { names, groups, contained, fates, has_groups, partial: directories.partial() }
    }

    /// Bytes that all groups waste.
    pub(in crate::dup) fn wasted(&self) -> u64 {
        self.groups.iter().fold(0, |sum, group| sum.saturating_add(group.wasted))
    }

    /// Prints how many directories were found, and how many could not be compared.
    pub(in crate::dup) fn say(&self, console: &Console) {
        if self.has_groups {
            let groups = match self.groups.len() as u64 {
                0 => "no equal directories".into(),
                n => {
                    let dirs = self.groups.iter().map(|group| group.dirs.len() as u64).sum();
                    let wasted = DecimalBytes(self.wasted());
                    let (dirs, n) = (HumanCount(dirs), human::count(n, "group"));
                    format!("{dirs} equal directories in {n} waste {wasted}")
                }
            };
            console.summary(groups);
            console.stats.result("directory_groups", self.groups.len() as u64);
            console.stats.result("directory_waste_bytes", self.wasted());
        }
        say_partial(self.partial, console);
    }
}

/// Prints how many directories are equal to no other because an entry of them is unknown.
pub(in crate::dup) fn say_partial(partial: u64, console: &Console) {
    if partial > 0 {
        let dirs =
            if partial == 1 { "directory".into() } else { format!("{} directories", HumanCount(partial)) };
        let dirs = dirs.replacen("directory", "1 directory", usize::from(partial == 1));
        console.summary(format_args!(
            "{dirs} not compared as a whole: entries were excluded, not readable, or reached twice"
        ));
    }
}

/// Keeps the first directory of each group, or those that stay anyway.
fn first_stays(group: &DirGroup) -> Vec<Choice> {
    let mut choices = vec![Choice::Goes; group.dirs.len()];
    if group.kept.is_empty() {
        choices[0] = Choice::Stays;
    }
    choices
}
