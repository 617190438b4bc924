//! The result of a command, in a form in which it can be compared with that of peers.

use super::groups;

/// The output format of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Lines that all peers print alike, such as paths or a count.
    Lines,
    /// Lines with a digest and a path, in any of the forms that checksum tools print.
    Sums,
    /// Duplicates, in any of the forms that tools print.
    Groups,
    /// Any lines; only those with a SHA-256 digest count.
    Digests,
    /// Output that differs between peers, such as a version. Only the exit status counts.
    Status,
}

impl Format {
    /// Returns the format of this name.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "lines" => Self::Lines,
            "sums" => Self::Sums,
            "groups" => Self::Groups,
            "digests" => Self::Digests,
            _ => panic!("{name:?} is not a format"),
        }
    }
}

/// A sorted result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    lines: usize,
    text: Vec<u8>,
}

impl Answer {
    /// Normalises and sorts the lines of `output`.
    pub(crate) fn new(output: &[u8], format: Format) -> Self {
        let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let mut lines: Vec<Vec<u8>> = match format {
            Format::Lines => lines.map(|line| line.trim_ascii().to_vec()).collect(),
            Format::Sums => lines.filter_map(plain_sum).collect(),
            Format::Groups => groups::lines(output),
            Format::Digests => lines.filter_map(sha256).collect(),
            Format::Status => Vec::new(),
        };
        lines.sort_unstable();
        Self { lines: lines.len(), text: lines.join(&b'\n') }
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    /// Describes the first difference from the result of `whose`; `None` if there is none.
    pub(crate) fn difference(&self, reference: &Self, whose: &str) -> Option<String> {
        if self == reference {
            return None;
        }
        let (mut ours, mut theirs) = (self.split(), reference.split());
        let shown = loop {
            match (ours.next(), theirs.next()) {
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) if a < b => break format!("only here: {}", a.escape_ascii()),
                (_, Some(b)) => break format!("only there: {}", b.escape_ascii()),
                (Some(a), None) => break format!("only here: {}", a.escape_ascii()),
                (None, None) => break "lines differ".to_owned(),
            }
        };
        Some(format!("{} lines, {whose} has {}; {shown}", self.lines, reference.lines))
    }

    fn split(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
    }
}

/// Returns the digest and the unescaped name. `None` for the comments of hashdeep. A line of an unknown form stays
/// unchanged and becomes a difference.
fn plain_sum(line: &[u8]) -> Option<Vec<u8>> {
    if line.starts_with(b"%%%%") || line.starts_with(b"##") {
        return None;
    }
    let (is_escaped, sum) = line.strip_prefix(br"\").map_or((false, line), |sum| (true, sum));
    let parsed = gnu(sum).or_else(|| tagged(sum)).or_else(|| hashdeep(sum));
    let Some((digest, path)) = parsed else { return Some(line.to_vec()) };
    let path = if is_escaped { unescaped(path) } else { path.to_vec() };
    Some([digest, b"  ", &path].concat())
}

/// Decodes `\\`, `\n` and `\r` in the path of a line that begins with a backslash.
fn unescaped(path: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    let mut bytes = path.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                other => *other.unwrap_or(&b'\\'),
            },
            _ => byte,
        });
    }
    plain
}

type Sum<'l> = (&'l [u8], &'l [u8]);

/// Parses `DIGEST  path`. xxhsum may prefix the digest with the name of the algorithm.
fn gnu(line: &[u8]) -> Option<Sum<'_>> {
    let line = line.strip_prefix(b"XXH3_").unwrap_or(line);
    let (digest, rest) = split_at_byte(line, b' ')?;
    let path = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"*"))?;
    is_digest(digest).then_some((digest, path))
}

/// Parses `NAME (path) = DIGEST` of BSD and `NAME(path)= DIGEST` of openssl.
fn tagged(line: &[u8]) -> Option<Sum<'_>> {
    let open = line.iter().position(|&byte| byte == b'(')?;
    let close = line.iter().rposition(|&byte| byte == b')')?;
    let digest = line[close..].trim_ascii().strip_prefix(b")")?.trim_ascii().strip_prefix(b"= ")?;
    is_digest(digest).then(|| (digest, &line[open + 1..close]))
}

/// Parses `size,DIGEST,path`.
fn hashdeep(line: &[u8]) -> Option<Sum<'_>> {
    let (size, rest) = split_at_byte(line, b',')?;
    let (digest, path) = split_at_byte(rest, b',')?;
    (size.iter().all(u8::is_ascii_digit) && is_digest(digest)).then_some((digest, path))
}

