//! The tests for extended attributes and capabilities.

use std::io;
use std::os::fd::AsFd as _;

use ftk_file::descriptor_path;
use ftk_file::xattr::{NO_ATTRIBUTE, getxattr, lgetxattr, listxattr, llistxattr};
use ftk_walk::Entry;
use rustix::io::Errno;

use crate::glob::Globs;

/// The attribute that has the capabilities of a file.
pub(super) const CAPABILITIES: &[u8] = b"security.capability";

/// The largest list of names (`XATTR_LIST_MAX` in linux/limits.h).
const MAX_LEN: usize = 64 << 10;

/// Returns whether the name of an extended attribute matches. A file system without attributes has no names.
pub(super) fn has_attribute(entry: &Entry<'_>, globs: &Globs) -> io::Result<bool> {
    let path = path_of(entry)?;
    let list = |names: &mut [u8]| match entry.via_link() {
        true => listxattr(&path[..], names),
        false => llistxattr(&path[..], names),
    };
    let mut names = vec![0; 1024];
    let listed = match list(&mut names) {
        Err(Errno::RANGE) => {
            names.resize(MAX_LEN, 0);
            list(&mut names)
        }
        listed => listed,
    };
    let len = match listed {
        Err(Errno::OPNOTSUPP) => 0,
        listed => listed?,
    };
    let mut names = names[..len].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.any(|name| globs.matches(name)))
}

/// Returns whether a file has capabilities.
pub(super) fn is_capable(entry: &Entry<'_>) -> io::Result<bool> {
    let path = path_of(entry)?;
    // Values have up to 24 bytes.
    let value: &mut [u8] = &mut [0; 64];
    let got = match entry.via_link() {
        true => getxattr(&path[..], CAPABILITIES, value),
        false => lgetxattr(&path[..], CAPABILITIES, value),
    };
    match got {
        Err(NO_ATTRIBUTE | Errno::OPNOTSUPP) => Ok(false),
        Err(Errno::RANGE) => Ok(true),
        got => Ok(got? > 0),
    }
}

/// Returns a path of the entry, for calls that take no name in an open directory. A starting point is relative to none.
fn path_of(entry: &Entry<'_>) -> io::Result<Vec<u8>> {
    if entry.depth() == 0 {
        return Ok(entry.name().to_vec());
    }
    Ok([&descriptor_path(entry.as_fd())?, &b"/"[..], entry.name()].concat())
}
