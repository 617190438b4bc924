//! `ftk manifest repair`: damaged, missing and modified files are restored from copies, and recorded metadata.

mod attacked;
mod copies;
mod damaged;
mod forged;
mod grown;
mod hostile;
mod kept;
mod limits;
mod links;
mod metadata;
mod missing;
mod modified;
mod parity;
mod record;
pub(crate) mod reprotect;
mod undone;
mod year;

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::records::create;
use crate::harness::{Dir, Run};

/// Changes the first byte of a file as a failing disk does: its size and mtime stay.
pub(crate) fn damage(path: &Path) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, 0).unwrap();
    file.write_all_at(&[!byte[0]], 0).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// Records the tree, and copies it with all metadata to `copy` next to it.
pub(crate) fn keep(dir: &Dir) {
    create(dir, &[]);
    copy(dir, "copy");
}

/// Copies the tree with all metadata to a directory next to it.
pub(crate) fn copy(dir: &Dir, name: &str) {
    let status = Command::new("cp").arg("-a").arg(dir.path(".")).arg(dir.aside(name)).status();
    assert!(status.unwrap().success());
}

/// Repairs the tree from `copy`, with these options.
pub(crate) fn repair(dir: &Dir, args: &[&str]) -> Run {
    repair_from(dir, &["copy"], args)
}

/// Repairs the tree from these copies next to it.
pub(crate) fn repair_from(dir: &Dir, copies: &[&str], args: &[&str]) -> Run {
    let from = copies.iter().flat_map(|copy| ["--from".into(), dir.aside(copy)]);
    dir.ftk(["manifest", "repair", "."]).arg(dir.aside("manifest")).args(from).args(args).run()
}

/// Marks damaged files in the manifest.
pub(crate) fn mark(dir: &Dir) {
    let manifest = dir.aside("manifest");
    let update = dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest);
    update.args(["--check", "100%"]).run().status(1);
}

/// Returns the only journal in the state directory.
pub(crate) fn journal(dir: &Dir) -> PathBuf {
    let entries = fs::read_dir(dir.aside("state").join("ftk")).unwrap().map(|entry| entry.unwrap().path());
    let journals: Vec<_> = entries.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    let [journal] = &journals[..] else { panic!("{journals:?}") };
    journal.clone()
}

/// Returns the lines of the run, each with single spaces, and then its errors about steps in the same form.
fn said(run: &Run) -> Vec<String> {
    let error = |line: &str| {
        let rest = line.strip_prefix("ftk: ")?;
        let mark = rest.chars().next().filter(|mark| "'\"".contains(*mark))?;
        let (path, why) = rest[1..].split_once(&format!("{mark}: "))?;
        Some(match why.strip_prefix("refused: ") {
            Some(why) => format!("refuse {path} {why}"),
            None => format!("fail {path} {why}"),
        })
    };
    let steps = run.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    steps.chain(run.err.lines().filter_map(error)).collect()
}

/// Returns the sorted names in a directory.
fn names(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
