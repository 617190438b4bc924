//! The record of long tests. It is stored next to the benchmark records of the same machine and day.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::figures::Figures;
use crate::bench::machine::Machine;
use crate::bench::record::write_json;

const NAME: &str = "soak.json";

/// The newest result of each part on one machine and day.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) machine: Machine,
    pub(super) parts: Vec<Outcome>,
}

/// The result of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) title: String,
    /// Version and commit of the tested program.
    pub(super) ftk: String,
    pub(super) seconds: f64,
    #[serde(flatten)]
    pub(super) figures: Figures,
}

/// Adds the outcome to the record in `folder`, replacing an earlier one of the same part.
pub(super) fn add(folder: &Path, machine: &Machine, outcome: Outcome) -> Result<()> {
    let path = folder.join(NAME);
    let mut record = Record { machine: machine.clone(), parts: Vec::new() };
    if let Ok(text) = fs::read_to_string(&path) {
        let old: Record =
            serde_json::from_str(&text).with_context(|| format!("{} is not a record", path.display()))?;
        record.parts = old.parts;
    }
    match record.parts.iter_mut().find(|part| part.name == outcome.name) {
        Some(part) => *part = outcome,
        None => record.parts.push(outcome),
    }
    fs::create_dir_all(folder)?;
    write_json(folder, NAME, &record)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &str, seconds: f64) -> Outcome {
        let mut figures = Figures::default();
        figures.count("runs", 100);
        Outcome { name: name.into(), title: String::new(), ftk: "ftk 1".into(), seconds, figures }
    }

    #[test]
    fn a_new_run_of_a_part_replaces_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let machine = crate::bench::machine::tests::example();
        for outcome in [outcome("a", 1.0), outcome("b", 2.0), outcome("a", 3.0), outcome("c", 4.0)] {
            add(folder, &machine, outcome).unwrap();
        }
        let text = fs::read_to_string(folder.join(NAME)).unwrap();
        let record: Record = serde_json::from_str(&text).unwrap();
        assert_eq!(record.parts, [outcome("a", 3.0), outcome("b", 2.0), outcome("c", 4.0)]);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    }
}
