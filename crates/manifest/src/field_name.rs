//! The names of fields in arguments.

use std::fmt;
use std::str::FromStr;

use crate::Field;

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Field {
    type Err = UnknownField;

    /// Parses the [name](Field::name) of a field that is compared. The suffixes `_bytes` and `_ns` and the plural
    /// `s` of `digests` are optional; `owner`, `group`, `device` and `links` stand for `uid`, `gid`, `rdev` and `link_group`.
    fn from_str(text: &str) -> Result<Self, UnknownField> {
        match text {
            "size" => Ok(Self::Size),
            "mtime" => Ok(Self::Mtime),
            "owner" => Ok(Self::Uid),
            "group" => Ok(Self::Gid),
            "device" => Ok(Self::Rdev),
            "links" => Ok(Self::LinkGroup),
            "digest" => Ok(Self::Digests),
            name => {
                let known = Field::ALL.into_iter().find(|field| field.is_compared() && field.name() == name);
                known.ok_or_else(|| UnknownField(text.to_owned()))
            }
        }
    }
}

/// A name that is not the name of a field that is compared. The message lists the valid names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField(String);

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compared = Field::ALL.into_iter().filter(|field| field.is_compared());
        let names = compared.map(Field::name).collect::<Vec<_>>().join(", ");
        write!(f, "unknown field {:?}, expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownField {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_compared_fields_are_read_back() {
        for field in Field::ALL {
            assert_eq!(field.name().parse().ok(), field.is_compared().then_some(field));
        }
        for (text, field) in [("size", Field::Size), ("owner", Field::Uid), ("mtime", Field::Mtime)] {
            assert_eq!(text.parse(), Ok(field));
        }
        let message = "inode".parse::<Field>().unwrap_err().to_string();
        assert!(message.contains("\"inode\"") && message.contains("mtime_ns"), "{message}");
        assert!(!message.contains("ctime_ns"), "{message}");
    }
}
