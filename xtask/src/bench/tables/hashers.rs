//! How ftk and its peers are asked for digests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Algorithm;
use crate::bench::answer::Format;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;

/// How many files a process of openssl is given: its time grows with the square of their number.
const OPENSSL_FILES: u64 = 256;
/// How many processes each of those that `xargs` runs at a time is followed by, at least: with fewer the last one
/// would work alone for long.
const TURNS: u64 = 4;
/// A process is not worth it for fewer files, unless there are so few that some CPU would have none.
const FIT: u64 = 1_000;

/// The question: the digests of all regular files that are, or are below, some paths.
#[derive(Clone)]
pub(super) struct Question<'b> {
    pub(super) bench: &'b Context,
    pub(super) algorithm: &'b Algorithm,
    /// Files, or directories.
    pub(super) paths: Vec<PathBuf>,
    /// How many files that is.
    pub(super) files: u64,
    /// Processes or threads of the peers.
    pub(super) jobs: usize,
}

impl<'b> Question<'b> {
    /// About one tree or file.
    pub(super) fn new(bench: &'b Context, algorithm: &'b Algorithm, path: &Path, files: u64) -> Self {
        Self { bench, algorithm, paths: vec![path.to_owned()], files, jobs: bench.jobs }
    }

    /// ftk with these options before the command.
    pub(super) fn ftk(&self, options: &[&str]) -> Case {
        let mut words = words![&self.bench.programs.ftk];
        words.extend(options.iter().map(OsString::from));
        words.extend(words!["hash", "-a", self.algorithm.name]);
        let tool = ["ftk"].iter().chain(options).copied().collect::<Vec<_>>().join(" ");
        self.direct(&tool, words)
    }

    /// The tool that the digest has of its own: its answer is the reference.
    pub(super) fn tool(&self) -> Option<Case> {
        let (name, options) = self.algorithm.tool.split_first()?;
        self.parallel(name, name, options, None)
    }

    pub(super) fn openssl(&self) -> Option<Case> {
        self.parallel("openssl", "openssl", &["dgst", self.algorithm.openssl?], Some(OPENSSL_FILES))
    }

    /// The other ways to run b3sum: which is best depends on the tree.
    pub(super) fn b3sum(&self) -> Vec<Case> {
        if self.algorithm.name != "blake3" {
            return Vec::new();
        }
        let no_mmap = self.parallel("b3sum no mmap", "b3sum", &["--num-threads", "1", "--no-mmap"], None);
        let threads = Self { jobs: 1, ..self.clone() }.parallel("b3sum threads", "b3sum", &[], None);
        no_mmap.into_iter().chain(threads).collect()
    }

    /// Regular files only: otherwise it would follow symbolic links.
    pub(super) fn hashdeep(&self) -> Option<Case> {
        let program = self.bench.peers.get("hashdeep").filter(|_| self.algorithm.hashdeep)?;
        let threads = format!("-j{}", self.jobs);
        Some(self.direct("hashdeep", words![program, "-c", self.algorithm.name, &threads, "-o", "f", "-r"]))
    }

    /// A tool that is given files: directly, or by `find` and `xargs` from a tree.
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

    /// A tool that is given the paths.
    fn direct(&self, tool: &str, mut words: Vec<OsString>) -> Case {
        words.extend(self.paths.iter().map(OsString::from));
        Case::new(tool, Format::Sums, Pipeline::new(words))
    }
}

/// How many files a process is given when `jobs` run at a time; `None` is as many as fit on a command line.
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
