//! Distinct content for each file.

/// `len` bytes that look random and depend on `seed` alone.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    fastrand::Rng::with_seed(seed).fill(&mut bytes);
    bytes
}
