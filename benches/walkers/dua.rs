//! `dua-core`, an iterator over a parallel walk that reads metadata with it. Other work on entries is done by the thread
//! that iterates.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result};
use dua_core::{Entry, Options, Order, walk};

use crate::found::{self, Found, Item, Job, Task};

pub(crate) fn run(job: &Job<'_>) -> Result<Vec<Found>> {
    let mut options = Options::default();
    options.skip_metadata = job.task != Task::Metadata;
    let mut found = Found::default();
    let mut paths = Vec::new();
    for entry in walk(job.dir, job.threads, Order::Completion, options, |_| true) {
        let mut entry = entry?;
        match job.task {
            _ if entry.depth == 0 => {}
            Task::Sorted => paths.push(entry.path()),
            _ => found.add(job, &mut entry)?,
        }
    }
    paths.sort_unstable();
    paths.iter().for_each(|path| found.add_sorted(job, path));
    Ok(vec![found])
}

impl Item for Entry {
    fn path(&self) -> Cow<'_, Path> {
        self.path().into()
    }

    fn is_file(&self) -> bool {
        self.file_type.is_file()
    }

    fn size_and_time(&mut self) -> Result<(u64, i128)> {
        let metadata = self.metadata.as_ref().context("metadata was asked for")?;
        match metadata {
            Ok(metadata) => Ok(found::size_and_time(metadata)),
            Err(error) => Err(std::io::Error::new(error.kind(), error.to_string()).into()),
        }
    }

    fn open(&self) -> Result<File> {
        Ok(File::open(self.path())?)
    }
}
