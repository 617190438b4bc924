//! What can be checked before a release. `CONTRIBUTING.md` has the list of all that is to be done.

use std::fs;

use anyhow::Result;

use super::notes::{day, section};
use super::source::{git, version};
use crate::{codegen, deny, tidy};

/// Prints what is missing for a release of the commit, and returns whether nothing is.
pub(super) fn is_clean() -> Result<bool> {
    let version = version(&fs::read_to_string("Cargo.toml")?)?;
    let findings = missing(
        &version,
        &fs::read_to_string("CHANGELOG.md")?,
        &git(&["status", "--porcelain"])?,
        &git(&["tag", "--list", &format!("v{version}"), "--points-at", "HEAD"])?,
        &git(&["tag", "--list", &format!("v{version}")])?,
    );
    for finding in &findings {
        println!("{finding}");
    }
    Ok(findings.is_empty() & tidy::is_clean()? & deny::is_clean()? & codegen::is_clean()?)
}

/// Returns what is missing. `here` is the tag of the version if it is at the commit, and `anywhere` if it exists.
fn missing(version: &str, changelog: &str, changes: &str, here: &str, anywhere: &str) -> Vec<String> {
    let mut findings = Vec::new();
    match section(changelog, version) {
        None => findings.push(format!("CHANGELOG.md has no section {version}")),
        Some((_, "")) => findings.push(format!("CHANGELOG.md says nothing about {version}")),
        Some((heading, _)) if day(heading).is_none() => {
            findings.push(format!("CHANGELOG.md does not say when {version} is released: {heading:?}"));
        }
        Some(_) => {}
    }
    if section(changelog, "Unreleased").is_some_and(|(_, text)| !text.is_empty()) {
        findings.push("CHANGELOG.md has unreleased changes: move them to the version".to_owned());
    }
    if !changes.is_empty() {
        findings.push(format!("these files are not committed:\n{}", changes.trim_end()));
    }
    if here.is_empty() && !anywhere.is_empty() {
        findings.push(format!("another commit has the tag v{version}: raise the version"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str = "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2027-01-02)\n\n- new\n";

    #[test]
    fn a_version_that_can_be_released_has_no_findings() {
        assert_eq!(missing("0.2.0", READY, "", "", ""), [""; 0]);
        assert_eq!(missing("0.2.0", READY, "", "v0.2.0\n", "v0.2.0\n"), [""; 0]);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (changelog, changes, tag, part) in [
            ("# Changelog\n\n## Unreleased\n", "", "", "has no section 0.2.0"),
            (&*READY.replace("- new\n", ""), "", "", "says nothing"),
            (&READY.replace(" (2027-01-02)", ""), "", "", "does not say when"),
            (&READY.replace("## 0.2.0", "- more\n\n## 0.2.0"), "", "", "unreleased changes"),
            (READY, " M README.md\n", "", "not committed"),
            (READY, "", "v0.2.0\n", "raise the version"),
        ] {
            let found = missing("0.2.0", changelog, changes, "", tag);
            assert_eq!(found.len(), 1, "{part}: {found:?}");
            assert!(found[0].contains(part), "{part}: {found:?}");
        }
    }
}
