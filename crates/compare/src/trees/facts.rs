//! What two files are to each other, as far as that can be said without a look at their bytes.

use ftk_inventory::Metadata;
use ftk_read::Stat;

/// What is known of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    dev: u64,
    ino: u64,
    size: u64,
    /// Space taken, in units of 512 bytes.
    blocks: u64,
}

impl Facts {
    /// The sizes of two files if they differ and can be believed, or count whatever they are.
    pub(crate) fn sizes(a: Self, b: Self, sizes_count: bool) -> Option<(u64, u64)> {
        let is_told = a.size != b.size && (sizes_count || a.is_size_true() && b.is_size_true());
        is_told.then_some((a.size, b.size))
    }

    /// Whether both have one device and inode number. That makes them one file only on a file system that is
    /// [trusted](crate::is_trusted).
    pub(crate) fn has_identity_of(self, other: Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    /// Whether the size can be believed. Kernels show files of their own with made-up sizes, which take no space.
    fn is_size_true(self) -> bool {
        self.blocks > 0
    }
}

impl From<&Metadata> for Facts {
    fn from(&Metadata { dev, ino, size, blocks, .. }: &Metadata) -> Self {
        Self { dev, ino, size, blocks }
    }
}

impl From<&Stat> for Facts {
    fn from(&Stat { dev, ino, size, blocks, .. }: &Stat) -> Self {
        Self { dev, ino, size, blocks }
    }
}

/// Of a file that was not opened.
impl From<&rustix::fs::Stat> for Facts {
    #[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
    fn from(stat: &rustix::fs::Stat) -> Self {
        let (dev, ino) = (stat.st_dev as u64, stat.st_ino as u64);
        Self { dev, ino, size: stat.st_size as u64, blocks: stat.st_blocks as u64 }
    }
}
