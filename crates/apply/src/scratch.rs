//! A private directory for computed contents, which are there until all files are restored.

use std::fs::{self, DirBuilder, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, open, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// The start of the names of these directories.
const PREFIX: &str = "computed-";

/// A directory below the state directory, which only the caller can read. It is locked while it is in use, and removed
/// when this is dropped. That of a killed run [is removed](Self::remove_abandoned) by the next one.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    dir: fs::File,
}

impl Scratch {
    /// Creates a directory in `state`, which is created if it is missing.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(state: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(state)?;
        loop {
            let path = state.join(format!("{PREFIX}{:016x}", RandomState::new().hash_one(())));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                created => created?,
            }
            // Another run may just remove it, because it is not locked yet.
            if let Some(dir) = opened(&path)?
                && !matches!(dir.try_lock(), Err(TryLockError::WouldBlock))
                && is_named(&dir, &path)
            {
                return Ok(Self { path, dir });
            }
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directories of runs that were killed. One that is locked is in use. What cannot be removed is left.
    /// Returns how many were removed.
    pub fn remove_abandoned(state: &Path) -> u64 {
        let Ok(entries) = fs::read_dir(state) else { return 0 };
        let mut removed = 0;
        for entry in entries.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
                continue;
            }
            if let Ok(Some(dir)) = opened(&path)
                && dir.metadata().is_ok_and(|it| it.uid() == geteuid().as_raw())
                && dir.try_lock().is_ok()
            {
                removed += u64::from(remove(&dir, &path).is_ok());
            }
        }
        removed
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next run removes what is left.
        _ = remove(&self.dir, &self.path);
    }
}

/// Opens a directory. `None`: it is gone, or something else.
fn opened(path: &Path) -> io::Result<Option<fs::File>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match open(path, flags, Mode::empty()) {
        Ok(dir) => Ok(Some(dir.into())),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_named(dir: &fs::File, path: &Path) -> bool {
    let identity = |it: fs::Metadata| (it.dev(), it.ino());
    match (dir.metadata(), path.symlink_metadata()) {
        (Ok(one), Ok(other)) => identity(one) == identity(other),
        _ => false,
    }
}

/// Removes the files in a directory, and the directory if it still has this path.
fn remove(dir: &fs::File, path: &Path) -> io::Result<()> {
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        if ![&b"."[..], b".."].contains(&entry.file_name().to_bytes()) {
            unlinkat(dir, entry.file_name(), AtFlags::empty())?;
        }
    }
    if is_named(dir, path) { fs::remove_dir(path) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_private_and_removed_when_it_is_dropped() {
        let state = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(&state.path().join("a/b")).unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        fs::write(path.join("0-1"), "computed").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn those_of_killed_runs_are_removed_and_no_others() {
        let state = tempfile::tempdir().unwrap();
        let at = |name: &str| state.path().join(name);
        let used = Scratch::create(state.path()).unwrap();
        fs::write(used.path().join("0-1"), "in use").unwrap();
        fs::create_dir(at("computed-killed")).unwrap();
        fs::write(at("computed-killed/0-1"), "left").unwrap();
        // What ftk has not made: a file, a link, a directory with directories, and other names.
        fs::write(at("computed-file"), "file").unwrap();
        fs::create_dir_all(at("computed-tree/sub")).unwrap();
        fs::create_dir(at("other")).unwrap();
        fs::write(at("other/file"), "file").unwrap();
        std::os::unix::fs::symlink(at("other"), at("computed-link")).unwrap();
        let next = Scratch::create(state.path()).unwrap();
        assert_eq!(Scratch::remove_abandoned(state.path()), 1);
        assert!(!at("computed-killed").exists());
        for name in ["computed-file", "computed-tree/sub", "other/file", "computed-link"] {
            assert!(at(name).symlink_metadata().is_ok(), "{name}");
        }
        assert!(used.path().join("0-1").exists() && next.path().exists());
    }
}
