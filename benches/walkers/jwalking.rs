//! `jwalk`, an iterator over a parallel walk. The work on entries is done by the thread that iterates.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use anyhow::{Result, anyhow};
use jwalk::{DirEntry, Parallelism, ReadChildren, WalkDir};

use crate::found::{self, Found, Item, Job, Task};

pub(crate) fn run(job: &Job<'_>) -> Result<Vec<Found>> {
    let parallelism =
        if job.threads == 1 { Parallelism::Serial } else { Parallelism::RayonNewPool(job.threads) };
    let walk =
        WalkDir::new(job.dir).skip_hidden(false).sort(job.task == Task::Sorted).parallelism(parallelism);
    let mut found = Found::default();
    for entry in walk {
        let mut entry = entry?;
        // An unreadable directory is an entry with an error.
        if let Some(error) = entry.read_children.as_ref().and_then(ReadChildren::error) {
            return Err(anyhow!("{error}"));
        }
        if entry.depth() > 0 {
            found.add(job, &mut entry)?;
        }
    }
    Ok(vec![found])
}

impl Item for DirEntry<((), ())> {
    fn path(&self) -> Cow<'_, Path> {
        self.path().into()
    }

    fn is_file(&self) -> bool {
        self.file_type().is_file()
    }

    fn size_and_time(&mut self) -> Result<(u64, i128)> {
        Ok(found::size_and_time(&self.metadata()?))
    }

    fn open(&self) -> Result<File> {
        Ok(File::open(self.path())?)
    }
}
