//! The tokens of a pattern, and the matchers.

use crate::brackets::Brackets;

/// A token of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Byte(u8),
    /// `?`: any byte except a slash.
    One,
    /// The bytes of the brackets with this number.
    Brackets(u32),
    /// `*`: any bytes except slashes.
    Star,
    /// `**` at the end: any bytes.
    Anything,
    /// `**/`: nothing, or any bytes up to a slash.
    Directories,
}

impl Token {
    /// Returns whether this token matches exactly one byte, and `byte` is one that it matches.
    fn is_match(self, byte: u8, brackets: &[Brackets]) -> bool {
        #[cfg(test)]
        tests::STEPS.set(tests::STEPS.get() + 1);
        match self {
            Self::Byte(own) => own == byte,
            Self::One => byte != b'/',
            Self::Brackets(number) => brackets[number as usize].is_match(byte),
            Self::Star | Self::Anything | Self::Directories => false,
        }
    }

    /// Returns whether this token matches any number of bytes.
    fn is_star(&self) -> bool {
        matches!(self, Self::Star | Self::Anything | Self::Directories)
    }
}

/// Returns whether the tokens match a whole name, which has no slash.
///
/// What comes before the first star and after the last one is compared at one place.
pub(super) fn matches_name(tokens: &[Token], brackets: &[Brackets], name: &[u8]) -> bool {
    let is_at = |part: &[Token], text: &[u8]| {
        part.iter().zip(text).all(|(token, byte)| token.is_match(*byte, brackets))
    };
    let Some(first) = tokens.iter().position(Token::is_star) else {
        return tokens.len() == name.len() && is_at(tokens, name);
    };
    let last = tokens.iter().rposition(Token::is_star).unwrap_or(first);
    let (before, between, after) = (&tokens[..first], &tokens[first..last], &tokens[last + 1..]);
    let Some(end) = name.len().checked_sub(after.len()).filter(|end| *end >= before.len()) else {
        return false;
    };
    if !is_at(before, name) || !is_at(after, &name[end..]) {
        return false;
    }
    // Each part matches at the earliest position, which leaves the longest text to those after it.
    let mut rest = &name[before.len()..end];
    between.split(Token::is_star).filter(|part| !part.is_empty()).all(|part| {
        let found = rest.windows(part.len()).position(|text| is_at(part, text));
        rest = &rest[found.map_or(rest.len(), |at| at + part.len())..];
        found.is_some()
    })
}

/// The most steps of a matcher for one text: a number, and another for each byte of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) fixed: u64,
    pub(super) by_byte: u64,
}

impl Cost {
    /// Returns the cost of [`matches_name`].
    pub(super) fn of_name(tokens: &[Token]) -> Self {
        let first = tokens.iter().position(Token::is_star).unwrap_or(tokens.len());
        let last = tokens.iter().rposition(Token::is_star).unwrap_or(first);
        let longest = tokens[first..last].split(Token::is_star).map(<[_]>::len).max();
        Self { fixed: tokens.len() as u64, by_byte: longest.unwrap_or(0) as u64 }
    }

    /// Returns the cost of [`matches_path`].
    ///
    /// A star ends at a slash, and only the last `**` is tried again, at the beginning of each name. So the tokens between two
    /// `**` read a byte of the text as often as they have names, and then at most once for each of the tokens after a star.
    /// The tokens before the first `**` are tried once.
    pub(super) fn of_path(tokens: &[Token]) -> Self {
        let is_double = |token: &Token| matches!(token, Token::Anything | Token::Directories);
        let by_byte = tokens.split(is_double).enumerate().map(|(nth, part)| {
            let names = part.split(|token| *token == Token::Byte(b'/'));
            let after_star =
                |name: &[Token]| name.split(|token| *token == Token::Star).skip(1).map(<[_]>::len).max();
            let longest = names.clone().filter_map(after_star).max().map(|len| len as u64);
            match nth {
                // Without a star, it is compared once.
                0 => longest.map_or(0, |longest| 1 + longest),
                _ if part.is_empty() => 0,
                _ => names.count() as u64 * (1 + longest.unwrap_or(0)),
            }
        });
        Self { fixed: tokens.len() as u64, by_byte: by_byte.sum() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.fixed += other.fixed;
        self.by_byte += other.by_byte;
    }

    /// Returns the most steps for a text of this length.
    pub(super) fn steps(self, len: usize) -> u64 {
        self.fixed.saturating_add(self.by_byte.saturating_mul(len as u64))
    }
}

/// Returns whether the tokens match a whole path.
///
/// Backtracking tries only the last `*` and the last `**` again, so the time is bounded. This is enough: the
/// tokens between two `*` match at the earliest position, which leaves the longest text to the later `*`. And
/// a `*` ends at the next slash, whatever came before.
pub(super) fn matches_path(tokens: &[Token], brackets: &[Brackets], text: &[u8]) -> bool {
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
            (Some(one), Some(byte)) if one.is_match(*byte, brackets) => {
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    thread_local! {
        /// How many tokens were compared with a byte.
        pub(super) static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    fn token() -> impl Strategy<Value = Token> {
        use Token::{Anything, Byte, Directories, One, Star};
        select(vec![Byte(b'a'), Byte(b'a'), Byte(b'b'), Byte(b'/'), One, Star, Star, Directories, Anything])
    }

    fn steps(matches: impl FnOnce() -> bool) -> (bool, u64) {
        STEPS.set(0);
        (matches(), STEPS.get())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn names_match_as_paths_do_and_no_match_costs_more_than_it_may(
            tokens in prop::collection::vec(token(), 1..12),
            text in "[ab/]{0,60}",
        ) {
            let tokens: Vec<_> = tokens.iter().enumerate().map(|(nth, token)| match (token, tokens.get(nth + 1)) {
                // `**` is `*` unless the pattern ends or a slash follows.
                (Token::Anything, Some(next)) if *next != Token::Byte(b'/') => Token::Star,
                (token, _) => *token,
            }).collect();
            let (_, path_steps) = steps(|| matches_path(&tokens, &[], text.as_bytes()));
            prop_assert!(path_steps <= Cost::of_path(&tokens).steps(text.len()), "{path_steps}");

            // In a name, every star means the same.
            let is_slash = |token: &Token| matches!(token, Token::Byte(b'/'));
            let tokens: Vec<_> = tokens.into_iter().filter(|token| !is_slash(token)).collect();
            let name = text.replace('/', "");
            let (matches, name_steps) = steps(|| matches_name(&tokens, &[], name.as_bytes()));
            prop_assert!(name_steps <= Cost::of_name(&tokens).steps(name.len()), "{name_steps}");
            let stars: Vec<_> = tokens.iter().map(|it| if it.is_star() { Token::Star } else { *it }).collect();
            prop_assert_eq!(matches, matches_path(&stars, &[], name.as_bytes()));
        }
    }
}
