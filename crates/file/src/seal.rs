//! A sum over the entries of a tree that shows whether anything in it has changed.

use std::hash::{BuildHasher, RandomState};
use std::ops::AddAssign;

use crate::Stat;

/// The sum over the entries of a tree. Equal sums of one [`Sealer`] mean equal entries: the same files and directories, under
/// the same names in the same directories, with the same sizes, times, owners and permissions. Contents are not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seal(u128);

impl AddAssign for Seal {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// Computes seals. Its keys are random, so no user can make entries whose changes cancel each other out. Seals cannot be
/// stored.
#[derive(Clone, Debug, Default)]
pub struct Sealer([RandomState; 2]);

impl Sealer {
    /// Returns the seal of one entry. `dir`: device and inode number of its directory.
    pub fn entry(&self, dir: (u64, u64), name: &[u8], stat: &Stat) -> Seal {
        let &Stat { file_type, mode, uid, gid, dev, ino, size, mtime_ns, ctime_ns, .. } = stat;
        let entry = (dir, name, file_type, mode, uid, gid, (dev, ino, size), mtime_ns, ctime_ns);
        let [high, low] = [&self.0[0], &self.0[1]].map(|keys| keys.hash_one(entry));
        Seal(u128::from(high) << 64 | u128::from(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_entry_counts_and_the_order_does_not() {
        let sealer = Sealer::default();
        let stat = Stat { ino: 3, size: 9, mtime_ns: 5, ctime_ns: 6, ..Stat::EMPTY };
        let seal = sealer.entry((1, 2), b"name", &stat);
        let others = [
            sealer.entry((1, 3), b"name", &stat),
            sealer.entry((2, 2), b"name", &stat),
            sealer.entry((1, 2), b"nam", &stat),
            sealer.entry((1, 2), b"name", &Stat { dev: 1, ..stat }),
            sealer.entry((1, 2), b"name", &Stat { ino: 4, ..stat }),
            sealer.entry((1, 2), b"name", &Stat { size: 8, ..stat }),
            sealer.entry((1, 2), b"name", &Stat { mtime_ns: 4, ..stat }),
            sealer.entry((1, 2), b"name", &Stat { ctime_ns: 7, ..stat }),
            sealer.entry((1, 2), b"name", &Stat { mode: 0o644, ..stat }),
            sealer.entry((1, 2), b"name", &Stat { uid: 1, ..stat }),
            sealer.entry((1, 2), b"name", &Stat { gid: 1, ..stat }),
            Sealer::default().entry((1, 2), b"name", &stat),
        ];
        assert!(others.iter().all(|other| *other != seal));
        let sum = |parts: &mut dyn Iterator<Item = &Seal>| {
            let mut sum = Seal::default();
            parts.for_each(|part| sum += *part);
            sum
        };
        assert_eq!(sum(&mut others.iter()), sum(&mut others.iter().rev()));
        // An entry that is there twice is not the same as one that is not there.
        assert_ne!(sum(&mut [seal, seal].iter()), Seal::default());
    }
}
