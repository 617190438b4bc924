//! The tasks, and what a thread has found.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Result, bail};

/// What to do with every entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Count,
    Metadata,
    Sorted,
    Lines,
    Search,
}

impl Task {
    pub(crate) fn named(name: &str) -> Result<Self> {
        match name {
            "count" => Ok(Self::Count),
            "metadata" => Ok(Self::Metadata),
            "sorted" => Ok(Self::Sorted),
            "lines" => Ok(Self::Lines),
            "search" => Ok(Self::Search),
            _ => bail!("unknown task {name}"),
        }
    }
}

/// The arguments of this program.
pub(crate) struct Job<'a> {
    pub(crate) task: Task,
    pub(crate) threads: usize,
    pub(crate) dir: &'a Path,
    /// Whether a line is printed for each entry.
    pub(crate) is_list: bool,
}

/// An entry of any walker.
pub(crate) trait Item {
    fn path(&self) -> Cow<'_, Path>;
    fn is_file(&self) -> bool;
    /// Returns the size, and the time of the last change in nanoseconds. Links are not followed.
    fn size_and_time(&mut self) -> Result<(u64, i128)>;
    fn open(&self) -> Result<File>;
}

/// What one thread has found.
#[derive(Default)]
pub(crate) struct Found {
    entries: u64,
    bytes: u64,
    newest_ns: i128,
    lines: u64,
    list: Vec<u8>,
    buffer: Vec<u8>,
}

impl Found {
    /// Does the task for one entry. Sorted entries are added in order.
    pub(crate) fn add(&mut self, job: &Job<'_>, item: &mut impl Item) -> Result<()> {
        self.entries += 1;
        match job.task {
            Task::Sorted => self.sorted(job, &item.path()),
            Task::Count => self.show(job, item, ""),
            Task::Metadata => {
                let (size, time_ns) = item.size_and_time()?;
                self.bytes += if item.is_file() { size } else { 0 };
                self.newest_ns = self.newest_ns.max(time_ns);
                self.show(job, item, format_args!("{size} {time_ns}"));
            }
            Task::Lines | Task::Search if item.is_file() => {
                let lines = self.newlines(item.open()?)?;
                self.lines += lines;
                self.show(job, item, lines);
            }
            Task::Lines | Task::Search => {}
        }
        Ok(())
    }

    /// Adds the next path of a sorted list.
    pub(crate) fn add_sorted(&mut self, job: &Job<'_>, path: &Path) {
        self.entries += 1;
        self.sorted(job, path);
    }

    fn sorted(&mut self, job: &Job<'_>, path: &Path) {
        self.bytes += path.as_os_str().len() as u64;
        self.line(job, path, self.entries);
    }

    fn show(&mut self, job: &Job<'_>, item: &impl Item, value: impl std::fmt::Display) {
        if job.is_list {
            self.line(job, &item.path(), value);
        }
    }

    fn line(&mut self, job: &Job<'_>, path: &Path, value: impl std::fmt::Display) {
        if job.is_list {
            self.list.extend_from_slice(format!("{value} ").as_bytes());
            self.list.extend_from_slice(path.as_os_str().as_bytes());
            self.list.push(b'\n');
        }
    }

    fn newlines(&mut self, mut file: File) -> Result<u64> {
        self.buffer.resize(64 << 10, 0);
        let mut lines = 0;
        loop {
            match file.read(&mut self.buffer)? {
                0 => return Ok(lines),
                n => lines += self.buffer[..n].iter().filter(|&&byte| byte == b'\n').count() as u64,
            }
        }
    }

    /// Returns the text to print: the lists of all threads, and the totals.
    pub(crate) fn report(parts: Vec<Self>, job: &Job<'_>) -> Vec<u8> {
        let mut all = Self::default();
        for mut part in parts {
            all.entries += part.entries;
            all.bytes += part.bytes;
            all.newest_ns = all.newest_ns.max(part.newest_ns);
            all.lines += part.lines;
            all.list.append(&mut part.list);
        }
        let mut text = all.list;
        let totals = match job.task {
            Task::Count => format!("{} entries\n", all.entries),
            Task::Sorted => format!("{} entries, paths of {} bytes\n", all.entries, all.bytes),
            Task::Metadata => {
                format!("{} entries, {} bytes, newest {}\n", all.entries, all.bytes, all.newest_ns)
            }
            Task::Lines | Task::Search => format!("{} entries, {} lines\n", all.entries, all.lines),
        };
        text.extend_from_slice(totals.as_bytes());
        text
    }
}

/// Returns what [`Item::size_and_time`] returns, for metadata of the standard library.
pub(crate) fn size_and_time(metadata: &Metadata) -> (u64, i128) {
    (metadata.len(), i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()))
}
