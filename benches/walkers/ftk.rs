//! `ftk-walk`.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use anyhow::{Error, Result};
use ftk_ignore::IgnoreFiles;
use ftk_walk::{Entry, FileType, Filter, Step, Walker};

use crate::found::{Found, Item, Job, Task};

pub(crate) fn run(job: &Job<'_>) -> Result<Vec<Found>> {
    let walker = Walker::new([job.dir]).threads(job.threads);
    if job.task == Task::Search {
        return fold(job, walker.filter_with(IgnoreFiles::new()));
    }
    if job.task == Task::Sorted {
        let (entries, errors) = walker.collect_sorted();
        if let Some(error) = errors.into_iter().next() {
            return Err(error.into());
        }
        let mut found = Found::default();
        for entry in entries.iter().filter(|entry| entry.depth() > 0) {
            found.add_sorted(job, entry.path());
        }
        return Ok(vec![found]);
    }
    fold(job, walker)
}

fn fold(job: &Job<'_>, walker: Walker<impl Filter>) -> Result<Vec<Found>> {
    let parts = walker.fold(
        || Ok(Found::default()),
        |state: &mut Result<Found>, entry| {
            let result = match (state.as_mut(), entry) {
                (Ok(found), Ok(entry)) if entry.depth() > 0 => found.add(job, entry),
                (Ok(_), Ok(_)) => Ok(()),
                (Ok(_), Err(error)) => Err(error.into()),
                (Err(_), _) => return Step::Stop,
            };
            match result {
                Ok(()) => Step::Descend,
                Err(error) => {
                    *state = Err(error);
                    Step::Stop
                }
            }
        },
    );
    parts.into_iter().collect()
}

impl Item for Entry<'_> {
    fn path(&self) -> Cow<'_, Path> {
        self.path().into()
    }

    fn is_file(&self) -> bool {
        self.file_type() == FileType::Regular
    }

    fn size_and_time(&mut self) -> Result<(u64, i128)> {
        let metadata = self.metadata()?;
        Ok((metadata.size, metadata.mtime_ns))
    }

    fn open(&self) -> Result<File> {
        self.open().map_err(Error::from)
    }
}
