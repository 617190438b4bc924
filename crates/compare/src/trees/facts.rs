//! How two files compare, as far as this is known without reading them.

use ftk_inventory::Metadata;
use ftk_read::Stat;

/// The metadata of a file that matters here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    dev: u64,
    ino: u64,
    size: u64,
    /// Disk space, in units of 512 bytes.
    blocks: u64,
}

impl Facts {
    /// Returns the sizes of two files if they differ and are not synthetic. With `sizes_count`, synthetic
    /// sizes count too.
    pub(crate) fn sizes(a: Self, b: Self, sizes_count: bool) -> Option<(u64, u64)> {
        let differ = a.size != b.size && (sizes_count || a.has_plausible_size() && b.has_plausible_size());
        differ.then_some((a.size, b.size))
    }

    /// Whether both have the same device and inode number. They are one file only if their file system is
    /// [trusted](crate::is_trusted).
    pub(crate) fn has_identity_of(self, other: Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    /// Whether the size may be correct. Kernel file systems report synthetic sizes for files without disk
    /// space.
    fn has_plausible_size(self) -> bool {
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

/// For a file that was not opened.
impl From<&rustix::fs::Stat> for Facts {
    #[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
    fn from(stat: &rustix::fs::Stat) -> Self {
        let (dev, ino) = (stat.st_dev as u64, stat.st_ino as u64);
        Self { dev, ino, size: stat.st_size as u64, blocks: stat.st_blocks as u64 }
    }
}
