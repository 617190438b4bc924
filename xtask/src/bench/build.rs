//! The programs of a run: ftk, which is measured, and the helper, which measures.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};

use crate::ci;

/// The profile of `cargo install`. Only its times are meaningful.
pub(crate) const RELEASE: &str = "release";

/// The profile of tests.
pub(crate) const DEV: &str = "dev";

/// The program that answers questions about manifests, and its profile.
const QUERY: &str = "ftk-query";
const QUERY_PROFILE: &str = "query";

/// The programs of a run.
pub(crate) struct Programs {
    pub(crate) ftk: PathBuf,
    /// This program. It runs single commands, and its getdents64 loop is the lower bound for `find`.
    pub(crate) helper: PathBuf,
    /// `ftk-query`, if it is needed: building its SQL engine takes long.
    pub(crate) query: Option<PathBuf>,
}

impl Programs {
    pub(crate) fn build(profile: &str) -> Result<Self> {
        let ftk = if profile == DEV { tested()? } else { build("ftk", profile)? };
        Ok(Self { ftk, helper: std::env::current_exe()?, query: None })
    }

    /// Adds `ftk-query`. With the profile of tests it must have been built, as the step `query` of the checks does.
    pub(crate) fn with_query(self, profile: &str) -> Result<Self> {
        let query =
            if profile == DEV { self.ftk.with_file_name(QUERY) } else { build(QUERY, QUERY_PROFILE)? };
        ensure!(query.exists(), "{} is missing: run `cargo xtask ci query`", query.display());
        Ok(Self { query: Some(query), ..self })
    }
}

/// Builds this program for measurements. It is built separately from ftk, so that ftk gets no dependency features that
/// only xtask enables.
pub(crate) fn optimised() -> Result<PathBuf> {
    build("xtask", RELEASE)
}

/// Builds the ftk that the tests run, and returns its path. `cargo build --package ftk` selects other features of
/// dependencies, and would compile most of them and all of ftk a second time.
pub(crate) fn tested() -> Result<PathBuf> {
    made("ftk", "test --no-run --test integration")
}

/// Builds the program with all walkers, which is a workspace of its own.
pub(crate) fn walkers(profile: &str) -> Result<PathBuf> {
    println!(" building the walkers with the profile {profile}");
    let place = "--manifest-path benches/walkers/Cargo.toml --target-dir target/walkers";
    made("walkers", &format!("build --locked {place} --profile {profile}"))
}

/// Builds the program `name`, which is the only one of its package, and returns its path.
fn build(name: &str, profile: &str) -> Result<PathBuf> {
    println!("building {name} with the profile {profile}");
    made(name, &format!("build --package {name} --profile {profile}"))
}

/// Runs cargo with these arguments, and returns the path of the program `name` that it makes.
pub(crate) fn made(name: &str, args: &str) -> Result<PathBuf> {
    let output = ci::cargo(args)
        .args(["--quiet", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "cannot build {name}");
    let messages = String::from_utf8(output.stdout).context("the output of cargo is not UTF-8")?;
    match executable(&messages, name) {
        Some(path) => Ok(path),
        None => bail!("cargo did not report the path of {name}"),
    }
}

/// Returns the path of the program `name` from the messages of cargo, which are JSON objects, one per line.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()).find_map(
        |message| {
            let is_it = message["target"]["name"] == name;
            is_it.then(|| message["executable"].as_str().map(PathBuf::from))?
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_distinguished_from_libraries() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"a","kind":["lib"]},"executable":null}
{"reason":"compiler-artifact","target":{"name":"b","kind":["bin"]},"executable":"/t/b"}
{"reason":"compiler-artifact","target":{"name":"a","kind":["bin"]},"executable":"/t/a"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages, "a"), Some("/t/a".into()));
        assert_eq!(executable(messages, "c"), None);
        assert_eq!(executable("", "a"), None);
    }
}
