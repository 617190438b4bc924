//! Extended attributes of entries of any type, access control lists and capabilities among them.

use std::io;
use std::os::fd::{AsRawFd as _, RawFd};

use ftk_inventory::{Inventory, Opener};
use rustix::fs::{getxattr, lgetxattr, listxattr, llistxattr};
use rustix::io::Errno;

use crate::Xattr;
use crate::walked_tree::Seen;

/// Most bytes of the names of one entry, and of one value (`XATTR_LIST_MAX` and `XATTR_SIZE_MAX` in linux/limits.h).
const MOST: usize = 64 << 10;

/// Reads the extended attributes of entries of a tree.
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

    /// The extended attributes of an entry, by name. A link is not followed, unless it is the root that was named.
    ///
    /// No system call gives them for a name in an open directory, and opening the entry itself would act on a FIFO or a
    /// device and not work at all on a link; so the directory is named as proc shows it.
    ///
    /// # Errors
    /// When its directory cannot be opened, or is another one meanwhile, or the attributes cannot be read. A file
    /// system that has none is no error.
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
                Err(Errno::NODATA) => {} // It was removed after it was listed.
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

/// The descriptor is looked up in the table of this thread, which need not be that of the process.
fn path_in(dir: RawFd, name: &[u8]) -> Vec<u8> {
    if name.starts_with(b"/") {
        return name.to_vec();
    }
    let mut path = format!("/proc/thread-self/fd/{dir}/").into_bytes();
    path.extend_from_slice(name);
    path
}
