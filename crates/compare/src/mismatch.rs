//! One byte at which two inputs differ.

/// One byte at which two inputs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The offset, counted from 0 after the skipped bytes.
    pub offset: u64,
    /// The byte of the first input.
    pub a: u8,
    /// The byte of the second input.
    pub b: u8,
}
