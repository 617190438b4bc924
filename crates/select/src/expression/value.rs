//! The text of a value, as a word or in quotes.

use std::borrow::Cow;

use super::token::{Fault, Kind, Token};
use crate::ParseError;
use crate::glob::Pattern;

/// A value, and where each of its bytes is in the text of the expression.
pub(super) struct Text<'t> {
    pub(super) bytes: Cow<'t, [u8]>,
    token: &'t Token,
    source: &'t [u8],
}

impl<'t> Text<'t> {
    pub(super) fn new(source: &'t [u8], token: &'t Token) -> Self {
        let bytes = match &token.kind {
            Kind::Quoted { bytes, .. } => Cow::Borrowed(&bytes[..]),
            _ => Cow::Borrowed(&source[token.span.clone()]),
        };
        Self { bytes, token, source }
    }

    /// Returns where byte number `nth` of the value begins in the text of the expression.
    fn offset(&self, nth: usize) -> usize {
        let last = self.token.span.end - 1;
        match &self.token.kind {
            Kind::Quoted { offsets, .. } => offsets.get(nth).copied().unwrap_or(last),
            _ => (self.token.span.start + nth).min(last),
        }
    }

    /// Returns whether byte number `nth` was written as `\xHH`.
    fn is_exact(&self, nth: usize) -> bool {
        matches!(self.token.kind, Kind::Quoted { .. }) && self.source[self.offset(nth)..].starts_with(b"\\x")
    }

    /// Makes the error for byte number `nth`.
    pub(super) fn fault(&self, nth: usize, problem: impl Into<String>) -> Fault {
        let start = self.offset(nth);
        Fault::new(start..self.token.span.end.max(start + 1), problem, None)
    }

    /// Makes the error for a value that another parser has rejected.
    pub(super) fn fault_of(&self, error: ParseError) -> Fault {
        self.fault(error.at, error.problem)
    }

    /// Returns the value as text, for values that cannot be anything else.
    pub(super) fn str(&self) -> Result<&str, Fault> {
        str::from_utf8(&self.bytes)
            .map_err(|error| self.fault(error.valid_up_to(), "this value is not UTF-8"))
    }

    /// Parses the value.
    pub(super) fn parse<T>(&self, parse: impl FnOnce(&str) -> Result<T, ParseError>) -> Result<T, Fault> {
        parse(self.str()?).map_err(|error| self.fault_of(error))
    }

    /// Returns the value as a glob. A byte written as `\xHH` stands for itself, so it must not be one that has a
    /// meaning in globs.
    pub(super) fn glob(&self, ignore_case: bool) -> Result<Pattern, Fault> {
        let special = |(nth, byte): (usize, &u8)| b"*?[]{}\\,!^-".contains(byte) && self.is_exact(nth);
        if let Some(nth) = self.bytes.iter().enumerate().position(special) {
            let byte = char::from(self.bytes[nth]);
            let problem =
                format!("`\\x{:02x}` is `{byte}`, which globs use: write \\{byte}", self.bytes[nth]);
            return Err(self.fault(nth, problem));
        }
        Ok(Pattern { glob: self.bytes.to_vec(), ignore_case })
    }

    /// Returns the value as a regular expression. A byte written as `\xHH` stands for itself there too.
    pub(super) fn regex(&self) -> Result<String, Fault> {
        let mut regex = Vec::new();
        for (nth, &byte) in self.bytes.iter().enumerate() {
            if self.is_exact(nth) {
                regex.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
            } else {
                regex.push(byte);
            }
        }
        String::from_utf8(regex)
            .map_err(|_| self.fault(0, "a regular expression is UTF-8: write \\xHH for other bytes"))
    }
}
