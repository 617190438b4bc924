//! Records random trees in shards while mounts are missing, files unreadable and names change, and merges them.

use anyhow::Result;

use super::command::Soak;
use super::figures::Figures;
use crate::ci;

/// The number of random records.
const ROUNDS: u64 = 1000;
const QUICK_ROUNDS: u64 = 50;

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let rounds = if soak.options.common.quick { QUICK_ROUNDS } else { ROUNDS };
    let mut test = ci::cargo("test --locked --test integration -- --exact");
    test.arg("manifest::shards::model::no_record_has_a_silent_hole");
    test.env("FTK_TEST_ROUNDS", rounds.to_string()).env("FTK_TEST_PROGRAM", &soak.ftk);
    // Without mounts, the test would be skipped.
    test.env("FTK_TEST_LOOP", "1");
    let (status, _) = ci::test(test, &mut std::io::stdout())?;
    figures.count("merged records", rounds);
    if status != 0 {
        figures.deviation(format!("a record has a silent hole, or the test did not run: status {status}"));
    }
    Ok(())
}
