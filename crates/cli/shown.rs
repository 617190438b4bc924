//! Formats names for lines that also contain other text.

use std::borrow::Cow;

use ftk_record::{quote, sanitize};

/// Stands between the old and the new value.
pub(crate) const ARROW: char = '\u{2192}';

/// Returns the name unchanged, or in quotes if a part of it could be misread.
pub(crate) fn shown(name: &[u8]) -> Cow<'_, str> {
    match sanitize(name) {
        Cow::Borrowed(text) if !text.contains(['\'', '\\', ARROW]) => text.into(),
        _ => quote(name).into(),
    }
}
