//! JSON strings without copies, and JSON errors in plain words.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;

/// A string, borrowed if it contains no escapes. A bare `Option<Cow<str>>` would always be copied.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Text<'l>(#[serde(borrow)] pub(crate) Cow<'l, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Describes a JSON error in the words of the format instead of the parser's. Omits `at line 1`, since the
/// line has another number in the manifest.
pub(crate) fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    if error.is_eof() && error.column() == 0 {
        return "it is empty".into();
    }
    if error.is_eof() {
        return "it ends in the middle of a JSON object".into();
    }
    if !error.is_data() {
        return format!("its JSON is broken at byte {}: {text}", error.column());
    }
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("the member {name} is missing");
    }
    if let Some(name) = text.strip_prefix("duplicate field ") {
        return format!("the member {name} appears twice");
    }
    let values = text.strip_prefix("invalid type: ").or_else(|| text.strip_prefix("invalid value: "));
    let Some((found, expected)) = values.and_then(|text| text.rsplit_once(", expected ")) else {
        return text.to_owned();
    };
    let found = found.replace("floating point", "fraction");
    let expected = match expected {
        "i128" => "an integer",
        "u64" => "an integer of 0 or more",
        "u32" => "an integer from 0 to 4294967295",
        expected => expected,
    };
    format!("{found} where {expected} is expected")
}

/// Cuts a message that quotes a very long value.
pub(crate) fn brief(mut text: String) -> String {
    const MOST: usize = 400;
    if text.len() > MOST {
        let end = (0..=MOST).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or(0));
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_errors_are_described_in_plain_words() {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "the values are never read")]
        struct Line {
            size: u64,
            uid: u32,
            mode: String,
        }

        for (line, expected) in [
            (r#"{"size":1,"uid":1.5"#, "fraction `1.5` where an integer from 0 to 4294967295 is expected"),
            (r#"{"size":-1}"#, "integer `-1` where an integer of 0 or more is expected"),
            (r#"{"size":"1"}"#, "string \"1\" where an integer of 0 or more is expected"),
            (r#"{"size":1,"uid":1,"mode":7}"#, "integer `7` where a string is expected"),
            (r#"{"size":1,"uid":1}"#, "the member `mode` is missing"),
            (r#"{"size":1,"size":1}"#, "the member `size` appears twice"),
            (r#"{"size":1"#, "it ends in the middle of a JSON object"),
            ("", "it is empty"),
            (r#"{"size":1;}"#, "its JSON is broken at byte 10: expected `,` or `}`"),
        ] {
            assert_eq!(plain(&serde_json::from_str::<Line>(line).unwrap_err()), expected, "{line}");
        }
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        assert_eq!(brief("short".into()), "short");
        let long = brief("\u{20ac}".repeat(1_000));
        assert_eq!(long, "\u{20ac}".repeat(133) + "...");
    }
}
