//! Digests: many messages at once must have the same digests as each alone.

use ftk_hash::{Algorithm, Digest, Platform, Simd};

/// Cuts the input into messages, with lengths from its first bytes, and compares every kernel of this machine
/// with the portable one.
pub fn digests(data: &[u8]) {
    let [algorithm, count, data @ ..] = data else { return };
    let algorithm = Algorithm::ALL[usize::from(*algorithm) % Algorithm::ALL.len()];
    let (lengths, mut bytes) = data.split_at((usize::from(*count) % 64).min(data.len()));
    let mut messages = Vec::new();
    for &length in lengths {
        let message;
        (message, bytes) = bytes.split_at(usize::from(length).min(bytes.len()));
        messages.push(message);
    }
    messages.push(bytes);
    let portable = Platform::up_to(Simd::Portable).expect("every CPU can do without");
    let expected: Vec<_> =
        messages.iter().map(|message| algorithm.hash_one_with(portable, message)).collect();
    for simd in Simd::ALL {
        if let Ok(platform) = Platform::up_to(simd) {
            let mut digests = vec![Digest::from_bytes(&[]); messages.len()];
            algorithm.hash_many_with(platform, &messages, &mut digests);
            assert_eq!(digests, expected, "{algorithm} by {simd:?}");
        }
    }
}
