//! Long histories of random changes: updates of a part of a manifest, compared with updates of all of it.

use std::process::Command;

use anyhow::{Context, Result};

use super::command::Soak;
use super::figures::Figures;

/// The rounds of each test.
const ROUNDS: u64 = 1000;
const QUICK_ROUNDS: u64 = 30;

/// The tests, which read the number of rounds and the seed from the environment.
const TESTS: &[(&str, &str)] = &[
    ("--since", "since::an_update_since_a_snapshot_is_a_full_update"),
    ("--changed", "examined::an_update_with_a_list_of_all_changes_is_a_full_update"),
];

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let rounds = if soak.options.common.quick { QUICK_ROUNDS } else { ROUNDS };
    for (option, test) in TESTS {
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--quiet", "-p", "ftk-manifest", "--test", "manifest", "--", "--exact", test]);
        // Images are needed.
        cargo.env("FTK_TEST_ROUNDS", rounds.to_string()).env("FTK_TEST_LOOP", "1");
        let output = cargo.output().context("cannot start cargo")?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !said.contains("1 passed") {
            figures.deviation(format!("{option}: {said}"));
        }
        figures.count(&format!("rounds of {option}"), rounds);
    }
    Ok(())
}
