//! Linux: listings with `getdents64` into a reused buffer, and pseudo file systems by magic number.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::fs::{
    AtFlags, OFlags, RawDir, RawDirEntry, StatFs, Statx, StatxAttributes, StatxFlags, fstatfs, makedev,
    statfs, statx,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::time::{ClockId, clock_gettime};

use super::{flags, nanoseconds, stat_at};
use crate::{Fields, FileType, Metadata};

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

/// Returns metadata with these fields, from one call of `statx`.
pub(crate) fn stat_with(
    at: BorrowedFd<'_>,
    path: &CStr,
    follow: bool,
    fields: Fields,
) -> io::Result<Metadata> {
    // `fstatat` never mounts an automount point; `statx` does unless told not to.
    let flags = flags(follow) | AtFlags::NO_AUTOMOUNT;
    match retry_on_intr(|| statx(at, path, flags, mask(fields))) {
        Err(Errno::NOSYS) => stat_at(at, path, follow), // Linux before 4.11, and some sandboxes
        stat => Ok(metadata(&stat?, fields)),
    }
}

/// Returns the mask for `statx`. The type is always part of it.
fn mask(fields: Fields) -> StatxFlags {
    let bits = [
        (Fields::MODE, StatxFlags::MODE),
        (Fields::NLINK, StatxFlags::NLINK),
        (Fields::UID, StatxFlags::UID),
        (Fields::GID, StatxFlags::GID),
        (Fields::ATIME, StatxFlags::ATIME),
        (Fields::MTIME, StatxFlags::MTIME),
        (Fields::CTIME, StatxFlags::CTIME),
        (Fields::INO, StatxFlags::INO),
        (Fields::SIZE, StatxFlags::SIZE),
        (Fields::BLOCKS, StatxFlags::BLOCKS),
        (Fields::BIRTH, StatxFlags::BTIME),
        (Fields::MOUNT, StatxFlags::MNT_ID),
    ];
    let wanted = bits.into_iter().filter(|(field, _)| fields.contains(*field));
    wanted.fold(StatxFlags::TYPE, |mask, (_, bit)| mask | bit)
}

fn metadata(stat: &Statx, fields: Fields) -> Metadata {
    let file_type = FileType::from_mode(stat.stx_mode.into());
    let has = |field, flag: StatxFlags| fields.contains(field) && stat.stx_mask & flag.bits() != 0;
    Metadata {
        file_type,
        mode: u32::from(stat.stx_mode) & 0o7777,
        uid: stat.stx_uid,
        gid: stat.stx_gid,
        dev: makedev(stat.stx_dev_major, stat.stx_dev_minor),
        // As for `stat_at`.
        rdev: if file_type.is_device() { makedev(stat.stx_rdev_major, stat.stx_rdev_minor) } else { 0 },
        ino: stat.stx_ino,
        nlink: stat.stx_nlink.into(),
        size: stat.stx_size,
        blocks: stat.stx_blocks,
        mtime_ns: nanoseconds(stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        ctime_ns: nanoseconds(stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
        atime_ns: nanoseconds(stat.stx_atime.tv_sec, stat.stx_atime.tv_nsec),
        birth_ns: has(Fields::BIRTH, StatxFlags::BTIME)
            .then(|| nanoseconds(stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec)),
        mount: has(Fields::MOUNT, StatxFlags::MNT_ID).then_some(stat.stx_mnt_id),
    }
}

/// Returns whether something is mounted on `path`; `None` if the system does not tell.
pub(crate) fn is_mount_point(at: BorrowedFd<'_>, path: &CStr, follow: bool) -> Option<bool> {
    let flags = flags(follow) | AtFlags::NO_AUTOMOUNT;
    let stat = retry_on_intr(|| statx(at, path, flags, StatxFlags::empty())).ok()?;
    let is_known = stat.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
    is_known.then(|| stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
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

/// Magic numbers of file systems that ask another machine or program for every file. Sources as above.
const REMOTE: [u64; 14] = [
    0x6969,      // NFS
    0x517b,      // SMB
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x6573_5546, // FUSE, virtiofs
    0x0102_1997, // 9P
    0x00c3_6400, // Ceph
    0x5346_414f, // OpenAFS
    0x6b41_4653, // AFS
    0x7375_7245, // Coda
    0x0bd0_0bd0, // Lustre (lustre/include/uapi)
    0x2003_0528, // OrangeFS (fs/orangefs)
    0x4750_4653, // GPFS (statfs of coreutils)
    0x786f_4256, // shared folders of VirtualBox (fs/vboxsf)
];

/// Returns whether `fd` is on a pseudo file system.
pub(crate) fn is_pseudo(fd: BorrowedFd<'_>) -> bool {
    is_one_of(fstatfs(fd), &PSEUDO)
}

/// Returns whether `fd` is on a remote file system.
pub(crate) fn is_remote(fd: BorrowedFd<'_>) -> bool {
    is_one_of(fstatfs(fd), &REMOTE)
}

/// Returns whether `path` is on a remote file system.
pub(crate) fn is_remote_path(path: &CStr) -> bool {
    is_one_of(statfs(path), &REMOTE)
}

fn is_one_of(fs: Result<StatFs, Errno>, magic: &[u64]) -> bool {
    #[allow(clippy::unnecessary_cast, reason = "the width of this field differs between architectures")]
    fs.is_ok_and(|fs| magic.contains(&u64::from(fs.f_type as u32)))
}

/// Returns for how long this thread has been running since its start.
pub(crate) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
