//! Runs the tests that are marked `#[ignore]` because they take too long.

use anyhow::Result;

use super::command::Soak;
use super::figures::Figures;
use crate::ci;

/// This function is not a test: other tests run it as a child process.
const NO_TEST: &str = "output::tests::child";

pub(super) fn run(_: &Soak, figures: &mut Figures) -> Result<()> {
    let mut command = ci::cargo("test --locked --workspace --no-fail-fast -- --ignored --skip");
    command.arg(NO_TEST).env("CI", "1"); // a missing tool is a failure
    let (status, tally) = ci::test(command, &mut std::io::stdout())?;
    figures.count("tests passed", tally.passed);
    figures.count("tests failed", tally.failed);
    if status != 0 {
        figures.deviation(format!("cargo test -- --ignored ends with status {status}"));
    }
    Ok(())
}
