//! Compares the interfaces of the libraries for other programs with those of the last release.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::ci;
use crate::dist::notes;

/// The libraries for other programs.
pub(crate) const LIBRARIES: &[&str] = &["ftk-hash", "ftk-ignore", "ftk-walk"];

/// Fails if a library changed its interface more than its version says, since the last release that `CHANGELOG.md` lists.
///
/// While it lists no release, there is nothing to compare, and this says so. From the first release on, a missing tag and a
/// missing `cargo-semver-checks` are failures.
pub(crate) fn is_clean() -> Result<bool> {
    let changelog = fs::read_to_string("CHANGELOG.md").context("cannot read CHANGELOG.md")?;
    let head = commit_of("HEAD")?.context("git knows no commit")?;
    let Some(release) = last_release(&changelog, |tag| Ok(commit_of(tag)?.as_ref() == Some(&head)))? else {
        println!("NOT COMPARED: CHANGELOG.md lists no release before this commit");
        return Ok(true);
    };
    ensure!(
        commit_of(&release)?.is_some(),
        "the tag {release} is not here: fetch it, or make it if this is the release"
    );
    let mut check = ci::cargo("semver-checks --baseline-rev");
    check.arg(&release);
    check.args(LIBRARIES.iter().flat_map(|library| ["--package", library]));
    println!("comparing with {release} (`.ci/run semver` installs what is needed)");
    Ok(check.status()?.success())
}

/// Returns the tag of the newest release that the changelog lists and that is not the current commit itself.
fn last_release(changelog: &str, is_head: impl Fn(&str) -> Result<bool>) -> Result<Option<String>> {
    let headings = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    // A version without a day is not released.
    let released = headings.filter(|heading| notes::day(heading).is_some());
    for version in released.filter_map(|heading| heading.split(' ').next()) {
        let tag = format!("v{version}");
        if !is_head(&tag)? {
            return Ok(Some(tag));
        }
    }
    Ok(None)
}

/// Returns the commit of a tag or branch, or `None` if there is none of this name.
fn commit_of(name: &str) -> Result<Option<String>> {
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "rev-parse", "--quiet", "--verify"])
        .arg(format!("{name}^{{commit}}"));
    let output = git.stderr(Stdio::inherit()).output().context("git is needed to find the release")?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_that_is_not_this_commit_is_compared() {
        let of = |changelog: &str, head: &str| last_release(changelog, |tag| Ok(tag == head)).unwrap();
        assert_eq!(of("# Changelog\n\n## Unreleased\n\n### Added\n", ""), None);
        let first = "## Unreleased\n\n## 0.1.0 (2026-12-01)\n";
        assert_eq!(of(first, ""), Some("v0.1.0".to_owned()));
        assert_eq!(of(first, "v0.1.0"), None, "the first release itself");
        let second = "## Unreleased\n\n## 0.2.0 (2027-01-31)\n\n## 0.1.0 (2026-12-01)\n";
        assert_eq!(of(second, ""), Some("v0.2.0".to_owned()));
        assert_eq!(of(second, "v0.2.0"), Some("v0.1.0".to_owned()));
        assert_eq!(of("## Unreleased\n\n## 0.1.0 (not released yet)\n", ""), None);
    }

    #[test]
    fn a_tag_that_does_not_exist_has_no_commit() {
        assert!(commit_of("v0.0.0-none").unwrap().is_none());
        assert_eq!(commit_of("HEAD").unwrap().unwrap().len(), 40);
    }
}
