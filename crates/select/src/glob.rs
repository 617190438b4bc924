//! Globs on bytes.

use std::iter::Peekable;
use std::str::CharIndices;

use globset::{Candidate, GlobBuilder, GlobSet};

use crate::spelling::literal;
use crate::{ParseError, PatternError};

/// Globs, one of which must match.
///
/// `*` matches any bytes, including leading dots and slashes, as in `find`, and `?` matches one byte.
/// `{a,b}`, `[a-z]` and `[!a-z]` work, and a backslash escapes the next character. Only the case of ASCII
/// letters can be ignored.
///
/// Most globs in practice are a whole name, a prefix or a suffix. These are compared directly, and only these
/// may be something other than UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    /// Each with its number.
    simple: Vec<(usize, Simple)>,
    other: GlobSet,
    /// The numbers of the globs in `other`.
    others: Box<[usize]>,
}

/// A glob for whole paths, for use without a walk. It has the syntax of a selection's globs: `*` matches `/`
/// too.
///
/// ```
/// let glob = ftk_select::Glob::new("*/masters/*")?;
/// assert!(glob.is_match(b"photos/masters/2019/1.jpg") && !glob.is_match(b"photos/1.jpg"));
/// # Ok::<(), ftk_select::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Glob(Globs);

impl Glob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// If the glob is invalid.
    pub fn new(glob: impl Into<Vec<u8>>) -> Result<Self, PatternError> {
        Globs::new([&Pattern { glob: glob.into(), ignore_case: false }]).map(Self)
    }

    /// Returns whether the glob matches the whole path.
    pub fn is_match(&self, path: &[u8]) -> bool {
        self.0.matches(path)
    }
}

/// The text of a glob, and whether case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) glob: Vec<u8>,
    pub(crate) ignore_case: bool,
}

/// A glob that is compared directly.
#[derive(Clone, Debug)]
struct Simple {
    shape: Shape,
    bytes: Box<[u8]>,
    ignore_case: bool,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Whole,
    Prefix,
    Suffix,
}

impl Globs {
    /// Compiles globs, which are numbered in their order.
    ///
    /// # Errors
    /// If one is invalid, or they are too large together.
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Result<Self, PatternError> {
        let (mut simple, mut other, mut others) = (Vec::new(), GlobSet::builder(), Vec::new());
        for (number, pattern) in patterns.into_iter().enumerate() {
            match Simple::new(pattern) {
                Some(pattern) => simple.push((number, pattern)),
                None => {
                    other.add(compile(pattern)?);
                    others.push(number);
                }
            }
        }
        // Compiling all globs together fails only if they are too large. No single glob is at fault.
        let fail = |error: globset::Error| ParseError::new(0, error.kind().to_string());
        let other = other.build().map_err(|error| PatternError::glob(b"all globs together", fail(error)))?;
        Ok(Self { simple, other, others: others.into() })
    }

    /// Checks one glob, which is cheaper than compiling it.
    pub(crate) fn check(pattern: &Pattern) -> Result<(), PatternError> {
        if Simple::new(pattern).is_none() {
            compile(pattern)?;
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.simple.is_empty() && self.other.is_empty()
    }

    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.simple.iter().any(|(_, pattern)| pattern.matches(text))
            || (!self.other.is_empty() && self.other.is_match_candidate(&Candidate::from_bytes(text)))
    }

    /// Calls `visit` with the number of each glob that matches.
    pub(crate) fn each_match(&self, text: &[u8], visit: &mut dyn FnMut(usize)) {
        self.simple
            .iter()
            .filter(|(_, pattern)| pattern.matches(text))
            .for_each(|(number, _)| visit(*number));
        if !self.other.is_empty() {
            let matches = self.other.matches_candidate(&Candidate::from_bytes(text));
            matches.into_iter().for_each(|nth| visit(self.others[nth]));
        }
    }
}

impl Simple {
    fn new(pattern: &Pattern) -> Option<Self> {
        let whole = literal(&pattern.glob).map(|whole| (Shape::Whole, whole));
        let part = || match &*pattern.glob {
            [b'*', suffix @ ..] => Some((Shape::Suffix, literal(suffix)?)),
            [prefix @ .., b'*'] => Some((Shape::Prefix, literal(prefix)?)),
            _ => None,
        };
        let (shape, bytes) = whole.or_else(part)?;
        Some(Self { shape, bytes: bytes.into(), ignore_case: pattern.ignore_case })
    }

