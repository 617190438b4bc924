//! The digests of the files of a release, computed by the program in it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::tools::output;

/// The list of all files of a release.
pub(super) const LIST: &str = "SHA256SUMS";

/// Writes the list of the files in a folder.
pub(super) fn write(ftk: &Path, folder: &Path) -> Result<()> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.file_name()));
    let mut names: Vec<_> = files.collect::<Result<_>>()?;
    names.sort_unstable();
    output(hash(ftk).args(["--output", LIST, "--"]).args(names).current_dir(folder))?;
    Ok(())
}

/// Returns the digest of a file.
pub(super) fn sha256(ftk: &Path, file: &Path) -> Result<String> {
    let line = output(hash(ftk).arg("--").arg(file))?;
    let digest = line.split(' ').next().filter(|digest| digest.len() == 64);
    Ok(digest.with_context(|| format!("ftk printed {line:?}"))?.to_owned())
}

fn hash(ftk: &Path) -> Command {
    let mut command = Command::new(ftk);
    command.args(["hash", "--quiet", "--algorithm", "sha256"]).env_remove("FTK_CACHE");
    command
}
