//! The other text files of BagIt bags: tag files (RFC 8493, sections 2.1.1 and 2.2.2) and `fetch.txt` (2.2.3).

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};

use crate::bag::{check_bag_name, is_line_end};
use crate::{BagNameError, BagReader, decode_bag_path};

/// Passes each `Label: value` of a tag file to `each`, without blanks around either. Lines that begin with a blank
/// continue the value before.
///
/// The whole value is kept in memory, so the caller limits the size of `input`.
///
/// # Errors
/// The outer error is that of reading the input. The inner one is the number of the first line that has no colon.
pub fn read_bag_tags(input: impl BufRead, mut each: impl FnMut(&str, &str)) -> io::Result<Result<(), u64>> {
    let mut reader = BagReader::new(input);
    let mut tag: Option<(String, String)> = None;
    while let Some((number, line)) = reader.next_text()? {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() {
            continue;
        }
        if let Some((_, value)) = &mut tag
            && line.starts_with([' ', '\t'])
        {
            value.push('\n');
            value.push_str(line.trim());
            continue;
        }
        if let Some((label, value)) = tag.take() {
            each(&label, value.trim());
        }
        let Some((label, value)) = line.split_once(':') else { return Ok(Err(number)) };
        tag = Some((label.trim().to_owned(), value.trim().to_owned()));
    }
    if let Some((label, value)) = tag {
        each(&label, value.trim());
    }
    Ok(Ok(()))
}

/// Returns what is wrong with the bytes of `bagit.txt` according to RFC 8493, section 2.1.1: it has exactly two lines,
/// and the last one may lack its end.
pub fn check_bag_declaration(text: &[u8]) -> Result<(), &'static str> {
    const EXPECTED: &str =
        "expected the lines 'BagIt-Version: M.N' and 'Tag-File-Character-Encoding: ENCODING' only";
    if text.starts_with(BYTE_ORDER_MARK) {
        return Err("it begins with a byte order mark");
    }
    let mut reader = BagReader::new(text);
    for label in ["BagIt-Version: ", "Tag-File-Character-Encoding: "] {
        let line = reader.next_text().ok().flatten().map(|(_, line)| line);
        let value = line.and_then(|line| line.strip_prefix(label.as_bytes())).ok_or(EXPECTED)?;
        if value.is_empty() || !value.iter().all(u8::is_ascii_graphic) {
            return Err(EXPECTED);
        }
    }
    if matches!(reader.next_text(), Ok(None)) { Ok(()) } else { Err(EXPECTED) }
}

/// Returns what is wrong with the bytes of `bag-info.txt`, and the line, if programs could read it differently or
/// RFC 8493, section 2.2.2, forbids it. Before version 1.0 (`is_old`), blanks around the colon were free.
pub fn check_bag_info(text: &[u8], is_old: bool) -> Result<(), (u64, &'static str)> {
    if text.starts_with(BYTE_ORDER_MARK) {
        return Err((1, "it begins with a byte order mark"));
    }
    let mut reader = BagReader::new(text);
    let mut is_first = true;
    while let Ok(Some((number, line))) = reader.next_text() {
        let line = str::from_utf8(line).map_err(|_| (number, "it is not UTF-8"))?;
        if line.contains(is_line_end) {
            return Err((number, "it has a character that may end a line, such as U+0085 or U+2028"));
        }
        let is_folded = !is_first && line.starts_with([' ', '\t']);
        if is_old || is_folded || line.trim().is_empty() {
            continue;
        }
        is_first = false;
        // A line without a colon is reported by who reads the values.
        let Some((label, value)) = line.split_once(':') else { continue };
        if label.trim() != label || label.is_empty() || !value.starts_with([' ', '\t']) {
            return Err((
                number,
                "expected 'Label: value' without a blank before the colon, and with one after it",
            ));
        }
    }
    Ok(())
}

/// Returns the bytes of `bag-info.txt` with another value of `Payload-Oxum`; all other bytes stay. `None`: there is no
/// such line.
///
/// # Errors
/// If there are several, or if the value is continued in the next line.
pub fn replace_payload_oxum(text: &[u8], bytes: u64, files: u64) -> Result<Option<Vec<u8>>, &'static str> {
    const LABEL: &[u8] = b"payload-oxum";
    let (mut new, mut seen) = (Vec::with_capacity(text.len()), 0);
    let mut is_after = false;
    for line in text.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let colon = line.iter().position(|byte| *byte == b':');
        let is_folded = line.starts_with(b" ") || line.starts_with(b"\t");
        if is_after && is_folded {
            return Err("Payload-Oxum has several lines");
        }
        is_after &= matches!(line, b"\n");
        match colon.filter(|at| !is_folded && line[..*at].trim_ascii().eq_ignore_ascii_case(LABEL)) {
            Some(at) => {
                (seen, is_after) = (seen + 1, true);
                let end = line.trim_ascii_end().len();
                new.extend_from_slice(&line[..=at]);
                new.extend_from_slice(format!(" {bytes}.{files}").as_bytes());
                new.extend_from_slice(&line[end.max(at + 1)..]);
            }
            None => new.extend_from_slice(line),
        }
    }
    match seen {
        0 => Ok(None),
        1 => Ok(Some(new)),
        _ => Err("Payload-Oxum is given several times"),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line of `fetch.txt`: a file of the bag that may have to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchLine<'l> {
    /// The size of the file in bytes, if it is known.
    pub size: Option<u64>,
    /// The path of the file.
    pub path: Cow<'l, [u8]>,
}

