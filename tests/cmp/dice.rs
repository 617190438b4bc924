//! Repeatable random numbers, and pairs of files made from them.

use crate::harness::bytes;

/// Random numbers that depend only on a seed.
pub(super) struct Dice {
    bytes: std::vec::IntoIter<u8>,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { bytes: bytes(seed, 64 << 10).into_iter() }
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let word: Vec<u8> = self.bytes.by_ref().take(8).collect();
        let word = u64::from_le_bytes(word.try_into().expect("the dice were thrown too often"));
        (word % n as u64) as usize
    }

    pub(super) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(super) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

/// Two files. The second is the first with bytes changed, cut off or appended, or unchanged.
pub(super) fn pair(seed: u64) -> [Vec<u8>; 2] {
    const LENGTHS: [usize; 14] = [0, 1, 2, 7, 8, 9, 100, 511, 4095, 4096, 4097, 65_536, 131_073, 300_000];
    let mut dice = Dice::new(seed);
    // Some lines, and long ranges without a line end.
    let ends = dice.one_of(&[1, 16, 256]);
    let is_end = |byte: u8, nth: usize| usize::from(byte).is_multiple_of(ends) && nth.is_multiple_of(3);
    let line = |(byte, nth): (u8, usize)| if is_end(byte, nth) { b'\n' } else { byte };
    let len = dice.one_of(&LENGTHS);
    let a: Vec<u8> = bytes(seed, len).into_iter().zip(0..).map(line).collect();
    let mut b = a.clone();
    match dice.below(4) {
        0 => b.truncate(dice.below(len + 1)),
        1 => b.extend(bytes(seed + 1, dice.below(5000))),
        _ => {}
    }
    if !b.is_empty() {
        for _ in 0..dice.one_of(&[0, 0, 1, 2, 9, 60]) {
            let (at, run) = (dice.below(b.len()), dice.one_of(&[1, 1, 3, 700]));
            b[at..].iter_mut().take(run).for_each(|byte| *byte ^= 0x41);
        }
    }
    if dice.chance(2) { [a, b] } else { [b, a] }
}
