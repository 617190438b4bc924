//! Finds out how many bytes of a file are shared with other files on the disk, as after a reflink.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ftk_file::File;
use rustix::fs::fstatfs;

use crate::share::shared_bytes;

/// Finds out how many bytes of files are shared, on file systems that support shared blocks. Workers share it.
#[derive(Debug, Default)]
pub struct Sharing {
    /// Whether files may share blocks, by device.
    is_possible: Mutex<HashMap<u64, bool>>,
}

/// Common types of file systems without shared blocks, which are not asked: ext2 to ext4, and tmpfs.
const NEVER: [i64; 2] = [0xef53, 0x0102_1994];

impl Sharing {
    /// Returns the number of bytes of a file on this device that other files share. The file is opened only if its
    /// file system may share blocks, or is not known yet.
    pub fn of(&self, dev: u64, open: &mut dyn FnMut() -> Option<File>) -> u64 {
        let known = || self.is_possible.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = known().get(&dev).copied();
        if is_known == Some(false) {
            return 0;
        }
        let Some(file) = open() else { return 0 };
        let is_possible = is_known.unwrap_or_else(|| {
            #[allow(clippy::unnecessary_cast, reason = "the width differs between platforms")]
            let is_possible = fstatfs(&file).is_ok_and(|it| !NEVER.contains(&(it.f_type as i64)));
            known().insert(dev, is_possible);
            is_possible
        });
        if is_possible { shared_bytes(&file) } else { 0 }
    }
}
