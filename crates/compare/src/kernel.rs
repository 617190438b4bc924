//! Finds where two slices differ.
//!
//! Equal ranges are skipped by comparing slices. This calls the C library's `memcmp`, which uses the widest
//! instructions of the CPU, so that two files in memory are compared at the speed of memory. That of musl
//! compares byte by byte, so a loop with vectors replaces it. Only a chunk with a difference is examined in
//! words of eight bytes.

/// Bytes compared at a time. Large enough to make the cost of the call irrelevant, and small enough that
/// examining a chunk twice costs nothing.
const CHUNK: usize = 4096;

/// Bytes in a word.
const WORD: usize = size_of::<u64>();

/// Returns the index of the first byte that differs, up to the length of the shorter slice.
///
/// ```
/// use ftk_compare::first_difference;
///
/// assert_eq!(first_difference(b"same start, then this", b"same start, then that"), Some(19));
/// assert_eq!(first_difference(b"as far as it goes", b"as far"), None);
/// ```
pub fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    differences(a, b).next()
}

/// Returns the indices of all bytes that differ, ascending, up to the length of the shorter slice.
pub fn differences<'d>(a: &'d [u8], b: &'d [u8]) -> impl Iterator<Item = usize> + use<'d> {
    let len = a.len().min(b.len());
    Differences { a: &a[..len], b: &b[..len], next: 0, differing_end: 0, word: 0, word_start: 0 }
}

/// The state of the search between two results.
struct Differences<'d> {
    a: &'d [u8],
    b: &'d [u8],
    /// Everything before this index has been examined.
    next: usize,
    /// The end of a chunk that contains a difference.
    differing_end: usize,
    /// The rest of the word that begins at `word_start`. Its non-zero bytes are those that differ.
    word: u64,
    word_start: usize,
}

impl Iterator for Differences<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            if self.next == self.differing_end {
                self.find_differing()?;
            }
            let end = self.differing_end.min(self.next + WORD);
            self.word = load(&self.a[self.next..end]) ^ load(&self.b[self.next..end]);
            self.word_start = self.next;
            self.next = end;
        }
        let byte = self.word.trailing_zeros() as usize / 8;
        self.word &= !(0xff << (8 * byte));
        Some(self.word_start + byte)
    }
}

impl Differences<'_> {
    /// Moves to the next chunk that contains a difference, if any.
    fn find_differing(&mut self) -> Option<()> {
        let (a, b) = (&self.a[self.next..], &self.b[self.next..]);
        let nth = a.chunks(CHUNK).zip(b.chunks(CHUNK)).position(|(a, b)| !is_equal(a, b))?;
        self.next += nth * CHUNK;
        self.differing_end = self.a.len().min(self.next + CHUNK);
        Some(())
    }
}

/// Whether two chunks of the same length are equal.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    if cfg!(target_env = "musl") { is_equal_by_vectors(a, b) } else { a == b }
}

/// Compares all bytes, without a branch, so that the compiler uses vectors.
fn is_equal_by_vectors(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

/// Loads up to eight bytes of a slice as a little-endian word.
fn load(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(a: &[u8], b: &[u8]) -> Vec<usize> {
        a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).map(|(index, _)| index).collect()
    }

    #[test]
    fn one_differing_byte_is_found_near_every_boundary() {
        let a = vec![7; 2 * CHUNK + 13];
        for len in [0, 1, 7, 8, 9, 63, 64, 65, CHUNK - 1, CHUNK, CHUNK + 1, a.len()] {
            let same = a[..len].to_vec();
            assert_eq!(first_difference(&a[..len], &same), None);
            for at in (0..len).filter(|at| at % CHUNK < 20 || at % CHUNK > CHUNK - 20 || len - at < 20) {
                let mut b = same.clone();
                b[at] ^= 0x80;
                assert_eq!(first_difference(&a, &b), Some(at));
                assert_eq!(differences(&b, &a).collect::<Vec<_>>(), [at]);
            }
        }
    }

    /// With glibc, only this test runs the loop.
    #[test]
    fn a_bit_anywhere_makes_a_chunk_different() {
        for len in [0, 1, 15, 16, 17, 63, 64, 65, CHUNK - 1, CHUNK] {
            let a = vec![7; len];
            let mut b = a.clone();
            assert!(is_equal_by_vectors(&a, &b));
            for at in 0..len {
                b[at] ^= 1 << (at % 8);
                assert!(!is_equal_by_vectors(&a, &b), "byte {at} of {len}");
                b[at] = a[at];
            }
        }
    }

    #[test]
    fn all_bytes_differ() {
        let (a, b) = (vec![0; 9001], vec![0xff; 9000]);
        assert!(differences(&a, &b).eq(0..9000));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn finds_what_a_loop_over_bytes_finds(
            mut a in prop::collection::vec(any::<u8>(), 0..20_000),
            len in 0..20_000_usize,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
            offset in 0..16_usize,
        ) {
            let mut b = a.clone();
            b.resize(len, 1);
            for (at, byte) in changes {
                for bytes in [&mut b, &mut a] {
                    if !bytes.is_empty() && byte % 3 > 0 {
                        let at = at.index(bytes.len());
                        bytes[at] = byte;
                    }
                }
            }
            let (a, b) = (a.get(offset..).unwrap_or_default(), b.get(offset / 2..).unwrap_or_default());
            let expected = naive(a, b);
            prop_assert_eq!(first_difference(a, b), expected.first().copied());
            prop_assert_eq!(differences(a, b).collect::<Vec<_>>(), expected);
        }
    }
}
