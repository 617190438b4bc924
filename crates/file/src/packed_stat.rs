//! [`Stat`] in fewer bytes, for tables.

use ftk_walk::FileType;

use crate::Stat;

/// A [`Stat`] in 92 bytes instead of 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub struct PackedStat {
    dev: u64,
    rdev: u64,
    ino: u64,
    size: u64,
    blocks: u64,
    mtime: Time,
    ctime: Time,
    birth: Time,
    /// No file system supports more links than this can count.
    nlink: u32,
    uid: u32,
    gid: u32,
    mode: u16,
    file_type: FileType,
}

impl PackedStat {
    /// Returns the device and the inode number.
    pub fn identity(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl From<&Stat> for PackedStat {
    fn from(stat: &Stat) -> Self {
        Self {
            dev: stat.dev,
            rdev: stat.rdev,
            ino: stat.ino,
            size: stat.size,
            blocks: stat.blocks,
            mtime: Time::new(stat.mtime_ns),
            ctime: Time::new(stat.ctime_ns),
            birth: stat.birth_ns.map_or(Time::UNKNOWN, Time::new),
            nlink: u32::try_from(stat.nlink).unwrap_or(u32::MAX),
            uid: stat.uid,
            gid: stat.gid,
            mode: stat.mode as u16,
            file_type: stat.file_type,
        }
    }
}

impl From<&PackedStat> for Stat {
    fn from(packed: &PackedStat) -> Self {
        Self {
            file_type: packed.file_type,
            mode: packed.mode.into(),
            uid: packed.uid,
            gid: packed.gid,
            dev: packed.dev,
            rdev: packed.rdev,
            ino: packed.ino,
            nlink: packed.nlink.into(),
            size: packed.size,
            blocks: packed.blocks,
            mtime_ns: packed.mtime.nanos(),
            ctime_ns: packed.ctime.nanos(),
            birth_ns: (packed.birth != Time::UNKNOWN).then(|| packed.birth.nanos()),
        }
    }
}

/// A time as seconds and nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
struct Time {
    seconds: i64,
    nanos: u32,
}

const SECOND: i128 = 1_000_000_000;

impl Time {
    /// No time. It has more nanoseconds than a second.
    const UNKNOWN: Self = Self { seconds: 0, nanos: u32::MAX };

    /// Converts nanoseconds since the epoch. Its seconds must fit into an `i64`.
    fn new(nanos: i128) -> Self {
        Self { seconds: nanos.div_euclid(SECOND) as i64, nanos: nanos.rem_euclid(SECOND) as u32 }
    }

    fn nanos(self) -> i128 {
        i128::from(self.seconds) * SECOND + i128::from(self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_packed_stat_is_small() {
        assert_eq!((size_of::<PackedStat>(), size_of::<Stat>()), (92, 128));
    }

    #[test]
    fn packing_loses_nothing() {
        let numbers = Stat { mode: 0o7644, uid: 1, gid: 2, dev: 3, rdev: 4, ino: 5, nlink: 6, ..Stat::EMPTY };
        let stat = Stat { size: 7, blocks: 8, mtime_ns: -9, ctime_ns: 10, ..numbers };
        for birth_ns in [None, Some(0), Some(-11)] {
            let stat = Stat { file_type: FileType::Char, birth_ns, ..stat };
            assert_eq!(Stat::from(&PackedStat::from(&stat)), stat);
        }
    }

    proptest! {
        #[test]
        fn times_are_converted_without_loss(seconds in any::<i64>(), nanos in 0..SECOND) {
            let time = i128::from(seconds) * SECOND + nanos;
            prop_assert_eq!(Time::new(time).nanos(), time);
            prop_assert!(Time::new(time) != Time::UNKNOWN);
        }
    }
}
