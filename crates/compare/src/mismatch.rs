//! A place where two inputs differ.

/// A byte that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, counted from 0 and from behind what was skipped.
    pub offset: u64,
    /// The byte of the first input.
    pub a: u8,
    /// The byte of the second.
    pub b: u8,
}
