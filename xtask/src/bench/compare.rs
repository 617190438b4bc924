//! Two records against each other.

use std::path::Path;

use anyhow::Result;

use super::record::{self, Table};

/// A median that moved by less than this part is not worth a line, however calm the runs.
const WORTH: f64 = 0.03;

/// Prints what changed beyond noise from the record `old` to the record `new`.
pub(crate) fn run(old: &Path, new: &Path) -> Result<()> {
    let changes = changes(&record::load(old)?, &record::load(new)?);
    for change in &changes {
        println!("{change}");
    }
    println!("{} changes beyond noise; where the peers moved too, the machine did", changes.len());
    Ok(())
}

/// A line for each command that is in both and whose runs, but for the outer quarters, are apart.
fn changes(old: &[Table], new: &[Table]) -> Vec<String> {
    let mut changes = Vec::new();
    for (table, section, group, row) in new
        .iter()
        .flat_map(|table| table.rows().map(move |(section, group, row)| (table, section, group, row)))
    {
        let before =
            old.iter().filter(|old| old.name == table.name).flat_map(Table::rows).find(|(s, g, r)| {
                (&s.title, &s.cache, &g.title, &r.tool)
                    == (&section.title, &section.cache, &group.title, &row.tool)
            });
        let Some(was) = before.and_then(|(.., row)| row.outcome.summary()) else { continue };
        let Some(is) = row.outcome.summary() else {
            changes.push(format!(
                "{}: {}, {}, {}: no longer measured",
                table.name, section.title, group.title, row.tool
            ));
            continue;
        };
        let part = is.median / was.median - 1.0;
        if was.is_apart(&is) && part.abs() > WORTH {
            changes.push(format!(
                "{}: {}, {}, {}: {:.2} -> {:.2} ({:+.0} %)",
                table.name,
                section.title,
                group.title,
                row.tool,
                was.median,
                is.median,
                part * 100.0
            ));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::Outcome;
    use crate::bench::record::tests::{example, measured};

    /// The changes when the runs of ftk, which were 19 to 21, are these.
    fn changed(outcome: Outcome) -> Vec<String> {
        let mut new = example();
        new.sections[0].groups[0].rows[0].outcome = outcome;
        changes(&[example()], &[new])
    }

    #[test]
    fn noise_is_no_change() {
        assert_eq!(changed(measured(&[20.0, 19.0, 21.0])), [""; 0]);
        assert_eq!(changed(measured(&[20.0, 20.4, 29.0])), [""; 0]);
        assert_eq!(changes(&[], &[example()]), [""; 0]);
    }

    #[test]
    fn runs_that_are_apart_are_a_change() {
        assert_eq!(
            changed(measured(&[30.0, 29.0, 31.0])),
            ["find: small, all files, ftk: 20.00 -> 30.00 (+50 %)"]
        );
        assert_eq!(changed(measured(&[10.0])), ["find: small, all files, ftk: 20.00 -> 10.00 (-50 %)"]);
    }

    #[test]
    fn a_command_that_fails_now_is_a_change() {
        let lost = changed(Outcome::Failed("no".into()));
        assert_eq!(lost, ["find: small, all files, ftk: no longer measured"]);
    }
}
