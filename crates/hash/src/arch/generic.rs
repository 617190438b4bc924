//! The compression functions, written once for vectors of any kind.

mod blake2b;
mod blake3;
mod md5;
mod sha1;
mod sha2;

pub(crate) use blake2b::blake2b;
pub(crate) use blake3::blake3;
pub(crate) use md5::md5;
pub(crate) use sha1::sha1;
pub(crate) use sha2::{sha256, sha512};
#[cfg(target_arch = "x86_64")]
pub(crate) use {
    md5::K as KMD5,
    sha2::{K256, K512, sigma},
};

/// Returns the number of blocks of `size` bytes in each lane.
///
/// # Panics
/// If the lanes differ in length.
#[inline(always)]
fn blocks<const L: usize>(data: &[&[u8]; L], size: usize) -> usize {
    let len = data[0].len();
    assert!(data.iter().all(|lane| lane.len() == len), "the lanes have different lengths");
    len / size
}
