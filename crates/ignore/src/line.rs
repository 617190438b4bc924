//! A line of an ignore file, with the same meaning as in git (`dir.c` and `wildmatch.c`). Lines are bytes.

use std::ops::Range;

use crate::brackets::Brackets;
use crate::tokens::{Cost, Token, matches_name, matches_path};

/// A pattern of an ignore file and its flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Matching entries are not ignored: the line begins with `!`.
    pub(super) is_negated: bool,
    /// Only directories match: the line ends with a slash.
    is_for_directories: bool,
    /// Names are matched instead of paths: the pattern contains no other slash.
    is_for_names: bool,
    kind: Kind,
    /// The text of the pattern in the file, or its tokens.
    pattern: Range<u32>,
}

/// How a pattern is compared. Most patterns are a whole name or a suffix, and are compared directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whole,
    Suffix,
    Glob,
}

/// The tokens of all patterns of a file.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    tokens: Vec<Token>,
    brackets: Vec<Brackets>,
    /// The most steps for a name, and for a path.
    name_cost: Cost,
    path_cost: Cost,
}

/// The characters that need tokens.
pub(super) fn is_special(byte: &u8) -> bool {
    b"*?[\\".contains(byte)
}

impl Patterns {
    /// The memory for `bytes` of patterns with tokens while they are parsed. Vectors that grow are twice as large.
    pub(super) fn bytes_for(bytes: usize, brackets: usize) -> usize {
        2 * (bytes * size_of::<Token>() + brackets * size_of::<Brackets>())
    }

    pub(super) fn bytes(&self) -> usize {
        self.tokens.capacity() * size_of::<Token>() + self.brackets.capacity() * size_of::<Brackets>()
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.tokens.shrink_to_fit();
        self.brackets.shrink_to_fit();
    }

    /// Returns the most steps to match all patterns against an entry with a path of this length.
    pub(super) fn steps(&self, path_len: usize) -> u64 {
        let name = self.name_cost.steps(path_len.min(MAX_NAME));
        name.saturating_add(self.path_cost.steps(path_len))
    }
}

/// The longest name on nearly all file systems.
pub(crate) const MAX_NAME: usize = 255;

impl Line {
    /// Parses a line without its newline, which begins at `offset` of its file. Returns `None` if it contains no pattern, or
    /// one that matches nothing.
    pub(super) fn parse(line: &[u8], offset: usize, patterns: &mut Patterns) -> Option<Self> {
        // Git treats a NUL as the end of the line.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = trim_trailing_spaces(line);
        if line.starts_with(b"#") {
            return None;
        }
        let (is_negated, text) = line.strip_prefix(b"!").map_or((false, line), |text| (true, text));
        let mut start = offset + usize::from(is_negated);
        // This includes a slash after a backslash.
        let (is_for_directories, text) = text.strip_suffix(b"/").map_or((false, text), |text| (true, text));
        let is_for_names = !text.contains(&b'/');
        let text = text.strip_prefix(b"/").map_or(text, |text| {
            start += 1;
            text
        });
        if text.is_empty() {
            return None;
        }
        let (kind, pattern) = match text.iter().position(is_special) {
            None => (Kind::Whole, start..start + text.len()),
            Some(0) if is_for_names && text[0] == b'*' && !text[1..].iter().any(is_special) => {
                (Kind::Suffix, start + 1..start + text.len())
            }
            Some(literal) => {
                let first = patterns.tokens.len();
                if patterns.push(text, literal).is_none() {
                    patterns.tokens.truncate(first);
                    return None;
                }
                let tokens = &patterns.tokens[first..];
                if is_for_names {
                    patterns.name_cost.add(Cost::of_name(tokens));
                } else {
                    patterns.path_cost.add(Cost::of_path(tokens));
                }
                (Kind::Glob, first..patterns.tokens.len())
            }
        };
        // A file is smaller than 4 GiB.
        let pattern = pattern.start as u32..pattern.end as u32;
        Some(Self { is_negated, is_for_directories, is_for_names, kind, pattern })
    }

    /// Whether the pattern is for names, and not for paths.
    pub(super) fn is_for_names(&self) -> bool {
        self.is_for_names
    }

    /// Returns whether an entry matches. `path` is relative to the directory of the ignore file, `name` is
    /// its last name. `content` is that of the file.
    pub(super) fn matches(
        &self,
        (content, patterns): (&[u8], &Patterns),
        path: &[u8],
        name: &[u8],
        is_dir: bool,
    ) -> bool {
        let text = if self.is_for_names { name } else { path };
        let range = self.pattern.start as usize..self.pattern.end as usize;
        (is_dir || !self.is_for_directories)
            && match self.kind {
                Kind::Whole => content[range] == *text,
                Kind::Suffix => text.ends_with(&content[range]),
                Kind::Glob if self.is_for_names => {
                    matches_name(&patterns.tokens[range], &patterns.brackets, text)
                }
                Kind::Glob => matches_path(&patterns.tokens[range], &patterns.brackets, text),
            }
    }
}

