//! The test for user and group.

use std::fmt;
use std::str::FromStr;

use ftk_walk::Fields;
use nix::unistd::{Group, User};

use crate::ParseError;

/// A test for the user and the group that own an entry.
///
/// The text is `USER`, `:GROUP` or `USER:GROUP`. Each part is a name or a number, and both must match. A `!`
/// before a part negates it. A name that consists of digits takes precedence over the number.
///
/// Names are looked up in the system's user database when the text is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    user: Option<Part>,
    group: Option<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    id: u32,
    not: bool,
}

impl Owner {
    /// Returns whether this user and group match.
    pub fn matches(self, uid: u32, gid: u32) -> bool {
        let is_match = |part: Option<Part>, id| part.is_none_or(|part| (part.id == id) != part.not);
        is_match(self.user, uid) && is_match(self.group, gid)
    }

    /// Returns whether a part is negated.
    pub(crate) fn is_negated(self) -> bool {
        [self.user, self.group].into_iter().flatten().any(|part| part.not)
    }

    /// Returns the fields that the test needs.
    pub(crate) fn fields(self) -> Fields {
        let user = if self.user.is_some() { Fields::UID } else { Fields::NONE };
        let group = if self.group.is_some() { Fields::GID } else { Fields::NONE };
        user | group
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: Option<Part>| {
            part.map_or_else(String::new, |Part { id, not }| format!("{}{id}", if not { "!" } else { "" }))
        };
        let colon = if self.group.is_some() { ":" } else { "" };
        write!(f, "{}{colon}{}", part(self.user), part(self.group))
    }
}

impl FromStr for Owner {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (user, group) = text.split_once(':').unwrap_or((text, ""));
        if user.is_empty() && group.is_empty() {
            return Err(ParseError::new(0, "no user or group given: write USER, :GROUP or USER:GROUP"));
        }
        let user_id = |name: &str| Ok(User::from_name(name)?.map(|user| user.uid.as_raw()));
        let group_id = |name: &str| Ok(Group::from_name(name)?.map(|group| group.gid.as_raw()));
        Ok(Self {
            user: part(user, "user", user_id)?,
            group: part(group, "group", group_id).map_err(|error| error.offset_by(user.len() + 1))?,
        })
    }
}

fn part(
    text: &str,
    what: &str,
    look_up: impl FnOnce(&str) -> nix::Result<Option<u32>>,
) -> Result<Option<Part>, ParseError> {
    if text.is_empty() {
        return Ok(None);
    }
    let name = text.strip_prefix('!').unwrap_or(text);
    let (not, at) = (name.len() < text.len(), text.len() - name.len());
    if name.is_empty() {
        return Err(ParseError::new(at, format!("a {what} is missing")));
    }
    let known = look_up(name)
        .map_err(|error| ParseError::new(at, format!("the {what} `{name}` cannot be looked up: {error}")))?;
    let number = || name.bytes().all(|digit| digit.is_ascii_digit()).then(|| name.parse().ok()).flatten();
    let id = known.or_else(number);
    let id = id.ok_or_else(|| ParseError::new(at, format!("there is no {what} `{name}`")))?;
    Ok(Some(Part { id, not }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_negations() {
        let is_match = |text: &str| {
            [(0, 0), (0, 7), (7, 0), (7, 7)]
                .map(|(uid, gid)| text.parse::<Owner>().unwrap().matches(uid, gid))
        };
        for root in ["root", "0", "root:", "0:"] {
            assert_eq!(is_match(root), [true, true, false, false]);
        }
        assert_eq!(is_match(":root"), [true, false, true, false]);
        assert_eq!(is_match("root:7"), [false, true, false, false]);
        assert_eq!(is_match("!root"), [false, false, true, true]);
        assert_eq!(is_match("!0:!0"), [false, false, false, true]);
        assert_eq!(is_match("7:!0"), [false, false, false, true]);
        assert_eq!(is_match("4294967294"), [false; 4]);
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, message) in [
            ("", "no user or group given: write USER, :GROUP or USER:GROUP (at byte 1)"),
            (":", "no user or group given: write USER, :GROUP or USER:GROUP (at byte 1)"),
            ("!", "a user is missing (at byte 2)"),
            ("root:!", "a group is missing (at byte 7)"),
            ("no such one", "there is no user `no such one` (at byte 1)"),
            ("no\nsuch\u{1b}one", "there is no user `no\\nsuch\\x1bone` (at byte 1)"),
            ("0:!no such", "there is no group `no such` (at byte 4)"),
            ("4294967296", "there is no user `4294967296` (at byte 1)"),
            ("+1", "there is no user `+1` (at byte 1)"),
            ("0:0:0", "there is no group `0:0` (at byte 3)"),
        ] {
            assert_eq!(text.parse::<Owner>().unwrap_err().to_string(), message);
        }
    }
}
