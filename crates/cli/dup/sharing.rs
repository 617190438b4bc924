//! Bytes that files share on the disk without being one file: those of reflinks.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;

use ftk_apply::{Reach, Seen, shared};
use ftk_dedup::Member;
use rustix::fs::statfs;

/// Asks the disk, where it may have something to say.
#[derive(Debug)]
pub(super) struct Sharing<'r> {
    roots: &'r [CString],
    reach: Reach,
    /// By device: whether files may share blocks.
    is_possible: HashMap<u64, bool>,
}

/// Types of file systems that most files are on, and on which none ever shares a block: ext2 to ext4, and tmpfs.
const NEVER: [i64; 2] = [0xef53, 0x0102_1994];

impl<'r> Sharing<'r> {
    /// For members below these starting points.
    pub(super) fn new(roots: &'r [CString]) -> Self {
        Self { roots, reach: Reach::new(), is_possible: HashMap::new() }
    }

    /// Bytes of a file that others share.
    pub(super) fn of(&mut self, member: &Member) -> u64 {
        let is_possible = self.is_possible.entry(member.dev).or_insert_with(|| {
            #[allow(clippy::unnecessary_cast, reason = "the width differs between platforms")]
            statfs(OsStr::from_bytes(&member.path)).is_ok_and(|it| !NEVER.contains(&(it.f_type as i64)))
        });
        if !*is_possible {
            return 0;
        }
        shared(&mut self.reach, &seen(member, self.roots[member.root].as_bytes().len()))
    }
}

/// A member as its scan saw it; `root_len`: the bytes of its path that are the starting point.
pub(super) fn seen(member: &Member, root_len: usize) -> Seen {
    let Member { path, dev, ino, size, mtime_ns, ctime_ns, .. } = member;
    Seen {
        path: path.clone(),
        root_len,
        dev: *dev,
        ino: *ino,
        size: *size,
        mtime_ns: *mtime_ns,
        ctime_ns: *ctime_ns,
    }
}
