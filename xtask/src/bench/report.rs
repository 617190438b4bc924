//! The pages that show a record.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::markdown;
use super::options::RECORDS;
use super::record::{self, Group, Section, Table};
use super::splice::splice;

/// Prints the record in `folder`, or the newest, and brings the pages up to date; with `is_check` it only
/// fails if they are not.
pub(crate) fn run(folder: Option<&Path>, is_check: bool) -> Result<ExitCode> {
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => record::newest(Path::new(RECORDS))?,
    };
    let tables = record::load(&folder)?;
    let name = folder.file_name().context("a record has a name")?.display().to_string();
    let whole = whole(&tables);
    if !is_check {
        println!("{whole}");
    }
    let mut is_clean = true;
    for (page, block) in
        [("README.md", short(&tables)), ("benches/README.md", format!("Record `{name}`: {whole}"))]
    {
        let old = fs::read_to_string(page).with_context(|| format!("cannot read {page}"))?;
        let new = splice(&old, &block).with_context(|| page.to_owned())?;
        if new == old {
            continue;
        }
        if is_check {
            println!("{page} does not show the record {name}: run `cargo xtask bench report`");
            is_clean = false;
        } else {
            fs::write(page, new)?;
            println!("{page} is up to date");
        }
    }
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All tables.
pub(crate) fn whole(tables: &[Table]) -> String {
    let Some(first) = tables.first() else { return String::new() };
    let tables: Vec<_> = tables.iter().map(markdown::table).collect();
    format!("{}\n{}\n\n{}", markdown::machine(&first.machine), markdown::LEGEND, tables.join("\n"))
}

/// What the front page has room for: a line for each kind of work on the first and the largest tree.
fn short(tables: &[Table]) -> String {
    let Some(machine) = tables.first().map(|table| &table.machine) else { return String::new() };
    format!(
        "{}\n{}, {} logical CPUs, {}; in brackets, how many times ftk's time that is. `cargo xtask bench` reproduces \
         this. One benchmark is never enough: [all figures, commands and versions](benches/README.md).",
        markdown::summary(tables, is_on_front_page),
        machine.cpu,
        machine.cpus,
        machine.kernel,
    )
}

fn is_on_front_page(table: &Table, section: &Section, group: &Group) -> bool {
    let is_first = table.sections.first().is_some_and(|first| first.title == section.title);
    match &*table.name {
        "find" => group.title == "all files" && (is_first || section.title.starts_with("large:")),
        "hash" | "hash-cold" => is_first,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::record::tests::example;

    #[test]
    fn the_front_page_shows_the_first_tree_and_the_largest() {
        let mut table = example();
        for title in ["medium: 100", "large: 1,000"] {
            let mut section = table.sections[0].clone();
            section.title = title.into();
            table.sections.push(section);
        }
        let text = short(&[table]);
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| `find`")).collect();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].contains("small") && rows[1].contains("large,"), "{text}");
    }

    #[test]
    fn a_report_begins_with_the_machine() {
        let text = whole(&[example()]);
        assert!(text.starts_with("ftk 0.1.0 abc1234, 2026-01-31, Intel"), "{text}");
        assert!(text.contains(markdown::LEGEND) && text.contains("## Listing"));
        assert_eq!(whole(&[]), "");
    }
}
