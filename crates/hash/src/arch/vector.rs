//! The operations that the generic compression functions are made of.

/// Vectors of `L` words. A value of the type proves that this CPU has the instructions.
///
/// Implementations are `#[inline(always)]`, and so is the generic code above them: only after both have been
/// inlined into a function with the target feature do they become single instructions.
pub(crate) trait Vector<Word, const L: usize>: Copy {
    /// `L` words, one of each message.
    type V: Copy;

    /// Reads `L` words.
    fn load(self, from: &[Word; L]) -> Self::V;
    /// Writes `L` words.
    fn store(self, v: Self::V, to: &mut [Word; L]);
    /// The same word `L` times.
    fn splat(self, word: Word) -> Self::V;
    /// Sum, without carry out of a word.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a ^ b`
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a ^ b ^ c`
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Bit by bit, `if a { b } else { c }`.
    fn choose(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Bit by bit, what most of the three say.
    fn majority(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a ^ (b | !c)`
    fn xor_or_not(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// All ones in each word that is the same in both, else zero.
    fn equal(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each word rotated right by `N` bits.
    fn rotate<const N: i32>(self, v: Self::V) -> Self::V;
    /// Each word shifted right by `N` bits.
    fn shift<const N: u32>(self, v: Self::V) -> Self::V;
    /// The 16 words that start at byte `at` of each message, first words first; big-endian where `BE`, else
    /// little-endian.
    ///
    /// # Panics
    /// If a message ends before them.
    fn words<const BE: bool>(self, data: &[&[u8]; L], at: usize) -> [Self::V; 16];
}
