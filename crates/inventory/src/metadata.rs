//! What `stat` said of an entry, in a form small enough for a table.

use ftk_walk::Metadata as Walked;

/// What `stat` said of an entry during the walk; of its target, where a link was followed. Times are nanoseconds
/// since the Unix epoch, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Permission bits with set-user-ID, set-group-ID and sticky: `0o7777` at most.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device the inode lives on.
    pub dev: u64,
    /// The device that a device file stands for; 0 for what is none.
    pub rdev: u64,
    /// Inode number.
    pub ino: u64,
    /// Number of hard links.
    pub nlink: u64,
    /// Length in bytes.
    pub size: u64,
    /// Space taken, in units of 512 bytes.
    pub blocks: u64,
    /// Last change of the content.
    pub mtime_ns: i128,
    /// Last change of the inode.
    pub ctime_ns: i128,
}

/// The same in 80 bytes instead of 96.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) dev: u64,
    rdev: u64,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    blocks: u64,
    mtime: Time,
    ctime: Time,
    /// No file system counts further.
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

/// A time as the system calls have it, in pieces of four bytes: in one of eight it would take sixteen.
#[derive(Clone, Copy, Debug)]
struct Time {
    /// Seconds, the lower half first.
    seconds: [u32; 2],
    nanos: u32,
}

const SECOND: i128 = 1_000_000_000;

impl Time {
    /// From nanoseconds since the epoch, which came from 64 bits of seconds.
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
        fn times_come_back(seconds in any::<i64>(), nanos in 0..SECOND) {
            let time = i128::from(seconds) * SECOND + nanos;
            prop_assert_eq!(Time::new(time).nanos(), time);
        }
    }
}
