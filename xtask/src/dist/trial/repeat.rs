//! Makes a release twice, in folders with names of different lengths.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::install::install;
use crate::ci;
use crate::dist::source::git;
use crate::dist::target::Target;
use crate::dist::tools::{self, succeed};

/// Clones the commit twice, makes a release in both clones, and compares them. Then installs the files of one.
pub(in crate::dist) fn is_same(profile: &str, target: Option<Target>) -> Result<bool> {
    let parent = std::path::absolute(ci::target_dir().join("dist-trial"))?;
    if parent.exists() {
        fs::remove_dir_all(&parent)?;
    }
    fs::create_dir_all(&parent)?;
    let clones = ["a", "another-place"].map(|name| parent.join(name));
    // Both at once: a commit during the first build would be in the second one only.
    for clone in &clones {
        git(&["clone", "--quiet", ".", text(clone)?])?;
    }
    let mut releases = Vec::new();
    for clone in &clones {
        let release = clone.join("target/dist");
        make(clone, profile, target)?;
        releases.push(list(&release)?);
    }
    let [one, other] = &releases[..] else { unreachable!("there are two clones") };
    let different: Vec<_> = one.lines().filter(|line| !other.lines().any(|it| it == *line)).collect();
    for line in &different {
        println!("a second build makes another file: {line}");
    }
    if one != other {
        return Ok(false);
    }
    install(&clones[0].join("target/dist"))?;
    fs::remove_dir_all(&parent)?;
    Ok(true)
}

/// Makes a release in a clone. All clones use the same tools.
fn make(clone: &Path, profile: &str, target: Option<Target>) -> Result<()> {
    let mut dist = Command::new(std::env::current_exe()?);
    let tools = std::path::absolute(ci::target_dir().join(tools::FOLDER))?;
    dist.args(["dist", "--profile", profile, "--clone", text(clone)?, "--tools"])
        .arg(tools)
        .env_remove("CARGO_TARGET_DIR");
    if let Some(target) = target {
        dist.args(["--target", target.machine()]);
    }
    succeed(&mut dist)
}

/// Returns the digests of a release, after checking them with another program.
fn list(release: &Path) -> Result<String> {
    let mut check = Command::new("sha256sum");
    succeed(check.args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(release))?;
    Ok(fs::read_to_string(release.join("SHA256SUMS"))?)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the target directory is not UTF-8")
}
