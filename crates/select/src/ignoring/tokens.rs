//! The tokens of a pattern, and the matcher.

use super::brackets::Brackets;

/// A token of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Byte(u8),
    /// `?`: any byte except a slash.
    One,
    Brackets(Brackets),
    /// `*`: any bytes except slashes.
    Star,
    /// `**` at the end: any bytes.
    Anything,
    /// `**/`: nothing, or any bytes up to a slash.
    Directories,
}

impl Token {
    /// Returns whether this token matches exactly one byte, and `byte` is one that it matches.
    fn is_match(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => *own == byte,
            Self::One => byte != b'/',
            Self::Brackets(brackets) => brackets.is_match(byte),
            Self::Star | Self::Anything | Self::Directories => false,
        }
    }
}

/// Returns whether the tokens match the whole text.
///
/// Backtracking tries only the last `*` and the last `**` again, so the time is bounded. This is enough: the
/// tokens between two `*` match at the earliest position, which leaves the longest text to the later `*`. And
/// a `*` ends at the next slash, whatever came before.
pub(super) fn matches(tokens: &[Token], text: &[u8]) -> bool {
    // The token after the last `*`, and the position where it was tried last; the same for `**`.
    let (mut star, mut stars) = (None::<(usize, usize)>, None::<(usize, usize)>);
    let (mut token, mut at) = (0, 0);
    loop {
        match (tokens.get(token), text.get(at)) {
            (None, None) => return true,
            (Some(Token::Star), _) => {
                token += 1;
                star = Some((token, at));
                continue;
            }
            (Some(Token::Anything | Token::Directories), _) => {
                token += 1;
                (star, stars) = (None, Some((token, at)));
                continue;
            }
            (Some(one), Some(byte)) if one.is_match(*byte) => {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            _ => {}
        }
        (token, at) = match (star, stars) {
            (Some((next, from)), _) if text.get(from).is_some_and(|byte| *byte != b'/') => {
                star = Some((next, from + 1));
                (next, from + 1)
            }
            (_, Some((next, from))) => {
                let rest = &text[from..];
                let skip = match tokens[next - 1] {
                    Token::Directories => rest.iter().position(|byte| *byte == b'/').map(|slash| slash + 1),
                    _ => (!rest.is_empty()).then_some(1),
                };
                let Some(skip) = skip else { return false };
                (star, stars) = (None, Some((next, from + skip)));
                (next, from + skip)
            }
            (_, None) => return false,
        };
    }
}
