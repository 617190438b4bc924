//! The vector operations used by the generic compression functions.

/// Vectors of `L` words. A value of the type proves that this CPU has the instructions.
///
/// The implementations and the generic code that uses them are `#[inline(always)]`. They become single
/// instructions only after inlining into a function with the target feature.
pub(crate) trait Vector<Word, const L: usize>: Copy {
    /// A vector of `L` words, one of each message.
    type V: Copy;

    /// Reads `L` words.
    fn load(self, from: &[Word; L]) -> Self::V;
    /// Writes `L` words.
    fn store(self, v: Self::V, to: &mut [Word; L]);
    /// Returns `L` copies of a word.
    fn splat(self, word: Word) -> Self::V;
    /// Adds words, wrapping around.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a ^ b`
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a ^ b ^ c`
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// For each bit, `if a { b } else { c }`.
    fn choose(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// For each bit, the majority of the three.
    fn majority(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a ^ (b | !c)`
    fn xor_or_not(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// All ones in each word that is equal in both, otherwise zero.
    fn equal(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rotates each word right by `N` bits.
    fn rotate<const N: i32>(self, v: Self::V) -> Self::V;
    /// Shifts each word right by `N` bits.
    fn shift<const N: u32>(self, v: Self::V) -> Self::V;
    /// Reads the 16 words that start at byte `at` of each message. Element `i` holds word `i` of all
    /// messages. The words are big-endian if `BE`, otherwise little-endian.
    ///
    /// # Panics
    /// If a message ends before the last word.
    fn words<const BE: bool>(self, data: &[&[u8]; L], at: usize) -> [Self::V; 16];
}
