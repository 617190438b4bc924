//! Names in lines that hold more than a name.

use std::borrow::Cow;

use ftk_record::{quote, sanitize};

/// Stands between what was and what is.
pub(crate) const ARROW: char = '\u{2192}';

/// The name as it is, or in quotes where anything in it could be taken for something else.
pub(crate) fn shown(name: &[u8]) -> Cow<'_, str> {
    match sanitize(name) {
        Cow::Borrowed(text) if !text.contains(['\'', '\\', ARROW]) => text.into(),
        _ => quote(name).into(),
    }
}
