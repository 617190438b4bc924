//! Writing checksum lines, byte for byte as coreutils 9 does.

use data_encoding::{BASE64, HEXLOWER};

/// The two styles of checksum lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `HEX  name`, as `sha256sum` prints. The line does not name the algorithm, except for XXH3: xxhsum
    /// 0.8.3 and later print `XXH3_HEX  name`, to distinguish it from XXH64.
    #[default]
    Untagged,
    /// `SHA256 (name) = HEX`, as `cksum --tag` prints.
    Tagged,
}

/// What ends a checksum line. It also decides how unusual names are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// A newline. Newlines, carriage returns and backslashes in names are escaped with a backslash, and a
    /// backslash at the start of the line marks an escaped name.
    #[default]
    Newline,
    /// A NUL, which no name can contain; names are never escaped.
    Nul,
}

/// The format of the lines of one list.
#[derive(Clone, Copy, Debug)]
pub struct SumFormat<'t> {
    tag: &'t str,
    style: Style,
    end: End,
    is_base64: bool,
}

impl<'t> SumFormat<'t> {
    /// Creates a format. `tag` is the name of the algorithm in tagged lines: `SHA256`, `BLAKE2b`, `XXH3`.
    pub fn new(tag: &'t str, style: Style, end: End) -> Self {
        Self { tag, style, end, is_base64: false }
    }

    /// Whether digests are written in base64, as `cksum --base64` writes them. By default they are hexadecimal.
    #[must_use]
    pub fn base64(self, is_base64: bool) -> Self {
        Self { is_base64, ..self }
    }

    /// Appends one line to `out`, including its end.
    ///
    /// `name` is the path as it should be read back. It must not contain a NUL, which no path can.
    pub fn write_line(&self, out: &mut Vec<u8>, digest: &[u8], name: &[u8]) {
        let escaped = self.end == End::Newline && needs_escape(name);
        out.reserve(name.len() + 2 * digest.len() + self.tag.len() + 8);
        if escaped {
            out.push(b'\\');
        }
        match self.style {
            Style::Untagged => {
                if self.tag == XXH3 {
                    out.extend_from_slice(XXH3_PREFIX);
                }
                self.push_digest(out, digest);
                out.extend_from_slice(b"  ");
                push_name(out, name, escaped);
            }
            Style::Tagged => {
                out.extend_from_slice(self.tag.as_bytes());
                out.extend_from_slice(b" (");
                push_name(out, name, escaped);
                out.extend_from_slice(b") = ");
                self.push_digest(out, digest);
            }
        }
        out.push(match self.end {
            End::Newline => b'\n',
            End::Nul => 0,
        });
    }

    fn push_digest(&self, out: &mut Vec<u8>, digest: &[u8]) {
        if self.is_base64 {
            out.extend_from_slice(BASE64.encode(digest).as_bytes());
        } else {
            push_hex(out, digest);
        }
    }
}

/// Appends a name as the coreutils print it in a result such as `name: OK`.
///
/// The name is escaped as in a checksum line, with a backslash in front, but only if it contains a newline.
pub fn write_name(out: &mut Vec<u8>, name: &[u8], end: End) {
    let escaped = end == End::Newline && name.contains(&b'\n');
    if escaped {
        out.push(b'\\');
    }
    push_name(out, name, escaped);
}

/// The tag of the only algorithm that untagged lines name.
pub(crate) const XXH3: &str = "XXH3";
/// The prefix of an XXH3 digest in an untagged line.
pub(crate) const XXH3_PREFIX: &[u8] = b"XXH3_";

fn needs_escape(name: &[u8]) -> bool {
    // Without an early exit the loop vectorises. Nearly every name would be scanned to its end anyway.
    name.iter().fold(false, |found, byte| found | matches!(byte, b'\n' | b'\r' | b'\\'))
}

/// Appends the lower-case hexadecimal form of a digest.
pub(crate) fn push_hex(out: &mut Vec<u8>, digest: &[u8]) {
    let start = out.len();
    out.resize(start + HEXLOWER.encode_len(digest.len()), 0);
    HEXLOWER.encode_mut(digest, &mut out[start..]);
}

fn push_name(out: &mut Vec<u8>, name: &[u8], escaped: bool) {
    if !escaped {
        return out.extend_from_slice(name);
    }
    for &byte in name {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tag: &str, style: Style, end: End, name: &str) -> String {
        let mut out = Vec::new();
        SumFormat::new(tag, style, end).write_line(&mut out, &[0x00, 0xf1], name.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn untagged() {
        let write = |name| line("SHA256", Style::Untagged, End::Newline, name);
        assert_eq!(write("a b"), "00f1  a b\n");
        assert_eq!(write("a\nb"), "\\00f1  a\\nb\n");
        assert_eq!(write("a\rb"), "\\00f1  a\\rb\n");
        assert_eq!(write("a\\nb"), "\\00f1  a\\\\nb\n");
        assert_eq!(write("*a\tb"), "00f1  *a\tb\n");
    }

    #[test]
    fn tagged() {
        let write = |name| line("BLAKE2b", Style::Tagged, End::Newline, name);
        assert_eq!(write("a) = 00"), "BLAKE2b (a) = 00) = 00f1\n");
        assert_eq!(write("a\nb"), "\\BLAKE2b (a\\nb) = 00f1\n");
    }

    #[test]
    fn names_in_results_are_escaped_if_they_contain_newlines() {
        let write = |name: &[u8], end| {
            let mut out = Vec::new();
            write_name(&mut out, name, end);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write(b"a b", End::Newline), "a b");
        assert_eq!(write(b"a\\b\r", End::Newline), "a\\b\r");
        assert_eq!(write(b"a\nb\\", End::Newline), "\\a\\nb\\\\");
        assert_eq!(write(b"a\nb\\", End::Nul), "a\nb\\");
    }

    #[test]
    fn names_in_nul_ended_lines_are_not_escaped() {
        assert_eq!(line("MD5", Style::Untagged, End::Nul, "a\n\r\\"), "00f1  a\n\r\\\0");
        assert_eq!(line("MD5", Style::Tagged, End::Nul, "a\n\r\\"), "MD5 (a\n\r\\) = 00f1\0");
    }

    #[test]
    fn xxh3_is_named_in_both_styles() {
        assert_eq!(line("XXH3", Style::Untagged, End::Newline, "a"), "XXH3_00f1  a\n");
        assert_eq!(line("XXH3", Style::Untagged, End::Newline, "a\\"), "\\XXH3_00f1  a\\\\\n");
        assert_eq!(line("XXH3", Style::Tagged, End::Newline, "a"), "XXH3 (a) = 00f1\n");
        assert_eq!(line("XXH64", Style::Untagged, End::Newline, "a"), "00f1  a\n");
        assert_eq!(line("XXH128", Style::Untagged, End::Newline, "a"), "00f1  a\n");
    }
}
