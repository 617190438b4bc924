//! The program for Spark: its style, and its tests.

use std::process::Command;

use anyhow::{Context, Result};

use crate::ci;

/// Where the program and its tests are.
const DIR: &str = "integrations/spark";

/// Runs the checks of style, and the tests in one process. The programs that are tested must have been built.
pub(crate) fn is_clean() -> Result<bool> {
    let format = ["-m", "ruff", "format", "--check", DIR];
    Ok(python(&format)? && python(&["-m", "ruff", "check", DIR])? && python(&[&tests()])?)
}

/// Runs the tests with a cluster of several processes, some of which are killed.
pub(crate) fn cluster_is_clean() -> Result<bool> {
    python(&[&tests(), "cluster"])
}

fn tests() -> String {
    format!("{DIR}/tests/run.py")
}

/// Runs Python with these arguments and returns whether it succeeds.
fn python(args: &[&str]) -> Result<bool> {
    let debug = std::path::absolute(ci::target_dir().join("debug"))?;
    let (ftk, ftk_query) = (debug.join("ftk"), debug.join("ftk-query"));
    let mut python = Command::new("python3");
    python.args(args).env("FTK", &ftk).env("FTK_QUERY", &ftk_query).env("PYTHONDONTWRITEBYTECODE", "1");
    python.env("RUFF_NO_CACHE", "true");
    Ok(python.status().context("cannot run python3")?.success())
}
