//! The digest algorithms and their names.

use std::fmt;
use std::str::FromStr;

use crate::dispatch::{self, Choice};
use crate::{Digest, Engine, Platform, Simd, Tuning};

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Algorithm {
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// SHA-512 (FIPS 180-4).
    Sha512,
    /// SHA-1 (FIPS 180-4). Not secure against deliberate collisions.
    Sha1,
    /// MD5 (RFC 1321). Not secure against deliberate collisions.
    Md5,
    /// BLAKE2b with 64 bytes of output (RFC 7693).
    Blake2b,
    /// BLAKE3 with 32 bytes of output.
    Blake3,
    /// SHA-224 (FIPS 180-4).
    Sha224,
    /// SHA-384 (FIPS 180-4).
    Sha384,
    /// SHA3-256 (FIPS 202).
    Sha3_256,
    /// SHA3-512 (FIPS 202).
    Sha3_512,
    /// XXH64. Not cryptographic.
    Xxh64,
    /// XXH3 with 64 bits. Not cryptographic.
    Xxh3,
    /// XXH3 with 128 bits. Not cryptographic.
    Xxh128,
    /// CRC-32 of zlib, gzip and PNG (ISO 3309), as 8 digits. It is another value than that of `cksum`. Finds
    /// accidental changes, but does not [identify contents](Algorithm::identifies_content).
    Crc32,
    /// CRC-32C, the CRC of Castagnoli (RFC 3720). Does not [identify contents](Algorithm::identifies_content)
    /// either.
    Crc32c,
    /// CRC-64/NVME, which S3 stores for whole objects. Does not [identify contents](Algorithm::identifies_content) either.
    Crc64Nvme,
}

impl Algorithm {
    /// All algorithms, in the order in which they are listed to users.
    pub const ALL: [Self; 16] = [
        Self::Sha256,
        Self::Sha1,
        Self::Sha512,
        Self::Md5,
        Self::Blake2b,
        Self::Blake3,
        Self::Sha224,
        Self::Sha384,
        Self::Sha3_256,
        Self::Sha3_512,
        Self::Xxh64,
        Self::Xxh3,
        Self::Xxh128,
        Self::Crc32,
        Self::Crc32c,
        Self::Crc64Nvme,
    ];

