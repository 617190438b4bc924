//! Finds out whether there can be names that differ only in their normal form.

use std::hash::{DefaultHasher, Hasher as _};

use crate::normal_form::push_normal;
use crate::{Budget, Candidates, Full, Reservation};

/// A list that grows is in memory twice, and may be half empty.
const HASH_BYTES: u64 = 3 * size_of::<u64>() as u64;

/// Paths that only one of two trees has.
#[derive(Debug)]
pub struct Unpaired {
    /// The hashes of their normal forms.
    hashes: [Vec<u64>; 2],
    /// Those of ASCII normal forms. The Kelvin sign, for example, stands for a `K`. ASCII paths themselves have no hashes.
    ascii: Vec<u64>,
    normal: Vec<u8>,
    reserved: Reservation,
}

impl Unpaired {
    /// Creates an empty collection.
    pub fn new(budget: &Budget) -> Self {
        let reserved = Reservation::new(budget);
        Self { hashes: Default::default(), ascii: Vec::new(), normal: Vec::new(), reserved }
    }

    /// Adds a path that only one tree has: the first one if `side` is 0, the second one if it is 1. ASCII paths cost nothing.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add(&mut self, side: usize, path: &[u8]) -> Result<(), Full> {
        if path.is_ascii() {
            return Ok(());
        }
        self.reserved.consume(HASH_BYTES)?;
        let hash = normal_hash(path, &mut self.normal);
        self.hashes[side].push(hash);
        if self.normal.is_ascii() {
            self.reserved.consume(HASH_BYTES)?;
            self.ascii.push(hash);
        }
        Ok(())
    }

    /// Returns the start of the next step if paths of both trees may have equal normal forms.
    pub fn candidates(self, budget: &Budget) -> Option<Candidates> {
        let Self { hashes: [mut hashes, mut others], ascii, reserved, .. } = self;
        others.sort_unstable();
        hashes.retain(|hash| others.binary_search(hash).is_ok());
        let has_ascii = !ascii.is_empty();
        hashes.extend(ascii);
        hashes.sort_unstable();
        hashes.dedup();
        if hashes.is_empty() {
            reserved.release();
            return None;
        }
        Some(Candidates::new(hashes, has_ascii, reserved, budget))
    }
}

/// Returns the hash of the normal form of a path, and stores the normal form in `normal`.
pub(super) fn normal_hash(path: &[u8], normal: &mut Vec<u8>) -> u64 {
    normal.clear();
    push_normal(path, normal);
    let mut hasher = DefaultHasher::new();
    hasher.write(normal);
    hasher.finish()
}
