//! The programs that are measured, and that measure.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The profile that `cargo install` builds with: only its times mean anything.
pub(crate) const RELEASE: &str = "release";

/// What a run needs.
pub(crate) struct Programs {
    pub(crate) ftk: PathBuf,
    /// This program: it runs one command at a time, and its getdents64 loop is the yardstick of `find`.
    pub(crate) helper: PathBuf,
}

impl Programs {
    pub(crate) fn build(profile: &str) -> Result<Self> {
        Ok(Self { ftk: build("ftk", profile)?, helper: std::env::current_exe()? })
    }
}

/// This program as it must be where times count. It is built apart from ftk, which so has no features that only xtask
/// asks for.
pub(crate) fn optimised() -> Result<PathBuf> {
    build("xtask", RELEASE)
}

/// Builds the program of this name, the only one of its package, and says where it is.
fn build(name: &str, profile: &str) -> Result<PathBuf> {
    println!("building {name} with the profile {profile}");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--message-format=json-render-diagnostics",
            "--package",
            name,
            "--profile",
            profile,
        ])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "cannot build {name}");
    let messages = String::from_utf8(output.stdout).context("cargo speaks UTF-8")?;
    match executable(&messages, name) {
        Some(path) => Ok(path),
        None => bail!("cargo did not say where {name} is"),
    }
}

/// The path of the program `name` in the messages of cargo, which are JSON objects, one a line.
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
    fn the_program_is_told_from_libraries() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"a","kind":["lib"]},"executable":null}
{"reason":"compiler-artifact","target":{"name":"b","kind":["bin"]},"executable":"/t/b"}
{"reason":"compiler-artifact","target":{"name":"a","kind":["bin"]},"executable":"/t/a"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages, "a"), Some("/t/a".into()));
        assert_eq!(executable(messages, "c"), None);
        assert_eq!(executable("", "a"), None);
    }
}