impl<'l> FetchLine<'l> {
    /// Parses `URL SIZE PATH`, where a size of `-` is unknown. `line` must not include its end.
    ///
    /// # Errors
    /// If the line is malformed.
    pub fn parse(line: &'l [u8]) -> Result<Self, FetchError> {
        let text = str::from_utf8(line).map_err(|_| FetchError::NotUtf8)?;
        let is_blank = |c: char| matches!(c, ' ' | '\t');
        let (url, rest) = text.trim_start_matches(is_blank).split_once(is_blank).ok_or(FetchError::Shape)?;
        let (size, path) = rest.trim_start_matches(is_blank).split_once(is_blank).ok_or(FetchError::Shape)?;
        let path = path.trim_start_matches(is_blank);
        if path.is_empty() {
            return Err(FetchError::Shape);
        }
        if !is_url(url) {
            return Err(FetchError::Url);
        }
        let digits = Some(size).filter(|size| size.bytes().all(|byte| byte.is_ascii_digit()));
        let size = match digits.map(str::parse) {
            Some(Ok(size)) => Some(size),
            None if size == "-" => None,
            _ => return Err(FetchError::Size),
        };
        if path.contains('\0') {
            return Err(FetchError::Nul);
        }
        check_bag_name(path).map_err(FetchError::Name)?;
        Ok(Self { size, path: decode_bag_path(path.as_bytes()) })
    }
}

/// Whether this is an absolute URL with a host; only `file:` needs none.
fn is_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else { return false };
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_letter);
    let has_host = || rest.strip_prefix("//").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    let is_ascii = url.bytes().all(|byte| byte.is_ascii_graphic());
    is_ascii && is_scheme && (scheme.eq_ignore_ascii_case("file") || has_host())
}

/// Why a line of `fetch.txt` is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The line does not have three parts.
    Shape,
    /// The first part is not an absolute URL.
    Url,
    /// The second part is neither a size below 2^64 nor `-`.
    Size,
    /// The line contains a NUL.
    Nul,
    /// The line is not UTF-8.
    NotUtf8,
    /// bagit-python would read another path.
    Name(BagNameError),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "not 'URL SIZE PATH'",
            Self::Url => "the URL is not absolute",
            Self::Size => "the size is neither a number nor '-'",
            Self::Nul => "a NUL in the line",
            Self::NotUtf8 => "the line is not UTF-8",
            Self::Name(error) => return error.fmt(f),
        })
    }
}

