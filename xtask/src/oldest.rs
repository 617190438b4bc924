//! The oldest compiler and the oldest dependencies that the manifests allow.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use toml::Table;

use crate::ci;

/// Libraries for other programs, which need less than the program.
const LIBRARIES: &[&str] = &["walk", "ignore"];

/// Checks everything but `ftk-query` with the compiler that `rust-version` names, which is installed if it is missing.
/// Libraries are checked with the older ones that they name. Then checks that the oldest versions of direct dependencies
/// fit together.
pub(crate) fn is_clean() -> Result<bool> {
    let read = |path: &str| fs::read_to_string(path).with_context(|| format!("cannot read {path}"));
    let version = rust_version(&read("Cargo.toml")?)?;
    if !checks_with(&version, &["--workspace", "--exclude", "ftk-query"])? {
        return Ok(false);
    }
    for package in LIBRARIES {
        let version = rust_version_of_package(&read(&format!("crates/{package}/Cargo.toml"))?)?;
        if !checks_with(&version, &["--package", &format!("ftk-{package}")])? {
            return Ok(false);
        }
    }
    // The option is unstable; the variable makes it available in any toolchain. Nothing is written.
    let mut resolve = ci::cargo("update --quiet --dry-run -Z direct-minimal-versions");
    Ok(resolve.env("RUSTC_BOOTSTRAP", "1").status()?.success())
}

/// Runs `cargo check` with a version of Rust, which is installed if it is missing.
fn checks_with(version: &str, packages: &[&str]) -> Result<bool> {
    let mut rustc = Command::new("rustup");
    rustc.args(["run", version, "rustc", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !rustc.status().context("cannot run rustup")?.success() {
        let install = ["toolchain", "install", version, "--profile", "minimal"];
        ensure!(Command::new("rustup").args(install).status()?.success(), "cannot install Rust {version}");
    }
    let mut check = Command::new("rustup");
    check.args(["run", version, "cargo", "check", "--locked"]).args(packages);
    Ok(check.status()?.success())
}

/// Returns the `rust-version` of a package that has its own.
fn rust_version_of_package(manifest: &str) -> Result<String> {
    let manifest: Table = manifest.parse()?;
    let version = manifest.get("package").and_then(|package| package.get("rust-version")?.as_str());
    Ok(version.context("the package has a rust-version of its own")?.to_owned())
}

/// Returns the `rust-version` of the packages of the workspace.
fn rust_version(manifest: &str) -> Result<String> {
    let manifest: Table = manifest.parse()?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    let version = package.and_then(|package| package.get("rust-version")?.as_str());
    Ok(version.context("the workspace has a rust-version")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_readme() {
        let version = rust_version(include_str!("../../Cargo.toml")).unwrap();
        assert!(include_str!("../../README.md").contains(&format!("with Rust {version} or later")));
        assert!(rust_version("[package]\nrust-version = \"1.89\"\n").is_err());
    }
}
