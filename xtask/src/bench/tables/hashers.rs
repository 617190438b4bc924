//! The commands of ftk and its peers that compute digests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Algorithm;
use crate::bench::answer::Format;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;

/// Maximum number of files for a process of openssl, because its time grows with the square of their number.
const OPENSSL_FILES: u64 = 256;
/// Minimum number of processes that `xargs` runs one after the other in each slot. With fewer, the last one would run
/// alone for a long time.
const TURNS: u64 = 4;
/// A process gets at least this many files, unless a CPU would then have none.
const FIT: u64 = 1_000;

/// A task: the digests of all regular files at or below some paths.
#[derive(Clone)]
pub(super) struct Task<'b> {
    pub(super) bench: &'b Context,
    pub(super) algorithm: &'b Algorithm,
    /// Files, or directories.
    pub(super) paths: Vec<PathBuf>,
    /// Number of files.
    pub(super) files: u64,
    /// Number of processes or threads of the peers.
    pub(super) jobs: usize,
}

impl<'b> Task<'b> {
    /// Makes a task for one tree or file.
    pub(super) fn new(bench: &'b Context, algorithm: &'b Algorithm, path: &Path, files: u64) -> Self {
        Self { bench, algorithm, paths: vec![path.to_owned()], files, jobs: bench.jobs }
    }

    /// Returns ftk with these options before the command.
    pub(super) fn ftk(&self, options: &[&str]) -> Case {
        let mut words = words![&self.bench.programs.ftk];
        words.extend(options.iter().map(OsString::from));
        words.extend(words!["hash", "-a", self.algorithm.name]);
        let tool = ["ftk"].iter().chain(options).copied().collect::<Vec<_>>().join(" ");
        self.direct(&tool, words)
    }

    /// Returns the usual tool for the algorithm. Its result is the reference.
    pub(super) fn tool(&self) -> Option<Case> {
        let (name, options) = self.algorithm.tool.split_first()?;
        self.parallel(name, name, options, None)
    }

    pub(super) fn openssl(&self) -> Option<Case> {
        self.parallel("openssl", "openssl", &["dgst", self.algorithm.openssl?], Some(OPENSSL_FILES))
    }

    /// Returns other ways to run b3sum; which one is fastest depends on the tree.
    pub(super) fn b3sum(&self) -> Vec<Case> {
        if self.algorithm.name != "blake3" {
            return Vec::new();
        }
        let no_mmap = self.parallel("b3sum no mmap", "b3sum", &["--num-threads", "1", "--no-mmap"], None);
        let threads = Self { jobs: 1, ..self.clone() }.parallel("b3sum threads", "b3sum", &[], None);
        no_mmap.into_iter().chain(threads).collect()
    }

    /// Returns hashdeep for regular files only, because it would otherwise follow symbolic links.
    pub(super) fn hashdeep(&self) -> Option<Case> {
        let program = self.bench.peers.get("hashdeep").filter(|_| self.algorithm.hashdeep)?;
        let threads = format!("-j{}", self.jobs);
        Some(self.direct("hashdeep", words![program, "-c", self.algorithm.name, &threads, "-o", "f", "-r"]))
    }

    /// Returns a tool that gets files as arguments: directly, or from a tree by `find` and `xargs`.
    fn parallel(&self, tool: &str, program: &str, options: &[&str], most: Option<u64>) -> Option<Case> {
        let peers = &self.bench.peers;
        let mut words = words![peers.get(program)?];
        words.extend(options.iter().map(OsString::from));
        if self.paths.iter().all(|path| path.is_file()) {
            return Some(self.direct(tool, words));
        }
        let (find, xargs) = (peers.get("find")?, peers.get("xargs")?);
        let batch = batch(self.files, self.jobs as u64, most);
        let with = |jobs| {
            let mut find = words![find];
            find.extend(self.paths.iter().map(OsString::from));
            find.extend(words!["-type", "f", "-print0"]);
            let mut xargs = words![xargs, "-0", "-r", &format!("-P{jobs}")];
            xargs.extend(batch.map(|batch| format!("-n{batch}").into()));
            xargs.extend_from_slice(&words);
            Pipeline::new(find).pipe(xargs)
        };
        Some(Case::new(tool, Format::Sums, with(self.jobs)).answered_by(with(1)))
    }

    /// Returns a tool that gets the paths as arguments.
    fn direct(&self, tool: &str, mut words: Vec<OsString>) -> Case {
        words.extend(self.paths.iter().map(OsString::from));
        Case::new(tool, Format::Sums, Pipeline::new(words))
    }
}

/// Returns the number of files per process when `jobs` run at a time; `None` if only the command line limits it.
fn batch(files: u64, jobs: u64, most: Option<u64>) -> Option<u64> {
    let fair = (files / (jobs * TURNS)).max(1);
    let fair = Some(fair).filter(|&fair| jobs > 1 && fair < FIT);
    fair.into_iter().chain(most).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_has_work() {
        assert_eq!(batch(16, 2, None), Some(2));
        assert_eq!(batch(3, 2, None), Some(1));
        assert_eq!(batch(100_000, 2, None), None);
        assert_eq!(batch(16, 1, None), None);
        assert_eq!(batch(100_000, 2, Some(256)), Some(256));
        assert_eq!(batch(16, 2, Some(256)), Some(2));
    }
}
