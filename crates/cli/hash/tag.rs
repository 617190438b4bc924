//! Determines the algorithm of a checksum line.

use std::fmt;

use ftk_hash::Algorithm;
use ftk_record::{BagError, Encoding, HashdeepError, SumError, SumLine};

/// Returns the algorithm of a line, and whether it was guessed.
///
/// A tag decides. Without a tag, it is the first algorithm of `asked` with digests of this length, or the one
/// of [`DEFAULT_ALGORITHMS`] if `asked` is empty.
pub(super) fn algorithm(line: &SumLine<'_>, asked: &[Algorithm]) -> Result<(Algorithm, bool), Unusable> {
    let len = line.digest_len();
    if let Some(tag) = line.tag {
        let algorithm = by_tag(tag).ok_or_else(|| Unusable::Tag(tag.to_owned()))?;
        return if algorithm.digest_len() == len {
            Ok((algorithm, false))
        } else {
            Err(Unusable::Length { len, encoding: line.encoding, of: vec![algorithm] })
        };
    }
    let known = if asked.is_empty() { &DEFAULT_ALGORITHMS[..] } else { asked };
    let found = known.iter().find(|algorithm| algorithm.digest_len() == len);
    let unusable = || Unusable::Length { len, encoding: line.encoding, of: asked.to_vec() };
    found.map(|&algorithm| (algorithm, asked.is_empty())).ok_or_else(unusable)
}

/// The algorithms assumed for untagged digests, by their length. Other algorithms have digests of the same
/// lengths. XXH3, whose digests have 16 digits like those of XXH64, always has a tag.
const DEFAULT_ALGORITHMS: [Algorithm; 8] = [
    Algorithm::Sha256,
    Algorithm::Sha1,
    Algorithm::Sha512,
    Algorithm::Md5,
    Algorithm::Xxh64,
    Algorithm::Sha224,
    Algorithm::Sha384,
    Algorithm::Crc32,
];

/// Returns the algorithm for a tag, which is its name or the name that openssl uses.
fn by_tag(tag: &str) -> Option<Algorithm> {
    match tag {
        "SHA2-256" => Some(Algorithm::Sha256),
        "SHA2-512" => Some(Algorithm::Sha512),
        "SHA2-224" => Some(Algorithm::Sha224),
        "SHA2-384" => Some(Algorithm::Sha384),
        "BLAKE2B-512" | "BLAKE2b-512" => Some(Algorithm::Blake2b),
        "BLAKE3-256" => Some(Algorithm::Blake3),
        _ => tag.parse().ok(),
    }
}

/// Why a line of a list cannot be used.
#[derive(Clone, Debug)]
pub(super) enum Unusable {
    Line(SumError),
    /// A line of a list of hashdeep.
    Hashdeep(HashdeepError),
    /// A line of a BagIt manifest.
    Bag(BagError),
    /// The name of an unsupported algorithm, or several.
    Tag(String),
    /// The digest has `len` bytes, unlike those of the algorithms in `of`. If `of` is empty, no supported
    /// algorithm has digests of this length.
    Length {
        len: usize,
        encoding: Encoding,
        of: Vec<Algorithm>,
    },
}

impl Unusable {
    /// Returns whether the line has a digest, which means that a file was meant to be checked.
    pub(super) fn has_digest(&self) -> bool {
        match self {
            Self::Line(error) => error.has_digest(),
            Self::Hashdeep(error) => error.has_digest(),
            Self::Bag(_) | Self::Tag(_) | Self::Length { .. } => true,
        }
    }
}

impl From<HashdeepError> for Unusable {
    fn from(error: HashdeepError) -> Self {
        Self::Hashdeep(error)
    }
}

impl From<BagError> for Unusable {
    fn from(error: BagError) -> Self {
        Self::Bag(error)
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(error) => error.fmt(f),
            Self::Hashdeep(error) => error.fmt(f),
            Self::Bag(error) => error.fmt(f),
            Self::Tag(tag) => write!(f, "unsupported algorithm {tag}"),
            Self::Length { len, encoding, of } => {
                let (unit, each) = match encoding {
                    Encoding::Hex => ("digits", 2),
                    Encoding::Base64 => ("bytes in base64", 1),
                };
                let len = each * len;
                if of.is_empty() {
                    return write!(f, "no supported algorithm has digests of {len} {unit}");
                }
                let expected: Vec<_> =
                    of.iter().map(|it| format!("{} for {}", each * it.digest_len(), it.tag())).collect();
                write!(f, "the digest has {len} {unit}, expected {}", expected.join(" or "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ftk_record::End;

    use super::*;

    fn of(line: &str, asked: &[Algorithm]) -> Result<(Algorithm, bool), String> {
        let line = SumLine::parse(line.as_bytes(), End::Newline).unwrap();
        algorithm(&line, asked).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tag_decides() {
        let digits = |algorithm: Algorithm| "0a".repeat(algorithm.digest_len());
        for algorithm in Algorithm::ALL {
            let line = format!("{} (x) = {}", algorithm.tag(), digits(algorithm));
            assert_eq!(of(&line, &[]), Ok((algorithm, false)));
            assert_eq!(of(&line, &[Algorithm::Md5]), Ok((algorithm, false)));
            assert_eq!(of(&line.to_lowercase(), &[]), Ok((algorithm, false)));
        }
        for (tag, algorithm) in [
            ("SHA2-256", Algorithm::Sha256),
            ("BLAKE2B-512", Algorithm::Blake2b),
            ("BLAKE3-256", Algorithm::Blake3),
            ("SHA2-384", Algorithm::Sha384),
            ("SHA3-512", Algorithm::Sha3_512),
        ] {
            assert_eq!(of(&format!("{tag}(x)= {}", digits(algorithm)), &[]), Ok((algorithm, false)));
        }
        let error = of("BLAKE2b-256 (x) = 00", &[]).unwrap_err();
        assert_eq!(error, "unsupported algorithm BLAKE2b-256");
        let error = of("MD5 (x) = 0011", &[]).unwrap_err();
        assert_eq!(error, "the digest has 4 digits, expected 32 for MD5");
    }

    #[test]
    fn untagged_digests_use_the_given_algorithms_or_their_length() {
        let line = |digits: usize| format!("{}  x", "a".repeat(digits));
        for (digits, algorithm) in [
            (16, Algorithm::Xxh64),
            (32, Algorithm::Md5),
            (40, Algorithm::Sha1),
            (64, Algorithm::Sha256),
            (128, Algorithm::Sha512),
            (56, Algorithm::Sha224),
            (96, Algorithm::Sha384),
            (8, Algorithm::Crc32),
        ] {
            assert_eq!(of(&line(digits), &[]), Ok((algorithm, true)));
        }
        let error = "no supported algorithm has digests of 62 digits".to_owned();
        assert_eq!(of(&line(62), &[]), Err(error));
        let asked = [Algorithm::Blake3, Algorithm::Sha256, Algorithm::Blake2b];
        assert_eq!(of(&line(64), &asked), Ok((Algorithm::Blake3, false)));
        assert_eq!(of(&line(128), &asked), Ok((Algorithm::Blake2b, false)));
        let error = of(&line(32), &asked).unwrap_err();
        assert_eq!(
            error,
            "the digest has 32 digits, expected 64 for BLAKE3 or 64 for SHA256 or 128 for BLAKE2b"
        );
    }
}
