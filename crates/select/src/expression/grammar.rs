//! The grammar. `or` binds less tightly than `and`, and `and` less than `not`, as in SQL.

use std::ops::Range;

use winnow::combinator::{eof, separated};
use winnow::prelude::*;

use super::term::{self, Value};
use super::token::{Comparison, Fault, Kind, Token};
use super::value::Text;
use super::{Expr, ExpressionContext, ExpressionError};

/// Parentheses may be nested this deep. Each level is a recursion, here and in the evaluation.
const MAX_DEPTH: usize = 100;

type Input<'i> = &'i [Token];
type Result<O> = std::result::Result<O, Fault>;

/// What may follow a complete expression.
const GOES_ON: &str = "and, or, or the end";

/// Parses the tokens of `text`.
pub(super) fn parse(
    text: &[u8],
    tokens: &[Token],
    context: &ExpressionContext<'_>,
) -> std::result::Result<Expr, ExpressionError> {
    let grammar = Grammar { text, context };
    let mut input = tokens;
    let expr = grammar.either(0).parse_next(&mut input).map_err(|fault| fault.0)?;
    match eof::<_, Fault>.parse_next(&mut input) {
        Ok(_) => Ok(expr),
        Err(_) => Err(grammar.unexpected(input, GOES_ON).0),
    }
}

#[derive(Clone, Copy)]
struct Grammar<'g> {
    text: &'g [u8],
    context: &'g ExpressionContext<'g>,
}

impl Grammar<'_> {
    fn either<'i>(self, depth: usize) -> impl Parser<Input<'i>, Expr, Fault> {
        separated(1.., self.both(depth), move |input: &mut Input<'i>| self.keyword("or", input))
            .map(|parts| one_or(parts, Expr::Any))
    }

    fn both<'i>(self, depth: usize) -> impl Parser<Input<'i>, Expr, Fault> {
        let part = move |input: &mut Input<'i>| self.unary(depth, input);
        separated(1.., part, move |input: &mut Input<'i>| self.keyword("and", input))
            .map(|parts| one_or(parts, Expr::All))
    }

    /// Parses a term or a group, with any number of `not` before it.
    fn unary(self, depth: usize, input: &mut Input<'_>) -> Result<Expr> {
        let mut is_negated = false;
        while self.keyword("not", input).is_ok() {
            is_negated = !is_negated;
        }
        let expr = match input.first() {
            Some(Token { kind: Kind::Open, span }) => {
                if depth == MAX_DEPTH {
                    let problem = format!("parentheses are nested more than {MAX_DEPTH} deep");
                    return Err(Fault::new(span.clone(), problem, None));
                }
                self.advance(input);
                let expr = self.either(depth + 1).parse_next(input)?;
                self.expect(&Kind::Close, input, ") and, or")?;
                expr
            }
            Some(Token { kind: Kind::Word, .. }) => self.term(input)?,
            _ => return Err(self.unexpected(input, "a term, such as name or size, or not, or (")),
        };
        Ok(if is_negated { Expr::Not(Box::new(expr)) } else { expr })
    }

    fn term(self, input: &mut Input<'_>) -> Result<Expr> {
        let name = self.advance(input);
        let word = &self.text[name.span.clone()];
        let Some(property) = term::find(word) else {
            let problem = format!("`{}` is not a term", String::from_utf8_lossy(word));
            return Err(Fault::new(name.span.clone(), problem, Some(&term::names())));
        };
        let start = name.span.start;
        let Some(parse) = property.value else {
            return Ok(property.leaf(false, Vec::new(), name.span.clone()));
        };
        let is_not_in = input.len() > 1 && is_word(self.text, &input[1], "in");
        let negated = is_not_in && self.keyword("not", input).is_ok();
        let (negated, values, end) = if self.keyword("in", input).is_ok() {
            let (values, end) = self.list(parse, input)?;
            (negated, values, end)
        } else {
            let comparison = self.comparison(property, input)?;
            let (value, end) = self.value(parse, comparison, input)?;
            (value.negated, vec![value.term], end)
        };
        Ok(property.leaf(negated, values, start..end))
    }

    /// Parses the values after `in`.
    fn list(self, parse: term::ParseValue, input: &mut Input<'_>) -> Result<(Vec<super::Term>, usize)> {
        self.expect(&Kind::Open, input, "( and a list of values")?;
        let mut terms = Vec::new();
        loop {
            terms.push(self.value(parse, Comparison::Equal, input)?.0.term);
            match input.first() {
                Some(Token { kind: Kind::Comma, .. }) => _ = self.advance(input),
                _ => return Ok((terms, self.expect(&Kind::Close, input, "a comma or )")?.end)),
            }
        }
    }

    fn comparison(self, property: &term::Property, input: &mut Input<'_>) -> Result<Comparison> {
        match input.first() {
            Some(Token { kind: Kind::Comparison(comparison), .. })
                if property.comparisons.contains(comparison) =>
            {
                self.advance(input);
                Ok(*comparison)
            }
            _ => Err(self.unexpected(input, &property.operators())),
        }
    }

    fn value(
        self,
        parse: term::ParseValue,
        comparison: Comparison,
        input: &mut Input<'_>,
    ) -> Result<(Value, usize)> {
        match input.first() {
            Some(token @ Token { kind: Kind::Word | Kind::Quoted { .. }, span }) => {
                self.advance(input);
                Ok((parse(comparison, &Text::new(self.text, token), self.context)?, span.end))
            }
            _ => Err(self.unexpected(input, "a value")),
        }
    }

    /// Consumes the next token, which the caller has seen.
    fn advance<'i>(self, input: &mut Input<'i>) -> &'i Token {
        let (first, rest) = input.split_first().expect("the caller has seen a token");
        *input = rest;
        first
    }

    /// Parses a keyword, in upper or lower case. It is not consumed if it is another word.
    fn keyword(self, keyword: &str, input: &mut Input<'_>) -> Result<()> {
        match input.first() {
            Some(token) if is_word(self.text, token, keyword) => {
                self.advance(input);
                Ok(())
            }
            _ => Err(winnow::error::ParserError::from_input(input)),
        }
    }

    fn expect(self, kind: &Kind, input: &mut Input<'_>, expected: &str) -> Result<Range<usize>> {
        match input.first() {
            Some(token) if token.kind == *kind => {
                self.advance(input);
                Ok(token.span.clone())
            }
            _ => Err(self.unexpected(input, expected)),
        }
    }

    /// Reports the next token, or the end of the expression.
    fn unexpected(self, input: Input<'_>, expected: &str) -> Fault {
        match input.first() {
            Some(token) => {
                let text = String::from_utf8_lossy(&self.text[token.span.clone()]);
                let text: String = text.chars().take(40).collect();
                Fault::new(token.span.clone(), format!("`{text}` does not fit here"), Some(expected))
            }
            None => {
                let end = self.text.len();
                Fault::new(end..end, "the expression is incomplete", Some(expected))
            }
        }
    }
}

fn is_word(text: &[u8], token: &Token, word: &str) -> bool {
    token.kind == Kind::Word && text[token.span.clone()].eq_ignore_ascii_case(word.as_bytes())
}

fn one_or(mut parts: Vec<Expr>, many: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}
