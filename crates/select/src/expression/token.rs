//! Splits the text of an expression into tokens.

use std::ops::Range;

use winnow::combinator::{alt, eof, not, preceded, repeat};
use winnow::error::ParserError;
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location, Stream};
use winnow::token::{any, take_while};

use super::ExpressionError;

/// A part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word without quotes: a keyword, the name of a term, or a value.
    Word,
    /// A value in quotes: its bytes, and where each of them begins in the text.
    Quoted {
        bytes: Vec<u8>,
        offsets: Vec<usize>,
    },
    Comparison(Comparison),
    Open,
    Close,
    Comma,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
}

type Input<'i> = LocatingSlice<&'i [u8]>;
type Result<O> = std::result::Result<O, Fault>;

/// The bytes that end a word.
const SPECIAL: &[u8] = b"\"'()=<>!~,\\&|";

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

fn is_word(byte: u8) -> bool {
    !is_space(byte) && byte != 0 && !SPECIAL.contains(&byte)
}

/// Splits the text. White space separates tokens and means nothing else.
pub(super) fn tokens(text: &[u8]) -> std::result::Result<Vec<Token>, ExpressionError> {
    let blank = || take_while::<_, Input<'_>, Fault>(0.., is_space);
    let all = (preceded(blank(), repeat(0.., (token, blank()).map(|(token, _)| token))), eof);
    all.map(|(tokens, _)| tokens).parse_next(&mut LocatingSlice::new(text)).map_err(|fault| fault.0)
}

fn token(input: &mut Input<'_>) -> Result<Token> {
    let start = input.current_token_start();
    let word = take_while(1.., is_word).value(Kind::Word);
    let kind = alt((word, punctuation, quoted, unknown)).parse_next(input)?;
    Ok(Token { kind, span: start..input.current_token_start() })
}

fn punctuation(input: &mut Input<'_>) -> Result<Kind> {
    alt((
        b"(".value(Kind::Open),
        b")".value(Kind::Close),
        b",".value(Kind::Comma),
        comparison.map(Kind::Comparison),
    ))
    .parse_next(input)
}

fn comparison(input: &mut Input<'_>) -> Result<Comparison> {
    alt((
        alt((b"!=", b"<>")).value(Comparison::NotEqual),
        b"<=".value(Comparison::LessOrEqual),
        b">=".value(Comparison::GreaterOrEqual),
        b"<".value(Comparison::Less),
        b">".value(Comparison::Greater),
        b"~".value(Comparison::Matches),
        (b"=", not(b"=")).value(Comparison::Equal),
    ))
    .parse_next(input)
}

/// Parses a value in double quotes. `\"` and `\\` are these characters, `\xHH` is a byte. Every other backslash
/// belongs to the value, so that regular expressions can be written as usual.
fn quoted(input: &mut Input<'_>) -> Result<Kind> {
    let start = input.current_token_start();
    b"\"".parse_next(input)?;
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    loop {
        let at = input.current_token_start();
        let Some(byte) = input.next_token() else {
            return Err(Fault::new(start..start + 1, "this quote is not closed", None));
        };
        let byte = match (byte, input.peek_token()) {
            (b'"', _) => return Ok(Kind::Quoted { bytes, offsets }),
            (b'\\', Some(escaped @ (b'"' | b'\\'))) => {
                input.next_token();
                escaped
            }
            (b'\\', Some(b'x')) => {
                input.next_token();
                let digits = take_while(0..=2, |digit: u8| digit.is_ascii_hexdigit()).parse_next(input)?;
                let value = str::from_utf8(digits).ok().filter(|digits| digits.len() == 2);
                let value = value.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let end = input.current_token_start();
                value.ok_or_else(|| Fault::new(at..end, "`\\x` needs two hexadecimal digits", None))?
            }
            (byte, _) => byte,
        };
        bytes.push(byte);
        offsets.push(at);
    }
}

