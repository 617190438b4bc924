//! Finds out how many bytes of a file are shared with other files on the disk, as after a reflink.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;

use ftk_apply::{Reach, Seen, shared};
use ftk_dedup::Member;
use rustix::fs::statfs;

/// Finds out how many bytes of files are shared, on file systems that support shared blocks.
#[derive(Debug)]
pub(super) struct Sharing<'r> {
    roots: &'r [CString],
    reach: Reach,
    /// Whether files may share blocks, by device.
    is_possible: HashMap<u64, bool>,
}

/// Common types of file systems without shared blocks, which are not asked: ext2 to ext4, and tmpfs.
const NEVER: [i64; 2] = [0xef53, 0x0102_1994];

impl<'r> Sharing<'r> {
    /// `roots` are the starting points of the members.
    pub(super) fn new(roots: &'r [CString]) -> Self {
        Self { roots, reach: Reach::new(), is_possible: HashMap::new() }
    }

    /// Returns the number of bytes of a file that other files share.
    pub(super) fn of(&mut self, member: &Member) -> u64 {
        let is_possible = self.is_possible.entry(member.version.dev).or_insert_with(|| {
            #[allow(clippy::unnecessary_cast, reason = "the width differs between platforms")]
            statfs(OsStr::from_bytes(&member.path)).is_ok_and(|it| !NEVER.contains(&(it.f_type as i64)))
        });
        if !*is_possible {
            return 0;
        }
        shared(&mut self.reach, &seen(member, self.roots[member.root].as_bytes().len()))
    }
}

/// Returns a member as the scan saw it. `root_len` is the length of the starting point in its path.
pub(super) fn seen(member: &Member, root_len: usize) -> Seen {
    Seen { path: member.path.clone(), root_len, version: member.version }
}
