//! Linux: listings with `getdents64` into a reused buffer, and pseudo file systems by magic number.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{OFlags, RawDir, RawDirEntry, fstatfs};
use rustix::io::Errno;

/// Prevents updates of access times, which are writes. Fails with `EPERM` for directories of other users.
pub(crate) const NO_ATIME: OFlags = OFlags::NOATIME;

/// Size of the buffer for `getdents64`. 32, 64 and 256 KiB were equally fast.
const BUFFER: usize = 64 << 10;

/// A listing in progress.
pub(crate) struct Listing<'a> {
    raw: RawDir<'a, BorrowedFd<'a>>,
}

impl<'a> Listing<'a> {
    /// Lists the directory `fd` from its current offset. `buffer` is allocated at its first use.
    pub(crate) fn new(fd: BorrowedFd<'a>, buffer: &'a mut Vec<u8>) -> io::Result<Self> {
        buffer.reserve_exact(BUFFER);
        Ok(Self { raw: RawDir::new(fd, buffer.spare_capacity_mut()) })
    }

    /// Returns the next entry, including `.` and `..`. A directory that was removed meanwhile has no more
    /// entries.
    ///
    /// Only an empty result of `getdents64` is the end of the directory. A result that leaves room in the
    /// buffer may not be: a pending signal, such as that of Ctrl-Z, also cuts a result short (`filldir64` in
    /// fs/readdir.c of Linux). So the last call per directory cannot be saved.
    pub(crate) fn next(&mut self) -> Option<io::Result<RawDirEntry<'_>>> {
        match self.raw.next()? {
            Err(Errno::NOENT) => None,
            next => Some(next.map_err(io::Error::from)),
        }
    }

    /// Returns whether the next call of `next` makes a system call. Then found directories are queued first.
    pub(crate) fn drained(&self) -> bool {
        self.raw.is_buffer_empty()
    }
}

/// Magic numbers of file systems that show the kernel's state instead of stored files.
///
/// The numbers come from `linux/magic.h`, the others from the sources named.
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

/// Returns whether `fd` is on a pseudo file system.
pub(crate) fn is_pseudo(fd: BorrowedFd<'_>) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the width of this field differs between architectures")]
    fstatfs(fd).is_ok_and(|fs| PSEUDO.contains(&u64::from(fs.f_type as u32)))
}
