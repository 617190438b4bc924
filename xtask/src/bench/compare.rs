//! Compares two records.

use std::fmt;
use std::path::Path;

use anyhow::Result;

use super::case::is_ftk;
use super::format;
use super::record::{self, Outcome, Section, Table};
use super::stats::Summary;

/// Smaller relative changes of a median are not reported, even if they exceed the noise.
const WORTH: f64 = 0.03;

/// Smaller relative changes of memory are not reported.
const WORTH_OF_MEMORY: f64 = 0.1;

/// Prints the changes from the record `old` to the record `new` that exceed the noise.
pub(crate) fn run(old: &Path, new: &Path) -> Result<()> {
    print(&record::load(old)?, &record::load(new)?);
    Ok(())
}

/// Prints the changes from the tables `old` to the tables `new` that exceed the noise.
pub(crate) fn print(old: &[Table], new: &[Table]) {
    let changes = changes(old, new);
    for change in &changes {
        println!("{change}");
    }
    println!("{} changes exceed the noise. {}", changes.len(), drift(old, new));
}

/// Returns a line for each command in both records whose time or memory changed, or that can no longer be measured. The
/// time has changed if the middle halves of the old and the new runs do not overlap.
fn changes(old: &[Table], new: &[Table]) -> Vec<String> {
    let mut changes = Vec::new();
    for (place, before, after) in pairs(old, new) {
        let Some(was) = before.summary() else { continue };
        let Some(is) = after.summary() else {
            changes.push(format!("{place}: no longer measured"));
            continue;
        };
        let part = is.median / was.median - 1.0;
        if was.is_apart(&is) && part.abs() > WORTH {
            let (was, is) = (format::time(was.median), format::time(is.median));
            changes.push(format!("{place}: {was} -> {is} ({:+.0} %)", part * 100.0));
        }
        if let (Some(was), Some(is)) = (before.memory_kib(), after.memory_kib()) {
            let part = is as f64 / was as f64 - 1.0;
            if part.abs() > WORTH_OF_MEMORY {
                let (was, is) = (format::memory(was), format::memory(is));
                changes.push(format!("{place}: {was} -> {is} ({:+.0} %)", part * 100.0));
            }
        }
    }
    changes
}

/// Describes the median change of the times of ftk and, if there are any in both records, of the other tools. If both
/// changed alike, the likely cause is the machine.
fn drift(old: &[Table], new: &[Table]) -> String {
    let median = |is_ours: bool| {
        let parts = pairs(old, new).filter(|(place, ..)| is_ftk(place.tool) == is_ours);
        let parts =
            parts.filter_map(|(_, old, new)| Some(new.summary()?.median / old.summary()?.median - 1.0));
        Summary::of(&parts.collect::<Vec<_>>()).map(|summary| format!("{:+.1} %", summary.median * 100.0))
    };
    match (median(true), median(false)) {
        (Some(ours), Some(peers)) => {
            format!("The median time of ftk changed by {ours}, that of its peers by {peers}")
        }
        (Some(ours), None) => format!("The median time of ftk changed by {ours}"),
        (None, _) => "No command of ftk is in both".into(),
    }
}

/// A command in a record.
struct Place<'r> {
    table: &'r str,
    section: &'r Section,
    group: &'r str,
    tool: &'r str,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, section, group, tool } = self;
        write!(f, "{table}: {}, {group}, {tool}", section.title)
    }
}

/// Returns the commands that are in both records.
fn pairs<'r>(
    old: &'r [Table],
    new: &'r [Table],
) -> impl Iterator<Item = (Place<'r>, &'r Outcome, &'r Outcome)> {
    let rows = new.iter().flat_map(|table| table.rows().map(move |row| (table, row)));
    rows.filter_map(|(table, (section, group, row))| {
        let old = old.iter().filter(|old| old.name == table.name).flat_map(Table::rows);
        let (.., before) = old.into_iter().find(|(s, g, r)| {
            (&s.title, &s.cache, &g.title, &r.tool)
                == (&section.title, &section.cache, &group.title, &row.tool)
        })?;
        let place = Place { table: &table.name, section, group: &group.title, tool: &row.tool };
        Some((place, &before.outcome, &row.outcome))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::{example, measured};

    /// Returns the changes if the runs of ftk, which were 19 to 21 ms, become these.
    fn changed(outcome: Outcome) -> Vec<String> {
        let mut new = example();
        new.sections[0].groups[0].rows[0].outcome = outcome;
        changes(&[example()], &[new])
    }

    #[test]
    fn noise_is_not_reported() {
        assert_eq!(changed(measured(&[20.0, 19.0, 21.0])), [""; 0]);
        assert_eq!(changed(measured(&[20.0, 20.4, 29.0])), [""; 0]);
        assert_eq!(changes(&[], &[example()]), [""; 0]);
    }

    #[test]
    fn runs_that_do_not_overlap_are_reported() {
        assert_eq!(
            changed(measured(&[30.0, 29.0, 31.0])),
            ["find: small, all files, ftk: 20.0 ms -> 30.0 ms (+50 %)"]
        );
        assert_eq!(changed(measured(&[10.0])), ["find: small, all files, ftk: 20.0 ms -> 10.0 ms (-50 %)"]);
    }

    #[test]
    fn a_command_that_fails_now_is_reported() {
        let lost = changed(Outcome::Failed("no".into()));
        assert_eq!(lost, ["find: small, all files, ftk: no longer measured"]);
    }

    #[test]
    fn more_memory_is_reported() {
        let outcome =
            Outcome::Measured { median: 20.0, runs: vec![19.0, 21.0], cpu_ms: None, memory_kib: 4096 };
        assert_eq!(changed(outcome), ["find: small, all files, ftk: 2.0 MiB -> 4.0 MiB (+100 %)"]);
    }

    #[test]
    fn without_peers_the_drift_of_ftk_is_shown() {
        let mut new = example();
        new.sections[0].groups[0].rows.truncate(1);
        assert_eq!(drift(&[example()], &[new]), "The median time of ftk changed by +0.0 %");
    }

    #[test]
    fn the_drift_of_ftk_and_of_peers_is_shown() {
        let mut new = example();
        new.sections[0].groups[0].rows[1].outcome = measured(&[44.0]);
        new.sections[0].groups[0].rows.remove(2);
        assert_eq!(
            drift(&[example()], &[new]),
            "The median time of ftk changed by +0.0 %, that of its peers by +10.0 %"
        );
    }
}
