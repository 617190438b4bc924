//! The programs that build and pack a release.
//!
//! Their versions are fixed, because the bytes of a release depend on them.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::target::Target;
use crate::ci;

/// Packages of the Python Package Index. maturin builds the program, with ziglang as C compiler and linker: it has the C
/// library of static programs for all processors.
const PYTHON: &[&str] = &["maturin==1.16.0", "ziglang==0.17.1"];

/// Programs that cargo builds.
const CARGO: &[&str] = &["cargo-deb@3.8.0", "cargo-generate-rpm@0.21.1"];

/// Where the tools are in the target directory.
pub(super) const FOLDER: &str = "release-tools";

/// Programs of the system.
const SYSTEM: &[&str] = &["git", "gzip", "python3", "rustup", "tar"];

/// Where the tools are installed.
pub(super) struct Tools(PathBuf);

impl Tools {
    /// Installs what is missing in a folder.
    pub(super) fn install(folder: Option<PathBuf>) -> Result<Self> {
        for program in SYSTEM {
            let found = Command::new(program).arg("--version").output();
            found.with_context(|| format!("{program} is needed: please install it"))?;
        }
        let tools = match folder {
            Some(folder) => Self(folder),
            None => Self(std::path::absolute(ci::target_dir())?.join(FOLDER)),
        };
        fs::create_dir_all(tools.python())?;
        let mut rustup = Command::new("rustup");
        succeed(rustup.args(["--quiet", "target", "add"]).args(Target::ALL.map(Target::triple)))?;
        // In one call: another one would remove the programs of the first.
        tools.once(&PYTHON.join("-"), || {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--no-deps", "--target"]);
            succeed(pip.arg(tools.python()).args(PYTHON))
        })?;
        for package in CARGO {
            tools.once(package, || {
                println!("building {package}");
                succeed(ci::cargo("install --quiet --locked --root").arg(&tools.0).arg(package))
            })?;
        }
        Ok(tools)
    }

    /// Installs something unless an earlier run did.
    fn once(&self, name: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
        let mark = self.0.join(format!(".{name}"));
        if !mark.exists() {
            install().with_context(|| format!("cannot install {name}"))?;
            fs::write(mark, "")?;
        }
        Ok(())
    }

    fn python(&self) -> PathBuf {
        self.0.join("python")
    }

    /// Returns the folder of zig.
    pub(super) fn zig(&self) -> PathBuf {
        self.python().join("ziglang")
    }

    /// Sets what the tools need in the environment of a command.
    pub(super) fn environ(&self, command: &mut Command) -> Result<()> {
        let system = std::env::var_os("PATH").unwrap_or_default();
        let own = [self.0.join("bin"), self.python().join("bin")];
        let path: OsString = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&system)))?;
        command.env("PATH", path).env("PYTHONPATH", self.python());
        command.env("CARGO_ZIGBUILD_ZIG_PATH", self.zig().join("zig"));
        Ok(())
    }
}

/// Runs a command, and fails if it fails.
pub(super) fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}

/// Runs a command, and returns its output.
pub(super) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {said}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
