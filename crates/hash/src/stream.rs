//! The trait of hash functions for single messages, implemented for the hashers of external crates.

use crate::Digest;

/// A hash function that processes one message in pieces.
pub(crate) trait Stream: Clone + Send + Sync + 'static {
    /// Creates the state before the first byte.
    fn new() -> Self;
    /// Hashes the next bytes.
    fn update(&mut self, data: &[u8]);
    /// Returns the digest of all bytes.
    fn finish(self) -> Digest;
    /// Writes the digest of a whole message to `out`.
    fn whole(data: &[u8], out: &mut Digest) {
        let mut state = Self::new();
        state.update(data);
        *out = state.finish();
    }
}

/// A hasher of the RustCrypto family.
#[derive(Clone)]
pub(crate) struct RustCrypto<H>(H);

impl<H: sha2::Digest + Clone + Send + Sync + 'static> Stream for RustCrypto<H> {
    fn new() -> Self {
        Self(H::new())
    }
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }
    fn finish(self) -> Digest {
        Digest::from_bytes(&self.0.finalize())
    }
    fn whole(data: &[u8], out: &mut Digest) {
        *out = Digest::from_bytes(&H::digest(data));
    }
}

impl Stream for blake3::Hasher {
    fn new() -> Self {
        Self::new()
    }
    fn update(&mut self, data: &[u8]) {
        self.update(data);
    }
    fn finish(self) -> Digest {
        Digest::from_bytes(self.finalize().as_bytes())
    }
    fn whole(data: &[u8], out: &mut Digest) {
        out.set([*blake3::hash(data).as_bytes()]);
    }
}

/// Implements the trait for a hasher of SHA-3, whose compression is inlined where it is used. These functions are
/// not generic, so that this is here, where tests optimise it too.
macro_rules! sha3 {
    ($($name:ident)*) => {$(
        impl Stream for sha3::$name {
            fn new() -> Self {
                Self::default()
            }
            fn update(&mut self, data: &[u8]) {
                sha3::Digest::update(self, data);
            }
            fn finish(self) -> Digest {
                Digest::from_bytes(&sha3::Digest::finalize(self))
            }
        }
    )*};
}

sha3!(Sha3_256 Sha3_512);

/// CRC-32 (ISO 3309).
#[derive(Clone)]
pub(crate) struct Crc32(crc32fast::Hasher);

impl Stream for Crc32 {
    fn new() -> Self {
        Self(crc32fast::Hasher::new())
    }
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }
    fn finish(self) -> Digest {
        Digest::from_words([self.0.finalize().to_be_bytes()])
    }
}

/// CRC-32C (RFC 3720).
#[derive(Clone)]
pub(crate) struct Crc32c(u32);

impl Stream for Crc32c {
    fn new() -> Self {
        Self(0)
    }
    fn update(&mut self, data: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, data);
    }
    fn finish(self) -> Digest {
        Digest::from_words([self.0.to_be_bytes()])
    }
}

/// CRC-64/NVME.
#[derive(Clone)]
pub(crate) struct Crc64Nvme(crc64fast_nvme::Digest);

impl Stream for Crc64Nvme {
    fn new() -> Self {
        Self(crc64fast_nvme::Digest::new())
    }
    fn update(&mut self, data: &[u8]) {
        self.0.write(data);
    }
    fn finish(self) -> Digest {
        Digest::from_words([self.0.sum64().to_be_bytes()])
    }
}

// The canonical form of an XXH digest, as xxhsum prints it, is big-endian. `whole` is inlined, so that a digest is
// written to its place: copying the word that was just stored would take longer than hashing a short message.

impl Stream for twox_hash::XxHash64 {
    fn new() -> Self {
        Self::with_seed(0)
    }
    fn update(&mut self, data: &[u8]) {
        std::hash::Hasher::write(self, data);
    }
    fn finish(self) -> Digest {
        Digest::from_words([std::hash::Hasher::finish(&self).to_be_bytes()])
    }
    #[inline(always)]
    fn whole(data: &[u8], out: &mut Digest) {
        out.set([Self::oneshot(0, data).to_be_bytes()]);
    }
}

impl Stream for twox_hash::XxHash3_64 {
    fn new() -> Self {
        Self::new()
    }
    fn update(&mut self, data: &[u8]) {
        std::hash::Hasher::write(self, data);
    }
    fn finish(self) -> Digest {
        Digest::from_words([std::hash::Hasher::finish(&self).to_be_bytes()])
    }
    #[inline(always)]
    fn whole(data: &[u8], out: &mut Digest) {
        out.set([Self::oneshot(data).to_be_bytes()]);
    }
}

impl Stream for twox_hash::XxHash3_128 {
    fn new() -> Self {
        Self::new()
    }
    fn update(&mut self, data: &[u8]) {
        self.write(data);
    }
    fn finish(self) -> Digest {
        Digest::from_words([self.finish_128().to_be_bytes()])
    }
    #[inline(always)]
    fn whole(data: &[u8], out: &mut Digest) {
        out.set([Self::oneshot(data).to_be_bytes()]);
    }
}