/// Reports a character that begins no token.
fn unknown(input: &mut Input<'_>) -> Result<Kind> {
    let start = input.current_token_start();
    let byte = any.parse_next(input)?;
    let end = start + if input.peek_token() == Some(byte) { 2 } else { 1 };
    let (end, problem, expected) = match byte {
        b'\'' => (start + 1, "single quotes have no meaning", Some("double quotes")),
        b'\\' => (start + 1, "a value with a backslash needs double quotes", None),
        b'=' => (end, "`==` is not an operator", Some("=")),
        b'!' => (start + 1, "`!` is not an operator", Some("not, or !=")),
        b'&' => (end, "`&` is not an operator", Some("and")),
        b'|' => (end, "`|` is not an operator", Some("or")),
        _ => (start + 1, "this byte is not allowed here", None),
    };
    Err(Fault::new(start..end, problem, expected))
}

/// The error type of the parsers. All parsers decide by the next token, so an error that was made here is final,
/// and only those of the library are tried again with another alternative.
#[derive(Debug)]
pub(super) struct Fault(pub(super) ExpressionError, bool);

impl Fault {
    pub(super) fn new(span: Range<usize>, problem: impl Into<String>, expected: Option<&str>) -> Self {
        let (problem, expected) = (problem.into(), expected.map(Into::into));
        Self(ExpressionError { span, problem, expected }, true)
    }
}

impl<I: Stream> ParserError<I> for Fault {
    type Inner = Self;

    fn from_input(_input: &I) -> Self {
        let problem = "this is not an expression".into();
        Self(ExpressionError { span: 0..0, problem, expected: None }, false)
    }

    fn is_backtrack(&self) -> bool {
        !self.1
    }

    fn into_inner(self) -> std::result::Result<Self, Self> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &[u8]) -> Vec<u8> {
        match tokens(text).unwrap().remove(0).kind {
            Kind::Quoted { bytes, .. } => bytes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tokens_have_their_place() {
        let kinds: Vec<_> = tokens(b" a<=(b,\"c\")").unwrap();
        let spans: Vec<_> = kinds.iter().map(|token| token.span.clone()).collect();
        assert_eq!(spans, [1..2, 2..4, 4..5, 5..6, 6..7, 7..10, 10..11]);
        assert!(tokens(b"").unwrap().is_empty() && tokens(b" \t\n").unwrap().is_empty());
    }

    #[test]
    fn escapes_are_two_characters_and_bytes() {
        assert_eq!(quoted(br#""a\"\\\x41\xfF\.\d""#), b"a\"\\A\xff\\.\\d");
        assert_eq!(quoted(b"\"\xff\n\""), b"\xff\n");
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, span, message) in [
            (&b"name = 'a'"[..], 7..8, "single quotes have no meaning: expected double quotes (at byte 8)"),
            (b"a == b", 2..4, "`==` is not an operator: expected = (at byte 3)"),
            (b"a && b", 2..4, "`&` is not an operator: expected and (at byte 3)"),
            (b"a | b", 2..3, "`|` is not an operator: expected or (at byte 3)"),
            (b"!a", 0..1, "`!` is not an operator: expected not, or != (at byte 1)"),
            (b"a \"b", 2..3, "this quote is not closed (at byte 3)"),
            (b"a \"b\\\"", 2..3, "this quote is not closed (at byte 3)"),
            (b"\"b\\", 0..1, "this quote is not closed (at byte 1)"),
            (b"\"\\x4\"", 1..4, "`\\x` needs two hexadecimal digits (at byte 2)"),
            (b"\"\\xg0\"", 1..3, "`\\x` needs two hexadecimal digits (at byte 2)"),
            (b"a\\b", 1..2, "a value with a backslash needs double quotes (at byte 2)"),
            (b"a \0", 2..3, "this byte is not allowed here (at byte 3)"),
        ] {
            let error = tokens(text).unwrap_err();
            assert_eq!((error.span.clone(), &*error.to_string()), (span, message));
        }
    }
}
