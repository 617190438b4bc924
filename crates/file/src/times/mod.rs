//! Times of copies: rounded by a file system or a program, shifted as by daylight saving time on FAT, or both.

mod agreement;
mod census;
mod distinct;
mod estimate;
mod grid;
mod sample;
#[cfg(test)]
mod tests;

pub use agreement::{RoundedSide, Rounding, TimeAgreement};
pub use census::TimeCensus;
pub use sample::EvenSample;
