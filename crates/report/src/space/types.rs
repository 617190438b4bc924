//! The types of files, as numbers.

use std::collections::HashMap;

/// The names of types, each with its number. A hostile tree could have a type for each file, so there is a limit; files of
/// further types count as files without one.
#[derive(Debug)]
pub(super) struct Types {
    numbers: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
}

/// The type of files without an extension.
pub(super) const NONE: u32 = 0;

/// More types than a person distinguishes.
const LIMIT: usize = 10_000;

/// The longest extension that counts as one.
const MAX_LEN: usize = 12;

impl Types {
    pub(super) fn new() -> Self {
        Self { numbers: HashMap::new(), names: vec!["no extension".into()] }
    }

    /// Returns the number of the type of a file with this name: its extension in lower case.
    pub(super) fn of(&mut self, name: &[u8]) -> u32 {
        let Some(dot) = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0) else {
            return NONE;
        };
        let extension = &name[dot + 1..];
        // `libc.so.6` has a version, not a type.
        let is_word =
            extension.iter().all(u8::is_ascii_alphanumeric) && !extension.iter().all(u8::is_ascii_digit);
        if !is_word || extension.len() > MAX_LEN {
            return NONE;
        }
        let extension: String = extension.iter().map(|byte| byte.to_ascii_lowercase() as char).collect();
        if let Some(number) = self.numbers.get(&*extension) {
            return *number;
        }
        if self.names.len() >= LIMIT {
            return NONE;
        }
        let number = self.names.len() as u32;
        self.names.push(extension.as_str().into());
        self.numbers.insert(extension.into(), number);
        number
    }

    pub(super) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_the_extension_in_lower_case() {
        let mut types = Types::new();
        let jpg = types.of(b"a.JPG");
        assert_eq!((types.of(b"b.c.jpg"), types.name(jpg)), (jpg, "jpg"));
        for name in [&b"a"[..], b".profile", b"a.", b"a.so.6", b"a.b c", b"a.\xff", b"a.averylongextension"] {
            assert_eq!(types.of(name), NONE, "{name:?}");
        }
    }

    #[test]
    fn the_number_of_types_is_bounded() {
        let mut types = Types::new();
        for n in 0..2 * LIMIT {
            types.of(format!("a.x{n}").as_bytes());
        }
        assert_eq!(types.names.len(), LIMIT);
        assert_eq!(types.of(b"a.new"), NONE);
    }
}
