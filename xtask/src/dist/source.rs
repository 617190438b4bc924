//! The commit that is packed.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// What identifies the packed state of the repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The version of the program.
    pub(super) version: String,
    /// What `ftk --version` prints: the beginning of the commit's id, and its date.
    pub(super) commit: String,
    /// When the commit was made, in seconds. All packed files have this time.
    pub(super) time: String,
}

impl Source {
    /// Reads the commit of the repository in the current directory.
    ///
    /// # Errors
    /// If files differ from the commit: it would not lead to this program again. With `is_trial` they may.
    pub(super) fn of_repository(is_trial: bool) -> Result<Self> {
        let changes = git(&["status", "--porcelain"])?;
        if !changes.is_empty() && !is_trial {
            bail!("these files are not committed, so their program has no commit:\n{changes}");
        }
        let line = git(&["log", "-1", "--abbrev=12", "--format=%h %cs %ct"])?;
        let (commit, time) = line.trim().rsplit_once(' ').context("git names a commit")?;
        let mark = if changes.is_empty() { "" } else { ", modified" };
        let manifest = std::fs::read_to_string("Cargo.toml")?;
        Ok(Self { version: version(&manifest)?, commit: format!("{commit}{mark}"), time: time.to_owned() })
    }
}

/// Returns the version of the packages of the workspace.
pub(super) fn version(manifest: &str) -> Result<String> {
    let manifest: toml::Table = manifest.parse()?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    let version = package.and_then(|package| package.get("version")?.as_str());
    Ok(version.context("the workspace has a version")?.to_owned())
}

/// Returns the output of git.
pub(super) fn git(args: &[&str]) -> Result<String> {
    // CI may run as a different user than the one who cloned.
    let output = Command::new("git").args(["-c", "safe.directory=*"]).args(args).output();
    let output = output.context("cannot run git")?;
    ensure!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_workspace() {
        let manifest = "[package]\nversion.workspace = true\n[workspace.package]\nversion = \"1.2.3\"\n";
        assert_eq!(version(manifest).unwrap(), "1.2.3");
        assert!(version("[package]\nversion = \"1.2.3\"\n").is_err());
    }
}
