//! The metadata of an entry, in a compact form for a table.

use ftk_walk::Metadata as Walked;

/// The metadata of an entry at the time of the walk; for a followed link, that of its target.
///
/// Times are nanoseconds since the Unix epoch, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Permission bits, including set-user-ID, set-group-ID and sticky: at most `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device of the file system that holds the inode.
    pub dev: u64,
    /// Device that a device file stands for; 0 for all other types.
    pub rdev: u64,
    /// Inode number.
    pub ino: u64,
    /// Number of hard links.
    pub nlink: u64,
    /// Size in bytes.
    pub size: u64,
    /// Space allocated on disk, in units of 512 bytes.
    pub blocks: u64,
    /// Time of the last change to the content.
    pub mtime_ns: i128,
    /// Time of the last change to the inode.
    pub ctime_ns: i128,
}

/// [`Metadata`] in 80 bytes instead of 96.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) dev: u64,
    rdev: u64,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    blocks: u64,
    mtime: Time,
    ctime: Time,
    /// No file system supports more links than this can count.
    nlink: u32,
    uid: u32,
    gid: u32,
    mode: u16,
}

impl Record {
    pub(crate) fn new(walked: &Walked) -> Self {
        Self {
            dev: walked.dev,
            rdev: walked.rdev,
            ino: walked.ino,
            size: walked.size,
            blocks: walked.blocks,
            mtime: Time::new(walked.mtime_ns),
            ctime: Time::new(walked.ctime_ns),
            nlink: u32::try_from(walked.nlink).unwrap_or(u32::MAX),
            uid: walked.uid,
            gid: walked.gid,
            mode: walked.mode as u16,
        }
    }

    pub(crate) fn metadata(&self) -> Metadata {
        Metadata {
            mode: self.mode.into(),
            uid: self.uid,
            gid: self.gid,
            dev: self.dev,
            rdev: self.rdev,
            ino: self.ino,
            nlink: self.nlink.into(),
            size: self.size,
            blocks: self.blocks,
            mtime_ns: self.mtime.nanos(),
            ctime_ns: self.ctime.nanos(),
        }
    }
}

/// A time as seconds and nanoseconds. All fields have four bytes: with an `i64` the alignment would make it
/// 16 bytes.
#[derive(Clone, Copy, Debug)]
struct Time {
    /// Seconds since the epoch, the lower half first.
    seconds: [u32; 2],
    nanos: u32,
}

const SECOND: i128 = 1_000_000_000;

impl Time {
    /// Converts nanoseconds since the epoch. Its seconds must fit into an `i64`.
    fn new(nanos: i128) -> Self {
        let seconds = nanos.div_euclid(SECOND) as i64 as u64;
        Self { seconds: [seconds as u32, (seconds >> 32) as u32], nanos: nanos.rem_euclid(SECOND) as u32 }
    }

    fn nanos(self) -> i128 {
        let [low, high] = self.seconds.map(u64::from);
        i128::from((high << 32 | low) as i64) * SECOND + i128::from(self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_record_is_small() {
        assert_eq!((size_of::<Record>(), size_of::<Metadata>()), (80, 96));
    }

    proptest! {
        #[test]
        fn times_are_converted_without_loss(seconds in any::<i64>(), nanos in 0..SECOND) {
            let time = i128::from(seconds) * SECOND + nanos;
            prop_assert_eq!(Time::new(time).nanos(), time);
        }
    }
}
