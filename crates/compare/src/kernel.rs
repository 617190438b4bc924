//! Where two slices differ.
//!
//! Equal stretches are skipped by comparing slices, which is the C library's `memcmp`: it takes the widest words of
//! the CPU, and two files in memory are compared as fast as memory delivers them. Only a stretch that differs is
//! looked at in words of eight bytes.

/// Bytes compared at a time: enough that the call does not count, few enough that looking at them twice costs
/// nothing either.
const STRETCH: usize = 4096;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// The index of the first byte that differs, within the length both slices have.
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

/// The indices of all bytes that differ, ascending, within the length both slices have.
pub fn differences<'d>(a: &'d [u8], b: &'d [u8]) -> impl Iterator<Item = usize> + use<'d> {
    let len = a.len().min(b.len());
    Differences { a: &a[..len], b: &b[..len], next: 0, dirty_end: 0, word: 0, word_start: 0 }
}

/// The search, between two of its answers.
struct Differences<'d> {
    a: &'d [u8],
    b: &'d [u8],
    /// Everything before was looked at.
    next: usize,
    /// Up to here is a stretch that is known to differ somewhere.
    dirty_end: usize,
    /// What is left of the word that begins at `word_start`: bytes that differ are not zero.
    word: u64,
    word_start: usize,
}

impl Iterator for Differences<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            if self.next == self.dirty_end {
                self.find_dirty()?;
            }
            let end = self.dirty_end.min(self.next + WORD);
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
    /// Goes to the next stretch that differs, if there is one.
    fn find_dirty(&mut self) -> Option<()> {
        let (a, b) = (&self.a[self.next..], &self.b[self.next..]);
        let nth = a.chunks(STRETCH).zip(b.chunks(STRETCH)).position(|(a, b)| a != b)?;
        self.next += nth * STRETCH;
        self.dirty_end = self.a.len().min(self.next + STRETCH);
        Some(())
    }
}

/// The first bytes of a slice, at most a word, the first of them in the lowest place.
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
    fn one_byte_at_every_place_round_the_borders() {
        let a = vec![7; 2 * STRETCH + 13];
        for len in [0, 1, 7, 8, 9, 63, 64, 65, STRETCH - 1, STRETCH, STRETCH + 1, a.len()] {
            let same = a[..len].to_vec();
            assert_eq!(first_difference(&a[..len], &same), None);
            for at in (0..len).filter(|at| at % STRETCH < 20 || at % STRETCH > STRETCH - 20 || len - at < 20)
            {
                let mut b = same.clone();
                b[at] ^= 0x80;
                assert_eq!(first_difference(&a, &b), Some(at));
                assert_eq!(differences(&b, &a).collect::<Vec<_>>(), [at]);
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
        fn what_a_loop_over_bytes_finds(
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
