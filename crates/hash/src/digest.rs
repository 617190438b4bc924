//! A finished digest.

/// The value of a digest: 8 to 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digest {
    bytes: [u8; 64],
    len: u8,
}

impl Digest {
    /// The bytes, in the order they are printed.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}
