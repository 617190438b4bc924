//! Private names: of a replacement before it gets the victim's name, and of an old file before it is removed.

use std::collections::hash_map::RandomState;
use std::ffi::{CStr, CString};
use std::hash::{BuildHasher, Hasher};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use crate::reach::Place;
use crate::refusal::ActError;
use crate::stat::identity;

/// The prefix of all private names, so that files left by a killed run are recognisable.
const PREFIX: &[u8] = b".ftk-";

/// The number of hexadecimal digits after the prefix.
const DIGITS: usize = 16;

/// Returns a new name. Two names of 64 random bits are never equal by chance, and if they were, creating the
/// file would fail. It is short, so that the victim's name may have the maximal length.
pub(crate) fn random_name() -> CString {
    let random = RandomState::new().build_hasher().finish();
    CString::new(format!(".ftk-{random:016x}")).expect("hexadecimal digits contain no NUL")
}

/// Returns whether a name has the form of a private name.
pub(crate) fn is_private_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|digits| {
        digits.len() == DIGITS && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// A replacement that is not in place yet.
#[derive(Debug)]
pub(crate) struct Temp {
    pub(crate) place: Place,
    /// Device and inode of the replacement.
    pub(crate) identity: (u64, u64),
}

impl Temp {
    /// Wraps the replacement that was just created at `place`.
    pub(crate) fn made(place: Place) -> Result<Self, ActError> {
        match place.stat() {
            Ok(stat) => Ok(Self { identity: identity(&stat), place }),
            Err(errno) => {
                // Nothing else can have this name, and the replacement is no longer needed.
                let removed = unlinkat(&place.dir, &place.name, AtFlags::empty());
                let error = ActError::failed("stat the replacement", errno);
                Err(if removed.is_ok() { error } else { error.leaving(place.name.to_bytes()) })
            }
        }
    }

    pub(crate) fn name(&self) -> &CStr {
        &self.place.name
    }

    /// Removes the replacement after an error, and returns the error. If the replacement cannot be removed,
    /// or another file has its name, the error reports that it is left.
    pub(crate) fn discard(&self, error: ActError) -> ActError {
        match remove(&self.place, self.identity) {
            Ok(()) => error,
            Err(_) => error.leaving(self.name().to_bytes()),
        }
    }
}

/// Removes a private name if it leads to the expected file.
pub(crate) fn remove(place: &Place, expected: (u64, u64)) -> Result<(), Errno> {
    if identity(&place.stat()?) != expected {
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
        let place = Place { dir: std::rc::Rc::new(dir), name: random_name() };
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

    #[test]
    fn private_names_are_recognised() {
        assert!(is_private_name(random_name().to_bytes()));
        assert_ne!(random_name(), random_name());
        for name in [".ftk-", ".ftk-0123456789abcde", ".ftk-0123456789abcdef0", ".ftk-0123456789ABCDEF", "x"]
        {
            assert!(!is_private_name(name.as_bytes()), "{name}");
        }
    }
}
