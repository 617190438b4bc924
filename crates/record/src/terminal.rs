//! File names for display on terminals.
//!
//! A name may contain any byte, and some bytes control a terminal: they can move the cursor, change colours,
//! hide text or reverse it. Others have no width, so that two different names look the same. All these characters
//! are shown as escapes:
//!
//! | in the name | shown as |
//! |---|---|
//! | newline, carriage return, tab | `\n` `\r` `\t` |
//! | other controls below 0x20 (escape among them), delete | `\x1b` |
//! | C1 controls, U+0080 to U+009F | `\u{9b}` |
//! | line and paragraph separators, U+2028 and U+2029 | `\u{2028}` |
//! | format characters (`Cf`), among them those that change the direction of text | `\u{202e}` |
//! | other characters that are not displayed (`Default_Ignorable_Code_Point`) | `\u{3164}` |
//! | bytes that are not UTF-8 | `\xff` |
//!
//! Variation selectors (`Variation_Selector`) stay, because ordinary names have them: they choose how the character before
//! them looks. The properties are those of Unicode 16.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns `name` with everything escaped that could control a terminal or is invisible; borrowed if nothing needs escaping.
///
/// The result is for display only and cannot be decoded: backslashes in the name are kept, so that ordinary
/// names look as usual. Use [`quote`] if different names must look different.
pub fn sanitize(name: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(name) {
        Ok(text) if !text.chars().any(controls_terminal) => Cow::Borrowed(text),
        _ => {
            let mut shown = String::with_capacity(name.len() + 8);
            push_shown(&mut shown, name, |_| false);
            Cow::Owned(shown)
        }
    }
}

/// Returns `name` in single quotes, for messages: `'private/keys'`.
///
/// Backslashes and single quotes are escaped (`\\`, `\'`), like everything that [`sanitize`] escapes, so
/// different names always look different.
pub fn quote(name: &[u8]) -> String {
    let mut shown = String::with_capacity(name.len() + 2);
    shown.push('\'');
    push_shown(&mut shown, name, |c| matches!(c, '\\' | '\''));
    shown.push('\'');
    shown
}

/// Returns `name` as one word of a command that a user can paste into a shell. It never begins with a dash. A name that a
/// terminal might interpret is written as bash, ksh and zsh read it: `$'a\x1b'`.
pub fn shell_word(name: &[u8]) -> String {
    let start = if name.starts_with(b"-") { "./" } else { "" };
    match sanitize(name) {
        Cow::Borrowed(text) if !text.is_empty() && name.iter().all(is_plain) => format!("{start}{text}"),
        Cow::Borrowed(text) => format!("'{start}{}'", text.replace('\'', "'\\''")),
        Cow::Owned(_) => {
            let mut word = format!("$'{start}");
            for &byte in name {
                match byte {
                    b'\'' | b'\\' => word.extend(['\\', byte.into()]),
                    b' '..=b'~' => word.push(byte.into()),
                    byte => push_byte(&mut word, byte),
                }
            }
            word.push('\'');
            word
        }
    }
}

/// Returns `word` as one word of a command line. Other than the [name](shell_word) of a file, it may begin with a dash, and
/// `--option=value` is not quoted if the value needs no quotes.
pub fn shell_argument(word: &[u8]) -> String {
    let (dashes, rest) = word.split_at(word.iter().take_while(|byte| **byte == b'-').count());
    let dashes = "-".repeat(dashes.len());
    match str::from_utf8(rest) {
        Ok(text) if !word.is_empty() && rest.iter().all(|byte| *byte == b'=' || is_plain(byte)) => {
            dashes + text
        }
        _ => dashes + &shell_word(rest),
    }
}

/// Returns whether a byte means only itself in a word of a shell.
fn is_plain(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._/+,@%:-".contains(byte)
}

/// Returns whether a terminal may interpret `c` instead of showing it, or shows nothing for it.
pub(crate) fn controls_terminal(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{600}'..='\u{605}'
        | '\u{61c}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{e0fff}')
}

fn push_shown(shown: &mut String, name: &[u8], also: impl Fn(char) -> bool) {
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => shown.push_str("\\n"),
                '\r' => shown.push_str("\\r"),
                '\t' => shown.push_str("\\t"),
                '\0'..='\x7f' if controls_terminal(c) => push_byte(shown, c as u8),
                c if controls_terminal(c) => shown.extend(c.escape_unicode()),
                c => {
                    if also(c) {
                        shown.push('\\');
                    }
                    shown.push(c);
                }
            }
        }
        for &byte in chunk.invalid() {
            push_byte(shown, byte);
        }
    }
}

