//! The types of file systems.

use std::fs;
use std::sync::{Arc, OnceLock};

use ftk_walk::Metadata;
use rustix::fs::makedev;

/// Returns whether entries are on a file system of one type.
///
/// The table of mounts is read when the first entry is tested, and again if an entry is on a mount that it does
/// not list.
#[derive(Clone, Debug)]
pub(crate) struct Mounts {
    wanted: Box<[u8]>,
    list: Arc<OnceLock<Vec<Mount>>>,
}

#[derive(Clone, Debug)]
struct Mount {
    number: u64,
    dev: u64,
    is_wanted: bool,
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
        let list = self.list.get_or_init(|| read(&self.wanted));
        // A later mount covers an earlier one of the same device.
        let found = list.iter().rev().find(|mount| match metadata.mount {
            Some(number) => mount.number == number,
            // Linux before 5.8. The device does not identify the subvolumes of btrfs.
            None => mount.dev == metadata.dev,
        });
        found.map(|mount| mount.is_wanted)
    }
}

/// Reads the table of mounts. It is empty if that fails, and then the type of each entry is unknown.
fn read(wanted: &[u8]) -> Vec<Mount> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    table.split(|&byte| byte == b'\n').filter_map(|line| parse(line, wanted)).collect()
}

/// Parses a line: the number, that of the parent, `MAJOR:MINOR`, other fields, ` - `, the type.
fn parse(line: &[u8], wanted: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let mut number = || str::from_utf8(fields.next()?).ok();
    let (mount, device) = (number()?.parse().ok()?, number().and_then(|_| number())?);
    let (major, minor) = device.split_once(':')?;
    fields.by_ref().find(|field| *field == b"-")?;
    let dev = makedev(major.parse().ok()?, minor.parse().ok()?);
    Some(Mount { number: mount, dev, is_wanted: fields.next()? == wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_follows_the_optional_fields() {
        let line = b"36 35 98:1 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw";
        let mount = parse(line, b"ext3").unwrap();
        assert_eq!((mount.number, mount.dev, mount.is_wanted), (36, makedev(98, 1), true));
        assert!(!parse(b"36 35 0:1 / / rw - tmpfs x rw", b"ext3").unwrap().is_wanted);
        assert!(parse(b"36 35", b"x").is_none() && parse(b"", b"x").is_none());
    }
}
