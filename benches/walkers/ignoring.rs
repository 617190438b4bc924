//! `ignore`. Only a search reads ignore files. Its iterator has one thread, and its parallel walk calls a visitor of each thread.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Error, Result};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::found::{self, Found, Item, Job, Task};

pub(crate) fn run(job: &Job<'_>) -> Result<Vec<Found>> {
    let mut builder = WalkBuilder::new(job.dir);
    builder.standard_filters(job.task == Task::Search);
    // Like ftk, with hidden files, without a repository, and without the configuration of git.
    builder.hidden(false).require_git(false).git_global(false);
    if job.threads == 1 { one(job, builder) } else { several(job, builder.threads(job.threads)) }
}

fn one(job: &Job<'_>, mut builder: WalkBuilder) -> Result<Vec<Found>> {
    if job.task == Task::Sorted {
        builder.sort_by_file_name(|a, b| a.cmp(b));
    }
    let mut found = Found::default();
    for entry in builder.build() {
        let mut entry = complete(entry)?;
        if entry.depth() > 0 {
            found.add(job, &mut entry)?;
        }
    }
    Ok(vec![found])
}

/// What a thread has found, with the paths for a list to sort.
type Done = Result<(Found, Vec<PathBuf>)>;

/// The state of a thread, which goes to `done` at its end.
struct Part<'d> {
    found: Found,
    paths: Vec<PathBuf>,
    error: Option<Error>,
    done: &'d Mutex<Vec<Done>>,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let found = (std::mem::take(&mut self.found), std::mem::take(&mut self.paths));
        let result = self.error.take().map_or(Ok(found), Err);
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    }
}

fn several(job: &Job<'_>, builder: &WalkBuilder) -> Result<Vec<Found>> {
    let done = Mutex::new(Vec::new());
    builder.build_parallel().run(|| {
        let mut part = Part { found: Found::default(), paths: Vec::new(), error: None, done: &done };
        Box::new(move |entry| {
            let result = complete(entry).and_then(|mut entry| match job.task {
                _ if entry.depth() == 0 => Ok(()),
                Task::Sorted => {
                    part.paths.push(entry.into_path());
                    Ok(())
                }
                _ => part.found.add(job, &mut entry),
            });
            part.error = result.err();
            if part.error.is_some() { WalkState::Quit } else { WalkState::Continue }
        })
    });
    let parts = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (mut found, paths): (Vec<_>, Vec<_>) =
        parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
    if job.task == Task::Sorted {
        let mut paths = paths.concat();
        paths.sort_unstable();
        let mut sorted = Found::default();
        paths.iter().for_each(|path| sorted.add_sorted(job, path));
        found = vec![sorted];
    }
    Ok(found)
}

/// Returns the entry, or its error. An entry may have one too.
fn complete(entry: Result<DirEntry, ignore::Error>) -> Result<DirEntry> {
    let entry = entry?;
    match entry.error() {
        Some(error) => Err(error.clone().into()),
        None => Ok(entry),
    }
}

impl Item for DirEntry {
    fn path(&self) -> Cow<'_, Path> {
        self.path().into()
    }

    fn is_file(&self) -> bool {
        self.file_type().is_some_and(|file_type| file_type.is_file())
    }

    fn size_and_time(&mut self) -> Result<(u64, i128)> {
        Ok(found::size_and_time(&self.metadata()?))
    }

    fn open(&self) -> Result<File> {
        Ok(File::open(self.path())?)
    }
}
