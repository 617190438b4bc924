//! A pattern in pieces, and what they match.

use super::brackets::Brackets;

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Byte(u8),
    /// `?`: any byte but a slash.
    One,
    Brackets(Brackets),
    /// `*`: any bytes but slashes.
    Star,
    /// `**` at the end: any bytes.
    Anything,
    /// `**/`: nothing, or any bytes up to a slash.
    Directories,
}

impl Token {
    /// Whether a piece of one byte matches this one.
    fn is_match(&self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => *own == byte,
            Self::One => byte != b'/',
            Self::Brackets(brackets) => brackets.is_match(byte),
            Self::Star | Self::Anything | Self::Directories => false,
        }
    }
}

/// Whether the pieces match the whole text.
///
/// Only the last `*` and the last `**` are ever tried again. What lies between two `*` matches as early as it can,
/// which leaves the later one the most; and a `*` ends where the next slash is, however often it is tried.
pub(super) fn matches(tokens: &[Token], text: &[u8]) -> bool {
    // The piece after the last `*`, and where it was tried last; the same for `**`.
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