    /// Returns the name on the command line and in JSON, such as `sha256`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Sha1 => "sha1",
            Self::Md5 => "md5",
            Self::Blake2b => "blake2b",
            Self::Blake3 => "blake3",
            Self::Sha224 => "sha224",
            Self::Sha384 => "sha384",
            Self::Sha3_256 => "sha3-256",
            Self::Sha3_512 => "sha3-512",
            Self::Xxh64 => "xxh64",
            Self::Xxh3 => "xxh3",
            Self::Xxh128 => "xxh128",
            Self::Crc32 => "crc32",
            Self::Crc32c => "crc32c",
            Self::Crc64Nvme => "crc64nvme",
        }
    }

    /// Returns the name in BSD tag lines, as `cksum`, `b2sum`, `b3sum`, `xxhsum` and `rhash` print it,
    /// such as `SHA256`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA256",
            Self::Sha512 => "SHA512",
            Self::Sha1 => "SHA1",
            Self::Md5 => "MD5",
            Self::Blake2b => "BLAKE2b",
            Self::Blake3 => "BLAKE3",
            Self::Sha224 => "SHA224",
            Self::Sha384 => "SHA384",
            Self::Sha3_256 => "SHA3-256",
            Self::Sha3_512 => "SHA3-512",
            Self::Xxh64 => "XXH64",
            Self::Xxh3 => "XXH3",
            Self::Xxh128 => "XXH128",
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Crc64Nvme => "CRC64NVME",
        }
    }

    /// Returns the length of a digest in bytes.
    pub fn digest_len(self) -> usize {
        match self {
            Self::Sha512 | Self::Blake2b | Self::Sha3_512 => 64,
            Self::Sha384 => 48,
            Self::Sha256 | Self::Blake3 | Self::Sha3_256 => 32,
            Self::Sha224 => 28,
            Self::Sha1 => 20,
            Self::Md5 | Self::Xxh128 => 16,
            Self::Xxh64 | Self::Xxh3 | Self::Crc64Nvme => 8,
            Self::Crc32 | Self::Crc32c => 4,
        }
    }

    /// The algorithms that [identify contents](Self::identifies_content), the most secure ones first.
    pub const BY_STRENGTH: [Self; 13] = [
        Self::Sha256,
        Self::Blake3,
        Self::Sha512,
        Self::Blake2b,
        Self::Sha3_256,
        Self::Sha3_512,
        Self::Sha384,
        Self::Sha224,
        Self::Xxh128,
        Self::Sha1,
        Self::Md5,
        Self::Xxh3,
        Self::Xxh64,
    ];

    /// Returns whether files cannot be crafted to have equal digests, as far as is known.
    pub fn is_cryptographic(self) -> bool {
        Self::BY_STRENGTH[..8].contains(&self)
    }

    /// Returns whether equal digests and sizes mean that contents are equal, unless they were crafted. Among
    /// 100,000 different files of one size, two have the same CRC of 32 bits by chance; and files that differ in a few
    /// places have equal CRCs of any length more often than by chance.
    pub fn identifies_content(self) -> bool {
        !matches!(self, Self::Crc32 | Self::Crc32c | Self::Crc64Nvme)
    }

    /// Returns the name of the kernel that this algorithm uses on this platform, for messages to the user:
    /// `avx512`, `sha-ni` or `portable`, for example.
    pub fn kernel_name(self, platform: Platform) -> &'static str {
        Choice::of(self, platform).name(self)
    }

    /// Returns the kernels that this platform has for the algorithm, those with the widest vectors first: the
    /// [name](Algorithm::kernel_name) of each, and the tuning that chooses it.
    pub fn kernels(self, platform: Platform) -> Vec<(&'static str, Tuning)> {
        let mut kernels: Vec<(&str, Tuning)> = Vec::new();
        for simd in Simd::ALL.into_iter().rev() {
            let tuning = Tuning { simd, few: None };
            let name = self.kernel_name(platform.tuned(self, tuning));
            if kernels.iter().all(|(other, _)| *other != name) {
                kernels.push((name, tuning));
            }
        }
        kernels
    }

    /// Creates an engine for up to `keys` messages at once.
    pub fn engine<'d, D: AsRef<[u8]> + 'd>(self, platform: Platform, keys: usize) -> Box<dyn Engine<D> + 'd> {
        dispatch::engine(self, platform, keys)
    }

    /// Returns the digest of one message in memory.
    ///
    /// ```
    /// use ftk_hash::Algorithm;
    ///
    /// let digest = Algorithm::Crc32.hash_one(b"123456789");
    /// assert_eq!(digest.to_string(), "cbf43926");
    /// ```
    pub fn hash_one(self, message: &[u8]) -> Digest {
        self.hash_one_with(Platform::detect(), message)
    }

    /// Returns the digest of one message in memory, by the kernels that `platform` allows.
    pub fn hash_one_with(self, platform: Platform, message: &[u8]) -> Digest {
        let mut out = [Digest::from_bytes(&[])];
        self.hash_many_with(platform, &[message], &mut out);
        out[0]
    }

    /// Computes the digest of each message. The digest of `messages[i]` is written to `out[i]`.
    ///
    /// Hashes many messages at once where that is faster. Messages of at most one block are the fastest, most
    /// of all if they have the same length.
    ///
    /// # Panics
    /// If `messages` and `out` differ in length.
    ///
    /// # Examples
    ///
    /// ```
    /// use ftk_hash::{Algorithm, Digest};
    ///
    /// let users: [&[u8]; 3] = [b"alice", b"bob", b"carol"];
    /// let mut digests = [Digest::default(); 3];
    /// Algorithm::Sha256.hash_many(&users, &mut digests);
    /// assert_eq!(digests[1], Algorithm::Sha256.hash_one(b"bob"));
    /// ```
    pub fn hash_many(self, messages: &[&[u8]], out: &mut [Digest]) {
        self.hash_many_with(Platform::detect(), messages, out);
    }

    /// Computes the digest of each message, as [`hash_many`](Self::hash_many) does, by the kernels that `platform` allows.
    ///
    /// # Panics
    /// If `messages` and `out` differ in length.
    pub fn hash_many_with(self, platform: Platform, messages: &[&[u8]], out: &mut [Digest]) {
        dispatch::hash_many(self, platform, messages, out);
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    /// Parses a [name](Algorithm::name). Ignores case, `-` and `_`, and also accepts `xxh3_64` and
    /// `xxh3_128`.
    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
        let name = plain(text);
        match name.as_str() {
            "xxh364" => Ok(Self::Xxh3),
            "xxh3128" => Ok(Self::Xxh128),
            name => Self::ALL
                .into_iter()
                .find(|algorithm| plain(algorithm.name()) == name)
                .ok_or_else(|| UnknownAlgorithm(text.to_owned())),
        }
    }
}

/// The error for an unknown algorithm name. Its message lists all names.
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
    fn all_algorithms_that_identify_contents_are_ordered_by_strength() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::BY_STRENGTH.contains(&algorithm), algorithm.identifies_content());
        }
        assert!(Algorithm::Sha256.is_cryptographic() && Algorithm::Sha224.is_cryptographic());
        assert!(!Algorithm::Sha1.is_cryptographic() && !Algorithm::Xxh128.is_cryptographic());
    }

    #[test]
    fn names_and_tags_can_be_parsed() {
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
            ("SHA3_256", Algorithm::Sha3_256),
            ("sha3512", Algorithm::Sha3_512),
        ] {
            assert_eq!(text.parse(), Ok(algorithm));
        }
    }

    #[test]
    fn the_error_lists_every_name() {
        for bad in ["", "sha", "sha2567", "crc", "sha3", "sha256 "] {
            let message = bad.parse::<Algorithm>().unwrap_err().to_string();
            assert!(message.contains(&format!("{bad:?}")), "{message}");
            assert!(Algorithm::ALL.iter().all(|a| message.contains(a.name())), "{message}");
        }
    }

    #[test]
    fn digest_len_matches_the_digests() {
        for algorithm in Algorithm::ALL {
            let digest = algorithm.hash_one(b"x");
            assert_eq!(digest.as_bytes().len(), algorithm.digest_len(), "{algorithm}");
        }
    }
}
