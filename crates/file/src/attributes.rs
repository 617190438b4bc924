//! Extended attributes, on systems that have them.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

#[cfg(target_os = "linux")]
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, Result};

use crate::xattr::{HAS_ATTRIBUTES, NO_ATTRIBUTE, fgetxattr, flistxattr, fremovexattr};

/// Enough for the names of most files.
const INITIAL_LIST_LEN: usize = 256;

/// The maximal size of a list of names and of a value (`XATTR_LIST_MAX` and `XATTR_SIZE_MAX` in linux/limits.h).
const MAX_LEN: usize = 64 << 10;

/// Name and value of an extended attribute.
pub type Attribute = (Vec<u8>, Vec<u8>);

/// Reads extended attributes. It keeps its buffers for the next file.
#[derive(Debug, Default)]
pub struct AttributeReader {
    names: Vec<u8>,
    value: Vec<u8>,
}

impl AttributeReader {
    /// Returns all attributes of an open file, like [`read`](Self::read).
    ///
    /// # Errors
    /// Any other error of `flistxattr` and `fgetxattr`.
    pub fn read_open(&mut self, file: impl AsFd) -> Result<Vec<Attribute>> {
        let file = file.as_fd();
        self.read(|names| flistxattr(file, names), |name, value| fgetxattr(file, name, value))
    }

    /// Returns all attributes of a file that the caller may list, sorted by name. They are empty if the file system has
    /// none. `list` and `get` are calls such as `flistxattr` and `fgetxattr`.
    ///
    /// # Errors
    /// Any other error of `list` and `get`, and `EOPNOTSUPP` on systems [without these calls](HAS_ATTRIBUTES).
    pub fn read(
        &mut self,
        list: impl Fn(&mut [u8]) -> Result<usize>,
        get: impl Fn(&[u8], &mut [u8]) -> Result<usize>,
    ) -> Result<Vec<Attribute>> {
        if !HAS_ATTRIBUTES {
            return Err(Errno::OPNOTSUPP);
        }
        self.names.resize(self.names.len().max(INITIAL_LIST_LEN), 0);
        let listed = match list(&mut self.names) {
            Err(Errno::RANGE) => {
                self.names.resize(MAX_LEN, 0);
                list(&mut self.names)
            }
            listed => listed,
        };
        let len = match listed {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => 0,
            listed => listed?,
        };
        let mut found = Vec::new();
        for name in self.names[..len].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            self.value.resize(MAX_LEN, 0);
            match get(name, &mut self.value) {
                // Some file systems list attributes that do not exist, or the attribute was removed meanwhile.
                Err(NO_ATTRIBUTE) => {}
                got => found.push((name.to_vec(), self.value[..got?].to_vec())),
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// An attribute that two files do not have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeDifference {
    /// The name, including the name space.
    pub name: Vec<u8>,
    /// Whether the first and the second file have it. If both do, its values differ.
    pub has: [bool; 2],
}

/// Returns how the names and values of two lists differ, sorted by name.
pub fn attribute_differences<'a>(
    a: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    b: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
) -> Vec<AttributeDifference> {
    let mut all: BTreeMap<&[u8], [Option<&[u8]>; 2]> = BTreeMap::new();
    a.into_iter().for_each(|(name, value)| all.entry(name).or_default()[0] = Some(value));
    b.into_iter().for_each(|(name, value)| all.entry(name).or_default()[1] = Some(value));
    let differing = all.into_iter().filter(|(_, [a, b])| a != b);
    let difference = |(name, values): (&[u8], [Option<&[u8]>; 2])| AttributeDifference {
        name: name.to_vec(),
        has: values.map(|value| value.is_some()),
    };
    differing.map(difference).collect()
}

/// The attributes with this prefix are hidden from processes without `CAP_SYS_ADMIN` in the initial user name space.
pub const TRUSTED: &[u8] = b"trusted.";

/// Returns whether this process sees [`TRUSTED`] attributes. `false` if it cannot be found out.
///
/// The kernel hides them without an error. But it refuses to remove one, even one that does not exist, so this tries to
/// remove one from a file that only this function has. The capabilities of the process do not show it: root of a
/// container may have them all.
#[cfg(target_os = "linux")]
pub fn sees_trusted() -> bool {
    let own = memfd_create(c"ftk", MemfdFlags::CLOEXEC);
    own.is_ok_and(|own| fremovexattr(own, c"trusted.ftk") != Err(Errno::PERM))
}

/// Returns whether this process sees [`TRUSTED`] attributes, which only Linux has.
#[cfg(not(target_os = "linux"))]
pub fn sees_trusted() -> bool {
    true
}

/// Removes an attribute. It is no error if there is none: XFS lists an access control list under two names, and both are
/// gone with one of them.
///
/// # Errors
/// Any other error of `fremovexattr`.
pub fn remove_attribute(file: impl AsFd, name: &[u8]) -> Result<()> {
    match fremovexattr(file, name) {
        Ok(()) | Err(NO_ATTRIBUTE) => Ok(()),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_attributes_are_named() {
        let a = [(&b"user.b"[..], &b"1"[..]), (b"user.c", b"2"), (b"user.d", b"")];
        let b = [(&b"user.a"[..], &b""[..]), (b"user.b", b"2"), (b"user.d", b"")];
        let found = attribute_differences(a, b);
        let found: Vec<_> = found.iter().map(|it| (str::from_utf8(&it.name).unwrap(), it.has)).collect();
        assert_eq!(found, [("user.a", [false, true]), ("user.b", [true, true]), ("user.c", [true, false])]);
        assert_eq!(attribute_differences(a, a), []);
    }

    #[test]
    fn long_lists_are_read_and_missing_values_skipped() {
        let names =
            (0..100).rev().flat_map(|nth| format!("user.{nth:02}\0").into_bytes()).collect::<Vec<_>>();
        let copy = |bytes: &[u8], to: &mut [u8]| {
            to.get_mut(..bytes.len()).ok_or(Errno::RANGE)?.copy_from_slice(bytes);
            Ok(bytes.len())
        };
        let get = |name: &[u8], value: &mut [u8]| match name {
            b"user.07" => Err(NO_ATTRIBUTE),
            name => copy(name, value),
        };
        let mut reader = AttributeReader::default();
        for _ in 0..2 {
            let found = reader.read(|list| copy(&names, list), get).unwrap();
            assert_eq!(found.len(), 99);
            assert!(found.is_sorted() && found.iter().all(|(name, value)| name == value));
        }
        assert_eq!(reader.read(|_| Err(Errno::OPNOTSUPP), get), Ok(Vec::new()));
        assert_eq!(reader.read(|list| copy(b"user.01\0", list), |_, _| Err(Errno::IO)), Err(Errno::IO));
    }
}
