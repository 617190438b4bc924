//! What long runs came to, as it is kept: beside the benchmark's tables, since it is of the same machine and day.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::figures::Figures;
use crate::bench::machine::Machine;

const NAME: &str = "soak.json";

/// The newest run of each part on one machine and day.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) machine: Machine,
    pub(super) parts: Vec<Outcome>,
}

/// What came of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) title: String,
    /// Version and commit of what was tried.
    pub(super) ftk: String,
    pub(super) seconds: f64,
    #[serde(flatten)]
    pub(super) figures: Figures,
}

/// Puts the outcome into the record in `folder`, in the place of an earlier one of the same part.
pub(super) fn add(folder: &Path, machine: &Machine, outcome: Outcome) -> Result<()> {
    let path = folder.join(NAME);
    let mut record = Record { machine: machine.clone(), parts: Vec::new() };
    if let Ok(text) = fs::read_to_string(&path) {
        let old: Record =
            serde_json::from_str(&text).with_context(|| format!("{} is no record", path.display()))?;
        record.parts = old.parts;
    }
    match record.parts.iter_mut().find(|part| part.name == outcome.name) {
        Some(part) => *part = outcome,
        None => record.parts.push(outcome),
    }
    fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".{NAME}.part"));
    fs::write(&temporary, serde_json::to_string_pretty(&record)? + "\n")?;
    fs::rename(temporary, path)?;
    Ok(())
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
    fn a_part_that_is_run_again_takes_the_place_of_its_last_run() {
        let folder = std::env::temp_dir().join(format!("ftk-xtask-soak-{}", std::process::id()));
        let machine = crate::bench::machine::tests::example();
        for outcome in [outcome("a", 1.0), outcome("b", 2.0), outcome("a", 3.0), outcome("c", 4.0)] {
            add(&folder, &machine, outcome).unwrap();
        }
        let text = fs::read_to_string(folder.join(NAME)).unwrap();
        let record: Record = serde_json::from_str(&text).unwrap();
        assert_eq!(record.parts, [outcome("a", 3.0), outcome("b", 2.0), outcome("c", 4.0)]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
