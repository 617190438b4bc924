//! Access control lists that a new file or directory inherits from its directory.
#![cfg_attr(target_vendor = "apple", expect(unsafe_code, reason = "calls that no library has"))]

use std::os::fd::AsFd;

use rustix::io::Result;

/// Removes the access control list that a new file or directory inherits from its directory: it would let the users of that
/// list in, now or with permissions that the file gets later. A directory also has the list for new entries in it.
///
/// Nothing is done on systems whose lists ftk does not know: those other than Linux and macOS.
///
/// # Errors
/// Any error of removing it, unless there is no list or the file system has none.
pub fn remove_access_lists(file: impl AsFd, is_directory: bool) -> Result<()> {
    system::remove(file, is_directory)
}

/// What an access control list does that neither permissions nor extended attributes show. Only macOS has such lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenAccess {
    /// There is no such list.
    None,
    /// It only forbids what the permissions grant.
    Denied,
    /// It may grant more than the permissions do.
    Granted,
}

impl HiddenAccess {
    /// Examines the list of an open file or directory.
    ///
    /// # Errors
    /// Any error of asking for it.
    pub fn of(file: impl AsFd) -> Result<Self> {
        system::hidden(file)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::os::fd::AsFd;

    use rustix::io::{Errno, Result};

    use super::HiddenAccess;
    use crate::remove_attribute;

    pub(super) fn remove(file: impl AsFd, is_directory: bool) -> Result<()> {
        let lists: [&[u8]; 2] = [b"system.posix_acl_access", b"system.posix_acl_default"];
        for list in &lists[..1 + usize::from(is_directory)] {
            match remove_attribute(&file, list) {
                Ok(()) | Err(Errno::OPNOTSUPP) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    pub(super) fn hidden(_: impl AsFd) -> Result<HiddenAccess> {
        Ok(HiddenAccess::None)
    }
}

#[cfg(target_vendor = "apple")]
mod system {
    use std::ffi::{c_int, c_void};
    use std::mem::{size_of, zeroed};
    use std::os::fd::{AsFd, AsRawFd};

    use rustix::io::{Errno, Result};

    use super::{HiddenAccess, parse};

    /// Enough for a list of 128 entries (`KAUTH_ACL_MAX_ENTRIES`).
    #[repr(C, align(8))]
    struct Answer([u8; 4096]);

    unsafe extern "C" {
        fn acl_init(count: c_int) -> *mut c_void;
        fn acl_set_fd(file: c_int, acl: *mut c_void) -> c_int;
        fn acl_free(acl: *mut c_void) -> c_int;
    }

    pub(super) fn remove(file: impl AsFd, _: bool) -> Result<()> {
        if hidden(&file)? == HiddenAccess::None {
            return Ok(());
        }
        // SAFETY: takes no pointers.
        let empty = unsafe { acl_init(0) };
        if empty.is_null() {
            return Err(last());
        }
        // SAFETY: `empty` is an access control list, which `acl_init` made.
        let set = unsafe { acl_set_fd(file.as_fd().as_raw_fd(), empty) };
        let error = last();
        // SAFETY: `empty` is not used after this.
        unsafe { acl_free(empty) };
        match set {
            0 if hidden(file)? == HiddenAccess::None => Ok(()),
            0 => Err(Errno::PERM),
            _ => Err(error),
        }
    }

    pub(super) fn hidden(file: impl AsFd) -> Result<HiddenAccess> {
        // SAFETY: a structure of integers, for which zeros are valid.
        let mut asked: libc::attrlist = unsafe { zeroed() };
        asked.bitmapcount = libc::ATTR_BIT_MAP_COUNT;
        asked.commonattr = libc::ATTR_CMN_EXTENDED_SECURITY;
        let mut answer = Answer([0; 4096]);
        // SAFETY: the kernel writes at most as many bytes as `answer` has.
        let status = unsafe {
            libc::fgetattrlist(
                file.as_fd().as_raw_fd(),
                (&raw mut asked).cast(),
                (&raw mut answer).cast(),
                size_of::<Answer>(),
                0,
            )
        };
        if status == 0 { Ok(parse(&answer.0)) } else { Err(last()) }
    }

    fn last() -> Errno {
        Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
    }
}

/// Parses what `fgetattrlist` returns for `ATTR_CMN_EXTENDED_SECURITY`: the length of all, then the offset of a `struct
/// kauth_filesec` from here, and its length, which is 0 without a list. What is unexpected counts as a list that grants.
#[cfg(any(target_vendor = "apple", test))]
fn parse(answer: &[u8]) -> HiddenAccess {
    /// The offset of the number of entries, and the number that means that there is no list.
    const COUNT: usize = 36;
    const NO_LIST: u32 = u32::MAX;
    /// The offset of the first entry, the size of each, and the offset of the flags in it.
    const ENTRIES: usize = 44;
    const ENTRY: usize = 24;
    const FLAGS: usize = 16;
    /// The bits of the flags that tell the kind of an entry, and the kind that denies.
    const KIND: u32 = 0xf;
    const DENY: u32 = 2;

    let word = |at: usize| {
        let bytes = answer.get(at..at.checked_add(4)?)?;
        Some(u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
    };
    let examine = || {
        let (offset, len) = (word(4)? as usize, word(8)? as usize);
        if len == 0 {
            return Some(HiddenAccess::None);
        }
        let list = 4 + offset;
        let count = word(list + COUNT)?;
        if count == NO_LIST {
            return Some(HiddenAccess::None);
        }
        if ENTRIES + count as usize * ENTRY > len {
            return None;
        }
        for nth in 0..count as usize {
            if word(list + ENTRIES + nth * ENTRY + FLAGS)? & KIND != DENY {
                return None;
            }
        }
        Some(HiddenAccess::Denied)
    };
    examine().unwrap_or(HiddenAccess::Granted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer as in `getattrlist(2)` and `<sys/kauth.h>`: `kinds` are those of the entries of the list.
    fn answer(kinds: &[u32]) -> Vec<u8> {
        let mut list = [&0x012c_c16d_u32.to_ne_bytes()[..], &[7; 32]].concat();
        list.extend((kinds.len() as u32).to_ne_bytes());
        list.extend([0; 4]);
        for kind in kinds {
            list.extend([[9; 16].as_slice(), &(kind | 0x10).to_ne_bytes(), &[5; 4]].concat());
        }
        let head = [12 + list.len() as u32, 8, list.len() as u32].map(u32::to_ne_bytes);
        [head.as_flattened(), &list].concat()
    }

    #[test]
    fn only_lists_that_deny_grant_nothing() {
        assert_eq!(parse(&answer(&[])), HiddenAccess::Denied);
        assert_eq!(parse(&answer(&[2])), HiddenAccess::Denied);
        assert_eq!(parse(&answer(&[2, 2])), HiddenAccess::Denied);
        for kinds in [&[1][..], &[2, 1], &[1, 2], &[2, 0], &[2, 3, 2]] {
            assert_eq!(parse(&answer(kinds)), HiddenAccess::Granted, "{kinds:?}");
        }
        let none = [12_u32, 8, 0].map(u32::to_ne_bytes);
        assert_eq!(parse(none.as_flattened()), HiddenAccess::None);
        let mut without = answer(&[]);
        without[12 + 36..12 + 40].fill(0xff);
        assert_eq!(parse(&without), HiddenAccess::None);
    }

    #[test]
    fn what_is_cut_off_or_unexpected_grants() {
        let whole = answer(&[2, 2]);
        for len in 0..whole.len() - 4 {
            assert_eq!(parse(&whole[..len]), HiddenAccess::Granted, "{len}");
        }
        let mut longer = whole.clone();
        longer[12 + 36..12 + 40].copy_from_slice(&3_u32.to_ne_bytes());
        longer.extend([2; 24]);
        assert_eq!(parse(&longer), HiddenAccess::Granted);
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod system {
    use std::os::fd::AsFd;

    use rustix::io::Result;

    use super::HiddenAccess;

    pub(super) fn remove(_: impl AsFd, _: bool) -> Result<()> {
        Ok(())
    }

    pub(super) fn hidden(_: impl AsFd) -> Result<HiddenAccess> {
        Ok(HiddenAccess::None)
    }
}
