//! The costs of the model, in nanoseconds, from the newest benchmark record.

use anyhow::{Context, Result};

use crate::bench::record::Table;

/// What the work of one host costs, in nanoseconds of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    /// To start a program that does almost nothing.
    pub(crate) start: f64,
    /// To open and close a directory.
    pub(crate) dir: f64,
    /// To list an entry, with all processors of the host.
    pub(crate) list: f64,
    /// To list an entry of a directory with one thread: a directory cannot be listed by two.
    pub(crate) list_alone: f64,
    /// To get the metadata of an entry, with all processors.
    pub(crate) stat: f64,
    /// To list an entry and get its metadata, with one thread.
    pub(crate) crawl: f64,
}

/// The titles of trees in the records.
const LARGE: &str = "large: 1000 directories x 1000 files";
const MEDIUM: &str = "medium: 100 directories x 1000 files";
const WIDE: &str = "wide: 2000 directories x 50 files";

/// The titles of searches in the table `find`: the second one needs the metadata of each file.
const ALL: &str = "all files";
const SIZE: &str = "over 50 bytes";

impl Costs {
    /// # Errors
    /// If the record lacks one of the results.
    pub(crate) fn of(record: &[Table]) -> Result<Self> {
        let ns = |table: &str, section: &str, group: &str, tool: &str| {
            let tables = record.iter().filter(|it| it.name == table);
            let mut rows = tables.flat_map(Table::rows);
            let row = rows.find(|(in_section, in_group, row)| {
                in_section.title.starts_with(section)
                    && in_section.cache == "warm"
                    && in_group.title == group
                    && row.tool == tool
            });
            let summary = row.and_then(|(.., row)| row.outcome.summary());
            let what = || format!("the record lacks {tool} in {table}, {section}, {group}");
            summary.map(|summary| summary.median * 1e6).with_context(what)
        };
        let find = |section, group, tool| ns("find", section, group, tool);
        let list = find(LARGE, ALL, "ftk")? / 1e6;
        let alone = ns("threads", "find, ", "-j 1", "ftk")? / ns("threads", "find, ", "auto", "ftk")?;
        Ok(Self {
            start: ns("startup", "small work", "one file of 3 bytes", "ftk")?,
            dir: (find(WIDE, ALL, "ftk")? - find(MEDIUM, ALL, "ftk")?) / 1900.0,
            list,
            list_alone: list * alone,
            stat: find(LARGE, SIZE, "ftk")? / 1e6 - list,
            crawl: find(LARGE, SIZE, "find")? / 1e6,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;
    use crate::bench::record::all;

    /// Round numbers.
    pub(crate) const ROUND: Costs =
        Costs { start: 1000.0, dir: 100.0, list: 1.0, list_alone: 2.0, stat: 10.0, crawl: 30.0 };

    #[test]
    fn a_record_has_all_costs() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let records = all(&root.join("benches/records")).unwrap();
        let costs = records.iter().find_map(|record| Costs::of(&record.tables).ok()).unwrap();
        let Costs { start, dir, list, list_alone, stat, crawl } = costs;
        let ascending = [0.0, list, list_alone, crawl, dir, start];
        assert!(ascending.is_sorted_by(|a, b| a < b) && stat > list, "{costs:?}");
    }

    #[test]
    fn a_result_that_is_missing_is_named() {
        let error = Costs::of(&[]).unwrap_err().to_string();
        assert_eq!(error, format!("the record lacks ftk in find, {LARGE}, all files"));
    }
}
