//! Linux: `getdents64` into a buffer that is reused, and file systems told by their magic numbers.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{OFlags, RawDir, RawDirEntry, fstatfs};
use rustix::io::Errno;

/// Keeps a walk from writing to the disk. Refused with `EPERM` on directories of other users.
pub(crate) const NO_ATIME: OFlags = OFlags::NOATIME;

/// 32, 64 and 256 KiB were measured equal.
const BUFFER: usize = 64 << 10;

/// A listing in progress.
pub(crate) struct Listing<'a> {
    raw: RawDir<'a, BorrowedFd<'a>>,
}

impl<'a> Listing<'a> {
    /// Lists the directory `fd` from where it stands, by way of `buffer`, which grows at its first use.
    pub(crate) fn new(fd: BorrowedFd<'a>, buffer: &'a mut Vec<u8>) -> io::Result<Self> {
        buffer.reserve_exact(BUFFER);
        Ok(Self { raw: RawDir::new(fd, buffer.spare_capacity_mut()) })
    }

    /// The next name, `.` and `..` included. A directory that was removed meanwhile has no more.
    ///
    /// Only an empty answer is the end. One that leaves room in the buffer is not, although taking it for the
    /// end would spare a call a directory: a pending signal, such as that of Ctrl-Z, cuts a listing short too
    /// (`filldir64` in fs/readdir.c of Linux).
    pub(crate) fn next(&mut self) -> Option<io::Result<RawDirEntry<'_>>> {
        match self.raw.next()? {
            Err(Errno::NOENT) => None,
            next => Some(next.map_err(io::Error::from)),
        }
    }

    /// Whether the next call of `next` enters the kernel: a good moment to let go of what was gathered.
    pub(crate) fn drained(&self) -> bool {
        self.raw.is_buffer_empty()
    }
}

/// File systems that show the kernel's state instead of stored files. Numbers from `linux/magic.h`; those it
/// lacks from the file systems' own sources.
const PSEUDO: [u64; 31] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x1cd1,      // devpts
    0xcafe_4a11, // bpf
    0x6165_676c, // pstore
    0x6265_6570, // configfs (fs/configfs/mount.c)
    0x1980_0202, // mqueue (ipc/mqueue.c)
    0x9584_58f6, // hugetlbfs
    0x4249_4e4d, // binfmt_misc
    0xde5e_81e4, // efivarfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x5a3c_69f0, // apparmorfs
    0x6573_5543, // fusectl (fs/fuse/control.c)
    0x6e73_6673, // nsfs
    0x6759_6969, // rpc_pipefs (net/sunrpc/rpc_pipe.c)
    0x6e66_7364, // nfsd (fs/nfsd/nfsctl.c)
    0x0765_5821, // resctrl
    0xabba_1974, // xenfs
    0x6c6f_6f70, // binder
    0x5049_5045, // pipefs
    0x534f_434b, // sockfs
    0x0904_1934, // anonymous inodes
    0x444d_4142, // dma-buf
    0x454d_444d, // devmem
    0x5345_434d, // secretmem
];

/// Whether `fd` lies on a file system without stored files.
pub(crate) fn is_pseudo(fd: BorrowedFd<'_>) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the width of this field differs between architectures")]
    fstatfs(fd).is_ok_and(|fs| PSEUDO.contains(&u64::from(fs.f_type as u32)))
}
