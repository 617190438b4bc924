//! Builds static programs whose bytes depend only on the commit and on the tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::source::Source;
use super::target::Target;
use super::tools::{Tools, succeed};
use crate::bench::build::DEV;
use crate::ci;

/// The tags of systems with glibc and with musl. A static program runs on both.
const COMPATIBLE: &[&str] = &["--compatibility", "manylinux_2_17", "musllinux_1_1"];

/// How the programs are built.
pub(super) struct Build<'b> {
    pub(super) tools: &'b Tools,
    pub(super) source: &'b Source,
    /// `release`, or `dev` for trials.
    pub(super) profile: &'b str,
}

impl Build<'_> {
    /// Builds the program for a target, and returns its path. `out` gets a package for Python with it, described by
    /// `pyproject.toml`: maturin would not accept a program that another tool has built.
    pub(super) fn program(&self, target: Target, sbom: &Path, out: &Path) -> Result<PathBuf> {
        println!("building {}", target.triple());
        let mut maturin = Command::new("maturin");
        maturin.args(["build", "--quiet", "--locked", "--zig", "--target", target.triple()]);
        maturin.args(["--profile", self.profile]).arg("--sbom-include").arg(sbom).arg("--out").arg(out);
        maturin.args(COMPATIBLE);
        self.environ(&mut maturin)?;
        succeed(&mut maturin)?;
        let folder = if self.profile == DEV { "debug" } else { self.profile };
        Ok(std::path::absolute(ci::target_dir().join(target.triple()).join(folder).join("ftk"))?)
    }

    /// Sets the variables of the commands that build or pack.
    pub(super) fn environ(&self, command: &mut Command) -> Result<()> {
        self.tools.environ(command)?;
        command.env("SOURCE_DATE_EPOCH", &self.source.time).env("FTK_COMMIT", &self.source.commit);
        command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("CARGO_INCREMENTAL", "0");
        command.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
        let folders = folders()?;
        let prefix = |option: &str| {
            let options = folders.iter().map(|(from, to)| format!("{option}={}={to}", from.display()));
            options.collect::<Vec<_>>().join(" ")
        };
        command.env("RUSTFLAGS", format!("{} -Ctarget-feature=+crt-static", prefix("--remap-path-prefix")));
        for target in Target::ALL {
            let name = format!("CFLAGS_{}", target.triple().replace('-', "_"));
            command.env(name, prefix("-ffile-prefix-map"));
        }
        Ok(())
    }
}

/// Returns the folders whose paths are in programs, and what replaces them there.
fn folders() -> Result<[(PathBuf, &'static str); 3]> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir().context("there is no home directory")?.join(".cargo"),
    };
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).output()?;
    let sysroot = PathBuf::from(String::from_utf8(rustc.stdout)?.trim_end());
    let folders = [(std::env::current_dir()?, "/ftk"), (home, "/cargo"), (sysroot, "/rust")];
    if let Some((path, _)) = folders.iter().find(|(path, _)| has_space(path)) {
        bail!("flags for compilers cannot name {}", path.display()); // they are separated by spaces
    }
    Ok(folders)
}

fn has_space(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&b' ')
}
