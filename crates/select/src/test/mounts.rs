//! The types of file systems.

use std::sync::{Arc, OnceLock};

use ftk_file::{Mount, mounts};
use ftk_walk::Metadata;

/// Returns whether entries are on a file system of one type.
///
/// The table of mounts is read when the first entry is tested, and again if an entry is on a mount that it does
/// not list.
#[derive(Clone, Debug)]
pub(crate) struct Mounts {
    wanted: Box<[u8]>,
    list: Arc<OnceLock<Vec<Mount>>>,
}

impl Mounts {
    /// A test for this type, as in `/proc/self/mountinfo`.
    pub(crate) fn new(wanted: &[u8]) -> Self {
        Self { wanted: wanted.into(), list: Arc::default() }
    }

    /// Returns the same test with a table that is read again.
    pub(crate) fn again(&self) -> Self {
        Self::new(&self.wanted)
    }

    /// Returns whether the entry is on a file system of this type, or `None` if the table does not say so.
    pub(crate) fn matches(&self, metadata: &Metadata) -> Option<bool> {
        let list = self.list.get_or_init(|| mounts().collect());
        // A later mount covers an earlier one of the same device.
        let found = list.iter().rev().find(|mount| match metadata.mount {
            Some(number) => mount.number == number,
            // Linux before 5.8. The device does not identify the subvolumes of btrfs.
            None => mount.dev == metadata.dev,
        });
        found.map(|mount| *mount.kind.as_bytes() == *self.wanted)
    }
}
