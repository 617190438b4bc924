//! Byte-exact comparison: the kernel, two files by several workers, two trees.
//!
//! [`first_difference`] and [`differences`] compare what is in memory, [`same_content`] proves that two open files
//! hold the same.

mod kernel;
mod same;
#[cfg(test)]
mod testing;

pub use kernel::{differences, first_difference};
pub use same::{Side, same_content};
