//! `walkdir`, which has one thread.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use anyhow::Result;
use walkdir::{DirEntry, WalkDir};

use crate::found::{self, Found, Item, Job, Task};

pub(crate) fn run(job: &Job<'_>) -> Result<Vec<Found>> {
    let mut walk = WalkDir::new(job.dir).min_depth(1);
    if job.task == Task::Sorted {
        walk = walk.sort_by_file_name();
    }
    let mut found = Found::default();
    for entry in walk {
        found.add(job, &mut entry?)?;
    }
    Ok(vec![found])
}

impl Item for DirEntry {
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
