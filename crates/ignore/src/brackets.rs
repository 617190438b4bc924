//! Bracket expressions in a pattern.

/// The set of bytes that a bracket expression matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Brackets([u64; 4]);

impl Brackets {
    /// Parses the text after a `[`. Returns the set, and the length of the expression including the `]`.
    ///
    /// Returns `None` if the brackets are not closed, or contain a class that does not exist. Then git
    /// matches nothing.
    pub(super) fn parse(text: &[u8]) -> Option<(Self, usize)> {
        let is_negated = matches!(text, [b'!' | b'^', ..]);
        let mut brackets = Self([0; 4]);
        let mut at = usize::from(is_negated);
        // The byte before, if it may start a range.
        let mut before = None;
        loop {
            let byte = *text.get(at)?;
            match &text[at..] {
                [b'\\', literal, ..] => {
                    brackets.insert(*literal);
                    (before, at) = (Some(*literal), at + 2);
                }
                [b'\\'] => return None,
                [b'-', last, ..] if *last != b']' && before.is_some() => {
                    at += 1 + usize::from(*last == b'\\');
                    let last = *text.get(at)?;
                    (before.unwrap_or_default()..=last).for_each(|byte| brackets.insert(byte));
                    (before, at) = (None, at + 1);
                }
                [b'[', b':', rest @ ..] => {
                    let len = rest.iter().position(|byte| *byte == b']')?;
                    match rest[..len].strip_suffix(b":") {
                        Some(name) => {
                            let is_in = class(name)?;
                            (0..128).filter(is_in).for_each(|byte| brackets.insert(byte));
                            (before, at) = (None, at + 2 + len + 1);
                        }
                        None => {
                            brackets.insert(byte);
                            (before, at) = (Some(byte), at + 1);
                        }
                    }
                }
                _ => {
                    brackets.insert(byte);
                    (before, at) = (Some(byte), at + 1);
                }
            }
            if text.get(at) == Some(&b']') {
                break;
            }
        }
        if is_negated {
            brackets.0.iter_mut().for_each(|word| *word = !*word);
        }
        brackets.remove(b'/');
        Some((brackets, at + 1))
    }

    pub(super) fn is_match(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & (1 << (byte % 64)) != 0
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] &= !(1 << (byte % 64));
    }
}

/// Returns the class of this name, as in git: `space` contains neither form feed nor vertical tab.
fn class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &[u8]) -> Option<(Vec<u8>, usize)> {
        let (brackets, len) = Brackets::parse(text)?;
        Some(((0..=255).filter(|byte| brackets.is_match(*byte)).collect(), len))
    }

    #[test]
    fn sets_of_bytes() {
        for (text, expected) in [
            (&b"a-c]"[..], &b"abc"[..]),
            (b"ca]", b"ac"),
            (b"]a]", b"]a"),
            (b"a-]", b"-a"),
            (b"-a]", b"-a"),
            (b"z-a]", b"z"),
            (b"a-c-e]", b"-abce"),
            (b"a\\-c]", b"-ac"),
            (b"\\]]", b"]"),
            (b"a-\\c]", b"abc"),
            (b"[a]", b"[a"),
            (b"[:a]", b":[a"),
            (b"[:digit:]x]", b"0123456789x"),
            (b"[:blank:]-a]", b"\t -a"),
            (b"[:space:]]", b"\t\n\r "),
            (b"+--/]", b"+,-"),
            (b"\xfe-\xff]", b"\xfe\xff"),
        ] {
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(bytes(text), Some((expected, text.len())), "{}", text.escape_ascii());
        }
        let all_but = |but: &[u8]| (0..=255).filter(|byte| !but.contains(byte)).collect::<Vec<_>>();
        assert_eq!(bytes(b"!a]b"), Some((all_but(b"a/"), 3)));
        assert_eq!(bytes(b"^]-a]"), Some((all_but(b"]^_`a/"), 5)));
    }

    #[test]
    fn unclosed_brackets_and_unknown_classes_match_nothing() {
        for text in
            [&b""[..], b"a", b"]", b"!]", b"a-", b"a\\", b"a-\\", b"[:alpha:]", b"[:no:]]", b"[:", b"[::]]"]
        {
            assert_eq!(bytes(text), None, "{}", text.escape_ascii());
        }
    }
}
