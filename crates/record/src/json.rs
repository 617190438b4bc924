//! JSON objects, and the file names in them.
//!
//! [`write_record`] writes headers, totals and other lines of which a run writes few. A line for every entry is put
//! together by hand around [`write_path`] and [`write_string`], because that is faster. Footers are recognized by their
//! first bytes, so `seal.rs` writes these bytes itself.
//!
//! JSON strings are Unicode, but file names are bytes. A name that is valid UTF-8 is written as the string
//! `"path"`. Any other name is written as base64 in `"path_b64"`. Replacement characters are never used, so a
//! reader gets exactly the same bytes back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io;

use data_encoding::BASE64;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer as _};
use serde_json::Serializer;
use serde_json::ser::{Compound, Formatter};

use crate::terminal::controls_terminal;

/// Appends a line with one JSON object, whose members `write` adds.
///
/// ```
/// let mut out = Vec::new();
/// ftk_record::write_record(&mut out, |record| {
///     record.member("step", 1).path("path", b"a\xff");
/// });
/// assert_eq!(out, b"{\"step\":1,\"path_b64\":\"Yf8=\"}\n");
/// ```
pub fn write_record(out: &mut Vec<u8>, write: impl FnOnce(&mut RecordWriter<'_, '_>)) {
    let mut serializer = Serializer::with_formatter(&mut *out, TerminalSafe);
    let mut record = RecordWriter(serializer.serialize_map(None).expect(VALID));
    write(&mut record);
    record.0.end().expect(VALID);
    out.push(b'\n');
}

/// Adds members to a JSON object, in the order of the calls. Characters that control a terminal are escaped.
pub struct RecordWriter<'s, 'o>(Compound<'s, &'o mut Vec<u8>, TerminalSafe>);

impl RecordWriter<'_, '_> {
    /// Adds a member.
    ///
    /// # Panics
    /// If the value cannot be JSON, such as a map whose keys are not strings.
    pub fn member(&mut self, name: &str, value: impl Serialize) -> &mut Self {
        self.0.serialize_entry(name, &value).expect(VALID);
        self
    }

    /// Adds a member with a file name, as [`write_path`] does.
    pub fn path(&mut self, name: &str, path: &[u8]) -> &mut Self {
        let (name, value) = path_member(name, path);
        self.member(&name, value)
    }

    /// Adds a list of objects with one file name each, such as `"roots":[{"path":"a"},{"path_b64":"/w=="}]`.
    pub fn paths(&mut self, name: &str, each: &str, paths: &[Vec<u8>]) -> &mut Self {
        self.member(
            name,
            paths.iter().map(|path| BTreeMap::from([path_member(each, path)])).collect::<Vec<_>>(),
        )
    }
}

/// Returns the name and the value of the member that [`write_path`] writes for a file name.
pub fn path_member<'p>(name: &'p str, path: &'p [u8]) -> (Cow<'p, str>, Cow<'p, str>) {
    match str::from_utf8(path) {
        Ok(text) => (name.into(), text.into()),
        Err(_) => (format!("{name}_b64").into(), BASE64.encode(path).into()),
    }
}

/// Why serializing does not fail.
const VALID: &str = "the values are valid JSON, and writing to a Vec cannot fail";

/// Appends the member `"field":"name"` to `out`, or `"field_b64":"..."` (standard alphabet, padded) if `name`
/// is not UTF-8. The caller writes commas and braces. `field` is not escaped.
///
/// Characters that control a terminal are written as `\u` escapes, which JSON readers decode.
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

/// Appends `text` as a JSON string. Characters that control a terminal are written as `\u` escapes.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Fast path for ordinary names. Without an early exit the loop vectorises.
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) & (byte != b'"') & (byte != b'\\');
    if text.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    text.serialize(&mut Serializer::with_formatter(out, TerminalSafe)).expect(VALID);
}

