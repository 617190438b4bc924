//! The program for Spark: its style, and its tests.

use std::process::Command;

use anyhow::{Context, Result};

use crate::ci;

/// Where the program and its tests are.
const DIR: &str = "integrations/spark";

/// Runs the checks of style and all tests. The programs that are tested must have been built.
pub(crate) fn is_clean() -> Result<bool> {
    let debug = std::path::absolute(ci::target_dir().join("debug"))?;
    let (ftk, ftk_query) = (debug.join("ftk"), debug.join("ftk-query"));
    let tests = format!("{DIR}/tests/run.py");
    for args in [&["-m", "ruff", "format", "--check", DIR][..], &["-m", "ruff", "check", DIR], &[&tests]] {
        let mut python = Command::new("python3");
        python.args(args).env("FTK", &ftk).env("FTK_QUERY", &ftk_query).env("PYTHONDONTWRITEBYTECODE", "1");
        python.env("RUFF_NO_CACHE", "true");
        if !python.status().context("cannot run python3")?.success() {
            return Ok(false);
        }
    }
    Ok(true)
}
