//! What was measured, as it is kept.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::case::is_ftk;
use super::machine::Machine;
use super::stats::Summary;

/// One table, which is one file of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) unit: Unit,
    /// Whether the cost of a single file is of interest.
    pub(crate) per_file: bool,
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
}

/// What the numbers of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    /// Wall time, in milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Peak resident memory, in KiB.
    #[serde(rename = "KiB")]
    Kibibytes,
}

/// All that was measured on one tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) file_system: String,
    /// `warm` or `cold`.
    pub(crate) cache: String,
    pub(crate) groups: Vec<Group>,
}

/// Tools that were asked the same.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) files: u64,
    pub(crate) rows: Vec<Row>,
}

/// One tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) tool: String,
    /// As it was run, with trees and programs by the part they play.
    pub(crate) command: String,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// In the unit of the table.
    Measured { median: f64, runs: Vec<f64> },
    /// Another answer than the reference; not measured.
    Differs(String),
    /// The command failed; not measured.
    Failed(String),
}

impl Outcome {
    /// `None` unless there are runs.
    pub(crate) fn summary(&self) -> Option<Summary> {
        match self {
            Self::Measured { runs, .. } => Summary::of(runs),
            _ => None,
        }
    }
}

impl Group {
    /// The row that others are compared with.
    pub(crate) fn ftk(&self) -> Option<Summary> {
        self.rows.iter().find(|row| row.tool == "ftk")?.outcome.summary()
    }
}

impl Table {
    /// Every row, with where it is.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Section, &Group, &Row)> {
        self.sections.iter().flat_map(|section| {
            section
                .groups
                .iter()
                .flat_map(move |group| group.rows.iter().map(move |row| (section, group, row)))
        })
    }

    /// Where ftk itself gave another answer or failed.
    pub(crate) fn wrong(&self) -> Vec<String> {
        let wrong = self.rows().filter(|(.., row)| is_ftk(&row.tool) && row.outcome.summary().is_none());
        wrong
            .map(|(section, group, row)| {
                format!("{}, {}, {}: {}", self.name, section.title, group.title, row.command)
            })
            .collect()
    }
}

/// Writes the tables into `folder`, each whole or not at all.
pub(crate) fn save(folder: &Path, tables: &[Table]) -> Result<()> {
    fs::create_dir_all(folder)?;
    for table in tables {
        let temporary = folder.join(format!(".{}.json.part", table.name));
        let mut text = serde_json::to_string_pretty(table)?;
        text.push('\n');
        fs::write(&temporary, text)?;
        fs::rename(temporary, folder.join(format!("{}.json", table.name)))?;
    }
    Ok(())
}

/// Reads a record, its tables in the order in which they are shown.
pub(crate) fn load(folder: &Path) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for kind in super::tables::ALL {
        let path = folder.join(format!("{}.json", kind.name));
        if path.exists() {
            let text = fs::read_to_string(&path)?;
            let table =
                serde_json::from_str(&text).with_context(|| format!("{} is no table", path.display()))?;
            tables.push(table);
        }
    }
    ensure!(!tables.is_empty(), "no tables in {}", folder.display());
    Ok(tables)
}

/// The record with the latest name, which begins with the day.
pub(crate) fn newest(records: &Path) -> Result<PathBuf> {
    let folders = fs::read_dir(records).into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = folders.filter(|path| path.is_dir()).max();
    newest.with_context(|| format!("no record in {}; `cargo xtask bench` makes one", records.display()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn row(tool: &str, outcome: Outcome) -> Row {
        Row { tool: tool.into(), command: format!("{tool} $TREE"), outcome }
    }

    pub(crate) fn measured(runs: &[f64]) -> Outcome {
        Outcome::Measured { median: Summary::of(runs).unwrap().median, runs: runs.to_vec() }
    }

    /// ftk takes twice the time of `floor` and half of that of `fd`; `bad` gives another answer.
    pub(crate) fn example() -> Table {
        let rows = vec![
            row("ftk", measured(&[20.0, 19.0, 21.0])),
            row("fd", measured(&[40.0, 38.0, 45.0])),
            row("floor", measured(&[10.0, 10.0, 10.0])),
            row("bad", Outcome::Differs("3 lines, find has 4; only there: x".into())),
        ];
        let group = Group { title: "all files".into(), files: 1_000, rows };
        Table {
            name: "find".into(),
            title: "Listing".into(),
            unit: Unit::Milliseconds,
            per_file: false,
            machine: super::super::machine::tests::example(),
            sections: vec![Section {
                title: "small".into(),
                file_system: "ext4".into(),
                cache: "warm".into(),
                groups: vec![group],
            }],
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let records = std::env::temp_dir().join(format!("ftk-xtask-record-{}", std::process::id()));
        let folder = records.join("2026-01-31-cpu");
        fs::create_dir_all(records.join("2025-12-31-cpu")).unwrap();
        save(&folder, &[example()]).unwrap();
        assert_eq!(newest(&records).unwrap(), folder);
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["find.json"]);
        let loaded = load(&folder).unwrap();
        assert_eq!(serde_json::to_value(&loaded).unwrap(), serde_json::to_value([example()]).unwrap());
        assert!(load(&records).is_err());
        fs::remove_dir_all(records).unwrap();
    }

    #[test]
    fn only_a_wrong_ftk_is_wrong() {
        let mut table = example();
        assert_eq!(table.wrong(), [""; 0]);
        table.sections[0].groups[0].rows[0].outcome = Outcome::Failed("no".into());
        assert_eq!(table.wrong(), ["find, small, all files: ftk $TREE"]);
        assert_eq!(table.sections[0].groups[0].ftk(), None);
    }
}