/// Returns the name that [`write_path`] wrote, given the values of its two possible members.
///
/// # Errors
/// If both members or neither is present, if the base64 is malformed, or if the name contains a NUL.
pub fn read_path<'j>(path: Option<&'j str>, path_b64: Option<&str>) -> Result<Cow<'j, [u8]>, PathError> {
    let name = match (path, path_b64) {
        (Some(text), None) => Cow::Borrowed(text.as_bytes()),
        (None, Some(b64)) => Cow::Owned(read_base64(b64).ok_or(PathError::Base64)?),
        (Some(_), Some(_)) => return Err(PathError::Both),
        (None, None) => return Err(PathError::Missing),
    };
    if name.contains(&0) { Err(PathError::Nul) } else { Ok(name) }
}

/// Decodes base64 in the standard alphabet with padding. Returns `None` unless it is the canonical encoding.
pub fn read_base64(text: &str) -> Option<Vec<u8>> {
    // The decoder would accept several padded texts in a row, which is another encoding of the same bytes.
    if text.trim_end_matches('=').contains('=') { None } else { BASE64.decode(text.as_bytes()).ok() }
}

/// Why a JSON record has no usable path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathError {
    /// Neither the text nor the base64 member is present.
    Missing,
    /// Both members are present.
    Both,
    /// The base64 member is not canonical base64 with padding.
    Base64,
    /// The name contains a NUL, which no path can.
    Nul,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the path is missing",
            Self::Both => "the path is given both as text and as base64",
            Self::Base64 => "the path is not valid base64",
            Self::Nul => "the path contains a NUL",
        })
    }
}

impl std::error::Error for PathError {}

/// Compact JSON with all characters escaped that control a terminal.
struct TerminalSafe;

impl Formatter for TerminalSafe {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| controls_terminal(c)) {
            out.write_all(&rest.as_bytes()[..at])?;
            c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
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
    fn utf8_names_are_json_strings() {
        assert_eq!(written(b"a/b c"), r#"{"path":"a/b c"}"#);
        assert_eq!(written("caf\u{e9} \u{1f600}".as_bytes()), "{\"path\":\"caf\u{e9} \u{1f600}\"}");
        assert_eq!(written(b"\"\\\n\x01"), r#"{"path":"\"\\\n\u0001"}"#);
        assert_eq!(written("\x7f\u{9b}x\u{202e}".as_bytes()), r#"{"path":"\u007f\u009bx\u202e"}"#);
        assert_eq!(written("a\u{200b}\u{e0041}".as_bytes()), r#"{"path":"a\u200b\udb40\udc41"}"#);
    }

    #[test]
    fn names_that_are_not_utf8_are_base64() {
        assert_eq!(written(b"\xff\xfe"), r#"{"path_b64":"//4="}"#);
        assert_eq!(written(b"a\xff"), r#"{"path_b64":"Yf8="}"#);
    }

    #[test]
    fn base64_members_have_the_suffix_b64() {
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
            prop_assert!(!json.chars().any(controls_terminal));
            prop_assert_eq!(read_back(&json), Ok(name));
        }

        #[test]
        fn every_text_is_read_back(name in "[^\0]*") {
            let json = written(name.as_bytes());
            prop_assert!(!json.chars().any(controls_terminal));
            prop_assert_eq!(read_back(&json), Ok(name.into_bytes()));
        }
    }

    proptest! {
        #[test]
        fn records_name_files_as_write_path_does(
            name in prop_oneof![any::<Vec<u8>>(), any::<String>().prop_map(String::into_bytes)]
        ) {
            let mut out = Vec::new();
            write_record(&mut out, |record| {
                record.path("path", &name).paths("roots", "path", std::slice::from_ref(&name));
            });
            let mut member = Vec::new();
            write_path(&mut member, "path", &name);
            prop_assert_eq!(out, [b"{", &*member, b",\"roots\":[{", &member, b"}]}\n"].concat());
        }
    }
}
