//! Lists and names: what is written can be read, and what is read can be written again.

use std::io::BufReader;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use ftk_record::{
    Encoding, End, Style, SumError, SumFormat, SumLine, SumReader, quote, read_path, sanitize, write_path,
};

/// Uses the input as a list. Each line must be read as a regular expression for all formats reads it, and
/// must be the same when it is written and read again.
pub fn sum_lists(data: &[u8]) {
    for (end, byte) in [(End::Newline, b'\n'), (End::Nul, 0)] {
        // The smallest buffer, so that every line crosses its end.
        let mut reader = SumReader::new(BufReader::with_capacity(1, data), end);
        let (mut separator, mut is_in_gap) = (None, false);
        let first = data.split_inclusive(|it| *it == byte).next().unwrap_or_default();
        let is_dos = end == End::Newline && first.ends_with(b"\r\n");
        for (nth, line) in data.split_inclusive(|it| *it == byte).enumerate() {
            let (line, is_ended) = line.strip_suffix(&[byte]).map_or((line, false), |line| (line, true));
            let line = match line.strip_suffix(b"\r") {
                Some(line) if is_dos => line,
                None if is_dos && is_ended => {
                    reader.next().expect_err("a line with another end");
                    break;
                }
                _ => line,
            };
            let is_new_gap = line.is_empty() && end == End::Nul && !is_in_gap;
            is_in_gap = line.is_empty();
            if is_new_gap {
                let record = reader.next().expect("memory can be read").expect("an error for each gap");
                assert_eq!((record.number, record.line), (nth as u64 + 1, Err(SumError::Empty)));
            }
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            let record = reader.next().expect("memory can be read").expect("as many lines");
            assert_eq!((record.number, record.is_ended), (nth as u64 + 1, is_ended));
            let found = record.line.ok();
            let expected = by_expression(line, end, &mut separator);
            let is_rare = |found: &SumLine<'_>| is_rare(line, found, &mut separator);
            if expected.is_some() || !found.as_ref().is_some_and(is_rare) {
                assert_eq!(found, expected, "{}", line.escape_ascii());
            }
            let Some(found) = found else { continue };
            let mut digest = Vec::new();
            found.push_digest(&mut digest);
            let decoded = match found.encoding {
                Encoding::Hex => data_encoding::HEXLOWER_PERMISSIVE.decode(found.digest),
                Encoding::Base64 => data_encoding::BASE64_NOPAD.decode(unpadded(found.digest)),
            };
            assert_eq!(decoded.as_ref(), Ok(&digest));
            let style = if found.tag.is_some() { Style::Tagged } else { Style::Untagged };
            rewrite(SumFormat::new(found.tag.unwrap_or("SHA256"), style, end), end, &digest, &found.name);
        }
        assert!(is_dos || reader.next().expect("memory can be read").is_none());
    }
}

/// Compiles an expression for a format, between the blanks and the escape sign at the start of a line, and
/// its end.
fn expression(form: &str) -> Regex {
    let form = form.replace("HEX", "(?:[0-9A-Fa-f]{2})+").replace("LONG", "(?:[0-9A-Fa-f]{2}){8,}");
    // At least 24 letters, or any number and padding.
    let four = "[0-9A-Za-z+/]{4}";
    let padded = "(?:[0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)";
    // Without padding, the lengths of known digests.
    let unpadded = [22, 27, 38, 43, 86].map(|n| format!("[0-9A-Za-z+/]{{{n}}}")).join("|");
    let form = form.replace("BASE64", &format!("(?:(?:{four}){{6,}}|(?:{four})*{padded}|{unpadded})"));
    let form = form.replace("NAME", "[A-Za-z0-9/_-]+");
    Regex::new(&format!(r"(?s-u)^[ \t]*(?<escaped>\\)?(?:{form})$")).expect("an expression")
}

/// `TAG (name) = HEX`, where the name is as long as possible.
static TAGGED: LazyLock<Regex> = LazyLock::new(|| {
    let digest = "(?:(?<hex>HEX)|(?<base64>BASE64))";
    expression(&format!(r"(?<tag>NAME)(?<gap>[ \t]*)\((?<name>.+)\)[ \t]*[=:][ \t]*{digest}[ \t]*"))
});
/// This many digits are a digest and not a tag.
static NO_TAG: LazyLock<Regex> = LazyLock::new(|| expression(r"(?:XXH3_|0[xX]|NAME[:=])?[0-9A-Fa-f]{16,}"));
/// What may be a digest is no tag with many blanks after it.
static NO_PADDED_TAG: LazyLock<Regex> =
    LazyLock::new(|| expression(r"[0-9A-Fa-f]+|BASE64|XXH3_.*|0[xX][0-9A-Fa-f]{16,}"));
