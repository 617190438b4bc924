//! Generates the pages and charts that show the records.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::chart::{self, Panel};
use super::markdown;
use super::options::RECORDS;
use super::record::{self, Group, Record, Section, Table};
use super::splice::splice;

/// The pages that show the records.
const FRONT: &str = "README.md";
const WHOLE: &str = "benches/README.md";
const CLUSTER: &str = "docs/cluster.md";

/// The tables that the front page shows.
const ON_FRONT_PAGE: [&str; 5] = ["find", "hash", "dup", "manifest", "cmp"];

/// Brings charts and pages up to date. With `is_check` it writes nothing and fails if one is outdated.
pub(crate) fn run(is_check: bool) -> Result<ExitCode> {
    let records = record::all(Path::new(RECORDS))?;
    let mut files = pages(&records)?.to_vec();
    for record in &records {
        files.extend(charts(&Path::new(RECORDS).join(&record.name), &record.tables));
    }
    files.retain(|(path, text)| !is_equal(path, text));
    for (path, text) in &files {
        if is_check {
            println!("{} does not show the records: run `cargo xtask bench report`", path.display());
        } else {
            fs::write(path, text)?;
            println!("{} is updated", path.display());
        }
    }
    Ok(if is_check && !files.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes the charts of a record into its folder.
pub(crate) fn draw(folder: &Path, tables: &[Table]) -> Result<()> {
    charts(folder, tables).into_iter().try_for_each(|(path, text)| Ok(fs::write(path, text)?))
}

/// Returns all tables, with links to the charts in the folder `charts`.
pub(crate) fn whole(tables: &[Table], charts: Option<&str>) -> String {
    let Some(first) = tables.first() else { return String::new() };
    let tables: Vec<_> = tables.iter().map(|table| markdown::table(table, charts)).collect();
    format!("{}\n{}", markdown::machine(&first.machine), tables.join("\n"))
}

fn is_equal(path: &Path, text: &str) -> bool {
    fs::read(path).is_ok_and(|old| old == text.as_bytes())
}

/// Returns the up-to-date pages: the front page with the newest record that has all its tables, the page with all
/// records, and that about many hosts with the newest table of a slow server.
fn pages(records: &[Record]) -> Result<[(PathBuf, String); 3]> {
    let page = |path: &str, block: &str| {
        let old = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        Ok::<_, anyhow::Error>((path.into(), splice(&old, "bench", block).with_context(|| path.to_owned())?))
    };
    let front = records.iter().find(|record| has_front_page(record));
    let front = front.with_context(|| format!("no record has the tables {}", ON_FRONT_PAGE.join(", ")))?;
    Ok([page(FRONT, &short(front))?, page(WHOLE, &every(records))?, page(CLUSTER, &slow(records))?])
}

/// Whether the record has every table of the front page.
fn has_front_page(record: &Record) -> bool {
    ON_FRONT_PAGE.iter().all(|name| record.tables.iter().any(|table| table.name == *name))
}

/// Returns the tables of all records.
fn every(records: &[Record]) -> String {
    let records = records.iter().map(|Record { name, tables }| {
        format!("## Record `{name}`\n\n{}", whole(tables, Some(&format!("records/{name}"))))
    });
    format!("{}\n\n{}", markdown::LEGEND, records.collect::<Vec<_>>().join("\n"))
}

/// Returns the newest table of a server that answers late.
fn slow(records: &[Record]) -> String {
    let of_record = |Record { name, tables }: &Record| {
        let table = tables.iter().find(|table| table.name == "slow")?;
        let machine = &table.machine;
        let place =
            format!("Record `{name}`: {}, {} logical CPUs, {}.", machine.cpu, machine.cpus, machine.kernel);
        Some(format!("{}\n{place} {}", markdown::table(table, None), markdown::LEGEND))
    };
    let unmeasured = || "No record has this yet: `cargo xtask bench slow` measures it.".to_owned();
    records.iter().find_map(of_record).unwrap_or_else(unmeasured)
}

/// Returns the up-to-date charts: one per table, and one for the front page if it shows any of the tables.
fn charts(folder: &Path, tables: &[Table]) -> Vec<(PathBuf, String)> {
    let mut charts: Vec<_> = tables.iter().map(|table| (&*table.name, chart(table))).collect();
    charts.extend(overview(tables).map(|text| ("overview", text)));
    charts.into_iter().map(|(name, text)| (folder.join(format!("{name}.svg")), text)).collect()
}

fn chart(table: &Table) -> String {
    if let Some(section) = table.sections.first().filter(|_| table.per_file) {
        return chart::lines(&table.title, section);
    }
    let sections: Vec<_> = table
        .sections
        .iter()
        .map(|section| (section.title.clone(), section.groups.iter().map(Panel::of).collect()))
        .collect();
    chart::bars(&table.title, &sections)
}

fn overview(tables: &[Table]) -> Option<String> {
    let mut panels = Vec::new();
    for table in tables {
        for (section, group) in table.groups().filter(|(section, group)| is_charted(table, section, group)) {
            panels.push(Panel { title: markdown::what(table, section, group), group });
        }
    }
    (!panels.is_empty()).then(|| chart::bars("ftk and others", &[(String::new(), panels)]))
}

/// The block of the front page: the chart, one row for each command, and the cases in the chart that ftk lost.
fn short(Record { name, tables }: &Record) -> String {
    let Some(machine) = tables.first().map(|table| &table.machine) else { return String::new() };
    let losses: Vec<_> = tables.iter().flat_map(losses).collect();
    let losses = if losses.is_empty() { "nothing".to_owned() } else { losses.join("; ") };
    format!(
        "![Times of ftk and other tools]({RECORDS}/{name}/overview.svg)\n\n{}\n\
         Record `{name}`: {}, {} logical CPUs, {}. The factor is the tool's time divided by ftk's: above 1 ftk is faster.\n\
         In this chart ftk is slower in: {losses}.\n\
         [All results, losses, commands and versions](benches/README.md); `cargo xtask bench` repeats them.",
        markdown::summary(tables, is_on_front_page),
        machine.cpu,
        machine.cpus,
        machine.kernel,
    )
}

/// The charted cases of a table in which another tool was faster.
fn losses(table: &Table) -> Vec<String> {
    let mut losses = Vec::new();
    for (section, group) in table.groups().filter(|(section, group)| is_charted(table, section, group)) {
        let tools: Vec<_> = section
            .lost(Group::ratio)
            .filter(|(_, title, _)| *title == group.title)
            .map(|(tool, _, ratio)| format!("{tool} {ratio:.2}x"))
            .collect();
        if !tools.is_empty() {
            losses.push(format!("{} ({})", markdown::what(table, section, group), tools.join(", ")));
        }
    }
    losses
}

/// Whether the chart on the front page shows this case: some of each command, where ftk is ahead and where it is not.
fn is_charted(table: &Table, section: &Section, group: &Group) -> bool {
    match &*table.name {
        "find" => group.title == "all files" && (is_first(table, section) || section.name() == "large"),
        "hash" | "hash-cold" | "dup-cold" => is_first(table, section),
        "dup" => is_first(table, section) || group.title == "1000 files",
        "manifest" => is_first(table, section) && group.title != "create, status only",
        "cmp" => ["4 KiB, the same", "2048 MiB, the same", "a tree and its copy"].contains(&&*group.title),
        _ => false,
    }
}

/// Whether the table on the front page has a row for this case: one for each command, on the first tree.
fn is_on_front_page(table: &Table, section: &Section, group: &Group) -> bool {
    match &*table.name {
        "find" => group.title == "all files" && is_first(table, section),
        "hash" => group.title == "sha256" && is_first(table, section),
        "dup" => group.title == "groups of equal files" && is_first(table, section),
        "manifest" => group.title == "verify" && is_first(table, section),
        "cmp" => group.title == "a tree and its copy",
        _ => false,
    }
}

fn is_first(table: &Table, section: &Section) -> bool {
    table.sections.first().is_some_and(|first| first.title == section.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::example;

    fn record(table: Table) -> Record {
        Record { name: "x".into(), tables: vec![table] }
    }

    #[test]
    fn the_front_page_has_one_row_for_a_command_and_the_chart_has_more() {
        let mut table = example();
        for title in ["medium: 100", "large: 1,000"] {
            let mut section = table.sections[0].clone();
            section.title = title.into();
            table.sections.push(section);
        }
        let text = short(&record(table.clone()));
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| `find`")).collect();
        assert_eq!(rows.len(), 1);
        assert!(rows[0].contains("small"), "{text}");
        assert_eq!(overview(&[table]).unwrap().matches(r#"class="group""#).count(), 2);
    }

    #[test]
    fn the_front_page_names_the_losses() {
        let text = short(&record(example()));
        assert!(text.contains("slower in: `find` all files, small, warm cache (floor 0.50x).\n"), "{text}");
        let mut won = example();
        won.sections[0].groups[0].rows.retain(|row| row.tool != "floor");
        assert!(short(&record(won)).contains("slower in: nothing.\n"));
    }

    #[test]
    fn a_report_begins_with_the_machine() {
        let text = whole(&[example()], None);
        assert!(text.starts_with("ftk 0.1.0 abc1234, 2026-01-31, Intel"), "{text}");
        assert!(text.contains("## Listing"));
        assert_eq!(whole(&[], None), "");
    }

    #[test]
    fn a_record_of_some_tables_is_shown_and_leaves_the_front_page_alone() {
        let mut full = record(example());
        full.tables = ON_FRONT_PAGE.map(|name| Table { name: name.into(), ..example() }).into();
        let mut partial =
            record(Table { name: "cache".into(), title: "Digests of earlier runs".into(), ..example() });
        partial.name = "y".into();
        assert!(has_front_page(&full) && !has_front_page(&partial));
        assert_eq!(overview(&partial.tables), None);
        let text = every(&[partial, full]);
        assert!(text.starts_with(markdown::LEGEND));
        let headings: Vec<_> = text.lines().filter(|line| line.starts_with('#')).take(3).collect();
        assert_eq!(headings, ["## Record `y`", "### Digests of earlier runs", "## Record `x`"]);
    }

    #[test]
    fn the_page_about_hosts_has_the_newest_table_of_a_slow_server() {
        let other = record(example());
        assert!(slow(std::slice::from_ref(&other)).contains("No record"));
        let [newest, oldest] = ["newest", "oldest"]
            .map(|title| record(Table { name: "slow".into(), title: title.into(), ..example() }));
        let text = slow(&[other, newest, oldest]);
        assert!(text.starts_with("### newest\n") && text.contains("Record `x`"), "{text}");
        assert!(!text.contains("oldest"), "{text}");
    }

    #[test]
    fn every_table_has_a_chart_and_per_file_tables_have_lines() {
        let mut scale = example();
        scale.name = "scale".into();
        scale.per_file = true;
        let charts = charts(Path::new("r"), &[example(), scale]);
        let names: Vec<_> = charts.iter().map(|(path, _)| path.to_str().unwrap()).collect();
        assert_eq!(names, ["r/find.svg", "r/scale.svg", "r/overview.svg"]);
        assert!(charts[0].1.contains("<rect class=\"ftk\"") && charts[1].1.contains("<polyline"));
    }
}
