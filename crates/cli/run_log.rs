//! `--log FILE`: appends one line about each run. An archive keeps it as evidence that files were checked.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use ftk_record::{quote, shell_argument, write_record};
use rustix::fs::OFlags;
use rustix::process::getuid;

use crate::console::Outcome;
use crate::line::CommandLine;
use crate::stats::{Phase, Stats, nanos};

/// The start of every line.
const START: &[u8] = b"{\"ftk\":\"run\",";

/// A log, open to append.
#[derive(Debug)]
pub(crate) struct RunLog {
    file: File,
}

impl RunLog {
    /// Opens a log, or creates it.
    ///
    /// # Errors
    /// If the file has something else than lines of a log, is a symbolic link or no regular file, or cannot be opened.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = || quote(path.as_os_str().as_encoded_bytes());
        // A FIFO would wait for a reader, and a link may lead to a file that another user chose.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let file = OpenOptions::new().read(true).append(true).create(true).custom_flags(flags).open(path);
        let file = file.with_context(|| format!("cannot open the log {}", shown()))?;
        ensure!(file.metadata()?.is_file(), "the log {} is not a regular file", shown());
        let mut start = [0; START.len()];
        let read = file.read_at(&mut start, 0).with_context(|| format!("cannot read the log {}", shown()))?;
        if !START.starts_with(&start[..read]) {
            bail!("{} is not a log of ftk: nothing is appended to it", shown());
        }
        Ok(Self { file })
    }

    /// Returns its device and inode number.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        self.file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
    }

    /// Appends a line in one write, and waits until it is on the disk. A line of a run that was killed while it wrote
    /// is ended first.
    ///
    /// # Errors
    /// If that fails. Then the log may end with a part of the line.
    pub(crate) fn append(mut self, stats: &Stats, outcome: Outcome) -> anyhow::Result<()> {
        let mut line = Vec::new();
        let end = self.file.metadata()?.len();
        if let Some(last) = end.checked_sub(1) {
            let mut byte = [0];
            self.file.read_exact_at(&mut byte, last)?;
            line.extend_from_slice(if byte == *b"\n" { b"" } else { b"\n" });
        }
        stats.push_log(&mut line, outcome);
        let written = self.file.write(&line)?;
        ensure!(written == line.len(), "only {written} of {} bytes were written", line.len());
        Ok(self.file.sync_data()?)
    }
}

impl Stats {
    /// Appends the line of a run.
    fn push_log(&self, line: &mut Vec<u8>, outcome: Outcome) {
        let words: Vec<_> = env::args_os().map(|word| shell_argument(word.as_encoded_bytes())).collect();
        let directory = env::current_dir().unwrap_or_default();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let gathered = self.lock();
        let sum = |value: fn(&Phase) -> Option<u64>| gathered.phases.iter().filter_map(value).sum::<u64>();
        write_record(line, |record| {
            record.member("ftk", "run").member("version", 1).member("program", env!("CARGO_PKG_VERSION"));
            record.member("command", &CommandLine::of_process().command).member("line", words.join(" "));
            record.path("directory", directory.as_os_str().as_encoded_bytes());
            record.member("uid", getuid().as_raw()).member("host", host);
            record.member("start_ns", nanos(self.start_time())).member("elapsed_ns", nanos(self.elapsed()));
            record.member("status", outcome.status());
            record.member("files", sum(|phase| phase.files)).member("failed", sum(|phase| phase.failed));
            record.member("bytes", sum(|phase| phase.bytes));
            record.member("results", &gathered.results).member("errors", &gathered.errors);
            record.member("skipped", &gathered.skipped);
            if let Some((path, seal)) = &gathered.sealed {
                record.path("manifest", path).member("seal", seal);
            }
        });
    }
}