/// `HEX  name` and `HEX *name`.
static TWO: LazyLock<Regex> =
    LazyLock::new(|| expression(r"(?:(?:(?<tag>XXH3)_)?(?:(?<hex>HEX)|(?<base64>BASE64))) [ *](?<name>.+)"));
/// `HEX name`.
static ONE: LazyLock<Regex> = LazyLock::new(|| expression(r"(?:(?<tag>XXH3)_)?(?<hex>LONG)[ \t](?<name>.+)"));
/// `TAG:HEX  name` and `0xHEX  name`, and the same with one blank.
static PREFIXED_TWO: LazyLock<Regex> =
    LazyLock::new(|| expression(r"(?:(?<tag>NAME)[:=]|0[xX])(?<hex>LONG) [ *](?<name>.+)"));
static PREFIXED_ONE: LazyLock<Regex> =
    LazyLock::new(|| expression(r"(?:(?<tag>NAME)[:=]|0[xX])(?<hex>LONG)[ \t](?<name>.+)"));
/// A word of small letters that is as long as some digest in base64 without padding.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let unpadded = [22, 27, 38, 43, 86].map(|n| format!(".[a-z]{{{}}}", n - 1)).join("|");
    Regex::new(&format!("^(?:{unpadded})$")).expect("an expression")
});
/// A line with two separating characters.
static IS_TWO: LazyLock<Regex> = LazyLock::new(|| expression(r"[^ \t(]+ [ *].*"));

/// Reads a line with the expressions. `separator`: how many characters separate digest and name in this list.
fn by_expression<'l>(line: &'l [u8], end: End, separator: &mut Option<usize>) -> Option<SumLine<'l>> {
    let tagged = TAGGED.captures(line).filter(|found| match &found["gap"] {
        b"" | b" " => !NO_TAG.is_match(&found["tag"]),
        _ => !NO_PADDED_TAG.is_match(&found["tag"]),
    });
    let is_digest = |found: &Captures<'_>| match found.name("base64") {
        Some(base64) => found.name("tag").is_some() || !WORD.is_match(base64.as_bytes()),
        None => true,
    };
    let is_prefix = |found: &Captures<'_>| {
        let tag = found.name("tag").map_or(&b""[..], |tag| tag.as_bytes());
        !tag.starts_with(b"XXH3_") && !NO_TAG.is_match(tag)
    };
    let either = |plain: &Regex, prefixed: &Regex| {
        let prefixed = prefixed.captures(line).filter(is_prefix);
        prefixed.or_else(|| plain.captures(line).filter(is_digest))
    };
    let may_be_two = || matches!(separator, None | Some(2));
    let two = || either(&TWO, &PREFIXED_TWO).filter(|_| may_be_two()).map(|found| (found, Some(2)));
    let may_be_one = || *separator == Some(1) || (separator.is_none() && !IS_TWO.is_match(line));
    let one = || either(&ONE, &PREFIXED_ONE).filter(|_| may_be_one()).map(|found| (found, Some(1)));
    let (found, seen) = tagged.map(|found| (found, *separator)).or_else(two).or_else(one)?;
    let line = meaning(line, &found, end)?;
    *separator = seen;
    Some(line)
}

/// Returns whether a line is `TAG name = HEX`, `TAG HEX name`, `HEX,name` or `name,HEX`, with these parts. `separator`: 3
/// or 4 if a comma separates them in this list.
fn is_rare(line: &[u8], found: &SumLine<'_>, separator: &mut Option<usize>) -> bool {
    let trimmed = |text: &[u8]| {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = text.iter().position(|byte| !is_blank(byte)).unwrap_or(text.len());
        let end = text.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
        text[start..end].to_vec()
    };
    let (line, digest, name) = (trimmed(line), found.digest, &*found.name);
    let Some(tag) = found.tag else {
        let order = match () {
            () if line == [digest, b",", name].concat() => 3,
            () if line == [name, b",", digest].concat() => 4,
            () => return false,
        };
        let is_plain = !name.iter().any(|byte| matches!(byte, b',' | b'"')) && trimmed(name) == name;
        return is_plain && digest.len() >= 32 && *separator.get_or_insert(order) == order;
    };
    let Some(rest) = line.strip_prefix(tag.as_bytes()) else { return false };
    let before = |text: &[u8], end: &[u8]| text.strip_suffix(end).map(trimmed);
    let rest = trimmed(rest);
    let is_last = before(&rest, digest).and_then(|rest| before(&rest, b"=")).is_some_and(|it| it == name);
    let is_first = rest.strip_prefix(digest).is_some_and(|rest| trimmed(rest) == name);
    found.encoding == Encoding::Hex && is_last != is_first
}

