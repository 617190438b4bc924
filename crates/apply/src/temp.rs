//! Private names: of a replacement before it gets the victim's name, and of an old file before it is removed.

use std::ffi::CStr;
use std::os::fd::AsFd;

use ftk_file::Stat;
use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use crate::reach::Place;
use crate::refusal::ActError;
use crate::sys::link_file;

/// A replacement that is not in place yet.
#[derive(Debug)]
pub(crate) struct Temp {
    pub(crate) place: Place,
    /// Device and inode of the replacement.
    pub(crate) identity: (u64, u64),
    /// The private directory that contains it, which is removed when it is empty.
    private: Option<Place>,
}

impl Temp {
    /// Wraps a file that has a private name.
    pub(crate) fn new(place: Place, identity: (u64, u64)) -> Self {
        Self { place, identity, private: None }
    }

    /// Gives an open file a private name.
    pub(crate) fn linked(file: impl AsFd, place: Place) -> Result<Self, Errno> {
        let identity = Stat::of(&file)?.identity();
        link_file(file, &place)?;
        Ok(Self::new(place, identity))
    }

    /// Wraps a file in a private directory, which nothing else is in.
    pub(crate) fn inside(private: Place, place: Place, identity: (u64, u64)) -> Self {
        Self { place, identity, private: Some(private) }
    }

    /// Removes a replacement that cannot be queried, and returns the error.
    fn unknown(place: &Place, errno: Errno) -> ActError {
        // Nothing else can have this name, and the replacement is no longer needed.
        let removed = unlinkat(&place.dir, &place.name, AtFlags::empty());
        let error = ActError::failed("stat the replacement", errno);
        if removed.is_ok() { error } else { error.leaving(place.name.to_bytes()) }
    }

    /// Wraps the replacement that was just created at `place`.
    pub(crate) fn made(place: Place) -> Result<Self, ActError> {
        match place.stat() {
            Ok(stat) => Ok(Self::new(place, stat.identity())),
            Err(errno) => Err(Self::unknown(&place, errno)),
        }
    }

    pub(crate) fn name(&self) -> &CStr {
        &self.place.name
    }

    /// Removes the replacement after an error, if it is still there, and returns the error. If it cannot be removed,
    /// or another file has its name, the error reports that it is left.
    pub(crate) fn discard(&self, error: ActError) -> ActError {
        match remove(&self.place, self.identity) {
            Ok(()) | Err(Errno::NOENT) => error,
            Err(_) => error.leaving(self.name().to_bytes()),
        }
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if let Some(private) = &self.private {
            // It is not empty if a file could not be removed from it. That has been reported.
            _ = unlinkat(&private.dir, &private.name, AtFlags::REMOVEDIR);
        }
    }
}

/// Removes a private name if it leads to the expected file.
pub(crate) fn remove(place: &Place, expected: (u64, u64)) -> Result<(), Errno> {
    if place.stat()?.identity() != expected {
        return Err(Errno::STALE);
    }
    unlinkat(&place.dir, &place.name, AtFlags::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_with_a_private_name_is_not_removed() {
        let temp = tempfile::tempdir().unwrap();
        let dir = rustix::fs::open(temp.path(), crate::reach::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
        let place = Place { dir: std::rc::Rc::new(dir), name: ftk_file::temp_name() };
        let path = temp.path().join(place.name.to_str().unwrap());
        std::fs::write(&path, "").unwrap();
        let made = Temp::made(place.clone()).unwrap();
        std::fs::write(temp.path().join("theirs"), "theirs").unwrap();
        std::fs::rename(temp.path().join("theirs"), &path).unwrap();
        assert_eq!(remove(&place, made.identity), Err(Errno::STALE));
        let error = made.discard(ActError::Stopped);
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs", "{error:?}");
        std::fs::remove_file(&path).unwrap();
    }
}
