//! Extended attributes of entries of any type, including access control lists and capabilities.

use std::io;
use std::os::fd::{AsRawFd as _, RawFd};

use ftk_file::{AttributeReader, Symlinks};
use ftk_inventory::{Inventory, Opener};
use rustix::fs::{getxattr, lgetxattr, listxattr, llistxattr};

use crate::Xattr;
use crate::walked_tree::Seen;

/// A reader of the extended attributes of a tree's entries.
#[derive(Debug)]
pub(crate) struct XattrReader<'i> {
    opener: Opener<'i>,
    reader: AttributeReader,
    xattrs: Vec<Xattr>,
}

impl<'i> XattrReader<'i> {
    pub(crate) fn new(inventory: &'i Inventory) -> Self {
        Self { opener: Opener::new(inventory), reader: AttributeReader::default(), xattrs: Vec::new() }
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
        let follow = seen.symlinks() == Symlinks::Follow;
        let found = if follow {
            self.reader.read(|names| listxattr(&*path, names), |name, value| getxattr(&*path, name, value))
        } else {
            self.reader.read(|names| llistxattr(&*path, names), |name, value| lgetxattr(&*path, name, value))
        };
        self.xattrs.clear();
        self.xattrs.extend(found?.into_iter().map(|(name, value)| Xattr { name, value }));
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
