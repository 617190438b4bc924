//! The record of a run: a folder with one JSON file per table.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::cache::Cache;
use super::case::{EARLIER, is_ftk};
use super::machine::{Machine, file_system};
use super::stats::Summary;
use super::tree::Tree;

/// All tables of one run of the benchmarks, which is one folder.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The name of the folder: the day and the machine.
    pub(crate) name: String,
    pub(crate) tables: Vec<Table>,
}

/// One table, which is one file of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Whether the cost per file is shown.
    pub(crate) per_file: bool,
    /// Whether the CPU time is shown.
    #[serde(default)]
    pub(crate) shows_cpu: bool,
    pub(crate) machine: Machine,
    pub(crate) sections: Vec<Section>,
}

/// All measurements on one tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) file_system: String,
    /// `warm` or `cold`.
    pub(crate) cache: String,
    pub(crate) groups: Vec<Group>,
}

/// Tools with the same task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) files: u64,
    /// An additional remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    pub(crate) rows: Vec<Row>,
}

/// One tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) tool: String,
    /// The command, with symbolic names for trees and programs.
    pub(crate) command: String,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// The outcome of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Measured {
        /// Wall time in milliseconds, as are the runs.
        median: f64,
        runs: Vec<f64>,
        /// The median of the CPU times of all processes in milliseconds; `None` if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu_ms: Option<f64>,
        /// The largest resident set of any process in all runs; 0 if unknown.
        #[serde(default)]
        memory_kib: u64,
    },
    /// The result differs from the reference; not measured.
    Differs(String),
    /// The command failed; not measured.
    Failed(String),
}

impl Section {
    pub(crate) fn new(tree: &Tree, cache: Cache, groups: Vec<Group>) -> Self {
        let Tree { title, file_system, .. } = tree.clone();
        Self { title, file_system, cache: cache.to_string(), groups }
    }

    /// Makes a section of warm runs on files in the folder of `path`.
    pub(crate) fn without_tree(title: &str, path: &Path, groups: Vec<Group>) -> Self {
        let file_system = file_system(path);
        Self { title: title.to_owned(), file_system, cache: Cache::Warm.to_string(), groups }
    }

    /// Returns the title without the details.
    pub(crate) fn name(&self) -> &str {
        self.title.split(':').next().unwrap_or_default()
    }

    /// Returns the tools in the order of their first appearance.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<&str> = Vec::new();
        for row in self.groups.iter().flat_map(|group| &group.rows) {
            if !tools.contains(&&*row.tool) {
                tools.push(&row.tool);
            }
        }
        tools
    }

    /// Returns the tools that are better than ftk by this ratio to ftk, with the group and the ratio.
    pub(crate) fn lost(&self, ratio: Ratio) -> impl Iterator<Item = (&str, &str, f64)> {
        let rows = self.groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
        rows.filter_map(move |(group, row)| Some((&*row.tool, &*group.title, ratio(group, row)?)))
            .filter(|(.., ratio)| is_slower(*ratio))
    }
}

/// Returns the ratio of a row to that of ftk: [`Group::ratio`] or [`Group::cpu_ratio`].
pub(crate) type Ratio = fn(&Group, &Row) -> Option<f64>;

impl Outcome {
    /// Makes the outcome of these runs in milliseconds, rounded to microseconds.
    pub(crate) fn measured(runs: impl Iterator<Item = f64>, memory_kib: u64) -> Self {
        let runs: Vec<f64> = runs.map(rounded).collect();
        let median = Summary::of(&runs).map_or(0.0, |summary| rounded(summary.median));
        Self::Measured { median, runs, cpu_ms: None, memory_kib }
    }

    /// Adds the median of these CPU times in milliseconds.
    pub(crate) fn with_cpu(mut self, runs: impl Iterator<Item = f64>) -> Self {
        if let Self::Measured { cpu_ms, .. } = &mut self {
            *cpu_ms = Summary::of(&runs.collect::<Vec<_>>()).map(|summary| rounded(summary.median));
        }
        self
    }

    /// Summarises the times; `None` if there are no runs.
    pub(crate) fn summary(&self) -> Option<Summary> {
        match self {
            Self::Measured { runs, .. } => Summary::of(runs),
            _ => None,
        }
    }

