//! What is said about directories besides the report.

use anyhow::ensure;
use ftk_dedup::DirReport;
use indicatif::{DecimalBytes, HumanCount};

use crate::console::Console;
use crate::dup::dirs::{DirArgs, ShareArg};
use crate::dup::options::ReportFormat;
use crate::human;

/// Rejects options that make the output ambiguous.
///
/// # Errors
/// If they do.
pub(in crate::dup) fn check_format(
    args: &DirArgs,
    share: &ShareArg,
    format: ReportFormat,
) -> anyhow::Result<()> {
    let is_used = args.is_used() || share.contained.is_some();
    ensure!(!is_used || format != ReportFormat::Csv, "a table of --format csv has only files: use --json");
    ensure!(
        share.contained.is_none() || format != ReportFormat::Fdupes,
        "--contained: in lists of --format fdupes and -0, all files of a group are equal: use --json or --format screen"
    );
    Ok(())
}

/// Prints how many directories were found, and how many could not be compared.
pub(in crate::dup) fn say(report: &DirReport, console: &Console) {
    if report.has_groups {
        let groups = match report.groups.len() as u64 {
            0 => "no equal directories".into(),
            n => {
                let dirs = report.groups.iter().map(|group| group.dirs.len() as u64).sum();
                let wasted = DecimalBytes(report.wasted());
                let (dirs, n) = (HumanCount(dirs), human::count(n, "group"));
                format!("{dirs} equal directories in {n} waste {wasted}")
            }
        };
        console.summary(groups);
        console.stats.result("directory_groups", report.groups.len() as u64);
        console.stats.result("directory_waste_bytes", report.wasted());
    }
    say_partial(report.partial, console);
}

/// Prints how many directories are equal to no other because an entry of them is unknown.
pub(in crate::dup) fn say_partial(partial: u64, console: &Console) {
    if partial > 0 {
        console.summary(format_args!(
            "{} not compared as a whole: entries were excluded, not readable, or reached twice",
            human::directories(partial)
        ));
    }
}
