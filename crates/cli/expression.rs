//! The options with expressions, and the message about an expression that is wrong.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::anyhow;
use ftk_record::sanitize;
use ftk_select::{Expression, ExpressionContext, ExpressionError, NamedFile, Roots, SelectionBuilder};
use jiff::Zoned;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Selection by expression")]
pub(crate) struct ExpressionArgs {
    /// Match entries for which EXPR is true
    ///
    /// Repeatable: an entry must match all expressions and all options. Example: 'name = "*.jpg" and (size > 10M or not
    /// owner = root) and mtime < 30d'. Terms: name, iname, path, regex, extension, type, depth, hidden, ignored, size,
    /// links, mtime, ctime, atime, birth, newer, owner, user, group, perm, samefile, fstype, empty, readable, writable,
    /// executable, nouser, nogroup, target, broken, inode, xattr, capable, has. Operators: = != < <= > >= ~ (regular
    /// expression), in (A, B), not, and, or. A duration is compared with the age: `mtime < 30d` matches what was
    /// modified within 30 days. A date is compared with the time itself. See `ftk help where`.
    #[arg(long = "where", value_name = "EXPR")]
    wanted: Vec<OsString>,

    /// Skip what EXPR matches, and all below it
    ///
    /// Repeatable. A directory that is skipped is not entered. Directories given as starting points are never skipped.
    #[arg(long = "exclude-where", value_name = "EXPR")]
    unwanted: Vec<OsString>,

    /// Whether only terms about name and place are allowed.
    #[arg(skip)]
    by_place: bool,
}

impl ExpressionArgs {
    /// Makes terms an error that are not about name and place.
    pub(crate) fn by_place(self) -> Self {
        Self { by_place: true, ..self }
    }

    /// Returns the long option of the first expression that was given.
    pub(crate) fn filter(&self) -> Option<&'static str> {
        let given = [(!self.wanted.is_empty(), "--where"), (!self.unwanted.is_empty(), "--exclude-where")];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Adds the expressions to a selection. `file` examines a file that an expression names.
    ///
    /// # Errors
    /// If an expression is wrong.
    pub(crate) fn add_to(
        &self,
        builder: SelectionBuilder,
        file: &dyn Fn(&[u8]) -> Result<NamedFile, String>,
    ) -> anyhow::Result<SelectionBuilder> {
        if self.filter().is_none() {
            return Ok(builder);
        }
        let now = Zoned::now();
        let context = ExpressionContext { now: &now, file };
        let mut builder = builder;
        for text in &self.wanted {
            builder = builder.expression(self.parse("--where", text, &context)?);
        }
        for text in &self.unwanted {
            builder = builder.exclude_expression(self.parse("--exclude-where", text, &context)?);
        }
        Ok(builder)
    }

    /// Returns the expression `text` of an option with its paths relative to a starting point.
    ///
    /// # Errors
    /// If it is wrong.
    pub(crate) fn relative(&self, option: &str, text: &OsStr, roots: &Roots<'_>) -> anyhow::Result<Vec<u8>> {
        let now = Zoned::now();
        // Terms that name a file are refused, whatever it is.
        let file = |_: &[u8]| Ok(NO_FILE);
        let context = ExpressionContext { now: &now, file: &file };
        Ok(self.parse(option, text, &context)?.relative(roots)?)
    }

    fn parse(
        &self,
        option: &str,
        text: &OsStr,
        context: &ExpressionContext<'_>,
    ) -> anyhow::Result<Expression> {
        let text = text.as_bytes();
        let expression =
            Expression::parse(text, context).map_err(|error| anyhow!(message(option, text, &error)))?;
        match expression.changeable_term() {
            Some(span) if self.by_place => {
                let problem =
                    "a manifest selects only by name and place, so that a changed file does not drop out";
                let expected = "a term about name, path, type, depth or ignore files".to_owned();
                let error = ExpressionError { span, problem: problem.into(), expected: Some(expected) };
                Err(anyhow!(message(option, text, &error)))
            }
            _ => Ok(expression),
        }
    }
}

/// Returns the paths of the files that an expression names; none if it is wrong.
pub(crate) fn named_files(text: &OsStr) -> Vec<OsString> {
    let paths = RefCell::new(Vec::new());
    let file = |path: &[u8]| {
        paths.borrow_mut().push(OsStr::from_bytes(path).to_owned());
        Ok(NO_FILE)
    };
    let _ = Expression::parse(text.as_bytes(), &ExpressionContext { now: &Zoned::now(), file: &file });
    paths.into_inner()
}

/// Stands for a file whose metadata is not needed.
const NO_FILE: NamedFile = NamedFile { dev: 0, ino: 0, mtime_ns: 0 };

/// How much of a long expression is shown before the error, and after its beginning.
const BEFORE: usize = 40;
const AFTER: usize = 32;

/// Returns the message about an expression that is wrong. Its second line shows the place, and the third has a caret
/// below it and says what would be correct.
fn message(option: &str, text: &[u8], error: &ExpressionError) -> String {
    let Range { start, end } = error.span;
    let first = start.saturating_sub(BEFORE);
    let last = text.len().min(start + AFTER);
    let dots = |is_cut| if is_cut { "..." } else { "" };
    let before = format!("{}{}", dots(first > 0), sanitize(&text[first..start]));
    let after = format!("{}{}", sanitize(&text[start..last]), dots(last < text.len()));
    let width = before.chars().count();
    let marked = sanitize(&text[start..end.min(last)]).chars().count().max(1);
    let expected = error.expected.as_ref().map_or_else(String::new, |expected| format!(" {expected}"));
    let problem = sanitize(error.problem.as_bytes());
    format!("{option}: {problem}\n       {before}{after}\n       {:width$}{:^<marked$}{expected}", "", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &[u8]) -> String {
        let now = Zoned::now();
        let context = ExpressionContext { now: &now, file: &|_| Err(String::new()) };
        message("--where", text, &Expression::parse(text, &context).unwrap_err())
    }

    #[test]
    fn the_caret_is_below_the_error() {
        assert_eq!(
            complaint(b"size > 10X and empty"),
            "--where: `X` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB\
             \n       size > 10X and empty\n                ^"
        );
        assert_eq!(
            complaint("name = ä and".as_bytes()),
            "--where: the expression is incomplete\n       name = ä and\n                   ^ \
             a term, such as name or size, or not, or ("
        );
    }

    #[test]
    fn control_characters_are_escaped_and_long_expressions_are_cut() {
        let shown = complaint(b"name = \"\x1b[31m\n\xff\" nonsense");
        assert!(!shown.contains('\u{1b}') && shown.lines().count() == 3, "{shown}");
        let long = ["name = a or ".repeat(1000), "size".into(), " or name = b".repeat(1000)].concat();
        let shown = complaint(long.as_bytes());
        assert!(shown.lines().all(|line| line.len() < 120), "{shown}");
    }
}
