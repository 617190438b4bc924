//! The test for types.

use std::fmt;
use std::ops::BitOrAssign;
use std::str::FromStr;

use ftk_walk::{Doubt, FileType};

use crate::ParseError;

/// A set of file types.
///
/// The text is a list of letters separated by commas: `f` regular file, `d` directory, `l` symbolic link, `p`
/// named pipe, `s` socket, `b` block device, `c` character device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// Every type.
    pub const ALL: Self = Self(u8::MAX);

    /// Returns whether a type is in the set.
    pub fn matches(self, file_type: FileType) -> bool {
        self.0 & bit(file_type) != 0
    }

    /// Returns whether the type of an entry is in the set; `None` if a record does not say enough about it.
    pub(crate) fn match_recorded(self, file_type: FileType, doubt: Doubt) -> Option<bool> {
        /// Every type that a letter stands for, except directories.
        const FILES: u8 = ((1 << 7) - 1) & !bit(FileType::Directory);
        let possible = match doubt {
            Doubt::None => bit(file_type),
            Doubt::Special => FILES & !bit(FileType::Regular),
            Doubt::Any => FILES,
        };
        match self.0 & possible {
            0 => Some(false),
            all if all == possible => Some(true),
            _ => None,
        }
    }
}

impl From<FileType> for Types {
    fn from(file_type: FileType) -> Self {
        Self(bit(file_type))
    }
}

impl BitOrAssign for Types {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = "fdlpsbc".chars().enumerate().filter(|(nth, _)| self.0 & (1 << nth) != 0);
        for (nth, (_, letter)) in letters.enumerate() {
            write!(f, "{}{letter}", if nth > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Types {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut types = Self(0);
        let mut at = 0;
        for letter in text.split(',') {
            types.0 |= bit(match letter {
                "f" => FileType::Regular,
                "d" => FileType::Directory,
                "l" => FileType::Symlink,
                "p" => FileType::Fifo,
                "s" => FileType::Socket,
                "b" => FileType::Block,
                "c" => FileType::Char,
                _ => {
                    let problem = format!("`{letter}` is not a type: use f, d, l, p, s, b or c");
                    return Err(ParseError::new(at, problem));
                }
            });
            at += letter.len() + 1;
        }
        Ok(types)
    }
}

const fn bit(file_type: FileType) -> u8 {
    1 << file_type as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [FileType; 7] = [
        FileType::Regular,
        FileType::Directory,
        FileType::Symlink,
        FileType::Fifo,
        FileType::Socket,
        FileType::Block,
        FileType::Char,
    ];

    #[test]
    fn each_letter_is_one_type() {
        for (letter, file_type) in "fdlpsbc".chars().zip(TYPES) {
            let types: Types = letter.to_string().parse().unwrap();
            assert!(TYPES.into_iter().all(|other| types.matches(other) == (other == file_type)));
        }
        let types: Types = "f,l".parse().unwrap();
        assert_eq!(TYPES.map(|other| types.matches(other)), [true, false, true, false, false, false, false]);
        assert!(TYPES.into_iter().all(|file_type| Types::ALL.matches(file_type)));
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, message) in [
            ("", "`` is not a type: use f, d, l, p, s, b or c (at byte 1)"),
            ("f,x", "`x` is not a type: use f, d, l, p, s, b or c (at byte 3)"),
            ("fd", "`fd` is not a type: use f, d, l, p, s, b or c (at byte 1)"),
            ("f,", "`` is not a type: use f, d, l, p, s, b or c (at byte 3)"),
        ] {
            assert_eq!(text.parse::<Types>().unwrap_err().to_string(), message);
        }
    }
}