    /// Returns the CPU time in milliseconds; `None` if it was not measured.
    pub(crate) fn cpu_ms(&self) -> Option<f64> {
        match self {
            Self::Measured { cpu_ms, .. } => *cpu_ms,
            _ => None,
        }
    }

    /// Returns the peak memory in KiB; `None` if it was not measured.
    pub(crate) fn memory_kib(&self) -> Option<u64> {
        match self {
            Self::Measured { memory_kib, .. } => Some(*memory_kib).filter(|kib| *kib > 0),
            _ => None,
        }
    }
}

impl Group {
    /// Returns the row that others are compared with.
    pub(crate) fn ftk(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.tool == "ftk")
    }

    /// Returns the ratio of the row's time to ftk's: below 1 if ftk is slower.
    pub(crate) fn ratio(&self, row: &Row) -> Option<f64> {
        let ftk = self.ftk().filter(|ftk| ftk.tool != row.tool)?;
        Some(row.outcome.summary()?.median / ftk.outcome.summary()?.median)
    }

    /// Returns the ratio of the row's CPU time to ftk's: below 1 if ftk needs more.
    pub(crate) fn cpu_ratio(&self, row: &Row) -> Option<f64> {
        let ftk = self.ftk().filter(|ftk| ftk.tool != row.tool)?;
        Some(row.outcome.cpu_ms()? / ftk.outcome.cpu_ms()?)
    }
}

fn rounded(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

/// Moves the rows of an earlier ftk into a second table, under the names of the rows of this one.
pub(crate) fn split_earlier(table: &mut Table) -> Table {
    let mut earlier = table.clone();
    for group in earlier.sections.iter_mut().flat_map(|section| &mut section.groups) {
        group.rows.retain_mut(|row| {
            let name = row.tool.strip_prefix(EARLIER).map(str::to_owned);
            name.map(|name| row.tool = name).is_some()
        });
    }
    for group in table.sections.iter_mut().flat_map(|section| &mut section.groups) {
        group.rows.retain(|row| !row.tool.starts_with(EARLIER));
    }
    earlier
}

/// Whether ftk is slower at this ratio. Times that are equal to two digits count as equal.
pub(crate) fn is_slower(ratio: f64) -> bool {
    ratio < 0.995
}

impl Table {
    /// Returns every group with its section.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&Section, &Group)> {
        self.sections.iter().flat_map(|section| section.groups.iter().map(move |group| (section, group)))
    }

    /// Returns every row with its section and group.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Section, &Group, &Row)> {
        self.groups().flat_map(|(section, group)| group.rows.iter().map(move |row| (section, group, row)))
    }

    /// Lists the commands of ftk that failed or gave a different result.
    pub(crate) fn wrong(&self) -> Vec<String> {
        let wrong = self.rows().filter(|(.., row)| is_ftk(&row.tool) && row.outcome.summary().is_none());
        wrong
            .map(|(section, group, row)| {
                format!("{}, {}, {}: {}", self.name, section.title, group.title, row.command)
            })
            .collect()
    }
}

/// Writes the tables into `folder`, each completely or not at all.
pub(crate) fn save(folder: &Path, tables: &[Table]) -> Result<()> {
    fs::create_dir_all(folder)?;
    for table in tables {
        write_json(folder, &format!("{}.json", table.name), table)?;
    }
    Ok(())
}

/// Writes a file of a record completely or not at all.
pub(crate) fn write_json(folder: &Path, name: &str, content: &impl Serialize) -> Result<()> {
    let temporary = folder.join(format!(".{name}.part"));
    fs::write(&temporary, serde_json::to_string_pretty(content)? + "\n")?;
    Ok(fs::rename(temporary, folder.join(name))?)
}

/// Reads a record, with its tables in the order in which they are shown.
pub(crate) fn load(folder: &Path) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for kind in super::tables::ALL {
        let path = folder.join(format!("{}.json", kind.name));
        if path.exists() {
            let text = fs::read_to_string(&path)?;
            let table =
                serde_json::from_str(&text).with_context(|| format!("{} is not a table", path.display()))?;
            tables.push(table);
        }
    }
    ensure!(!tables.is_empty(), "there are no tables in {}", folder.display());
    Ok(tables)
}

