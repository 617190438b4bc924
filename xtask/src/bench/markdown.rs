//! Tables for readers.

use std::fmt::Write;

use super::case::is_ftk;
use super::machine::Machine;
use super::record::{Group, Outcome, Row, Section, Table, Unit};
use super::stats::Summary;

/// What the numbers in a table mean.
pub(crate) const LEGEND: &str = "Medians, with the range of all runs in brackets, and then how many times ftk's own figure that is: \
above 1.0x ftk is ahead, below it is behind.";

/// Where a record was made, and with what.
pub(crate) fn machine(machine: &Machine) -> String {
    let Machine { date, cpu, cpus, memory_mib, kernel, load, ftk, tools } = machine;
    let gib = memory_mib.div_ceil(1024);
    let mut text = format!(
        "{ftk}, {date}, {cpu}, {cpus} logical CPUs, {gib} GiB, {kernel}, load {load:.1} at the start.\n\n"
    );
    for tool in tools.iter().filter(|tool| tool.version.is_some()) {
        let _ = writeln!(text, "- {}: {}", tool.name, tool.version.as_deref().unwrap_or_default());
    }
    let missing: Vec<_> =
        tools.iter().filter(|tool| tool.version.is_none()).map(|tool| &*tool.name).collect();
    if !missing.is_empty() {
        let _ = writeln!(text, "- not installed, so not measured: {}", missing.join(", "));
    }
    text
}

/// All of a table: one grid a section, tools down and groups across.
pub(crate) fn table(table: &Table) -> String {
    let mut text = format!("## {}\n", table.title);
    for section in &table.sections {
        let Section { title, file_system, cache, groups } = section;
        let _ = writeln!(text, "\n**{title}** ({file_system}, {cache} cache)\n");
        let titles: Vec<_> = groups.iter().map(|group| &*group.title).collect();
        let _ = writeln!(text, "| | {} |\n|---|{}", titles.join(" | "), "---:|".repeat(groups.len()));
        for tool in tools(section) {
            let cells: Vec<_> = groups.iter().map(|group| cell(table, group, tool)).collect();
            let _ = writeln!(text, "| {tool} | {} |", cells.join(" | "));
        }
        let remarks: Vec<_> =
            groups.iter().flat_map(|group| group.rows.iter().filter_map(|row| remark(group, row))).collect();
        if !remarks.is_empty() {
            let _ = writeln!(text, "\n{}", remarks.join("\n"));
        }
    }
    text
}

/// One line for each group that `is_shown`: what ftk takes, and how far ahead of the others that is.
pub(crate) fn summary(tables: &[Table], is_shown: impl Fn(&Table, &Section, &Group) -> bool) -> String {
    let mut text = "| | ftk | others |\n|---|---:|---|\n".to_owned();
    for table in tables {
        for section in &table.sections {
            for group in section.groups.iter().filter(|group| is_shown(table, section, group)) {
                let Some(ftk) = group.ftk() else { continue };
                let mut others: Vec<_> = group.rows.iter().filter(|row| !is_ftk(&row.tool)).collect();
                others.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
                let others = others.into_iter().filter_map(|row| {
                    let median = row.outcome.summary()?.median;
                    Some(format!("{} {} ({})", row.tool, value(table.unit, median), ratio(median, ftk)))
                });
                let _ = writeln!(
                    text,
                    "| `{}` {}, {}, {} cache | **{}** | {} |",
                    table.name.split('-').next().unwrap_or_default(),
                    group.title,
                    section.title.split(':').next().unwrap_or_default(),
                    section.cache,
                    value(table.unit, ftk.median),
                    others.collect::<Vec<_>>().join(", "),
                );
            }
        }
    }
    text
}

/// The tools of a section, in the order in which they first appear.
fn tools(section: &Section) -> Vec<&str> {
    let mut tools: Vec<&str> = Vec::new();
    for row in section.groups.iter().flat_map(|group| &group.rows) {
        if !tools.contains(&&*row.tool) {
            tools.push(&row.tool);
        }
    }
    tools
}

fn cell(table: &Table, group: &Group, tool: &str) -> String {
    let Some(row) = group.rows.iter().find(|row| row.tool == tool) else { return String::new() };
    let Some(Summary { min, median, max, .. }) = row.outcome.summary() else {
        return if matches!(row.outcome, Outcome::Differs(_)) { "other answer" } else { "failed" }.into();
    };
    let mut text = format!("{} ({})", value(table.unit, median), range(table.unit, median, min, max));
    if table.per_file && group.files > 1 {
        let each = median / group.files as f64;
        let _ = match table.unit {
            Unit::Milliseconds => write!(text, ", {:.1} us a file", each * 1e3),
            Unit::Kibibytes => write!(text, ", {:.0} B a file", each * 1024.0),
        };
    }
    if let Some(ftk) = group.ftk().filter(|_| tool != "ftk") {
        let _ = write!(text, " {}", ratio(median, ftk));
    }
    text
}

