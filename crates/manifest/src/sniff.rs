//! File type detection by the first bytes: for messages about files that are not manifests, and to protect
//! manifests from being overwritten.

use std::io::Read as _;

use ftk_record::{Magic, ZstdReader, is_zstd};
use serde_json::Value;

use crate::begins_mtree;

/// What the first bytes of a file indicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The file begins like a manifest, which may be incomplete.
    Manifest,
    /// The file is a plan, which divides a tree into shards.
    Plan,
    /// The file is not plain text. If it is compressed, it may contain a manifest.
    Binary(Magic),
    /// The file is a list that [`Import`](crate::Import) reads, or may read: a description with an article.
    List(&'static str),
    /// The file is something else: a description with an article.
    Other(&'static str),
}

/// The first bytes of every manifest that ftk writes.
const BEGINNING: &[u8] = b"{\"ftk\":\"manifest\"";

/// Bytes that are decompressed to find the header of a manifest.
const HEADER: u64 = 64 << 10;

/// Detects the type of a file that begins with `start`. If the file is short, `start` is all of it.
pub fn sniff(start: &[u8]) -> Kind {
    if is_zstd(start) && begins_manifest(&decompressed(start)) {
        return Kind::Manifest;
    }
    sniff_plain(start)
}

/// Like [`sniff`], but decompresses nothing.
pub(crate) fn sniff_plain(start: &[u8]) -> Kind {
    if let Some(magic) = Magic::of(start) {
        return Kind::Binary(magic);
    }
    if begins_manifest(start) {
        return Kind::Manifest;
    }
    let line = first_line(start);
    match serde_json::from_slice(line) {
        Ok(line) if line.get("ftk").is_some_and(|kind| kind == "plan") => Kind::Plan,
        Ok(Value::Object(_)) => Kind::Other("JSON of another kind"),
        _ if start.starts_with(b"{") => Kind::Other("malformed JSON"),
        _ if line.starts_with(b"%%%% HASHDEEP-") => Kind::List("a list of hashdeep"),
        _ if is_sum(line) => Kind::List("a list of digests"),
        _ if begins_mtree(start) => Kind::List("a specification of mtree"),
        _ if start.contains(&0) || str::from_utf8(line).is_err() => Kind::Other("binary data"),
        _ => Kind::Other("plain text"),
    }
}

fn first_line(start: &[u8]) -> &[u8] {
    start.split(|&byte| byte == b'\n').next().unwrap_or(start)
}

fn begins_manifest(start: &[u8]) -> bool {
    if start.is_empty() {
        return false;
    }
    let is_manifest = |line: &Value| line.get("ftk").is_some_and(|kind| kind == "manifest");
    start.starts_with(BEGINNING)
        || BEGINNING.starts_with(start)
        || serde_json::from_slice(first_line(start)).is_ok_and(|line| is_manifest(&line))
}

/// Returns what the start of a compressed file expands to, at most [`HEADER`] bytes.
fn decompressed(start: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // The start of a frame usually ends inside a block, so an error is no surprise.
    if let Ok(reader) = ZstdReader::new(start) {
        let _ = reader.take(HEADER).read_to_end(&mut out);
    }
    out
}

/// Returns whether a line looks like a checksum line: `DIGEST  NAME` or `ALGORITHM (NAME) = DIGEST`.
fn is_sum(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\\").unwrap_or(line);
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let is_tagged = line.windows(2).any(|pair| pair == b" (") && line.windows(4).any(|text| text == b") = ");
    digits >= 16 && line.get(digits) == Some(&b' ') || is_tagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_types_are_detected_by_first_bytes() {
        for (start, kind) in [
            (&b"{\"ftk\":\"manifest\",\"version\":1"[..], Kind::Manifest),
            (b"{\"ft", Kind::Manifest),
            (b"{\"version\":1, \"ftk\" : \"manifest\"}\nmore", Kind::Manifest),
            (b"{\"ftk\":\"dup-report\",\"version\":1}\n", Kind::Other("JSON of another kind")),
            (b"{\"ftk\":\"plan\",\"version\":1}\n", Kind::Plan),
            (b"{{", Kind::Other("malformed JSON")),
            (b"", Kind::Binary(Magic::Empty)),
            (b"\x1f\x8b\x08", Kind::Binary(Magic::Compressed { with: "gzip", cat: "zcat" })),
            (b"\x28\xb5\x2f\xfd\0", Kind::Binary(Magic::Compressed { with: "zstd", cat: "zstdcat" })),
            (b"d41d8cd98f00b204e9800998ecf8427e  a\n", Kind::List("a list of digests")),
            (b"\\d41d8cd98f00b204e9800998ecf8427e  a\\n\n", Kind::List("a list of digests")),
            (b"MD5 (a) = d41d8cd98f00b204e9800998ecf8427e\n", Kind::List("a list of digests")),
            (b"%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n", Kind::List("a list of hashdeep")),
            (b"#mtree\n/set type=file\n", Kind::List("a specification of mtree")),
            (b"#\t   user: root\n. type=dir\n    a size=0\n", Kind::List("a specification of mtree")),
            (b"\xff\xfe{\0", Kind::Binary(Magic::Other("a text in UTF-16"))),
            (b"\0\0\0", Kind::Other("binary data")),
            (b"\x80\n", Kind::Other("binary data")),
            (b"[]\n", Kind::Other("plain text")),
            (b"hello", Kind::Other("plain text")),
        ] {
            assert_eq!(sniff(start), kind, "{}", start.escape_ascii());
        }
    }
}
