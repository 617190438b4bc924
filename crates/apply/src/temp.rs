//! Names that a replacement has before it takes the victim's, and an old file before it goes.

use std::collections::hash_map::RandomState;
use std::ffi::{CStr, CString};
use std::hash::{BuildHasher, Hasher};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use crate::reach::Place;
use crate::refusal::ActError;
use crate::stat::identity;

/// What all of them begin with, so that nobody mistakes one that a killed run left for a file of theirs.
const PREFIX: &[u8] = b".ftk-";

/// Hexadecimal digits behind it.
const DIGITS: usize = 16;

/// A name that nothing has: 64 random bits do not meet by chance, and where they do, making the name fails. It is
/// short, so that the name it stands in for may be as long as names can be.
pub(crate) fn random_name() -> CString {
    let random = RandomState::new().build_hasher().finish();
    CString::new(format!(".ftk-{random:016x}")).expect("hexadecimal digits are no NUL")
}

/// Whether a name is one of those, and nobody else's.
pub(crate) fn is_ours(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|digits| {
        digits.len() == DIGITS && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// A replacement, made and not yet in its place.
#[derive(Debug)]
pub(crate) struct Temp {
    pub(crate) place: Place,
    /// Device and inode of what was made.
    pub(crate) identity: (u64, u64),
}

impl Temp {
    /// What was just made at `place`.
    pub(crate) fn made(place: Place) -> Result<Self, ActError> {
        match place.stat() {
            Ok(stat) => Ok(Self { identity: identity(&stat), place }),
            Err(errno) => {
                // Nothing else can be there, and it is not needed any more.
                let removed = unlinkat(&place.dir, &place.name, AtFlags::empty());
                let error = ActError::failed("stat the replacement", errno);
                Err(if removed.is_ok() { error } else { error.leaving(place.name.to_bytes()) })
            }
        }
    }

    pub(crate) fn name(&self) -> &CStr {
        &self.place.name
    }

    /// Removes the replacement after something went wrong, and hands the error on; if it cannot be removed, or
    /// something else has its name, the error says that it is left.
    pub(crate) fn discard(&self, error: ActError) -> ActError {
        match remove(&self.place, self.identity) {
            Ok(()) => error,
            Err(_) => error.leaving(self.name().to_bytes()),
        }
    }
}

/// Removes a name of ours if what is expected has it.
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
    fn what_took_a_name_of_ours_is_not_removed() {
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
    fn only_our_names_are_ours() {
        assert!(is_ours(random_name().to_bytes()));
        assert_ne!(random_name(), random_name());
        for name in [".ftk-", ".ftk-0123456789abcde", ".ftk-0123456789abcdef0", ".ftk-0123456789ABCDEF", "x"]
        {
            assert!(!is_ours(name.as_bytes()), "{name}");
        }
    }
}
