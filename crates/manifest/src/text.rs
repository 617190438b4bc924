//! JSON as it is read: text without copies, errors without places.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;

/// A string, borrowed where it holds no escapes. A bare `Option<Cow<str>>` is always copied.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Text<'l>(#[serde(borrow)] pub(crate) Cow<'l, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// What is wrong, without `at line 1`: the line is that of a manifest, and has another number.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// A message that does not repeat all of what it complains about.
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
    fn long_messages_are_cut_between_characters() {
        assert_eq!(brief("short".into()), "short");
        let long = brief("\u{20ac}".repeat(1_000));
        assert_eq!(long, "\u{20ac}".repeat(133) + "...");
    }
}
