//! Archives whose bytes depend only on the names and contents of the files in them.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::licences;
use super::source::Source;

/// Files of the repository that an archive has, and where. A folder is copied with its files.
const FILES: &[(&str, &str)] = &[
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("Containerfile", "Containerfile"),
    ("LICENSE", "LICENSE"),
    ("README.md", "README.md"),
    ("docs/completions", "completions"),
    ("docs/man", "man"),
];

/// Writes the archive of a program, with what belongs to it, into `out`. `scratch` is an empty folder.
pub(super) fn pack(program: &Path, name: &str, source: &Source, scratch: &Path, out: &Path) -> Result<()> {
    let folder = scratch.join(name);
    make_folder(&folder)?;
    for file in [program, &program.with_file_name(licences::FILE)] {
        copy(file, &folder.join(file.file_name().context("a file has a name")?))?;
    }
    for (from, to) in FILES {
        copy_all(Path::new(from), &folder.join(to))?;
    }
    tar_gz(scratch, &[name], source, &out.join(format!("{name}.tar.gz")))
}

/// Writes files and folders in `parent` as an archive.
pub(super) fn tar(parent: &Path, names: &[&str], source: &Source, to: &Path) -> Result<()> {
    let status = tar_command(parent, names, source).stdout(File::create(to)?).status();
    ensure!(status.context("cannot run tar")?.success(), "cannot pack {}", to.display());
    Ok(())
}

/// Writes files and folders in `parent` as a compressed archive.
pub(super) fn tar_gz(parent: &Path, names: &[&str], source: &Source, to: &Path) -> Result<()> {
    let tar = tar_command(parent, names, source).stdout(Stdio::piped()).spawn();
    let mut tar = tar.context("cannot run tar")?;
    let input = tar.stdout.take().context("stdout is a pipe")?;
    let mut gzip = Command::new("gzip");
    let gzip = gzip.args(["-9", "--no-name"]).stdin(input).stdout(File::create(to)?).status()?;
    ensure!(tar.wait()?.success() && gzip.success(), "cannot pack {}", to.display());
    Ok(())
}

fn tar_command(parent: &Path, names: &[&str], source: &Source) -> Command {
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--numeric-owner", "--owner=0", "--group=0"]);
    tar.arg(format!("--mtime=@{}", source.time)).arg("--directory").arg(parent).arg("--").args(names);
    tar
}

/// Copies a file, or a folder with its files.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return copy(from, to);
    }
    make_folder(to)?;
    for file in fs::read_dir(from)? {
        let file: PathBuf = file?.path();
        copy(&file, &to.join(file.file_name().context("a file has a name")?))?;
    }
    Ok(())
}

/// Copies a file. The umask has no influence on the permissions of the copy.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    let is_program = fs::metadata(from)?.permissions().mode() & 0o100 != 0;
    permit(to, if is_program { 0o755 } else { 0o644 })
}

/// Writes a file that all may read.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)?;
    permit(path, 0o644)
}

/// Makes a folder that all may read.
pub(super) fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir(path).with_context(|| format!("cannot make {}", path.display()))?;
    permit(path, 0o755)
}

/// Sets permissions.
pub(super) fn permit(path: &Path, mode: u32) -> Result<()> {
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}