impl std::error::Error for FetchError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_payload_is_replaced() {
        let replace = |text: &str| {
            replace_payload_oxum(text.as_bytes(), 70, 3)
                .map(|new| new.map(|new| String::from_utf8(new).unwrap()))
        };
        for (text, new) in [
            ("A: 1\nPayload-Oxum: 5.1\nB: 2\n", Some("A: 1\nPayload-Oxum: 70.3\nB: 2\n")),
            ("payload-oxum : 5.1\r\nB: 2\r\n", Some("payload-oxum : 70.3\r\nB: 2\r\n")),
            ("Payload-Oxum: 5.1", Some("Payload-Oxum: 70.3")),
            ("A: x\n Payload-Oxum: 5.1\n", None),
            ("", None),
        ] {
            assert_eq!(replace(text), Ok(new.map(str::to_owned)), "{text:?}");
        }
        for text in
            ["Payload-Oxum: 5\n .1\n", "Payload-Oxum:\r\n\t5.1\r\n", "Payload-Oxum: 5.1\nPayload-Oxum: 6.1\n"]
        {
            assert!(replace(text).is_err(), "{text:?}");
        }
    }

    fn tags(text: &[u8]) -> Result<Vec<String>, u64> {
        let mut all = Vec::new();
        read_bag_tags(text, |label, value| all.push(format!("{label}={value}"))).unwrap().map(|()| all)
    }

    #[test]
    fn tags_and_continued_values_are_read() {
        let text = b"A: 1\r\nB :2:3\r\n\r\n\tmore\n \n  and more \rC:\nD: \xff";
        assert_eq!(
            tags(text),
            Ok(["A=1", "B=2:3\nmore\nand more", "C=", "D=\u{fffd}"].map(str::to_owned).to_vec())
        );
        assert_eq!(tags(b""), Ok(vec![]));
        assert_eq!(tags(b"A: 1\nno colon\nB: 2"), Err(2));
        assert_eq!(tags(b" A: 1\n"), Ok(vec!["A=1".to_owned()]));
    }

    #[test]
    fn declarations_have_two_lines() {
        let (version, encoding) = ("BagIt-Version: 1.0", "Tag-File-Character-Encoding: UTF-8");
        for end in ["\n", "\r", "\r\n"] {
            for last in [end, ""] {
                let text = format!("{version}{end}{encoding}{last}");
                assert_eq!(check_bag_declaration(text.as_bytes()), Ok(()), "{text:?}");
            }
        }
        for text in [
            String::new(),
            format!("{version}\n"),
            format!("{encoding}\n{version}\n"),
            format!("{version}\n{version}\n{encoding}\n"),
            format!("{version}\n{encoding}\n{encoding}\n"),
            format!("{version}\n{encoding}\n\n"),
            format!("{version}\n{encoding}\nMore: x\n"),
            format!("\n{version}\n{encoding}\n"),
            format!("{version}\r\r\n{encoding}\r\r\n"),
            format!("{version} \n{encoding}\n"),
            format!("{version}\u{b}\n{encoding}\n"),
            format!("{version}\n{encoding}\u{c}"),
            format!("{version}\u{85}{encoding}\n"),
            format!("\u{feff}{version}\n{encoding}\n"),
            format!("{}\n{encoding}\n", version.replace(": ", " : ")),
            format!("{}\n{encoding}\n", version.replace(": ", ":")),
            format!("{}\n{encoding}\n", version.to_lowercase()),
            format!("{version}\n{}\n", encoding.replace("Tag", "tag")),
        ] {
            assert!(check_bag_declaration(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn metadata_means_the_same_to_all_programs() {
        for text in ["", "A: 1\nA: 2\na: 3\n", "A: 1\r\n  more\r\n\tmore: x\r\n\nB:\t2", "A:  1\n"] {
            assert_eq!(check_bag_info(text.as_bytes(), false), Ok(()), "{text:?}");
        }
        for text in ["A : 1\n", " A: 1\n", "A:1\n", ": 1\n"] {
            assert!(check_bag_info(text.as_bytes(), false).is_err(), "{text:?}");
            assert_eq!(check_bag_info(text.as_bytes(), true), Ok(()), "{text:?}");
        }
        for text in
            [&b"\xef\xbb\xbfA: 1\n"[..], b"A: \xff\n", b"A: 1\x0bB: 2\n", "A: 1\u{2028}B: 2".as_bytes()]
        {
            for is_old in [false, true] {
                assert!(check_bag_info(text, is_old).is_err(), "{}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn lines_of_fetch_are_read() {
        let fetch = |line: &str| {
            let line = FetchLine::parse(line.as_bytes())?;
            Ok((line.size, String::from_utf8(line.path.into_owned()).unwrap()))
        };
        assert_eq!(fetch("https://a.org/b 12 data/a b"), Ok((Some(12), "data/a b".to_owned())));
        assert_eq!(fetch(" file:/b \t-\t data/%0A%25"), Ok((None, "data/\n%".to_owned())));
        for (line, error) in [
            ("", FetchError::Shape),
            ("https://a.org/b", FetchError::Shape),
            ("https://a.org/b 12", FetchError::Shape),
            ("https://a.org/b 12 ", FetchError::Shape),
            ("a.org/b 12 data/a", FetchError::Url),
            ("https:/b 12 data/a", FetchError::Url),
            ("https:///b 12 data/a", FetchError::Url),
            ("1http://b 12 data/a", FetchError::Url),
            ("https://a.org/b 1x data/a", FetchError::Size),
            ("https://a.org/b -1 data/a", FetchError::Size),
            ("https://a.org/b 18446744073709551616 data/a", FetchError::Size),
            ("https://a.org/b 1 data/a\0", FetchError::Nul),
            ("https://a.org/b\u{a0}x 1 data/a", FetchError::Url),
            ("https://a.org/b 1 data/a ", FetchError::Name(BagNameError::Blank)),
            ("https://a.org/b 1 data/a\u{85}b", FetchError::Name(BagNameError::LineEnd)),
        ] {
            assert_eq!(fetch(line), Err(error), "{line:?}");
            assert!(!error.to_string().is_empty());
        }
        assert_eq!(FetchLine::parse(b"https://a.org/b 1 data/\xff"), Err(FetchError::NotUtf8));
    }
}
