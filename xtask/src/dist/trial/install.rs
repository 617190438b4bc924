//! Installs the files of a release in fresh systems, and runs the program there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::process::geteuid;

use super::{container, debian, fedora, venv};
use crate::ci;
use crate::dist::target::Target;

/// Installs what runs on this machine. Root is needed to enter another system. Without it, only the package for Python
/// is installed.
///
/// # Errors
/// If a file is missing or does not work, or without root if `CI` is set.
pub(in crate::dist) fn install(release: &Path) -> Result<()> {
    let scratch = std::path::absolute(ci::target_dir().join("dist-systems"))?;
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    fs::create_dir_all(&scratch)?;
    let native = Target::native()?;
    venv::installs(&file(release, &format!("{}.whl", native.machine()))?, &scratch)?;
    if geteuid().is_root() {
        container::runs(&file(release, "-oci.tar.gz")?, &scratch)?;
        fedora::installs(&file(release, &format!(".{}.rpm", native.machine()))?, &scratch)?;
        debian::installs(&file(release, &format!("_{}.deb", native.debian()))?, &scratch)?;
    } else if std::env::var_os("CI").is_some() {
        bail!("only root can enter the fresh systems");
    } else {
        println!("SKIPPED: only root can enter a container or a fresh Debian");
    }
    Ok(fs::remove_dir_all(&scratch)?)
}

/// Returns the file of a release whose name has this end.
fn file(release: &Path, end: &str) -> Result<PathBuf> {
    let files = fs::read_dir(release).with_context(|| format!("no release in {}", release.display()))?;
    let mut paths = files.filter_map(|file| Some(file.ok()?.path()));
    let found = paths.find(|path| path.to_string_lossy().ends_with(end));
    found.with_context(|| format!("no file *{end} in {}", release.display()))
}