/// Reads all records, the newest first. Names begin with the day.
pub(crate) fn all(records: &Path) -> Result<Vec<Record>> {
    let folders = fs::read_dir(records).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<_> = folders.filter(|path| path.is_dir()).collect();
    ensure!(
        !folders.is_empty(),
        "there is no record in {}; `cargo xtask bench` makes one",
        records.display()
    );
    folders.sort_by(|a, b| b.cmp(a));
    let name = |folder: &Path| folder.file_name().map(|name| name.display().to_string()).unwrap_or_default();
    folders.iter().map(|folder| Ok(Record { name: name(folder), tables: load(folder)? })).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn row(tool: &str, outcome: Outcome) -> Row {
        Row { tool: tool.into(), command: format!("{tool} $TREE"), outcome }
    }

    pub(crate) fn measured(runs: &[f64]) -> Outcome {
        Outcome::measured(runs.iter().copied(), 2048)
    }

    /// Makes a table in which ftk takes twice the time of `floor` and half of that of `fd`, and `bad` gives a different
    /// result.
    pub(crate) fn example() -> Table {
        let rows = vec![
            row("ftk", measured(&[20.0, 19.0, 21.0])),
            row("fd", measured(&[40.0, 38.0, 45.0])),
            row("floor", measured(&[10.0, 10.0, 10.0])),
            row("bad", Outcome::Differs("3 lines, find has 4; only there: x".into())),
        ];
        let group = Group { title: "all files".into(), files: 1_000, note: None, rows };
        Table {
            name: "find".into(),
            title: "Listing".into(),
            per_file: false,
            shows_cpu: false,
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
    fn rows_of_an_earlier_program_are_moved() {
        let mut table = example();
        table.sections[0].groups[0].rows.push(row("earlier: ftk", measured(&[25.0])));
        let earlier = split_earlier(&mut table);
        assert_eq!(serde_json::to_value(&table).unwrap(), serde_json::to_value(example()).unwrap());
        let [moved] = &earlier.sections[0].groups[0].rows[..] else { panic!("one row") };
        assert_eq!((&*moved.tool, &moved.outcome), ("ftk", &measured(&[25.0])));
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let records = tempfile::tempdir().unwrap();
        let records = records.path();
        let folder = records.join("2026-01-31-cpu");
        save(&folder, &[example()]).unwrap();
        save(&records.join("2025-12-31-cpu"), &[example()]).unwrap();
        let names: Vec<_> = all(records).unwrap().into_iter().map(|record| record.name).collect();
        assert_eq!(names, ["2026-01-31-cpu", "2025-12-31-cpu"]);
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["find.json"]);
        let loaded = load(&folder).unwrap();
        assert_eq!(serde_json::to_value(&loaded).unwrap(), serde_json::to_value([example()]).unwrap());
        assert!(load(records).is_err());
        assert!(all(&records.join("none")).is_err());
    }

    #[test]
    fn only_wrong_results_of_ftk_are_listed() {
        let mut table = example();
        assert_eq!(table.wrong(), [""; 0]);
        table.sections[0].groups[0].rows[0].outcome = Outcome::Failed("no".into());
        assert_eq!(table.wrong(), ["find, small, all files: ftk $TREE"]);
        let group = &table.sections[0].groups[0];
        assert_eq!(group.ratio(&group.rows[1]), None);
    }

    #[test]
    fn records_without_memory_are_read_too() {
        let outcome: Outcome = serde_json::from_str(r#"{"measured":{"median":1.0,"runs":[1.0]}}"#).unwrap();
        assert_eq!(outcome.memory_kib(), None);
        assert_eq!(measured(&[1.0]).memory_kib(), Some(2048));
    }

    #[test]
    fn ratios_are_to_ftk() {
        let group = &example().sections[0].groups[0];
        let ratios: Vec<_> = group.rows.iter().map(|row| group.ratio(row)).collect();
        assert_eq!(ratios, [None, Some(2.0), Some(0.5), None]);
        let table = example();
        assert_eq!(table.sections[0].lost(Group::ratio).collect::<Vec<_>>(), [("floor", "all files", 0.5)]);
        assert_eq!(table.sections[0].tools(), ["ftk", "fd", "floor", "bad"]);
        assert!(is_slower(0.5) && !is_slower(0.999) && !is_slower(2.0));
    }
}
