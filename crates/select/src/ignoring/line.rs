//! A line of an ignore file, with the same meaning as in git (`dir.c` and `wildmatch.c`). Lines are bytes.

use super::brackets::Brackets;
use super::tokens::{Token, matches};

/// A pattern of an ignore file and its flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Matching entries are not ignored: the line begins with `!`.
    pub(super) is_negated: bool,
    /// Only directories match: the line ends with a slash.
    is_for_directories: bool,
    /// Names are matched instead of paths: the pattern contains no other slash.
    is_for_names: bool,
    pattern: Pattern,
}

/// The compiled text of a pattern. Most patterns are a whole name or a suffix, and are compared directly.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Whole(Box<[u8]>),
    Suffix(Box<[u8]>),
    Glob(Box<[Token]>),
}

impl Line {
    /// Parses a line without its newline. Returns `None` if it contains no pattern, or one that matches
    /// nothing.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        // Git treats a NUL as the end of the line.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = trim_trailing_spaces(line);
        if line.starts_with(b"#") {
            return None;
        }
        let (is_negated, text) = line.strip_prefix(b"!").map_or((false, line), |text| (true, text));
        // This includes a slash after a backslash.
        let (is_for_directories, text) = text.strip_suffix(b"/").map_or((false, text), |text| (true, text));
        let is_for_names = !text.contains(&b'/');
        let text = text.strip_prefix(b"/").unwrap_or(text);
        if text.is_empty() {
            return None;
        }
        Some(Self {
            is_negated,
            is_for_directories,
            is_for_names,
            pattern: Pattern::parse(text, is_for_names)?,
        })
    }

    /// Returns whether an entry matches. `path` is relative to the directory of the ignore file, `name` is
    /// its last name.
    pub(super) fn matches(&self, path: &[u8], name: &[u8], is_dir: bool) -> bool {
        let text = if self.is_for_names { name } else { path };
        (is_dir || !self.is_for_directories)
            && match &self.pattern {
                Pattern::Whole(whole) => **whole == *text,
                Pattern::Suffix(suffix) => text.ends_with(suffix),
                Pattern::Glob(tokens) => matches(tokens, text),
            }
    }
}

impl Pattern {
    /// Compiles a pattern. Returns `None` if it matches nothing.
    fn parse(text: &[u8], is_for_names: bool) -> Option<Self> {
        let is_special = |byte: &u8| b"*?[\\".contains(byte);
        let Some(literal) = text.iter().position(is_special) else { return Some(Self::Whole(text.into())) };
        if let Some(suffix) = text.strip_prefix(b"*")
            && is_for_names
            && !suffix.iter().any(is_special)
        {
            return Some(Self::Suffix(suffix.into()));
        }
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            at += 1;
            tokens.push(match byte {
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
                    Token::Brackets(brackets)
                }
                b'\\' => {
                    at += 1;
                    Token::Byte(*text.get(at - 1)?)
                }
                byte => Token::Byte(byte),
            });
        }
        Some(Self::Glob(tokens.into()))
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

    fn is_match(line: &[u8], path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap();
        Line::parse(line).unwrap().matches(path, name, false)
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
            let line = Line::parse(line.as_bytes()).unwrap();
            assert!(line.matches(name.as_bytes(), name.as_bytes(), true));
            assert!(!line.matches(name.as_bytes(), name.as_bytes(), false));
        }
        assert!(Line::parse(b"!a").unwrap().is_negated && !Line::parse(b"\\!a").unwrap().is_negated);
    }

    #[test]
    fn lines_without_a_pattern_and_invalid_patterns_match_nothing() {
        for line in
            ["", "  ", "#a", "!", "/", "!/", "a\\", "x\\/", "[a", "[!", "[]", "[[:no:]]", "[[:alpha:]", "\0a"]
        {
            assert_eq!(Line::parse(line.as_bytes()), None, "{line}");
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
