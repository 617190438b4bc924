//! A line as git understands it, written so that the matcher understands the same.
//!
//! The matcher takes `{a,b}` for alternatives, knows neither named classes nor a backslash in brackets, lets
//! brackets match a slash, and drops any white space at the end; in git, braces are characters, brackets are those
//! of POSIX without slashes, and only spaces are dropped that no backslash stands before (`dir.c` and
//! `wildmatch.c` of git).

/// The line for the matcher. `None` where there is no pattern, or one that nothing matches.
///
/// # Errors
/// Where git would match something that the matcher cannot: what is wrong.
pub(super) fn translate(line: &[u8]) -> Result<Option<String>, &'static str> {
    let line = without_spaces_at_the_end(line);
    if line.is_empty() || line.starts_with(b"#") {
        return Ok(None);
    }
    let line = str::from_utf8(line).map_err(|_| "is not UTF-8")?;
    let (not, pattern) = line.strip_prefix('!').map_or(("", line), |pattern| ("!", pattern));
    if pattern.is_empty() || pattern == "/" || pattern.contains("//") {
        return Ok(None);
    }
    let has_slash = pattern.strip_suffix('/').unwrap_or(pattern).contains('/');
    let mut out = String::from(not);
    if !has_slash {
        out.push_str("**/");
    }
    let mut rest = pattern.chars();
    let mut stars = 0;
    while let Some(next) = rest.next() {
        // More than two are two.
        stars = if next == '*' { stars + 1 } else { 0 };
        match next {
            '*' if stars > 2 => {}
            '\\' => match rest.next() {
                Some(literal) => push_literal(literal, &mut out),
                None => return Ok(None),
            },
            '[' => match Brackets::parse(rest.as_str())? {
                Some((brackets, behind)) if brackets.match_something() => {
                    brackets.push(&mut out);
                    rest = behind.chars();
                }
                _ => return Ok(None),
            },
            '*' | '?' | '/' => out.push(next),
            literal => push_literal(literal, &mut out),
        }
    }
    // Where it stands for itself, or the matcher would drop it.
    if let Some(space) = out.chars().next_back().filter(|last| last.is_whitespace()) {
        out.pop();
        out.extend(['{', space, '}']);
    }
    Ok(Some(out))
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

fn push_literal(literal: char, out: &mut String) {
    match literal {
        '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | '#' => out.extend(['\\', literal]),
        _ => out.push(literal),
    }
}

/// The ASCII characters that stand between brackets.
struct Brackets {
    not: bool,
    of: [bool; 128],
}

impl Brackets {
    /// Reads what stands behind a `[`, and says what is left. `None` if they are not closed.
    fn parse(text: &str) -> Result<Option<(Self, &str)>, &'static str> {
        let mut brackets = Self { not: text.starts_with(['!', '^']), of: [false; 128] };
        let mut rest = text.strip_prefix(['!', '^']).unwrap_or(text);
        let mut before = None;
        let (mut is_first, mut is_ascii) = (true, true);
        loop {
            let Some(next) = rest.chars().next() else { return Ok(None) };
            if next == ']' && !is_first {
                let others = "has brackets with something else than ASCII";
                return if is_ascii { Ok(Some((brackets, &rest[1..]))) } else { Err(others) };
            }
            is_first = false;
            if let Some(named) = rest.strip_prefix("[:") {
                let Some((name, behind)) = named.split_once(']') else { return Ok(None) };
                if let Some(name) = name.strip_suffix(':') {
                    if !brackets.add_class(name) {
                        return Ok(None);
                    }
                    (before, rest) = (None, behind);
                    continue;
                }
            }
            let is_range = next == '-' && before.is_some() && !rest[1..].starts_with(']');
            let char = if is_range { &rest[1..] } else { rest };
            let char = char.strip_prefix('\\').unwrap_or(char);
            let Some(last) = char.chars().next() else { return Ok(None) };
            let behind = &char[last.len_utf8()..];
            is_ascii &= last.is_ascii();
            let first = before.filter(|_| is_range).unwrap_or(last);
            (first..=last).filter(char::is_ascii).for_each(|char| brackets.of[char as usize] = true);
            before = (!is_range).then_some(last);
            rest = behind;
        }
    }

    /// `false` if there is no such class.
    fn add_class(&mut self, name: &str) -> bool {
        let is_in = match name {
            "alnum" => u8::is_ascii_alphanumeric,
            "alpha" => u8::is_ascii_alphabetic,
            "blank" => |byte: &u8| matches!(byte, b' ' | b'\t'),
            "cntrl" => u8::is_ascii_control,
            "digit" => u8::is_ascii_digit,
            "graph" => u8::is_ascii_graphic,
            "lower" => u8::is_ascii_lowercase,
            "print" => |byte: &u8| matches!(byte, b' '..=b'~'),
            "punct" => u8::is_ascii_punctuation,
            "space" => |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r'),
            "upper" => u8::is_ascii_uppercase,
            "xdigit" => u8::is_ascii_hexdigit,
            _ => return false,
        };
        (0..128).filter(is_in).for_each(|byte| self.of[usize::from(byte)] = true);
        true
    }

    fn match_something(&self) -> bool {
        self.not || (0..128).any(|byte| self.of[byte] && byte != usize::from(b'/'))
    }

    fn push(mut self, out: &mut String) {
        // No brackets match a slash.
        self.of[usize::from(b'/')] = self.not;
        let chars = || (0..128).filter(|&byte| self.of[usize::from(byte)]).map(char::from);
        if self.not {
            // The first may be a bracket, the last a dash, and neither means anything else there.
            let plain = chars().filter(|&char| char != ']' && char != '-');
            out.push_str("[!");
            out.extend(chars().filter(|&char| char == ']').chain(plain));
            out.extend(chars().filter(|&char| char == '-'));
            out.push(']');
        } else {
            out.push('{');
            for (nth, char) in chars().enumerate() {
                out.extend((nth > 0).then_some(','));
                out.extend(['\\', char]);
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_for_the_matcher() {
        for (line, expected) in [
            ("a", "**/a"),
            ("!a/", "!**/a/"),
            ("/a", "/a"),
            ("a/b", "a/b"),
            ("{a,b}", "**/\\{a,b\\}"),
            ("a  ", "**/a"),
            ("a\\ ", "**/a{ }"),
            ("a\t", "**/a{\t}"),
            ("\\!a", "**/\\!a"),
            ("[a-c]", "**/{\\a,\\b,\\c}"),
            ("[!]a-]/x", "[!]/a-]/x"),
            ("[z-a]", "**/{\\z}"),
            ("a***b", "**/a**b"),
        ] {
            assert_eq!(translate(line.as_bytes()), Ok(Some(expected.to_owned())), "{line}");
        }
    }

    #[test]
    fn some_lines_are_no_patterns_and_some_match_nothing() {
        for line in ["", "  ", "#a", "!", "/", "a//b", "[a", "[!", "a\\", "[/]", "[[:no:]]", "[\u{e9}"] {
            assert_eq!(translate(line.as_bytes()), Ok(None), "{line}");
        }
    }

    #[test]
    fn what_the_matcher_cannot_do_is_an_error() {
        assert_eq!(translate(b"a\xff"), Err("is not UTF-8"));
        for line in ["[\u{e9}]", "[!a\u{e9}]", "[a-\u{e9}]"] {
            assert_eq!(translate(line.as_bytes()), Err("has brackets with something else than ASCII"));
        }
    }
}
