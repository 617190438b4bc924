//! Globs, compared with a matcher that tries every possibility.

use ftk_select::Glob;

/// Uses the first line as a glob and the rest as a path.
pub fn globs(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (glob, path) = (&data[..at], data.get(at + 1..).unwrap_or_default());
    let compiled = Glob::new(glob);
    // Two stars next to slashes match whole directories, which the other matcher does not support; and trying
    // every possibility takes too long for many stars.
    if glob.windows(2).any(|two| two == b"**") || glob.iter().filter(|byte| **byte == b'*').count() > 6 {
        return;
    }
    let expected = pieces(glob);
    assert_eq!(compiled.is_ok(), expected.is_some(), "{}", glob.escape_ascii());
    let (Ok(compiled), Some(pieces)) = (compiled, expected) else { return };
    for path in [path, &path[..path.len() / 2], b"", b"a", b"a/b.c", b"\xc3\xa4"] {
        let is_match = matches_beginning(&pieces, path, &|rest| rest.is_empty());
        assert_eq!(compiled.is_match(path), is_match, "{} {}", glob.escape_ascii(), path.escape_ascii());
    }
}

enum Piece {
    Byte(u8),
    Any,
    Star,
    Class { not: bool, ranges: Vec<(u8, u8)> },
    Either(Vec<Vec<Piece>>),
}

/// Returns the pieces of the glob, or `None` if it is invalid.
fn pieces(glob: &[u8]) -> Option<Vec<Piece>> {
    let one_star = glob.strip_prefix(b"*").or(glob.strip_suffix(b"*")).unwrap_or(glob);
    let is_plain = !one_star.iter().any(|byte| b"*?[]{}\\".contains(byte));
    let is_direct = is_plain || is_escaped(glob) || is_escaped(one_star);
    (is_direct || str::from_utf8(glob).is_ok()).then_some(())?;
    let mut rest = glob;
    let pieces = sequence(&mut rest, false, is_plain)?;
    rest.is_empty().then_some(pieces)
}

/// Whether every special character is escaped.
fn is_escaped(glob: &[u8]) -> bool {
    let mut bytes = glob.iter();
    while let Some(byte) = bytes.next() {
        let is_special = b"*?[{}".contains(byte) || (*byte == b'\\' && bytes.next().is_none());
        if is_special {
            return false;
        }
    }
    true
}

/// Parses pieces up to the end, or within braces up to the end of an alternative.
fn sequence(rest: &mut &[u8], in_braces: bool, is_plain: bool) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while let [first, after @ ..] = *rest {
        if matches!(first, b',' | b'}') && in_braces {
            break;
        }
        *rest = after;
        pieces.push(match first {
            b'*' => Piece::Star,
            _ if is_plain => Piece::Byte(*first),
            b'?' => Piece::Any,
            b'[' => class(rest)?,
            b'\\' => Piece::Byte(*rest.split_off_first()?),
            b'{' => {
                let mut either = Vec::new();
                loop {
                    either.push(sequence(rest, true, false)?);
                    if *rest.split_off_first()? == b'}' {
                        break Piece::Either(either);
                    }
                }
            }
            b'}' => return None,
            byte => Piece::Byte(*byte),
        });
    }
    Some(pieces)
}

/// Parses what follows a `[`, and removes it from `rest`.
fn class(rest: &mut &[u8]) -> Option<Piece> {
    let not = matches!(rest.first(), Some(b'!' | b'^'));
    *rest = &rest[usize::from(not)..];
    let mut ranges = Vec::new();
    loop {
        match *rest {
            [b']', after @ ..] if !ranges.is_empty() => {
                *rest = after;
                return Some(Piece::Class { not, ranges });
            }
            [b'[', b':' | b'.' | b'=', ..] | [(128..), ..] | [_, b'-', b'[', b':' | b'.' | b'=', ..] => {
                return None;
            }
            [first, b'-', last, after @ ..] if *last != b']' => {
                // Whether another `-` continues the range is undefined.
                let goes_on = matches!(after, [b'-', next, ..] if *next != b']');
                (first <= last && last.is_ascii() && !goes_on).then(|| ranges.push((*first, *last)))?;
                *rest = after;
            }
            [one, after @ ..] => {
                ranges.push((*one, *one));
                *rest = after;
            }
            [] => return None,
        }
    }
}

/// Returns whether the pieces match a beginning of `text` after which `then` accepts the rest.
fn matches_beginning(pieces: &[Piece], text: &[u8], then: &dyn Fn(&[u8]) -> bool) -> bool {
    let Some((piece, pieces)) = pieces.split_first() else { return then(text) };
    let one = |is: &dyn Fn(u8) -> bool| {
        text.split_first().is_some_and(|(first, rest)| is(*first) && matches_beginning(pieces, rest, then))
    };
    match piece {
        Piece::Byte(byte) => one(&|it| it == *byte),
        Piece::Any => one(&|_| true),
        Piece::Class { not, ranges } => {
            one(&|it| ranges.iter().any(|(a, b)| (*a..=*b).contains(&it)) != *not)
        }
        Piece::Star => (0..=text.len()).any(|len| matches_beginning(pieces, &text[len..], then)),
        Piece::Either(either) => either.iter().any(|alternative| {
            matches_beginning(alternative, text, &|rest| matches_beginning(pieces, rest, then))
        }),
    }
}