fn push_byte(shown: &mut String, byte: u8) {
    write!(shown, "\\x{byte:02x}").expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex_syntax::hir::{Class, Hir, HirKind};
    use regex_syntax::parse;

    use super::*;

    #[test]
    fn clean_names_are_borrowed() {
        let variations = ["\u{2764}\u{fe0f}", "\u{2764}\u{fe00}", "\u{845b}\u{e0100}", "\u{845b}\u{e01ef}"];
        let others = ["", "a b", "back\\slash", "it's", "caf\u{e9}", "\u{5d0}\u{5d1}", "\u{1f600}", "\u{a0}"];
        for name in others.into_iter().chain(variations) {
            assert!(matches!(sanitize(name.as_bytes()), Cow::Borrowed(shown) if shown == name), "{name:?}");
        }
    }

    #[test]
    fn terminal_controls_are_escaped() {
        for (name, shown) in [
            (&b"\x1b[31mred"[..], "\\x1b[31mred"),
            (b"a\nb\rc\td\0", "a\\nb\\rc\\td\\x00"),
            (b"\x7f", "\\x7f"),
            (b"\xff\x9b", "\\xff\\x9b"),
            (b"\xc2\x9b0m", "\\u{9b}0m"),
            (b"\xe2\x80", "\\xe2\\x80"),
            (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
            ("\u{202e}gpj.exe".as_bytes(), "\\u{202e}gpj.exe"),
            (
                "\u{61c}\u{200e}\u{200f}\u{2029}\u{2066}".as_bytes(),
                "\\u{61c}\\u{200e}\\u{200f}\\u{2029}\\u{2066}",
            ),
            ("a\u{200b}b".as_bytes(), "a\\u{200b}b"),
            ("\u{200d}\u{2060}\u{2064}\u{feff}".as_bytes(), "\\u{200d}\\u{2060}\\u{2064}\\u{feff}"),
            ("\u{e0001}\u{e007f}".as_bytes(), "\\u{e0001}\\u{e007f}"),
            ("\u{ad}\u{180e}\u{206a}\u{3164}".as_bytes(), "\\u{ad}\\u{180e}\\u{206a}\\u{3164}"),
        ] {
            assert_eq!(sanitize(name), shown);
            assert_eq!(quote(name), format!("'{shown}'"));
        }
    }

    #[test]
    fn words_of_a_shell() {
        for (name, word) in [
            (&b"a/b-c.d"[..], "a/b-c.d"),
            (b"", "''"),
            (b"-x", "./-x"),
            (b"a b", "'a b'"),
            (b"- b", "'./- b'"),
            (b"it's", r"'it'\''s'"),
            (b"$(x)", "'$(x)'"),
            ("\u{e9}".as_bytes(), "'\u{e9}'"),
            (b"a\nb\xff'\\", r"$'a\x0ab\xff\'\\'"),
            (b"-\x1b", r"$'./-\x1b'"),
        ] {
            assert_eq!(shell_word(name), word);
        }
    }

    #[test]
    fn words_of_a_command_line() {
        for (word, shown) in [
            (&b"--path=a*"[..], "--'path=a*'"),
            (b"--root=/srv/a", "--root=/srv/a"),
            (b"-", "-"),
            (b"--", "--"),
            (b"", "''"),
            (b"-\n", "-$'\\x0a'"),
            (b"a b", "'a b'"),
        ] {
            assert_eq!(shell_argument(word), shown, "{}", word.escape_ascii());
        }
    }

    #[test]
    fn quotes_cannot_be_closed_from_inside() {
        assert_eq!(quote(b"private/keys"), "'private/keys'");
        assert_eq!(quote(b"it's"), r"'it\'s'");
        assert_eq!(quote(br"a\x1b"), r"'a\\x1b'");
        assert_eq!(quote(b"'\\"), r"'\'\\'");
    }

    /// The characters that must always be escaped, by their properties.
    const FORBIDDEN: &str =
        r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--\p{Variation_Selector}]";

    fn is_safe(shown: &str) -> bool {
        static CLASS: LazyLock<Hir> = LazyLock::new(|| parse(FORBIDDEN).unwrap());
        let HirKind::Class(Class::Unicode(class)) = CLASS.kind() else { panic!("it is a class") };
        !shown.chars().any(|c| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c)))
    }

    #[test]
    fn every_character_alone_is_safe() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            assert!(is_safe(&sanitize(text.as_bytes())), "{c:?}");
            assert!(is_safe(&quote(text.as_bytes())), "{c:?}");
            let stays = sanitize(text.as_bytes()) == text;
            assert_eq!(stays, is_safe(&text), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn output_never_contains_terminal_controls(name in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(is_safe(&sanitize(&name)));
            prop_assert!(is_safe(&quote(&name)));
        }

        #[test]
        fn different_names_are_quoted_differently(
            a in proptest::collection::vec(0x5c_u8..0x7a, 0..6),
            b in proptest::collection::vec(0x5c_u8..0x7a, 0..6),
        ) {
            prop_assert_eq!(a == b, quote(&a) == quote(&b));
        }
    }
}
