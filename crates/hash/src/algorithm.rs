//! Which digests there are.

use std::fmt;
use std::str::FromStr;

use crate::dispatch::{self, Choice};
use crate::{Digest, Engine, Platform};

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
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Sha1 => "sha1",
            Self::Md5 => "md5",
            Self::Blake2b => "blake2b",
            Self::Blake3 => "blake3",
            Self::Xxh64 => "xxh64",
            Self::Xxh3 => "xxh3",
            Self::Xxh128 => "xxh128",
        }
    }

    /// The name in BSD tag lines, as `cksum`, `b2sum`, `b3sum` and `xxhsum` print it: `SHA256`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA256",
            Self::Sha512 => "SHA512",
            Self::Sha1 => "SHA1",
            Self::Md5 => "MD5",
            Self::Blake2b => "BLAKE2b",
            Self::Blake3 => "BLAKE3",
            Self::Xxh64 => "XXH64",
            Self::Xxh3 => "XXH3",
            Self::Xxh128 => "XXH128",
        }
    }

    /// Digest length in bytes.
    pub fn digest_len(self) -> usize {
        match self {
            Self::Sha512 | Self::Blake2b => 64,
            Self::Sha256 | Self::Blake3 => 32,
            Self::Sha1 => 20,
            Self::Md5 | Self::Xxh128 => 16,
            Self::Xxh64 | Self::Xxh3 => 8,
        }
    }

    /// What the engine of this algorithm runs on this platform, for messages to the user: `avx512`, `sha-ni`,
    /// `portable`.
    pub fn kernel_name(self, platform: Platform) -> &'static str {
        Choice::of(self, platform).name(self)
    }

    /// An engine for up to `keys` messages under way at once.
    pub fn engine<'d, D: AsRef<[u8]> + 'd>(self, platform: Platform, keys: usize) -> Box<dyn Engine<D> + 'd> {
        dispatch::engine(self, platform, keys)
    }

    /// Writes the digest of each message to the same place in `out`, many messages at a time where that is
    /// faster. Messages of up to one block cost least, and less still when they are all of one length.
    ///
    /// # Panics
    /// If there are more or fewer places than messages.
    pub fn hash_many(self, platform: Platform, messages: &[&[u8]], out: &mut [Digest]) {
        self.engine::<&[u8]>(platform, 0).hash_many(messages, out);
    }

    /// The digest of one message that is in memory.
    pub fn hash_one(self, platform: Platform, message: &[u8]) -> Digest {
        let mut out = [Digest::from_bytes(&[])];
        self.hash_many(platform, &[message], &mut out);
        out[0]
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    /// Reads a [name](Algorithm::name). Case, `-` and `_` do not matter, and `xxh3_64` and `xxh3_128` are
    /// understood too.
    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let mut name = text.to_ascii_lowercase();
        name.retain(|c| c != '-' && c != '_');
        match name.as_str() {
            "xxh364" => Ok(Self::Xxh3),
            "xxh3128" => Ok(Self::Xxh128),
            name => Self::ALL
                .into_iter()
                .find(|algorithm| algorithm.name() == name)
                .ok_or_else(|| UnknownAlgorithm(text.to_owned())),
        }
    }
}

/// A name that no algorithm has. The message lists those there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Algorithm::ALL.map(Algorithm::name).join(", ");
        write!(f, "unknown algorithm {:?}, expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownAlgorithm {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
            assert_eq!(algorithm.tag().parse(), Ok(algorithm));
            assert_eq!(algorithm.to_string(), algorithm.name());
        }
        for (text, algorithm) in [
            ("SHA-256", Algorithm::Sha256),
            ("sha_1", Algorithm::Sha1),
            ("xxh3_64", Algorithm::Xxh3),
            ("XXH3-128", Algorithm::Xxh128),
        ] {
            assert_eq!(text.parse(), Ok(algorithm));
        }
    }

    #[test]
    fn the_error_lists_every_name() {
        for bad in ["", "sha", "sha2567", "crc32", "sha256 "] {
            let message = bad.parse::<Algorithm>().unwrap_err().to_string();
            assert!(message.contains(&format!("{bad:?}")), "{message}");
            assert!(Algorithm::ALL.iter().all(|a| message.contains(a.name())), "{message}");
        }
    }

    #[test]
    fn digest_len_is_what_comes_out() {
        for algorithm in Algorithm::ALL {
            let digest = algorithm.hash_one(Platform::detect(), b"x");
            assert_eq!(digest.as_bytes().len(), algorithm.digest_len(), "{algorithm}");
        }
    }
}
