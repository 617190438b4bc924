//! Which digests there are, and the one place where a kernel is chosen.

use crate::Engine;

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Algorithm {
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// SHA-512 (FIPS 180-4).
    Sha512,
    /// SHA-1 (FIPS 180-4). Broken against an attacker.
    Sha1,
    /// MD5 (RFC 1321). Broken against an attacker.
    Md5,
    /// BLAKE2b with 64 bytes of output (RFC 7693).
    Blake2b,
    /// BLAKE3 with 32 bytes of output.
    Blake3,
    /// XXH64. Not cryptographic.
    Xxh64,
    /// XXH3 with 64 bits. Not cryptographic.
    Xxh3,
    /// XXH3 with 128 bits. Not cryptographic.
    Xxh128,
}

/// What this CPU can do, found once at run time.
#[derive(Clone, Copy, Debug)]
pub struct Platform(());

impl Platform {
    /// Looks at the CPU.
    pub fn detect() -> Self {
        Self(())
    }
}

impl Algorithm {
    /// Every algorithm, in the order they are listed to users.
    pub const ALL: [Self; 9] = [
        Self::Sha256,
        Self::Sha1,
        Self::Sha512,
        Self::Md5,
        Self::Blake2b,
        Self::Blake3,
        Self::Xxh64,
        Self::Xxh3,
        Self::Xxh128,
    ];
    /// The name on the command line and in JSON: `sha256`.
    pub fn name(self) -> &'static str {
        todo!()
    }
    /// The name in BSD tag lines: `SHA256`.
    pub fn tag(self) -> &'static str {
        todo!()
    }
    /// Digest length in bytes.
    pub fn digest_len(self) -> usize {
        todo!()
    }
    /// An engine for up to `keys` messages under way at once.
    pub fn engine<'d, D: AsRef<[u8]> + 'd>(self, platform: Platform, keys: usize) -> Box<dyn Engine<D> + 'd> {
        let _ = (platform, keys);
        todo!()
    }
}
