//! Checks the dependencies: allowed licences, known sources, no known vulnerabilities.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use spdx::{Expression, ParseMode};

use crate::ci;

/// The file with the allowed licences, for cargo-deny and for this check.
const CONFIG: &str = "deny.toml";

/// Checks licences, which needs only cargo, and the rest if cargo-deny is installed. Prints which checks are skipped.
pub(crate) fn is_clean() -> Result<bool> {
    let allowed = allowed(&fs::read_to_string(CONFIG)?)?;
    let packages = packages()?;
    let bad: Vec<_> =
        packages.iter().filter(|it| !is_satisfied(&it.licence, &allowed).unwrap_or(false)).collect();
    for package in &bad {
        println!("{}: the licence {:?} is not allowed in {CONFIG}", package.name, package.licence);
    }
    println!("{} packages, {} with a licence that is not allowed", packages.len(), bad.len());
    let is_clean = bad.is_empty();
    if !has_cargo_deny() {
        println!("SKIPPED: cargo-deny is not installed: advisories, sources and duplicates are not checked");
        return Ok(is_clean);
    }
    let is_clean = is_clean & succeeds("deny --workspace --offline check bans licenses sources")?;
    // Its error output would repeat the next line.
    if !ci::cargo("deny fetch db").stderr(Stdio::null()).status()?.success() {
        println!("SKIPPED: the advisory database cannot be fetched: advisories are not checked");
        return Ok(is_clean);
    }
    Ok(is_clean & succeeds("deny --workspace --offline check advisories")?)
}

fn has_cargo_deny() -> bool {
    let output = ci::cargo("deny --version").stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

fn succeeds(args: &str) -> Result<bool> {
    Ok(ci::cargo(args).status()?.success())
}

/// A package that is built on this system, including those of the workspace.
struct Package {
    name: String,
    /// An SPDX expression; empty if there is none.
    licence: String,
}

/// Returns the target triple of this system, such as `x86_64-unknown-linux-gnu`.
pub(crate) fn host() -> Result<String> {
    let rustc = Command::new("rustc").arg("-vV").output()?;
    let said = String::from_utf8(rustc.stdout)?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names its host")?;
    Ok(host.to_owned())
}

fn packages() -> Result<Vec<Package>> {
    let output = ci::cargo("metadata --locked --format-version 1 --filter-platform")
        .arg(host()?)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "cargo metadata failed");
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo resolves")?;
    let used: BTreeSet<_> = nodes.iter().map(|node| text(&node["id"])).collect();
    let packages = metadata["packages"].as_array().context("cargo lists packages")?;
    let used = packages.iter().filter(|package| used.contains(&text(&package["id"])));
    Ok(used.map(|it| Package { name: text(&it["name"]), licence: text(&it["license"]) }).collect())
}

/// Returns the allowed licences of the configuration.
fn allowed(config: &str) -> Result<Vec<String>> {
    let config: toml::Table = toml::from_str(config)?;
    let list = config.get("licenses").and_then(|licences| licences.get("allow"));
    Ok(list.context("no allowed licences")?.clone().try_into()?)
}

/// Whether the allowed licences satisfy the SPDX `expression`. Old manifests write MIT/Apache-2.0. An exception only
/// grants more rights.
///
/// # Errors
/// If `expression` is invalid.
fn is_satisfied(expression: &str, allowed: &[String]) -> Result<bool> {
    let expression = Expression::parse_mode(expression, ParseMode::LAX)?;
    Ok(expression.evaluate(|needed| {
        needed.license.id().is_some_and(|id| allowed.iter().any(|licence| licence == id.name))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(expression: &str) -> Option<bool> {
        is_satisfied(expression, &["MIT".to_owned(), "Apache-2.0".to_owned()]).ok()
    }

    #[test]
    fn spdx_expressions_are_evaluated() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0 OR MIT AND Apache-2.0",
            "(GPL-3.0 OR MIT) AND Apache-2.0",
            "Unlicense/MIT",
            "Apache-2.0 WITH LLVM-exception AND MIT",
        ] {
            assert_eq!(holds(good), Some(true), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "LGPL-2.1 OR ISC"] {
            assert_eq!(holds(bad), Some(false), "{bad}");
        }
        for none in ["", "MIT OR", "(MIT", "MIT)", "MIT MIT", "OR", "MIT WITH"] {
            assert_eq!(holds(none), None, "{none}");
        }
    }

    #[test]
    fn the_list_of_licences_is_read() {
        let allowed = allowed(include_str!("../../deny.toml")).unwrap();
        assert!(
            allowed.contains(&"MIT".to_owned()) && !allowed.iter().any(|it| it.contains("GPL")),
            "{allowed:?}"
        );
        assert!(super::allowed("[licenses]\nallow = [\n").is_err() && super::allowed("").is_err());
    }
}
