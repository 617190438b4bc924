//! Names in JSON.
//!
//! JSON holds Unicode and a name is bytes. A name that is UTF-8 is the string `"path"`; any other goes,
//! whole, as base64 into `"path_b64"`. There is never a replacement character, so a reader gets back the
//! very bytes.

use std::borrow::Cow;
use std::fmt;
use std::io;

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::terminal::acts;

/// Appends the member `"field":"name"` to `out`, or `"field_b64":"..."` (standard alphabet, padded) when
/// `name` is not UTF-8. Commas and braces are the caller's, and `field` is written as it stands.
///
/// Characters that act on a terminal are written as `\u` escapes, which mean the same to a JSON reader.
pub fn write_path(out: &mut Vec<u8>, field: &str, name: &[u8]) {
    out.push(b'"');
    out.extend_from_slice(field.as_bytes());
    match str::from_utf8(name) {
        Ok(text) => {
            out.extend_from_slice(b"\":");
            write_string(out, text);
        }
        Err(_) => {
            out.extend_from_slice(b"_b64\":\"");
            let start = out.len();
            out.resize(start + BASE64.encode_len(name.len()), 0);
            BASE64.encode_mut(name, &mut out[start..]);
            out.push(b'"');
        }
    }
}

/// Appends `text` as a JSON string, with characters that act on a terminal written as `\u` escapes.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Nearly every name is plain. Without an early exit the loop vectorises.
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) & (byte != b'"') & (byte != b'\\');
    if text.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    text.serialize(&mut Serializer::with_formatter(out, TerminalSafe))
        .expect("a string is always JSON and a Vec takes everything");
}

/// The name that [`write_path`] wrote, from the values of its two possible members.
///
/// # Errors
/// If both are there or neither is, if the base64 is malformed, or if the name holds a NUL.
pub fn read_path<'j>(path: Option<&'j str>, path_b64: Option<&str>) -> Result<Cow<'j, [u8]>, PathError> {
    let name = match (path, path_b64) {
        (Some(text), None) => Cow::Borrowed(text.as_bytes()),
        (None, Some(b64)) => Cow::Owned(read_base64(b64).ok_or(PathError::Base64)?),
        (Some(_), Some(_)) => return Err(PathError::Both),
        (None, None) => return Err(PathError::Missing),
    };
    if name.contains(&0) { Err(PathError::Nul) } else { Ok(name) }
}

/// The bytes that this text stands for: base64 in the standard alphabet with padding, of which they have one spelling.
pub fn read_base64(text: &str) -> Option<Vec<u8>> {
    // The decoder takes several padded texts in a row for one: a second spelling of the same bytes.
    if text.trim_end_matches('=').contains('=') { None } else { BASE64.decode(text.as_bytes()).ok() }
}

/// Why a JSON record has no usable path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathError {
    /// Neither the text nor the base64 member.
    Missing,
    /// Both of them.
    Both,
    /// The base64 member is not canonical base64 with padding.
    Base64,
    /// A NUL in the name, which no path holds.
    Nul,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "no path, neither as text nor as base64",
            Self::Both => "a path as text and another as base64",
            Self::Base64 => "the path is not valid base64",
            Self::Nul => "NUL in the path",
        })
    }
}

impl std::error::Error for PathError {}

/// Compact JSON whose strings hold nothing that acts on a terminal.
struct TerminalSafe;

impl Formatter for TerminalSafe {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| acts(c)) {
            out.write_all(&rest.as_bytes()[..at])?;
            write!(out, "\\u{:04x}", u32::from(c))?; // all that act lie below U+10000: one unit of UTF-16
            rest = &rest[at + c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn written(name: &[u8]) -> String {
        let mut out = b"{".to_vec();
        write_path(&mut out, "path", name);
        out.push(b'}');
        String::from_utf8(out).expect("always UTF-8")
    }

    fn read_back(json: &str) -> Result<Vec<u8>, PathError> {
        let value: Value = serde_json::from_str(json).expect("always JSON");
        let member = |field: &str| value.get(field).map(|v| v.as_str().expect("always a string"));
        read_path(member("path"), member("path_b64")).map(Cow::into_owned)
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(written(b"a/b c"), r#"{"path":"a/b c"}"#);
        assert_eq!(written("caf\u{e9} \u{1f600}".as_bytes()), "{\"path\":\"caf\u{e9} \u{1f600}\"}");
        assert_eq!(written(b"\"\\\n\x01"), r#"{"path":"\"\\\n\u0001"}"#);
        assert_eq!(written("\x7f\u{9b}x\u{202e}".as_bytes()), r#"{"path":"\u007f\u009bx\u202e"}"#);
    }

    #[test]
    fn other_bytes_become_base64() {
        assert_eq!(written(b"\xff\xfe"), r#"{"path_b64":"//4="}"#);
        assert_eq!(written(b"a\xff"), r#"{"path_b64":"Yf8="}"#);
    }

    #[test]
    fn fields_have_any_name() {
        let mut out = Vec::new();
        write_path(&mut out, "old_path", b"\xff");
        assert_eq!(out, br#""old_path_b64":"/w==""#);
    }

    #[test]
    fn a_record_has_exactly_one_path() {
        assert_eq!(read_path(None, None), Err(PathError::Missing));
        assert_eq!(read_path(Some("a"), Some("YQ==")), Err(PathError::Both));
        assert_eq!(read_path(Some("a"), Some("a")), Err(PathError::Both));
        assert_eq!(read_path(Some("a\0b"), None), Err(PathError::Nul));
        assert_eq!(read_path(None, Some("AA==")), Err(PathError::Nul));
        for bad in ["/w", "/w=", "/x==", "_w==", "/w==\n", " /w==", "?"] {
            assert_eq!(read_path(None, Some(bad)), Err(PathError::Base64), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in proptest::collection::vec(1_u8.., 0..60)) {
            let json = written(&name);
            prop_assert!(!json.chars().any(acts));
            prop_assert_eq!(read_back(&json), Ok(name));
        }

        #[test]
        fn every_text_comes_back(name in "[^\0]*") {
            let json = written(name.as_bytes());
            prop_assert!(!json.chars().any(acts));
            prop_assert_eq!(read_back(&json), Ok(name.into_bytes()));
        }
    }
}
