//! Markdown tables of a record.

use std::fmt::Write;

use super::case::is_ftk;
use super::format;
use super::machine::Machine;
use super::record::{Group, Outcome, Ratio, Row, Section, Table, is_slower};
use super::stats::Summary;

/// What the numbers in a table mean.
pub(crate) const LEGEND: &str = "Each cell has the median time, the range of all runs in brackets, the tool's time divided by \
ftk's (above 1.0x ftk is faster, **below** it is slower), the CPU time with its ratio in some tables, and the peak memory of \
the largest process (**bold** if ftk's is more than a tenth larger).";

/// Returns the machine and the versions of a record.
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
        let _ = writeln!(text, "- not installed and not measured: {}", missing.join(", "));
    }
    text
}

/// Returns a table: one grid per section, with a row per tool and a column per group, and its chart in `charts`.
pub(crate) fn table(table: &Table, charts: Option<&str>) -> String {
    let Table { name, title, .. } = table;
    let mut text = format!("### {title}\n");
    if let Some(charts) = charts {
        let _ = writeln!(text, "\n![{title}]({charts}/{name}.svg)");
    }
    for section in &table.sections {
        let Section { title, file_system, cache, groups } = section;
        let _ = writeln!(text, "\n**{title}** ({file_system}, {cache} cache)\n");
        let titles: Vec<_> = groups.iter().map(|group| &*group.title).collect();
        let _ = writeln!(text, "| | {} |\n|---|{}", titles.join(" | "), "---:|".repeat(groups.len()));
        for tool in section.tools() {
            let cells: Vec<_> = groups.iter().map(|group| cell(table, group, tool)).collect();
            let _ = writeln!(text, "| {tool} | {} |", cells.join(" | "));
        }
        let _ = writeln!(text, "\n{}", lost(section, "Faster than ftk", Group::ratio));
        if table.shows_cpu {
            let _ = writeln!(text, "{}", lost(section, "Less CPU time than ftk", Group::cpu_ratio));
        }
        for group in groups {
            if let Some(note) = &group.note {
                let _ = writeln!(text, "- {}: {note}", group.title);
            }
            for remark in group.rows.iter().filter_map(|row| remark(group, row)) {
                let _ = writeln!(text, "{remark}");
            }
        }
    }
    text
}

/// Lists in one line the groups in which others are better than ftk by this ratio.
fn lost(section: &Section, what: &str, ratio: Ratio) -> String {
    let mut tools: Vec<(&str, Vec<String>)> = Vec::new();
    for (tool, group, ratio) in section.lost(ratio) {
        let place = format!("{group} {}", format::ratio(ratio));
        match tools.iter_mut().find(|(known, _)| *known == tool) {
            Some((_, places)) => places.push(place),
            None => tools.push((tool, vec![place])),
        }
    }
    let tools: Vec<_> =
        tools.iter().map(|(tool, places)| format!("{tool} ({})", places.join(", "))).collect();
    if tools.is_empty() { format!("- {what}: none.") } else { format!("- {what}: {}.", tools.join("; ")) }
}

/// Returns one line for each group that `is_shown`: the times of ftk and of the others.
pub(crate) fn summary(tables: &[Table], is_shown: impl Fn(&Table, &Section, &Group) -> bool) -> String {
    let mut text = "| | ftk | others |\n|---|---:|---|\n".to_owned();
    for table in tables {
        for section in &table.sections {
            for group in section.groups.iter().filter(|group| is_shown(table, section, group)) {
                let Some(ftk) = group.ftk().and_then(|row| row.outcome.summary()) else { continue };
                let mut others: Vec<_> = group
                    .rows
                    .iter()
                    .filter(|row| !is_ftk(&row.tool))
                    .filter_map(|row| Some((row, row.outcome.summary()?.median)))
                    .collect();
                others.sort_by(|a, b| a.1.total_cmp(&b.1));
                let others = others.into_iter().map(|(row, median)| {
                    format!("{} {} ({})", row.tool, format::time(median), shown(group.ratio(row)))
                });
                let _ = writeln!(
                    text,
                    "| {} | **{}** | {} |",
                    what(table, section, group),
                    format::time(ftk.median),
                    others.collect::<Vec<_>>().join(", "),
                );
            }
        }
    }
    text
}

/// Describes a group outside of its table.
pub(crate) fn what(table: &Table, section: &Section, group: &Group) -> String {
    let command = table.name.split('-').next().unwrap_or_default();
    format!("`{command}` {}, {}, {} cache", group.title, section.name(), section.cache)
}

