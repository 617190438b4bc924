//! Film hash lists: MHL 1.1, and the generations and chain files of ASC MHL 2.0.

mod directory;
mod element;
mod reader;
mod xml;

pub use directory::MhlDirectory;
pub use reader::{MhlDigest, MhlError, MhlItem, MhlKind, MhlReader, MhlRecord, MhlUnusable};
pub use xml::{XmlNameError, push_xml, xml_name};

use ftk_hash::{Algorithm, Digest};

use crate::c4::{parse_c4, push_c4};

/// The algorithms of ASC MHL 2.0 in the order of its schema, and the elements with their digests.
pub const ASC_MHL: [(Algorithm, &str); 6] = [
    (Algorithm::Sha512, "c4"),
    (Algorithm::Md5, "md5"),
    (Algorithm::Sha1, "sha1"),
    (Algorithm::Xxh128, "xxh128"),
    (Algorithm::Xxh3, "xxh3"),
    (Algorithm::Xxh64, "xxh64"),
];

/// The algorithms of MHL 1.1, and the elements with their digests.
pub const LEGACY_MHL: [(Algorithm, &str); 3] =
    [(Algorithm::Md5, "md5"), (Algorithm::Sha1, "sha1"), (Algorithm::Xxh64, "xxhash64be")];

/// Returns whether a file that begins with `start` is a film hash list: XML with the element of one near its start.
pub fn begins_mhl(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let has = |name: &[u8]| memchr::memmem::find(start, name).is_some();
    start.starts_with(b"<") && (has(b"<hashlist") || has(b"<ascmhldirectory") || has(b":hashlist"))
}

/// Appends a digest as a list has it: SHA-512 as a C4 identifier, others in hexadecimal.
pub fn push_mhl_digest(out: &mut Vec<u8>, algorithm: Algorithm, digest: &Digest) {
    match algorithm {
        Algorithm::Sha512 => push_c4(out, digest),
        _ => digest.write_hex(out),
    }
}

/// Parses the text of an element with a digest. Returns `None` for an element that has none, or one by an algorithm that
/// ftk does not have.
fn parse_digest(element: &str, text: &str) -> Option<Result<(Algorithm, Digest), MhlError>> {
    let mut known = ASC_MHL.into_iter().chain(LEGACY_MHL);
    let algorithm = match element {
        "xxhash64" => Algorithm::Xxh64,
        name => known.find(|(_, element)| *element == name)?.0,
    };
    let text = text.trim_ascii();
    let digest = match algorithm {
        Algorithm::Sha512 => parse_c4(text.as_bytes()),
        // Its bytes are in the order of a little-endian number.
        _ if element == "xxhash64" => Digest::from_hex(text.as_bytes()).map(|digest| {
            let mut bytes = digest.as_bytes().to_vec();
            bytes.reverse();
            Digest::from_bytes(&bytes)
        }),
        _ => Digest::from_hex(text.as_bytes()),
    };
    let digest = digest.filter(|digest| digest.as_bytes().len() == algorithm.digest_len());
    Some(digest.map(|digest| (algorithm, digest)).ok_or_else(|| MhlError::Digest(element.to_owned())))
}
