//! Which algorithm a line of a list means.

use std::fmt;

use ftk_hash::Algorithm;
use ftk_record::{SumError, SumLine, quote};

/// The algorithm of a line, and whether that is an assumption.
///
/// A tag decides. Where there is none, it is the first of those asked for whose digest is that long; where
/// none is asked for, the length of the digest decides.
pub(super) fn algorithm(line: &SumLine<'_>, asked: &[Algorithm]) -> Result<(Algorithm, bool), Malformed> {
    let len = line.digest_len();
    if let Some(tag) = line.tag {
        let algorithm = by_tag(tag).ok_or_else(|| Malformed::Tag(tag.to_owned()))?;
        return if algorithm.digest_len() == len {
            Ok((algorithm, false))
        } else {
            Err(Malformed::Length(len))
        };
    }
    let known = if asked.is_empty() { &USUAL[..] } else { asked };
    let found = known.iter().find(|algorithm| algorithm.digest_len() == len);
    found.map(|&algorithm| (algorithm, asked.is_empty())).ok_or(Malformed::Length(len))
}

/// What untagged digests are taken for, by their length. Other algorithms give digests of these lengths too;
/// XXH3, which would be one of 16 digits, is always named.
const USUAL: [Algorithm; 5] =
    [Algorithm::Sha256, Algorithm::Sha1, Algorithm::Sha512, Algorithm::Md5, Algorithm::Xxh64];

/// Tags are the names of the algorithms, or what openssl calls them.
fn by_tag(tag: &str) -> Option<Algorithm> {
    match tag {
        "SHA2-256" => Some(Algorithm::Sha256),
        "SHA2-512" => Some(Algorithm::Sha512),
        "BLAKE2B-512" | "BLAKE2b-512" => Some(Algorithm::Blake2b),
        _ => tag.parse().ok(),
    }
}

/// Why a line of a list is of no use.
#[derive(Clone, Debug)]
pub(super) enum Malformed {
    Line(SumError),
    /// A tag of an algorithm that is not known.
    Tag(String),
    /// A digest of so many bytes, which the algorithm does not give.
    Length(usize),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(error) => error.fmt(f),
            Self::Tag(tag) => write!(f, "unknown algorithm {}", quote(tag.as_bytes())),
            Self::Length(bytes) => write!(f, "no digest of the algorithm has {} digits", 2 * bytes),
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
        for (tag, algorithm) in [("SHA2-256", Algorithm::Sha256), ("BLAKE2B-512", Algorithm::Blake2b)] {
            assert_eq!(of(&format!("{tag}(x)= {}", digits(algorithm)), &[]), Ok((algorithm, false)));
        }
        let error = of("BLAKE2b-256 (x) = 00", &[]).unwrap_err();
        assert_eq!(error, "unknown algorithm 'BLAKE2b-256'");
        assert_eq!(of("MD5 (x) = 0011", &[]).unwrap_err(), "no digest of the algorithm has 4 digits");
    }

    #[test]
    fn without_a_tag_what_was_asked_for_or_else_the_length() {
        let line = |digits: usize| format!("{}  x", "a".repeat(digits));
        for (digits, algorithm) in [
            (16, Algorithm::Xxh64),
            (32, Algorithm::Md5),
            (40, Algorithm::Sha1),
            (64, Algorithm::Sha256),
            (128, Algorithm::Sha512),
        ] {
            assert_eq!(of(&line(digits), &[]), Ok((algorithm, true)));
        }
        assert!(of(&line(62), &[]).is_err());
        let asked = [Algorithm::Blake3, Algorithm::Sha256, Algorithm::Blake2b];
        assert_eq!(of(&line(64), &asked), Ok((Algorithm::Blake3, false)));
        assert_eq!(of(&line(128), &asked), Ok((Algorithm::Blake2b, false)));
        assert!(of(&line(32), &asked).is_err());
    }
}