/// Returns the first run of exactly 64 hexadecimal digits, unless the line is the footer of a manifest or has the digest
/// of a directory.
fn sha256(line: &[u8]) -> Option<Vec<u8>> {
    if line.starts_with(br#"{"footer":"#) || has(line, br#","tree":{"#) {
        return None;
    }
    line.split(|byte| !byte.is_ascii_hexdigit()).find(|run| run.len() == 64).map(<[u8]>::to_vec)
}

/// Whether `text` contains `part`.
pub(crate) fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn is_digest(text: &[u8]) -> bool {
    text.len() >= 16 && text.iter().all(u8::is_ascii_hexdigit)
}

/// Splits the line at the first `byte`, which is dropped.
fn split_at_byte(line: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|&b| b == byte)?;
    Some((&line[..at], &line[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "78af5f94892f3950";

    #[test]
    fn all_forms_of_checksum_lines_are_equal() {
        for path in ["a", "d/b c", "a (1), b) = x"] {
            let plain = format!("{DIGEST}  {path}");
            for form in [
                format!("{DIGEST}  {path}"),
                format!("{DIGEST} *{path}"),
                format!("XXH3_{DIGEST}  {path}"),
                format!("XXH3 ({path}) = {DIGEST}"),
                format!("SHA2-256({path})= {DIGEST}"),
                format!("12,{DIGEST},{path}"),
            ] {
                assert_eq!(plain_sum(form.as_bytes()).unwrap().escape_ascii().to_string(), plain, "{form}");
            }
        }
    }

    #[test]
    fn escaped_names_are_decoded() {
        let plain = format!("{DIGEST}  a\\x2db\nc");
        let escaped = format!("\\{DIGEST}  a\\\\x2db\\nc");
        assert_eq!(plain_sum(escaped.as_bytes()).unwrap(), plain.as_bytes());
        assert_eq!(plain_sum(plain.as_bytes()).unwrap(), plain.as_bytes());
        let prefixed = format!("\\XXH3_{DIGEST}  a\\\\x2db\\nc");
        assert_eq!(plain_sum(prefixed.as_bytes()).unwrap(), plain.as_bytes());
    }

    #[test]
    fn unknown_lines_are_kept_and_comments_are_skipped() {
        assert_eq!(plain_sum(b"no sum").unwrap(), b"no sum");
        assert_eq!(plain_sum(b"xyz  a").unwrap(), b"xyz  a");
        assert_eq!(plain_sum(b"%%%% HASHDEEP-1.0"), None);
        assert_eq!(plain_sum(b"## Invoked from"), None);
    }

    #[test]
    fn digests_are_found_anywhere_in_a_line() {
        let digest = DIGEST.repeat(4);
        for line in [
            format!("12,{digest},/a/b"),
            format!(r#"{{"path":"0123","digests":{{"sha256":"{digest}"}}}}"#),
            format!("    a  size=3 sha256={digest} \\"),
        ] {
            assert_eq!(sha256(line.as_bytes()).unwrap(), digest.as_bytes(), "{line}");
        }
        let footer = format!(r#"{{"footer":{{"sha256":"{digest}"}}}}"#);
        let directory = format!(r#"{{"path":"a","tree":{{"sha256":"{digest}"}}}}"#);
        for other in [format!("a {digest}0"), footer, directory] {
            assert_eq!(sha256(other.as_bytes()), None);
        }
    }

    #[test]
    fn order_and_padding_do_not_matter() {
        let one = Answer::new(b"b\na\n", Format::Lines);
        let other = Answer::new(b" a\nb", Format::Lines);
        assert_eq!(one.difference(&other, "find"), None);
        assert_eq!(one.lines(), 2);
    }

    #[test]
    fn the_first_difference_is_named() {
        let reference = Answer::new(b"a\nb\nc\n", Format::Lines);
        let said = |output: &[u8]| Answer::new(output, Format::Lines).difference(&reference, "find").unwrap();
        assert_eq!(said(b"a\nc\n"), "2 lines, find has 3; only there: b");
        assert_eq!(said(b"a\nb\nbb\nc\n"), "4 lines, find has 3; only here: bb");
        assert_eq!(said(b"a\nb\nc\nd\n"), "4 lines, find has 3; only here: d");
        assert_eq!(said(b""), "0 lines, find has 3; only there: a");
    }
}
