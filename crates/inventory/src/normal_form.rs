//! Unicode normal forms of names.

use unicode_normalization::{UnicodeNormalization as _, is_nfc, is_nfd};

/// The Unicode normal form of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalForm {
    /// Composed, as most programs write names.
    Nfc,
    /// Decomposed, as HFS+ stores names.
    Nfd,
    /// Neither of them.
    Mixed,
}

impl NormalForm {
    /// Returns the normal form of a name; `None` if the name is not UTF-8. A name that is in both forms is in NFC.
    pub fn of(name: &[u8]) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?;
        Some(match () {
            () if is_nfc(name) => Self::Nfc,
            () if is_nfd(name) => Self::Nfd,
            () => Self::Mixed,
        })
    }

    /// Returns the name of the form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nfc => "NFC",
            Self::Nfd => "NFD",
            Self::Mixed => "mixed",
        }
    }
}

/// Appends a path with each name in NFC. Names that are not UTF-8 stay as they are.
pub fn push_normal(path: &[u8], out: &mut Vec<u8>) {
    for (nth, name) in path.split(|byte| *byte == b'/').enumerate() {
        if nth > 0 {
            out.push(b'/');
        }
        match std::str::from_utf8(name) {
            Ok(text) if !is_nfc(text) => {
                out.extend(text.nfc().flat_map(|char| {
                    let mut bytes = [0; 4];
                    let len = char.encode_utf8(&mut bytes).len();
                    bytes.into_iter().take(len)
                }));
            }
            _ => out.extend_from_slice(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_names() {
        for (name, form) in [
            ("caf\u{e9}", NormalForm::Nfc),
            ("cafe\u{301}", NormalForm::Nfd),
            ("caf\u{e9}e\u{301}", NormalForm::Mixed),
            // A singleton is in no normal form, and what it stands for is in both.
            ("\u{2126}", NormalForm::Mixed),
            ("\u{3a9}", NormalForm::Nfc),
            // Two marks below and above a letter, in the wrong order.
            ("q\u{307}\u{323}", NormalForm::Mixed),
            ("\u{ac00}", NormalForm::Nfc),
            ("\u{1100}\u{1161}", NormalForm::Nfd),
        ] {
            assert_eq!(NormalForm::of(name.as_bytes()), Some(form), "{name}");
        }
        assert_eq!(NormalForm::of(b"caf\xe9"), None);
    }

    #[test]
    fn each_name_of_a_path_is_normalized_alone() {
        let mut out = Vec::new();
        push_normal("cafe\u{301}/\u{212b}/a".as_bytes(), &mut out);
        assert_eq!(out, "caf\u{e9}/\u{c5}/a".as_bytes());
        out.clear();
        // The second name is not UTF-8, and so it is not changed.
        push_normal(b"e\xcc\x81/e\xcc\x81\xff/\xcc\x81", &mut out);
        assert_eq!(out, b"\xc3\xa9/e\xcc\x81\xff/\xcc\x81");
    }
}