fn cell(table: &Table, group: &Group, tool: &str) -> String {
    let Some(row) = group.rows.iter().find(|row| row.tool == tool) else { return String::new() };
    let Some(Summary { min, median, max, .. }) = row.outcome.summary() else {
        return if matches!(row.outcome, Outcome::Differs(_)) { "other result" } else { "failed" }.into();
    };
    let mut text = format!("{} ({})", format::time(median), format::range(median, min, max));
    if table.per_file && group.files > 1 {
        let _ = write!(text, ", {:.1} us per file", median / group.files as f64 * 1e3);
    }
    let times = shown(group.ratio(row));
    if !times.is_empty() {
        let _ = write!(text, " {times}");
    }
    if let Some(ms) = row.outcome.cpu_ms().filter(|_| table.shows_cpu) {
        let times = shown(group.cpu_ratio(row));
        let _ = write!(text, ", CPU {}{}{times}", format::time(ms), if times.is_empty() { "" } else { " " });
    }
    if let Some(kib) = row.outcome.memory_kib() {
        let ftk = group.ftk().and_then(|row| row.outcome.memory_kib()).unwrap_or(0);
        let mark = if kib * 11 < ftk * 10 { "**" } else { "" };
        let _ = write!(text, ", {mark}{}{mark}", format::memory(kib));
    }
    text
}

/// Returns the remark below a table about a tool that was not measured.
fn remark(group: &Group, row: &Row) -> Option<String> {
    let (what, why) = match &row.outcome {
        Outcome::Measured { .. } => return None,
        Outcome::Differs(why) => ("gives a different result", why),
        Outcome::Failed(why) => ("failed", why),
    };
    Some(format!("- {}, {}: {what}: {why}", group.title, row.tool))
}

/// Returns the text of a ratio to ftk, bold if ftk is worse; empty for ftk itself.
fn shown(ratio: Option<f64>) -> String {
    let Some(times) = ratio else { return String::new() };
    let shown = format::ratio(times);
    if is_slower(times) { format!("**{shown}**") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::example;

    #[test]
    fn a_table_shows_times_ratios_memory_and_faults() {
        let mut example = example();
        let group = &mut example.sections[0].groups[0];
        group.note = Some("2 workers".into());
        group.rows[0].outcome = Outcome::measured([20.0, 19.0, 21.0].into_iter(), 4096);
        let mut count = group.clone();
        count.title = "count".into();
        count.note = None;
        count.rows.truncate(1);
        example.sections[0].groups.push(count);
        // ftk is slower than `floor`, and needs more memory than the others. Only ftk is in the second group.
        let expected = "\
### Listing

![Listing](records/x/find.svg)

**small** (ext4, warm cache)

| | all files | count |
|---|---:|---:|
| ftk | 20.0 ms (19.0-21.0), 4.0 MiB | 20.0 ms (19.0-21.0), 4.0 MiB |
| fd | 40.0 ms (38.0-45.0) 2.0x, **2.0 MiB** |  |
| floor | 10.0 ms (10.0-10.0) **0.50x**, **2.0 MiB** |  |
| bad | other result |  |

- Faster than ftk: floor (all files 0.50x).
- all files: 2 workers
- all files, bad: gives a different result: 3 lines, find has 4; only there: x
";
        assert_eq!(table(&example, Some("records/x")), expected);
        example.per_file = true;
        assert!(table(&example, None).contains("### Listing\n\n**small**"));
        assert!(table(&example, None).contains("| ftk | 20.0 ms (19.0-21.0), 20.0 us per file, 4.0 MiB |"));
    }

    #[test]
    fn cpu_times_are_shown_with_what_was_lost() {
        let mut example = example();
        example.shows_cpu = true;
        let rows = &mut example.sections[0].groups[0].rows;
        for (row, cpu_ms) in rows.iter_mut().zip([30.0, 15.0, 60.0]) {
            row.outcome = row.outcome.clone().with_cpu([cpu_ms].into_iter());
        }
        let text = table(&example, None);
        for line in [
            "| ftk | 20.0 ms (19.0-21.0), CPU 30.0 ms, 2.0 MiB |",
            "| fd | 40.0 ms (38.0-45.0) 2.0x, CPU 15.0 ms **0.50x**, 2.0 MiB |",
            "| floor | 10.0 ms (10.0-10.0) **0.50x**, CPU 60.0 ms 2.0x, 2.0 MiB |",
            "- Faster than ftk: floor (all files 0.50x).",
            "- Less CPU time than ftk: fd (all files 0.50x).",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
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
        assert!(text.ends_with("- fd: fd 10.5.0\n- not installed and not measured: bfs\n"), "{text}");
    }
}
