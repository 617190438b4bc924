//! Generates the files that follow from the definition of the command line and are committed: manual pages and
//! `docs/coming-from.md`. Packagers take them from the source and do not need to run ftk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::bench::build::tested;
use crate::{bench, ci};

/// The folder contains only generated files, so that the files of a removed command are found.
const MANUAL: &str = "docs/man";

/// What `ftk help coming-from` prints.
const COMING_FROM: &str = "docs/coming-from.md";

/// Updates all generated files. With `is_check` it writes nothing and fails if a file is outdated.
pub(crate) fn run(is_check: bool) -> Result<ExitCode> {
    if is_check {
        return Ok(if is_clean()? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let wanted = generate()?;
    for path in stale(&wanted)? {
        fs::remove_file(&path)?;
        println!("{} is removed", path.display());
    }
    for (path, text) in changed(&wanted) {
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{} is updated", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether everything is up to date, including the benchmark tables. Prints the outdated files.
pub(crate) fn is_clean() -> Result<bool> {
    let wanted = generate()?;
    let stale = stale(&wanted)?;
    let old: BTreeSet<_> =
        stale.iter().map(PathBuf::as_path).chain(changed(&wanted).map(|it| it.0)).collect();
    for path in &old {
        println!("{} is outdated: run `cargo xtask codegen`", path.display());
    }
    Ok(old.is_empty() & (bench::report(true)? == ExitCode::SUCCESS))
}

/// Returns every generated file with its text.
fn generate() -> Result<BTreeMap<PathBuf, String>> {
    let program = tested()?;
    let ftk = |args: &[&str]| output(&program, args);
    let mut files = BTreeMap::new();
    let folder = empty_folder()?;
    ftk(&["man", "-q", "--install", folder.to_str().context("the target directory is not UTF-8")?])?;
    for page in fs::read_dir(&folder)? {
        let page = page?;
        files.insert(Path::new(MANUAL).join(page.file_name()), fs::read_to_string(page.path())?);
    }
    fs::remove_dir_all(&folder)?;
    files.insert(COMING_FROM.into(), ftk(&["help", "coming-from"])?);
    Ok(files)
}

/// Makes an empty folder below the target directory.
fn empty_folder() -> Result<PathBuf> {
    let folder = std::env::current_dir()?.join(ci::target_dir()).join("codegen");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Returns the output of `ftk`. Without a terminal it wraps lines at its default width.
fn output(ftk: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new(ftk).args(args).env_remove("COLUMNS").output().context("cannot run ftk")?;
    if !output.status.success() {
        bail!("ftk {args:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the pages of the manual that are no longer generated.
fn stale(wanted: &BTreeMap<PathBuf, String>) -> Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    if Path::new(MANUAL).exists() {
        for file in fs::read_dir(MANUAL)? {
            let path = file?.path();
            if !wanted.contains_key(&path) {
                stale.push(path);
            }
        }
    }
    Ok(stale)
}

/// Returns the files whose text differs.
fn changed(wanted: &BTreeMap<PathBuf, String>) -> impl Iterator<Item = (&Path, &str)> {
    let is_old = |path: &Path, text: &str| fs::read_to_string(path).map_or(true, |old| old != text);
    wanted.iter().map(|(path, text)| (&**path, &**text)).filter(move |(path, text)| is_old(path, text))
}