    fn matches(&self, text: &[u8]) -> bool {
        let len = self.bytes.len();
        let part = match self.shape {
            Shape::Whole => Some(text),
            Shape::Prefix => text.get(..len),
            Shape::Suffix => text.len().checked_sub(len).map(|at| &text[at..]),
        };
        part.is_some_and(|part| {
            if self.ignore_case { part.eq_ignore_ascii_case(&self.bytes) } else { *part == *self.bytes }
        })
    }
}

fn compile(pattern: &Pattern) -> Result<globset::Glob, PatternError> {
    let fail = |error| PatternError::glob(&pattern.glob, error);
    let glob = str::from_utf8(&pattern.glob).map_err(|error| {
        let problem =
            "a glob that is not UTF-8 must be a whole name, or have one `*` at its beginning or its end";
        fail(ParseError::new(error.valid_up_to(), problem))
    })?;
    check(glob).map_err(fail)?;
    GlobBuilder::new(glob)
        .case_insensitive(pattern.ignore_case)
        .literal_separator(false)
        .empty_alternates(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| fail(ParseError::new(0, error.kind().to_string())))
}

/// Checks the syntax of a glob, and finds the position of an error.
///
/// `globset` does not report positions. It compares bytes and has no named classes, and would misread
/// brackets that contain either non-ASCII characters or such classes. So these are errors.
fn check(glob: &str) -> Result<(), ParseError> {
    let fail = |at, problem: &str| Err(ParseError::new(at, problem));
    let mut chars = glob.char_indices().peekable();
    let mut braces = Vec::new();
    while let Some((at, outside)) = chars.next() {
        match outside {
            '\\' if chars.next().is_none() => {
                return fail(at, "the `\\` at the end escapes nothing");
            }
            '{' => braces.push(at),
            '}' if braces.pop().is_none() => {
                return fail(at, "this `}` has no `{`: write `\\}` for the character");
            }
            '[' => class(at, &mut chars)?,
            _ => {}
        }
    }
    braces.pop().map_or(Ok(()), |at| fail(at, "this `{` has no `}`: write `\\{` for the character"))
}

