//! Whether a file is on another machine, or provided by another program.

use ftk_read::File;

/// File systems on which reading large pieces is better than mapping, because each missing page would cost a
/// round trip. The numbers are from `linux/magic.h`; others name their source.
#[cfg(target_os = "linux")]
const REMOTE: &[u32] = &[
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

/// Whether the file is on one of these file systems.
#[cfg(target_os = "linux")]
pub(crate) fn is_remote(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|fs| REMOTE.contains(&(fs.f_type as u32)))
}

/// Whether the file is on one of these file systems. Unknown on this platform, so always true: mapping would
/// be a risk.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_remote(_: &File) -> bool {
    true
}