impl Patterns {
    /// Appends the tokens of a pattern, whose first special character is at `literal`. Returns `None` if it matches
    /// nothing.
    fn push(&mut self, text: &[u8], literal: usize) -> Option<()> {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            at += 1;
            let token = match byte {
                b'*' => {
                    let start = at - 1;
                    at += text[at..].iter().take_while(|byte| **byte == b'*').count();
                    let rest = &text[at..];
                    // Git compares the literal prefix by itself, and treats the rest as a pattern of its own.
                    // So a `**` directly after the prefix is at the start of a component.
                    let is_alone = start == literal || text[start - 1] == b'/';
                    match rest {
                        _ if at - start == 1 || !is_alone => Token::Star,
                        [] | [b'\\', b'/', ..] => Token::Anything,
                        [b'/', ..] => {
                            at += 1;
                            Token::Directories
                        }
                        _ => Token::Star,
                    }
                }
                b'?' => Token::One,
                b'[' => {
                    let (brackets, len) = Brackets::parse(&text[at..])?;
                    at += len;
                    self.brackets.push(brackets);
                    Token::Brackets(self.brackets.len() as u32 - 1)
                }
                b'\\' => {
                    at += 1;
                    Token::Byte(*text.get(at - 1)?)
                }
                byte => Token::Byte(byte),
            };
            self.tokens.push(token);
        }
        Some(())
    }
}

/// Removes trailing spaces that are not escaped.
fn trim_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while at < line.len() {
        let step = if line[at] == b'\\' { 2 } else { 1 };
        if line[at] != b' ' {
            end = (at + step).min(line.len());
        }
        at += step;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[u8]) -> Option<Line> {
        Line::parse(line, 0, &mut Patterns::default())
    }

    fn is_match(line: &[u8], path: &[u8]) -> bool {
        is_match_of(line, path, false)
    }

    fn is_match_of(line: &[u8], path: &[u8], is_dir: bool) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap();
        let mut patterns = Patterns::default();
        let parsed = Line::parse(line, 0, &mut patterns).unwrap();
        parsed.matches((line, &patterns), path, name, is_dir)
    }

    #[test]
    fn patterns_match_names_or_paths() {
        for (line, yes, no) in [
            (&b"a"[..], &[&b"a"[..], b"x/a"][..], &[&b"b"[..], b"aa", b"a/b"][..]),
            (b"/a", &[b"a"], &[b"x/a"]),
            (b"a/b", &[b"a/b"], &[b"x/a/b", b"b"]),
            (b"*.c", &[b".c", b"a.c", b"x/a.c"], &[b"a.cc"]),
            (b"a*", &[b"a", b"ab", b"x/ab"], &[b"ba"]),
            (b"a?c", &[b"abc", b"a\xffc"], &[b"ac", b"a/c"]),
            (b"/*", &[b"a"], &[b"a/b"]),
            (b"a/*/c", &[b"a/b/c"], &[b"a/c", b"a/b/b/c"]),
            (b"a/**/c", &[b"a/c", b"a/b/c", b"a/b/b/c"], &[b"a/bc", b"ac"]),
            (b"**/c", &[b"c", b"a/c", b"a/b/c"], &[b"bc"]),
            (b"a/**", &[b"a/b", b"a/b/c"], &[b"a"]),
            (b"a/x**", &[b"a/x", b"a/xb/c"], &[b"a/b"]),
            (b"a/?**", &[b"a/xb"], &[b"a/xb/c"]),
            (b"**\\/c", &[b"a/c", b"a/b/c"], &[b"c"]),
            (b"*a*b/**/c*", &[b"aab/c", b"xaxb/y/z/cd"], &[b"ab/c/d", b"a/b/c"]),
            (b"a\xff", &[b"a\xff"], &[b"a", b"a\xfe"]),
            (b"*\xff?", &[b"a\xffb"], &[b"a\xff"]),
            (b"\\*\\a\\\\", &[b"*a\\"], &[b"a"]),
            (b"{a,b}", &[b"{a,b}"], &[b"a"]),
            (b"a\\ ", &[b"a "], &[b"a"]),
            (b"a  ", &[b"a"], &[b"a "]),
            (b"a\t", &[b"a\t"], &[b"a"]),
            (b"a[b-d]", &[b"ac"], &[b"a", b"ae"]),
            (b"a[/]b/c", &[], &[b"a/b/c"]),
            (b"a[!x]b/c", &[b"ayb/c"], &[b"a/b/c"]),
            (b"[\xc3]\xa9", &[b"\xc3\xa9"], &[b"\xa9"]),
            (b"a\0b", &[b"a"], &[b"a\0b"]),
        ] {
            let shown = line.escape_ascii();
            assert!(yes.iter().all(|path| is_match(line, path)), "{shown}");
            assert!(!no.iter().any(|path| is_match(line, path)), "{shown}");
        }
    }

    #[test]
    fn a_slash_at_the_end_restricts_to_directories() {
        for (line, name) in [("a/", "a"), ("x\\\\/", "x\\"), ("/a/", "a"), ("!a/", "a")] {
            assert!(is_match_of(line.as_bytes(), name.as_bytes(), true));
            assert!(!is_match_of(line.as_bytes(), name.as_bytes(), false));
        }
        assert!(parse(b"!a").unwrap().is_negated && !parse(b"\\!a").unwrap().is_negated);
    }

    #[test]
    fn lines_without_a_pattern_and_invalid_patterns_match_nothing() {
        for line in
            ["", "  ", "#a", "!", "/", "!/", "a\\", "x\\/", "[a", "[!", "[]", "[[:no:]]", "[[:alpha:]", "\0a"]
        {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }

    /// Trying all possible matches would never end.
    #[test]
    fn many_stars_are_matched_quickly() {
        let line = "*a".repeat(50) + "/**" + &"*a".repeat(50) + "b";
        let path = "a".repeat(200) + "/" + &"a".repeat(2000);
        assert!(!is_match(line.as_bytes(), path.as_bytes()));
        let line = "**/a/*".repeat(30) + "/b";
        let path = "a/".repeat(1000) + "c";
        assert!(!is_match(line.as_bytes(), path.as_bytes()));
    }
}