/// Checks a bracket expression. The `[` at `start` has been read.
fn class(start: usize, chars: &mut Peekable<CharIndices<'_>>) -> Result<(), ParseError> {
    let fail = |at, problem: &str| Err(ParseError::new(at, problem));
    chars.next_if(|&(_, not)| not == '!' || not == '^');
    // The first character is literal, whatever it is. So is a `-` at the beginning or the end.
    let (mut before, mut is_range, mut is_after_range) = (None, false, false);
    while let Some((at, inside)) = chars.next() {
        match (inside, before) {
            (']', Some(_)) => return Ok(()),
            ('[', _) if chars.peek().is_some_and(|&(_, next)| ":.=".contains(next)) => {
                return fail(at, "classes such as [[:digit:]] are not supported: write [0-9]");
            }
            ('-', Some(_)) if is_after_range && chars.peek().is_some_and(|&(_, next)| next != ']') => {
                return fail(at, "a `-` after a range: put it at the end of the brackets");
            }
            ('-', Some(_)) if !is_range => is_range = true,
            (_, Some(first)) if is_range && inside < first => {
                let problem = format!("the range `{first}-{inside}` runs backwards");
                return fail(at, &problem);
            }
            _ if !inside.is_ascii() => {
                return fail(at, "brackets accept ASCII only: write {a,b} for anything else");
            }
            _ => (before, is_range, is_after_range) = (Some(inside), false, is_range),
        }
    }
    fail(start, "this `[` has no `]`: write `\\[` for the character")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_match(glob: &str, ignore_case: bool, text: &[u8]) -> bool {
        Globs::new(&[Pattern { glob: glob.into(), ignore_case }]).unwrap().matches(text)
    }

    #[test]
    fn names_are_bytes() {
        assert!(
            is_match("*", false, b"\xff\n")
                && is_match("a*", false, b"a\xff")
                && is_match("a?b", false, b"a\xffb")
        );
        assert!(is_match("[!a]*", false, b"\xff") && is_match("a*b*", false, b"a\xff\nb"));
        assert!(!is_match("a", false, b"a\n") && !is_match("a?", false, b"a"));
    }

    #[test]
    fn a_star_matches_leading_dots_and_slashes() {
        assert!(is_match("*rc", false, b".bashrc") && is_match("?bashrc", false, b".bashrc"));
        assert!(is_match("a/*.c", false, b"a/b/x.c") && is_match("*/x.?", false, b"a/b/x.c"));
        assert!(
            !is_match("*/x.c", false, b"x.c")
                && is_match("**/x.c", false, b"x.c")
                && is_match("**/x.c", false, b"a/x.c")
        );
    }

    #[test]
    fn case_is_ignored_on_request() {
        for glob in ["readme", "read*", "*me", "r?adme", "[r]eadme", "{readme,x}"] {
            assert!(is_match(glob, true, b"ReadMe") && !is_match(glob, false, b"ReadMe"), "{glob}");
        }
    }

    #[test]
    fn a_backslash_escapes_the_next_character() {
        assert!(is_match("a\\*", false, b"a*") && !is_match("a\\*", false, b"ab"));
        assert!(is_match("br\\[a\\]ck", false, b"br[a]ck") && !is_match("br[a]ck", false, b"br[a]ck"));
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (glob, at, problem) in [
            ("[\u{e9}]x", 1, "ASCII only"),
            ("*[a-\u{fc}]*", 4, "ASCII only"),
            ("[!\u{e9}]*", 2, "ASCII only"),
            ("[[:digit:]]*", 1, "write [0-9]"),
            ("x[^[=a=]]", 3, "write [0-9]"),
            ("x[a", 1, "this `[` has no `]`"),
            ("x[!]", 1, "this `[` has no `]`"),
            ("[z-a]", 3, "the range `z-a` runs backwards"),
            ("[\n-\t]", 3, "the range `\\n-\\t` runs backwards"),
            ("[a-c-e]", 4, "put it at the end"),
            ("a?}b{", 2, "this `}` has no `{`"),
            ("a?{b{c}", 2, "this `{` has no `}`"),
            ("\u{e9}?\\", 3, "escapes nothing"),
        ] {
            let error = Globs::new(&[Pattern { glob: glob.into(), ignore_case: false }]).unwrap_err();
            assert_eq!(error.source.at, at, "{glob}");
            assert!(error.source.to_string().contains(problem), "{glob}: {}", error.source);
        }
    }

    #[test]
    fn an_alternative_may_be_empty() {
        for (text, expected) in [(&b"foo"[..], true), (b"foo.txt", true), (b"foo.", false), (b"", false)] {
            assert_eq!(is_match("foo{,.txt}", false, text), expected);
        }
    }

    #[test]
    fn brackets_accept_literal_characters() {
        for glob in [
            "[]a]*",
            "[!]]*",
            "\\[\u{e9}]*",
            "{\u{e9},b}*x",
            "[a-c[]?",
            "[-a]?",
            "[a-]?",
            "[+--]?",
            "[a-c-]?",
        ] {
            assert!(Globs::new(&[Pattern { glob: glob.into(), ignore_case: false }]).is_ok(), "{glob}");
        }
    }

    #[test]
    fn a_glob_that_is_not_utf8_is_compared_directly_or_refused() {
        let globs = |glob: &[u8]| Globs::new(&[Pattern { glob: glob.into(), ignore_case: false }]);
        assert!(globs(b"\xe9*").unwrap().matches(b"\xe9a") && globs(b"*\xe9").unwrap().matches(b"a\xe9"));
        assert!(globs(b"\xe9").unwrap().matches(b"\xe9") && !globs(b"\xe9").unwrap().matches(b"\xc3\xa9"));
        let error = globs(b"a?\xe9").unwrap_err();
        assert_eq!(error.to_string(), "cannot understand the glob `a?\u{fffd}`");
        assert_eq!(error.source.at, 2);
    }

    proptest! {
        /// The direct comparison and the general matcher agree.
        #[test]
        fn simple_globs_match_as_general_globs(
            glob in r"\*?([aA.é\]]|\\[*?\[a\\]){0,3}\*?",
            ignore_case in any::<bool>(),
            text in proptest::collection::vec(proptest::sample::select(b"aA./*\xc3\xa9\xff\n".to_vec()), 0..5),
        ) {
            let pattern = Pattern { glob: glob.into_bytes(), ignore_case };
            let general = compile(&pattern).unwrap().compile_matcher();
            prop_assert_eq!(
                Globs::new([&pattern]).unwrap().matches(&text),
                general.is_match_candidate(&Candidate::from_bytes(&text))
            );
        }
    }
}
