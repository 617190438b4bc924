//! A line of an ignore file as git understands it (`dir.c` and `wildmatch.c` of git): bytes, in no encoding.

use super::brackets::Brackets;
use super::tokens::{Token, matches};

/// A pattern, and what it says of what it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// What matches is not ignored: the line begins with `!`.
    pub(super) is_negated: bool,
    /// Only directories match: the line ends with a slash.
    is_for_directories: bool,
    /// The pattern has no other slash, and is matched against names.
    is_for_names: bool,
    pattern: Pattern,
}

/// Most patterns are a name or an end of names; those are compared directly.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Whole(Box<[u8]>),
    End(Box<[u8]>),
    Glob(Box<[Token]>),
}

impl Line {
    /// Reads a line, which comes without its end. `None` where there is no pattern, or one that matches nothing.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        // To git a NUL is the end.
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = without_spaces_at_the_end(line);
        if line.starts_with(b"#") {
            return None;
        }
        let (is_negated, text) = line.strip_prefix(b"!").map_or((false, line), |text| (true, text));
        // Also one that a backslash stands before.
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

    /// Whether an entry matches. `path` begins at the directory of the ignore file, `name` is its last name.
    pub(super) fn matches(&self, path: &[u8], name: &[u8], is_dir: bool) -> bool {
        let text = if self.is_for_names { name } else { path };
        (is_dir || !self.is_for_directories)
            && match &self.pattern {
                Pattern::Whole(whole) => **whole == *text,
                Pattern::End(end) => text.ends_with(end),
                Pattern::Glob(tokens) => matches(tokens, text),
            }
    }
}

impl Pattern {
    /// `None` if nothing matches.
    fn parse(text: &[u8], is_for_names: bool) -> Option<Self> {
        let is_special = |byte: &u8| b"*?[\\".contains(byte);
        let Some(literal) = text.iter().position(is_special) else { return Some(Self::Whole(text.into())) };
        if let Some(end) = text.strip_prefix(b"*")
            && is_for_names
            && !end.iter().any(is_special)
        {
            return Some(Self::End(end.into()));
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
                    // Git matches the literal part at the start by itself, and what follows as if it were the start.
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

fn without_spaces_at_the_end(line: &[u8]) -> &[u8] {
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
    fn a_slash_at_the_end_is_for_directories() {
        for (line, name) in [("a/", "a"), ("x\\\\/", "x\\"), ("/a/", "a"), ("!a/", "a")] {
            let line = Line::parse(line.as_bytes()).unwrap();
            assert!(line.matches(name.as_bytes(), name.as_bytes(), true));
            assert!(!line.matches(name.as_bytes(), name.as_bytes(), false));
        }
        assert!(Line::parse(b"!a").unwrap().is_negated && !Line::parse(b"\\!a").unwrap().is_negated);
    }

    #[test]
    fn some_lines_are_no_patterns_and_some_match_nothing() {
        for line in
            ["", "  ", "#a", "!", "/", "!/", "a\\", "x\\/", "[a", "[!", "[]", "[[:no:]]", "[[:alpha:]", "\0a"]
        {
            assert_eq!(Line::parse(line.as_bytes()), None, "{line}");
        }
    }

    /// What would take for ever if all ways were tried.
    #[test]
    fn stars_upon_stars() {
        let line = "*a".repeat(50) + "/**" + &"*a".repeat(50) + "b";
        let path = "a".repeat(200) + "/" + &"a".repeat(2000);
        assert!(!is_match(line.as_bytes(), path.as_bytes()));
        let line = "**/a/*".repeat(30) + "/b";
        let path = "a/".repeat(1000) + "c";
        assert!(!is_match(line.as_bytes(), path.as_bytes()));
    }
}
