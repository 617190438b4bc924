//! Globs on bytes.

use globset::{Candidate, Glob, GlobBuilder, GlobSet};

use crate::GlobError;
use crate::error::Problem;

/// Globs, any of which will do.
///
/// Most globs that people write are a name, a beginning or an end; those are compared directly. `*` matches
/// any bytes, leading dots and slashes included, as in `find`; `{a,b}`, `[a-z]` and `[!a-z]` work, and a
/// backslash takes the next character literally. Ignoring case means ASCII case.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    simple: Vec<Simple>,
    other: GlobSet,
}

/// A pattern as it was written, and whether case is ignored.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) glob: String,
    pub(crate) ignore_case: bool,
}

#[derive(Clone, Debug)]
struct Simple {
    shape: Shape,
    bytes: Box<[u8]>,
    ignore_case: bool,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Whole,
    Beginning,
    End,
}

impl Globs {
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Result<Self, GlobError> {
        let (mut simple, mut other) = (Vec::new(), GlobSet::builder());
        for pattern in patterns {
            match Simple::new(pattern) {
                Some(pattern) => simple.push(pattern),
                None => _ = other.add(compile(pattern)?),
            }
        }
        // Compiling them together can fail only by size, which has no one culprit.
        let other = other.build().map_err(|error| GlobError {
            glob: "all globs together".into(),
            source: Problem::Syntax(error),
        })?;
        Ok(Self { simple, other })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.simple.is_empty() && self.other.is_empty()
    }

    pub(crate) fn take(&self, text: &[u8]) -> bool {
        self.simple.iter().any(|pattern| pattern.takes(text))
            || (!self.other.is_empty() && self.other.is_match_candidate(&Candidate::from_bytes(text)))
    }
}

impl Simple {
    fn new(pattern: &Pattern) -> Option<Self> {
        let glob = pattern.glob.as_str();
        let (shape, rest) = if let Some(end) = glob.strip_prefix('*') {
            (Shape::End, end)
        } else if let Some(beginning) = glob.strip_suffix('*') {
            (Shape::Beginning, beginning)
        } else {
            (Shape::Whole, glob)
        };
        let is_simple = !rest.contains(['*', '?', '[', ']', '{', '}', '\\']);
        is_simple.then(|| Self { shape, bytes: rest.as_bytes().into(), ignore_case: pattern.ignore_case })
    }

    fn takes(&self, text: &[u8]) -> bool {
        let len = self.bytes.len();
        let part = match self.shape {
            Shape::Whole => Some(text),
            Shape::Beginning => text.get(..len),
            Shape::End => text.len().checked_sub(len).map(|at| &text[at..]),
        };
        part.is_some_and(|part| {
            if self.ignore_case { part.eq_ignore_ascii_case(&self.bytes) } else { *part == *self.bytes }
        })
    }
}

fn compile(pattern: &Pattern) -> Result<Glob, GlobError> {
    let fail = |source| GlobError { glob: pattern.glob.clone(), source };
    check_classes(&pattern.glob).map_err(|what| fail(Problem::Unsupported(what)))?;
    GlobBuilder::new(&pattern.glob)
        .case_insensitive(pattern.ignore_case)
        .literal_separator(false)
        .backslash_escape(true)
        .build()
        .map_err(|error| fail(Problem::Syntax(error)))
}

/// Refuses what the matcher would take for something else: it compares bytes, and knows no named classes.
fn check_classes(glob: &str) -> Result<(), &'static str> {
    let mut chars = glob.chars().peekable();
    while let Some(outside) = chars.next() {
        if outside == '\\' {
            chars.next();
        }
        if outside != '[' {
            continue;
        }
        chars.next_if(|&not| not == '!' || not == '^');
        chars.next_if_eq(&']');
        while let Some(inside) = chars.next().filter(|&inside| inside != ']') {
            if inside == '[' && chars.peek().is_some_and(|next| ":.=".contains(*next)) {
                return Err("classes such as [[:digit:]] are not supported: write [0-9]");
            }
            if !inside.is_ascii() {
                return Err("brackets take ASCII only: write {a,b} for anything else");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take(glob: &str, ignore_case: bool, text: &[u8]) -> bool {
        Globs::new(&[Pattern { glob: glob.into(), ignore_case }]).unwrap().take(text)
    }

    #[test]
    fn names_are_bytes() {
        assert!(take("*", false, b"\xff\n") && take("a*", false, b"a\xff") && take("a?b", false, b"a\xffb"));
        assert!(take("[!a]*", false, b"\xff") && take("a*b*", false, b"a\xff\nb"));
        assert!(!take("a", false, b"a\n") && !take("a?", false, b"a"));
    }

    #[test]
    fn a_star_takes_leading_dots_and_slashes() {
        assert!(take("*rc", false, b".bashrc") && take("?bashrc", false, b".bashrc"));
        assert!(take("a/*.c", false, b"a/b/x.c") && take("*/x.?", false, b"a/b/x.c"));
        assert!(
            !take("*/x.c", false, b"x.c") && take("**/x.c", false, b"x.c") && take("**/x.c", false, b"a/x.c")
        );
    }

    #[test]
    fn case_is_ignored_where_asked() {
        for glob in ["readme", "read*", "*me", "r?adme", "[r]eadme", "{readme,x}"] {
            assert!(take(glob, true, b"ReadMe") && !take(glob, false, b"ReadMe"), "{glob}");
        }
    }

    #[test]
    fn a_backslash_takes_what_follows_literally() {
        assert!(take("a\\*", false, b"a*") && !take("a\\*", false, b"ab"));
        assert!(take("br\\[a\\]ck", false, b"br[a]ck") && !take("br[a]ck", false, b"br[a]ck"));
    }

    #[test]
    fn what_brackets_cannot_do_is_refused() {
        for glob in ["[\u{e9}]x", "*[a-\u{fc}]*", "[!\u{e9}]*", "[[:digit:]]*", "x[^[=a=]]"] {
            assert!(Globs::new(&[Pattern { glob: glob.into(), ignore_case: false }]).is_err(), "{glob}");
        }
        for glob in ["[]a]*", "[!]]*", "\\[\u{e9}]*", "{\u{e9},b}*x", "[a-c[]?"] {
            assert!(Globs::new(&[Pattern { glob: glob.into(), ignore_case: false }]).is_ok(), "{glob}");
        }
    }

    #[test]
    fn a_glob_that_cannot_be_understood_is_named() {
        let error = Globs::new(&[Pattern { glob: "x[a".into(), ignore_case: false }]).unwrap_err();
        assert_eq!(error.to_string(), "cannot understand the glob `x[a`");
        assert!(std::error::Error::source(&error).is_some());
    }

    proptest! {
        /// The direct comparison and the general matcher agree.
        #[test]
        fn simple_globs_mean_what_globs_mean(
            glob in r"\*?[aA.é]{0,3}\*?",
            ignore_case in any::<bool>(),
            text in proptest::collection::vec(proptest::sample::select(b"aA./*\xc3\xa9\xff\n".to_vec()), 0..5),
        ) {
            let pattern = Pattern { glob, ignore_case };
            let general = compile(&pattern).unwrap().compile_matcher();
            prop_assert_eq!(
                Globs::new([&pattern]).unwrap().take(&text),
                general.is_match_candidate(&Candidate::from_bytes(&text))
            );
        }
    }
}
