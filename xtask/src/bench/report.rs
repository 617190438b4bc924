//! Generates the pages and charts that show a record.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::chart::{self, Panel};
use super::markdown;
use super::options::RECORDS;
use super::record::{self, Group, Section, Table};
use super::splice::splice;

/// The pages that show a record.
const FRONT: &str = "README.md";
const WHOLE: &str = "benches/README.md";

/// Prints the record in `folder`, or the newest, and updates charts and pages. With `is_check` it writes nothing and
/// fails if one is outdated.
pub(crate) fn run(folder: Option<&Path>, is_check: bool) -> Result<ExitCode> {
    if is_check {
        return Ok(if is_current(folder)? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let folder = folder_or_newest(folder)?;
    let tables = record::load(&folder)?;
    println!("{}", whole(&tables, None));
    for (path, text) in charts(&folder, &tables).into_iter().chain(pages(&folder, &tables)?) {
        if !is_equal(&path, &text) {
            fs::write(&path, text)?;
            println!("{} is updated", path.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether charts and pages show the record in `folder`, or the newest. Prints those that do not.
fn is_current(folder: Option<&Path>) -> Result<bool> {
    let folder = folder_or_newest(folder)?;
    let tables = record::load(&folder)?;
    let files = charts(&folder, &tables).into_iter().chain(pages(&folder, &tables)?);
    let stale: Vec<_> = files.filter(|(path, text)| !is_equal(path, text)).collect();
    for (path, _) in &stale {
        println!("{} does not show {}: run `cargo xtask bench report`", path.display(), folder.display());
    }
    Ok(stale.is_empty())
}

/// Writes the charts of a record into its folder.
pub(crate) fn draw(folder: &Path, tables: &[Table]) -> Result<()> {
    charts(folder, tables).into_iter().try_for_each(|(path, text)| Ok(fs::write(path, text)?))
}

/// Returns all tables, with links to the charts in the folder `charts`.
pub(crate) fn whole(tables: &[Table], charts: Option<&str>) -> String {
    let Some(first) = tables.first() else { return String::new() };
    let tables: Vec<_> = tables.iter().map(|table| markdown::table(table, charts)).collect();
    format!("{}\n{}\n\n{}", markdown::machine(&first.machine), markdown::LEGEND, tables.join("\n"))
}

fn folder_or_newest(folder: Option<&Path>) -> Result<PathBuf> {
    folder.map_or_else(|| record::newest(Path::new(RECORDS)), |folder| Ok(folder.to_owned()))
}

fn is_equal(path: &Path, text: &str) -> bool {
    fs::read(path).is_ok_and(|old| old == text.as_bytes())
}

/// Returns the up-to-date pages.
fn pages(folder: &Path, tables: &[Table]) -> Result<[(PathBuf, String); 2]> {
    let name = folder.file_name().context("a record has a name")?.display().to_string();
    let whole = whole(tables, Some(&format!("records/{name}")));
    let page = |path: &str, block: &str| {
        let old = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        Ok::<_, anyhow::Error>((path.into(), splice(&old, "bench", block).with_context(|| path.to_owned())?))
    };
    Ok([
        page(FRONT, &short(tables, &format!("{RECORDS}/{name}")))?,
        page(WHOLE, &format!("Record `{name}`: {whole}"))?,
    ])
}

/// Returns the up-to-date charts: one per table, and one for the front page.
fn charts(folder: &Path, tables: &[Table]) -> Vec<(PathBuf, String)> {
    let mut charts: Vec<_> = tables.iter().map(|table| (&*table.name, chart(table))).collect();
    charts.push(("overview", overview(tables)));
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

fn overview(tables: &[Table]) -> String {
    let mut panels = Vec::new();
    for table in tables {
        for (section, group) in table.groups().filter(|(section, group)| is_charted(table, section, group)) {
            panels.push(Panel { title: markdown::what(table, section, group), group });
        }
    }
    chart::bars("ftk and others", &[(String::new(), panels)])
}

/// The block of the front page: the chart, one row for each command, and the cases in the chart that ftk lost.
fn short(tables: &[Table], folder: &str) -> String {
    let Some(machine) = tables.first().map(|table| &table.machine) else { return String::new() };
    let losses: Vec<_> = tables.iter().flat_map(losses).collect();
    let losses = if losses.is_empty() { "nothing".to_owned() } else { losses.join("; ") };
    format!(
        "![Times of ftk and other tools]({folder}/overview.svg)\n\n{}\n\
         {}, {} logical CPUs, {}. The factor is the tool's time divided by ftk's: above 1 ftk is faster.\n\
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
            .lost()
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

    #[test]
    fn the_front_page_has_one_row_for_a_command_and_the_chart_has_more() {
        let mut table = example();
        for title in ["medium: 100", "large: 1,000"] {
            let mut section = table.sections[0].clone();
            section.title = title.into();
            table.sections.push(section);
        }
        let text = short(&[table.clone()], "records/x");
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| `find`")).collect();
        assert_eq!(rows.len(), 1);
        assert!(rows[0].contains("small"), "{text}");
        assert_eq!(overview(&[table]).matches(r#"class="group""#).count(), 2);
    }

    #[test]
    fn the_front_page_names_the_losses() {
        let text = short(&[example()], "records/x");
        assert!(text.contains("slower in: `find` all files, small, warm cache (floor 0.50x).\n"), "{text}");
        let mut won = example();
        won.sections[0].groups[0].rows.retain(|row| row.tool != "floor");
        assert!(short(&[won], "records/x").contains("slower in: nothing.\n"));
    }

    #[test]
    fn a_report_begins_with_the_machine() {
        let text = whole(&[example()], None);
        assert!(text.starts_with("ftk 0.1.0 abc1234, 2026-01-31, Intel"), "{text}");
        assert!(text.contains(markdown::LEGEND) && text.contains("## Listing"));
        assert_eq!(whole(&[], None), "");
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
