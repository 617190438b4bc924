//! A recursion over the standard library's `read_dir`, on one thread: the reference for answers. It changes into every
//! directory, since paths of deep trees are too long for the kernel.

use std::borrow::Cow;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};

use crate::found::{self, Found, Item, Job, Task};

/// Enough for thousands of levels.
const STACK_BYTES: usize = 256 << 20;

pub(crate) fn run(job: &Job<'_>) -> Result<Vec<Found>> {
    let mut found = Found::default();
    let mut path = job.dir.to_owned();
    env::set_current_dir(&path).with_context(|| path.display().to_string())?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, || below(job, &mut path, &mut found))?;
        thread.join().map_err(|_| anyhow!("the recursion panicked"))?
    })?;
    Ok(vec![found])
}

/// Adds everything below the current directory.
fn below(job: &Job<'_>, path: &mut PathBuf, found: &mut Found) -> Result<()> {
    let mut entries = fs::read_dir(".")?.collect::<Result<Vec<_>, _>>()?;
    if job.task == Task::Sorted {
        entries.sort_by_key(DirEntry::file_name);
    }
    for entry in entries {
        let is_dir = entry.file_type()?.is_dir();
        let name = entry.file_name();
        found.add(job, &mut Here { dir: path, entry, name: &name })?;
        if is_dir {
            env::set_current_dir(&name)?;
            path.push(&name);
            below(job, path, found)?;
            path.pop();
            env::set_current_dir("..")?;
        }
    }
    Ok(())
}

/// An entry of the current directory, whose path is `dir`.
struct Here<'e> {
    dir: &'e Path,
    entry: DirEntry,
    name: &'e OsString,
}

impl Item for Here<'_> {
    fn path(&self) -> Cow<'_, Path> {
        self.dir.join(self.name).into()
    }

    fn is_file(&self) -> bool {
        self.entry.file_type().is_ok_and(|file_type| file_type.is_file())
    }

    fn size_and_time(&mut self) -> Result<(u64, i128)> {
        Ok(found::size_and_time(&self.entry.metadata()?))
    }

    fn open(&self) -> Result<File> {
        Ok(File::open(self.name)?)
    }
}
