//! Extended attributes of entries of any type, including access control lists and capabilities.

use std::io;
use std::os::fd::{AsRawFd as _, RawFd};

use ftk_inventory::{Inventory, Opener};
use rustix::fs::{getxattr, lgetxattr, listxattr, llistxattr};
use rustix::io::Errno;

use crate::Xattr;
use crate::walked_tree::Seen;

/// The maximal size of an entry's list of names, and of one value (`XATTR_LIST_MAX` and `XATTR_SIZE_MAX` in
/// linux/limits.h).
const MOST: usize = 64 << 10;

/// A reader of the extended attributes of a tree's entries.
#[derive(Debug)]
pub(crate) struct XattrReader<'i> {
    opener: Opener<'i>,
    names: Vec<u8>,
    value: Vec<u8>,
    xattrs: Vec<Xattr>,
}

impl<'i> XattrReader<'i> {
    pub(crate) fn new(inventory: &'i Inventory) -> Self {
        let opener = Opener::new(inventory);
        Self { opener, names: vec![0; MOST], value: vec![0; MOST], xattrs: Vec::new() }
    }

    /// Reads the extended attributes of an entry, sorted by name. Links are not followed, except that the
    /// root itself may be a link.
    ///
    /// No system call reads them for a name in an open directory. Opening the entry itself would have side
    /// effects on a FIFO or a device, and fails on a link. So the directory is addressed through its
    /// descriptor in `/proc`.
    ///
    /// # Errors
    /// When its directory cannot be opened or has been replaced, or the attributes cannot be read. A file
    /// system without extended attributes gives an empty list.
    pub(crate) fn read(&mut self, seen: &Seen) -> io::Result<&[Xattr]> {
        let dir = self.opener.open(seen.dir)?;
        let path = path_in(dir.as_raw_fd(), &seen.name);
        let follow = seen.is_root();
        self.xattrs.clear();
        let names = &mut *self.names;
        let len = match if follow { listxattr(&*path, names) } else { llistxattr(&*path, names) } {
            Err(Errno::NOTSUP) => 0,
            listed => listed?,
        };
        for name in self.names[..len].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            let value = &mut *self.value;
            match if follow { getxattr(&*path, name, value) } else { lgetxattr(&*path, name, value) } {
                Err(Errno::NODATA) => {} // removed after it was listed
                got => {
                    let value = self.value[..got?].to_vec();
                    self.xattrs.push(Xattr { name: name.to_vec(), value });
                }
            }
        }
        self.xattrs.sort_unstable();
        Ok(&self.xattrs)
    }
}

/// Returns the path of `name` in the directory `dir`. It uses this thread's descriptor table, which may
/// differ from that of the process.
fn path_in(dir: RawFd, name: &[u8]) -> Vec<u8> {
    if name.starts_with(b"/") {
        return name.to_vec();
    }
    let mut path = format!("/proc/thread-self/fd/{dir}/").into_bytes();
    path.extend_from_slice(name);
    path
}
