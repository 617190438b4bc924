//! Recognises files of other kinds by their first bytes.

use std::fmt;

/// What the first bytes of a file show: that it is not plain UTF-8 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magic {
    /// The file is empty.
    Empty,
    /// The file is compressed.
    Compressed {
        /// The name of the compressor.
        with: &'static str,
        /// The command that decompresses it to standard output.
        cat: &'static str,
    },
    /// The file is something else: a description with an article.
    Other(&'static str),
}

const UTF_16: Magic = Magic::Other("a text in UTF-16");

/// The first bytes of binary formats and of encodings that are not plain UTF-8.
const MAGIC: [(&[u8], Magic); 11] = [
    (b"\x1f\x8b", Magic::Compressed { with: "gzip", cat: "zcat" }),
    (b"\x28\xb5\x2f\xfd", Magic::Compressed { with: "zstd", cat: "zstdcat" }),
    (b"\xfd7zXZ\0", Magic::Compressed { with: "xz", cat: "xzcat" }),
    (b"BZh", Magic::Compressed { with: "bzip2", cat: "bzcat" }),
    (b"\x04\x22\x4d\x18", Magic::Compressed { with: "lz4", cat: "lz4cat" }),
    (b"\xef\xbb\xbf", Magic::Other("a text with a byte order mark")),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
    (b"\x7fELF", Magic::Other("a program")),
    (b"PK\x03\x04", Magic::Other("a ZIP archive")),
    (b"SQLite format 3\0", Magic::Other("an SQLite database")),
];

impl Magic {
    /// Returns what a file is that begins with `start`. If the file is short, `start` is all of it.
    pub fn of(start: &[u8]) -> Option<Self> {
        match start {
            [] => return Some(Self::Empty),
            // A text may begin with these letters; the number is the size of a block.
            [b'B', b'Z', b'h', other, ..] if !matches!(other, b'1'..=b'9') => return None,
            // UTF-16 without a byte order mark.
            [1..=255, 0, 1..=255, 0, ..] | [0, 1..=255, 0, 1..=255, ..] => return Some(UTF_16),
            _ => {}
        }
        MAGIC.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, what)| *what)
    }
}

impl fmt::Display for Magic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("empty"),
            Self::Compressed { with, .. } => write!(f, "compressed with {with}"),
            Self::Other(what) => f.write_str(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_first_bytes() {
        for (start, what) in [
            (&b""[..], Some("empty")),
            (b"\x1f\x8b\x08\0", Some("compressed with gzip")),
            (b"\x28\xb5\x2f\xfd\x24", Some("compressed with zstd")),
            (b"\xfd7zXZ\0\0", Some("compressed with xz")),
            (b"BZh91AY&SY", Some("compressed with bzip2")),
            (b"\x04\x22\x4d\x18\0", Some("compressed with lz4")),
            (b"PK\x03\x04\x14", Some("a ZIP archive")),
            (b"\x7fELF\x02", Some("a program")),
            (b"SQLite format 3\0\x10", Some("an SQLite database")),
            (b"\xff\xfed\x004\0", Some("a text in UTF-16")),
            (b"\xfe\xff\0d\x004", Some("a text in UTF-16")),
            (b"d\x004\x001\0", Some("a text in UTF-16")),
            (b"\0d\x004\x001", Some("a text in UTF-16")),
            (b"\xef\xbb\xbfd41d", Some("a text with a byte order mark")),
            (b"d41d8cd98f00b204e9800998ecf8427e  x\n", None),
            (b"BZhang (x) = 00\n", None),
            (b"\0\0\0\0", None),
            (b"\n", None),
        ] {
            assert_eq!(
                Magic::of(start).map(|it| it.to_string()).as_deref(),
                what,
                "{}",
                start.escape_ascii()
            );
        }
    }
}
