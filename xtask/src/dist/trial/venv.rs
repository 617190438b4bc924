//! The package for Python in a fresh virtual environment.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::dist::tools::{output, succeed};

/// Installs the package without a network, runs the program, removes the package, and looks for what is left.
pub(super) fn installs(wheel: &Path, scratch: &Path) -> Result<()> {
    let environment = scratch.join("venv");
    succeed(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&environment))?;
    let python = environment.join("bin/python");
    let pip = |words: &[&str]| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--python"])
            .arg(&python)
            .args(words);
        pip
    };
    let wheel = wheel.to_str().context("the target directory is not UTF-8")?;
    succeed(&mut pip(&["install", "--no-index", "--no-deps", wheel]))?;
    let ftk = environment.join("bin/ftk");
    let said = output(Command::new(&ftk).arg("--version"))?;
    ensure!(said.starts_with("ftk "), "ftk in a virtual environment says {said:?}");
    succeed(&mut pip(&["uninstall", "--yes", "ftk-cli"]))?;
    ensure!(!ftk.exists(), "pip has not removed {}", ftk.display());
    println!("the package for Python brings {}", said.trim_end());
    Ok(())
}
