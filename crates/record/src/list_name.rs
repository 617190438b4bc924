//! What the name of a file says about the list in it.

use ftk_hash::Algorithm;

use crate::BagFile;
use crate::list::{DEFAULT_ALGORITHMS, by_tag};

/// What stands between the words of a name.
const BETWEEN: [char; 4] = ['-', '_', '.', ' '];

/// Returns whether a file is a list of digests by its name, in whatever case: `SHA256SUMS`, `b2sums.txt`,
/// `ftk-1.0_SHA512SUMS`, `photos.md5`, `x.sha1sum`, `x.sfv`, `checksums.txt`, for every algorithm; and
/// `manifest-sha256.txt`, which is a list only next to a `bagit.txt`.
///
/// `sha256sum` in small letters is the program, `SHA256SUM` a list. A signature such as `SHA256SUMS.asc` is no list.
///
/// ```
/// use ftk_record::names_a_list;
///
/// assert!(names_a_list(b"SHA256SUMS") && names_a_list(b"photos.md5"));
/// assert!(!names_a_list(b"md5sum") && !names_a_list(b"SHA256SUMS.asc"));
/// ```
pub fn names_a_list(file_name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(file_name);
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(".txt");
    let word = stem.unwrap_or(&lower);
    let is_program = stem.is_none() && word.ends_with("sum") && !word.contains('.') && *name == *lower;
    let is_checksums = match word.rsplit(BETWEEN).next() {
        Some("checksums") => true,
        Some("checksum") => !is_program,
        _ => false,
    };
    let is_sfv = lower.rsplit_once('.').is_some_and(|(_, extension)| extension == "sfv");
    is_sfv
        || is_checksums
        || BagFile::of(file_name).is_some()
        || (!is_program && named_algorithm(file_name).is_some())
}

/// Returns the algorithm that the name of a list says: `SHA256SUMS`, `b2sums.txt`, `ftk-1.0_SHA512SUMS`, `photos.md5`
/// or `x.sha1sum`.
pub fn named_algorithm(file_name: &[u8]) -> Option<Algorithm> {
    let name = String::from_utf8_lossy(file_name).to_ascii_lowercase();
    let name = name.strip_suffix(".txt").unwrap_or(&name);
    let bare = |word: &str| match word.trim_end_matches(BETWEEN) {
        "b2" => Some(Algorithm::Blake2b),
        "b3" => Some(Algorithm::Blake3),
        "sha" => Some(Algorithm::Sha1),
        word => by_tag(word),
    };
    let of =
        |word: &str| bare(word.strip_suffix("sums").or_else(|| word.strip_suffix("sum")).unwrap_or(word));
    match name.rsplit_once('.').map_or_else(|| of(name), |(_, extension)| of(extension)) {
        // `md5` alone is no name of a list.
        Some(algorithm) if name.contains('.') || name.ends_with("sums") || name.ends_with("sum") => {
            Some(algorithm)
        }
        _ => {
            let words = name.strip_suffix("sums").or_else(|| name.strip_suffix("sum"))?;
            words.match_indices(BETWEEN).find_map(|(at, between)| bare(&words[at + between.len()..]))
        }
    }
}

/// Returns the possible algorithms of untagged digests in the list of this name: that of the name first, and then those
/// that other lists of digests have, so that a list with a wrong name is checked nevertheless. None if the name does not say
/// one.
pub fn likely_algorithms(file_name: &[u8]) -> Vec<Algorithm> {
    let Some(named) = named_algorithm(file_name) else { return Vec::new() };
    let others = DEFAULT_ALGORITHMS.into_iter().filter(|it| *it != named);
    [named].into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lists_say_the_algorithm() {
        use Algorithm::{Blake2b, Blake3, Md5, Sha1, Sha3_256, Sha256, Sha512, Xxh64};
        for (name, expected) in [
            ("SHA256SUMS", Some(Sha256)),
            ("SHA512SUMS.txt", Some(Sha512)),
            ("sha256sum.txt", Some(Sha256)),
            ("MD5SUM", Some(Md5)),
            ("B2SUMS", Some(Blake2b)),
            ("b3sums.txt", Some(Blake3)),
            ("SHA3-256SUMS", Some(Sha3_256)),
            ("photos.2024.md5", Some(Md5)),
            ("x.sha1sum", Some(Sha1)),
            ("x.sha", Some(Sha1)),
            ("x.b3", Some(Blake3)),
            ("x.XXH64", Some(Xxh64)),
            ("ftk-1.0_SHA512SUMS", Some(Sha512)),
            ("ftk_1.0_sha3-256sums.txt", Some(Sha3_256)),
            ("CHECKSUMS", None),
            ("sums.txt", None),
            ("go.sum", None),
            ("md5", None),
            ("md5.txt", None),
            ("checksums.md5.asc", None),
        ] {
            assert_eq!(named_algorithm(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn lists_are_known_by_their_names() {
        for algorithm in Algorithm::ALL {
            for name in [
                format!("{}SUMS", algorithm.tag()),
                format!("{}SUMS", algorithm.tag().to_uppercase()),
                format!("{}sums.txt", algorithm.name()),
                format!("x.{}", algorithm.name()),
                format!(".x.{}", algorithm.name().to_uppercase()),
            ] {
                assert!(names_a_list(name.as_bytes()), "{name}");
                assert_eq!(likely_algorithms(name.as_bytes())[0], algorithm, "{name}");
            }
        }
        for name in
            ["a.sfv", "A.SFV", "checksums.txt", "x_checksums.txt", "CHECKSUM", "CHECKSUMS", "checksum.txt"]
        {
            assert!(names_a_list(name.as_bytes()), "{name}");
        }
        for name in ["manifest-sha256.txt", "tagmanifest-md5.txt", "b2sums.txt"] {
            assert!(names_a_list(name.as_bytes()), "{name}");
        }
        assert!(names_a_list(b"\xff.md5"));
        for name in [
            "md5sum",
            "sha256sum",
            "checksum",
            "go.sum",
            "SHA256SUMS.asc",
            "x.md",
            "md5",
            "sfv",
            "x.txt",
            "",
            ".",
        ] {
            assert!(!names_a_list(name.as_bytes()), "{name}");
        }
    }
}