/// What stands below a table about a tool that was not measured.
fn remark(group: &Group, row: &Row) -> Option<String> {
    let (what, why) = match &row.outcome {
        Outcome::Measured { .. } => return None,
        Outcome::Differs(why) => ("gives another answer", why),
        Outcome::Failed(why) => ("failed", why),
    };
    Some(format!("- {}, {}: {what}: {why}", group.title, row.tool))
}

/// How many times ftk's figure this is, bold where ftk loses.
fn ratio(median: f64, ftk: Summary) -> String {
    let times = median / ftk.median;
    if times < 0.995 { format!("**{times:.2}x**") } else { format!("{times:.1}x") }
}

fn middle(row: &Row) -> f64 {
    row.outcome.summary().map_or(f64::INFINITY, |summary| summary.median)
}

/// Three digits or so, in the unit that suits the size.
fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Milliseconds if value >= 10_000.0 => format!("{:.1} s", value / 1e3),
        Unit::Milliseconds if value >= 1_000.0 => format!("{:.2} s", value / 1e3),
        Unit::Milliseconds if value >= 100.0 => format!("{value:.0} ms"),
        Unit::Milliseconds if value >= 10.0 => format!("{value:.1} ms"),
        Unit::Milliseconds => format!("{value:.2} ms"),
        Unit::Kibibytes => format!("{:.1} MiB", value / 1024.0),
    }
}

/// Both ends in the unit of the median.
fn range(unit: Unit, median: f64, min: f64, max: f64) -> String {
    match unit {
        Unit::Milliseconds if median >= 1_000.0 => format!("{:.2}-{:.2}", min / 1e3, max / 1e3),
        Unit::Milliseconds if median >= 100.0 => format!("{min:.0}-{max:.0}"),
        Unit::Milliseconds => format!("{min:.1}-{max:.1}"),
        Unit::Kibibytes => format!("{:.1}-{:.1}", min / 1024.0, max / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::{example, measured};

    #[test]
    fn a_grid_has_tools_down_and_groups_across() {
        let text = table(&example());
        assert!(
            text.starts_with("## Listing\n\n**small** (ext4, warm cache)\n\n| | all files |\n|---|---:|\n"),
            "{text}"
        );
        assert!(text.contains("\n| ftk | 20.0 ms (19.0-21.0) |\n"), "{text}");
        assert!(text.contains("\n| fd | 40.0 ms (38.0-45.0) 2.0x |\n"), "{text}");
    }

    #[test]
    fn losses_and_wrong_answers_are_shown() {
        let text = table(&example());
        assert!(text.contains("\n| floor | 10.0 ms (10.0-10.0) **0.50x** |\n"), "{text}");
        assert!(text.contains("\n| bad | other answer |\n"), "{text}");
        assert!(
            text.contains("\n- all files, bad: gives another answer: 3 lines, find has 4; only there: x\n"),
            "{text}"
        );
    }

    #[test]
    fn a_tool_that_was_not_asked_has_an_empty_cell() {
        let mut example = example();
        let mut group = example.sections[0].groups[0].clone();
        group.title = "count".into();
        group.rows.truncate(1);
        example.sections[0].groups.push(group);
        let text = table(&example);
        assert!(text.contains("| | all files | count |\n|---|---:|---:|\n"), "{text}");
        assert!(text.contains("\n| fd | 40.0 ms (38.0-45.0) 2.0x |  |\n"), "{text}");
    }

    #[test]
    fn the_cost_of_a_file_is_shown_where_it_matters() {
        let mut example = example();
        example.per_file = true;
        assert!(table(&example).contains("| ftk | 20.0 ms (19.0-21.0), 20.0 us a file |"));
        example.unit = Unit::Kibibytes;
        example.sections[0].groups[0].rows[0].outcome = measured(&[2048.0]);
        assert!(table(&example).contains("| ftk | 2.0 MiB (2.0-2.0), 2097 B a file |"));
    }

    #[test]
    fn a_summary_names_the_best_peer_first() {
        let text = summary(&[example()], |_, _, group| group.title == "all files");
        let line = "| `find` all files, small, warm cache | **20.0 ms** | floor 10.0 ms (**0.50x**), fd 40.0 ms (2.0x) |";
        assert_eq!(text.lines().last(), Some(line));
        assert_eq!(summary(&[example()], |_, _, _| false).lines().count(), 2);
    }

    #[test]
    fn missing_peers_are_listed_as_missing() {
        let text = machine(&example().machine);
        assert!(text.ends_with("- fd: fd 10.5.0\n- not installed, so not measured: bfs\n"), "{text}");
    }

    #[test]
    fn values_have_three_digits_or_so() {
        let shown = [0.456, 12.34, 123.4, 1234.0, 12345.0].map(|ms| value(Unit::Milliseconds, ms));
        assert_eq!(shown, ["0.46 ms", "12.3 ms", "123 ms", "1.23 s", "12.3 s"]);
    }
}
