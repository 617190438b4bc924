//! The mounted file systems.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use crate::device_of;

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its number.
    pub number: u64,
    /// Its device number. Subvolumes of Btrfs have others.
    pub dev: u64,
    /// The directory of the file system that is mounted: `/`, unless only a part of it is.
    pub root: PathBuf,
    /// Where it is mounted.
    pub at: PathBuf,
    /// Its type, such as `ext4`.
    pub kind: String,
}

/// Returns the mounted file systems that this process can see; none where there is no `/proc`, and
/// on systems other than Linux.
pub fn mounts() -> impl Iterator<Item = Mount> {
    let table = if cfg!(target_os = "linux") { fs::read("/proc/self/mountinfo") } else { Ok(Vec::new()) };
    parse(table.unwrap_or_default())
}

/// Parses the table of `proc_pid_mountinfo(5)`: the first field of a line is the number, the third the device, the fourth the
/// root, the fifth the mount point, and the type follows a field `-`. Other lines are skipped.
fn parse(table: Vec<u8>) -> impl Iterator<Item = Mount> {
    let mount = |line: &[u8]| {
        let mut fields = line.split(|&byte| byte == b' ');
        let number = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let dev = str::from_utf8(fields.nth(1)?).ok()?;
        let (major, minor) = dev.split_once(':')?;
        let dev = device_of(major.parse().ok()?, minor.parse().ok()?);
        let (root, at) = (unescape(fields.next()?), unescape(fields.next()?));
        let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
        Some(Mount { number, dev, root, at, kind: String::from_utf8_lossy(kind).into_owned() })
    };
    let mounts: Vec<_> = table.split(|&byte| byte == b'\n').filter_map(mount).collect();
    mounts.into_iter()
}

/// Space, tab, newline and backslash are written as `\` with three octal digits.
fn unescape(mut field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    while let [byte, rest @ ..] = field {
        field = rest;
        match (byte, rest) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..]) => {
                path.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                field = rest;
            }
            _ => path.push(*byte),
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: &[u8] = b"\
29 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n\
30 29 0:26 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n\
31 29 0:49 /a\\040part /mnt/with\\040space\\134 rw master:3 propagate_from:2 - xfs /dev/sdb rw\n\
32 29 8:x / /no/device rw - ext4 /dev/sdc rw\n\
33 29 8:3\n";

    #[test]
    fn every_mount_has_a_device_a_root_a_place_and_a_type() {
        let mounts: Vec<_> =
            parse(TABLE.into()).map(|it| (it.number, it.dev, it.root, it.at, it.kind)).collect();
        let expected = |number, major, minor, root: &str, at: &str, kind: &str| {
            (number, device_of(major, minor), PathBuf::from(root), PathBuf::from(at), kind.to_owned())
        };
        assert_eq!(
            mounts,
            [
                expected(29, 8, 2, "/", "/", "ext4"),
                expected(30, 0, 26, "/", "/dev/shm", "tmpfs"),
                expected(31, 0, 49, "/a part", "/mnt/with space\\", "xfs"),
            ]
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn proc_is_mounted() {
        let proc = mounts().find(|it| it.at.as_os_str() == "/proc").expect("/proc is a mount point");
        assert_eq!(proc.kind, "proc");
        assert_eq!(crate::Stat::of(fs::File::open("/proc").unwrap()).unwrap().dev, proc.dev);
    }

    proptest! {
        #[test]
        fn any_table_is_read_to_its_end(table: Vec<u8>) {
            parse(table).count();
        }
    }
}
