//! Expressions that select entries, such as `name = "*.jpg" and (size > 10M or not owner = root)`.
//!
//! A [`token`] list is parsed by the [`grammar`] into a [`tree`] of terms. `crate::test` compiles and evaluates
//! the tree. `docs/where.md` describes the language.

mod grammar;
mod show;
mod term;
mod token;
mod tree;
mod value;

use std::fmt;

use jiff::Zoned;

use crate::glob::Pattern;
use crate::{ParseError, PatternError, Roots};

pub(crate) use tree::{Expr, Leaf, Stamp, Term};

/// An expression that selects entries.
///
/// ```
/// use ftk_select::{Expression, ExpressionContext};
///
/// let context = ExpressionContext { now: &jiff::Zoned::now(), file: &|_| unreachable!() };
/// assert!(Expression::parse(b"name = *.c and size > 10k", &context).is_ok());
/// let error = Expression::parse(b"size > 10X", &context).unwrap_err();
/// assert_eq!(error.span, 9..10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    text: Vec<u8>,
    tree: Expr,
}

/// The facts about the system that the values of an expression may refer to.
#[derive(Clone, Copy)]
pub struct ExpressionContext<'c> {
    /// The current time and time zone, for durations and dates.
    pub now: &'c Zoned,
    /// Returns a file that the expression names, for `samefile` and `newer`, or why it cannot be examined.
    pub file: &'c dyn Fn(&[u8]) -> Result<NamedFile, String>,
}

/// A file that an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The device.
    pub dev: u64,
    /// The inode number.
    pub ino: u64,
    /// The time of the last change to the content, in nanoseconds since the Unix epoch.
    pub mtime_ns: i128,
}

impl fmt::Debug for ExpressionContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpressionContext").field("now", self.now).finish_non_exhaustive()
    }
}

/// An invalid expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The bytes of the text that are wrong. Empty at the end of the text if something is missing there.
    pub span: std::ops::Range<usize>,
    /// Description of the error. It may quote the text, so it may contain control characters.
    pub problem: String,
    /// What would be correct in this place, if that is known.
    pub expected: Option<String>,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match &self.expected {
            Some(expected) => format!("{}: expected {expected}", self.problem),
            None => self.problem.clone(),
        };
        ParseError::new(self.span.start, problem).fmt(f)
    }
}

impl std::error::Error for ExpressionError {}

impl Expression {
    /// Parses an expression. The text is bytes, so that it can contain any name.
    ///
    /// The stack depth does not depend on the text: nested parentheses are limited.
    ///
    /// # Errors
    /// If the text is not an expression, or has an invalid value.
    pub fn parse(text: &[u8], context: &ExpressionContext<'_>) -> Result<Self, ExpressionError> {
        let tokens = token::tokens(text)?;
        Ok(Self { text: text.to_vec(), tree: grammar::parse(text, &tokens, context)? })
    }

    /// Returns the text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the place of the first term that is not about the name or place of an entry, if there is one.
    ///
    /// Names, paths, types, depths and ignore files stay the same when a file changes.
    pub fn changeable_term(&self) -> Option<std::ops::Range<usize>> {
        let mut found = None;
        self.tree.visit(&mut |leaf| {
            if found.is_none() && leaf.terms.iter().any(|term| !term.is_about_place()) {
                found = Some(leaf.span.clone());
            }
        });
        found
    }

    /// Returns the text of an expression that means below the first starting point, without knowing it, what this one means
    /// there. It is the same text if no path begins with the starting point.
    ///
    /// # Errors
    /// If a path is valid below no starting point.
    pub fn relative(&self, roots: &Roots<'_>) -> Result<Vec<u8>, PatternError> {
        let (mut leaves, mut text) = (Vec::new(), self.text.clone());
        self.tree.visit(&mut |leaf| leaves.push(leaf.clone()));
        for leaf in leaves.into_iter().rev() {
            let mut terms = Vec::new();
            for term in &leaf.terms {
                let Term::Path(pattern) = term else {
                    terms.push(term.clone());
                    continue;
                };
                let globs = roots.relative(&pattern.glob)?.into_iter();
                terms
                    .extend(globs.map(|glob| Term::Path(Pattern { glob, ignore_case: pattern.ignore_case })));
            }
            if terms != leaf.terms {
                let span = leaf.span.clone();
                text.splice(span, format!("({})", Leaf { terms, ..leaf }).into_bytes());
            }
        }
        Ok(text)
    }

    pub(crate) fn tree(&self) -> &Expr {
        &self.tree
    }
}