/// Returns base64 without its padding.
fn unpadded(base64: &[u8]) -> &[u8] {
    base64.strip_suffix(b"==").or(base64.strip_suffix(b"=")).unwrap_or(base64)
}

fn meaning<'l>(line: &'l [u8], found: &Captures<'l>, end: End) -> Option<SumLine<'l>> {
    let part = |name: &str| found.name(name).map(|part| part.as_bytes());
    let tag = part("tag").map(|tag| str::from_utf8(tag).expect("of ASCII"));
    let encoding = if part("hex").is_some() { Encoding::Hex } else { Encoding::Base64 };
    let (digest, name) = (part("hex").or(part("base64"))?, part("name")?);
    let is_escaped = part("escaped").is_some();
    let is_text =
        encoding == Encoding::Base64 && data_encoding::BASE64_NOPAD.decode(unpadded(digest)).is_err();
    // Then a digit of a hexadecimal digest is missing.
    let is_odd = digest.len() % 2 == 1 && digest.iter().all(u8::is_ascii_hexdigit);
    let is_bad =
        is_text || is_odd || end == End::Nul && is_escaped || end == End::Newline && line.ends_with(b"\r");
    if is_bad || name.contains(&0) {
        return None;
    }
    if !is_escaped {
        return Some(SumLine { tag, digest, encoding, name: name.into() });
    }
    let mut plain = Vec::new();
    let mut rest = name;
    while let [first, after @ ..] = rest {
        (plain, rest) = match (first, after) {
            (b'\\', [b'\\', after @ ..]) => ([&plain[..], b"\\"].concat(), after),
            (b'\\', [b'n', after @ ..]) => ([&plain[..], b"\n"].concat(), after),
            (b'\\', [b'r', after @ ..]) => ([&plain[..], b"\r"].concat(), after),
            (b'\\', _) => return None,
            (first, after) => ([&plain[..], &[*first]].concat(), after),
        };
    }
    Some(SumLine { tag, digest, encoding, name: plain.into() })
}

/// Uses the input as a name. Every format must preserve it, and no format for terminals may contain control
/// characters.
pub fn names(data: &[u8]) {
    for shown in [sanitize(data).into_owned(), quote(data)] {
        let acts = |c: char| {
            let is_invisible = matches!(c, '\u{200b}'..='\u{200d}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
            c.is_control()
                || is_invisible
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!shown.chars().any(acts), "{shown:?}");
    }
    if data.is_empty() || data.contains(&0) {
        return;
    }
    for end in [End::Newline, End::Nul] {
        for style in [Style::Untagged, Style::Tagged] {
            for tag in ["SHA256", "XXH3"] {
                rewrite(SumFormat::new(tag, style, end), end, &[0x12, 0xab], data);
            }
        }
    }
    let mut json = b"{".to_vec();
    write_path(&mut json, "path", data);
    json.push(b'}');
    let json: serde_json::Value = serde_json::from_slice(&json).expect("valid JSON");
    let member = |name| json.get(name).and_then(|value| value.as_str());
    assert_eq!(read_path(member("path"), member("path_b64")).expect("a name"), data);
}

/// Uses the input as the value of a `path_b64`.
pub fn json_paths(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(name) = read_path(None, Some(text)) {
        assert!(!name.contains(&0));
        assert_eq!(data_encoding::BASE64.encode(&name), text, "each name has one encoding");
    }
    if let Ok(name) = read_path(Some(text), None) {
        assert_eq!(&*name, data);
    }
}

/// Checks that a line is written as one line, and is read with the same digest and name.
fn rewrite(format: SumFormat<'_>, end: End, digest: &[u8], name: &[u8]) {
    let mut line = Vec::new();
    format.write_line(&mut line, digest, name);
    let ended = line.pop();
    let end_byte = if end == End::Newline { b'\n' } else { 0 };
    assert_eq!(ended, Some(end_byte));
    assert!(!line.contains(&end_byte), "one line");
    let again = SumLine::parse(&line, end).expect("what is written is read");
    assert_eq!((again.digest, &*again.name), (data_encoding::HEXLOWER.encode(digest).as_bytes(), name));
}
