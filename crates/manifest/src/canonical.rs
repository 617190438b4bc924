//! A fast parser for lines in exactly the form that ftk writes.
//!
//! `verify` reads a manifest twice, and most lines are exactly as [`Writer`](crate::Writer) writes them:
//! members in that order, no spaces, no escapes, names in UTF-8. Every other line, valid or not, goes to the JSON
//! parser. So the [`Writer`](crate::Writer) would write an entry that is parsed here with the same bytes.

use std::borrow::Cow;

use ftk_hash::{Algorithm, Digest};
use ftk_record::{read_base64, sanitize, type_of};
use ftk_walk::FileType;
use memchr::memchr;

use crate::field::each_field;
use crate::field_set::FieldSet;
use crate::json_line::Values;
use crate::parse::{Owned, check_path};
use crate::{EntryError, Header, Xattr};

/// Parses a line in canonical form into `entry`. Returns `None` for any other line; `entry` is then
/// unspecified.
pub(crate) fn read(line: &[u8], header: &Header, entry: &mut Owned) -> Option<()> {
    let mut rest = Scan(line);
    rest.skip(b"{\"path\":\"")?;
    let path = rest.until_quote().filter(|path| is_plain(path))?;
    check_path(path).ok()?;
    entry.set_path(path);
    entry.clear();
    let mut members = FieldSet::default();
    each_field!(field => {
        if field.is_in(header.version)
            && let Some(value) = rest.0.strip_prefix(field.in_line())
        {
            rest.0 = value;
            field.read(&mut rest, entry, header)?;
            members.insert(field);
        }
    });
    let is_whole = rest.0 == b"}" && entry.check(members, header).is_ok();
    is_whole.then_some(())
}

/// Returns the path of a line, if it begins in canonical form.
pub(crate) fn path(line: &[u8]) -> Option<&[u8]> {
    read_path(&mut Scan(line))
}

/// Returns the path, the type and the size of an entry, if its line begins in canonical form with them.
pub(crate) fn head(line: &[u8]) -> Option<(&[u8], FileType, u64)> {
    let mut rest = Scan(line);
    let path = read_path(&mut rest)?;
    check_path(path).ok()?;
    rest.skip(b",\"type\":\"")?;
    let file_type = type_of(rest.until_quote()?)?;
    rest.skip(b",\"size_bytes\":")?;
    Some((path, file_type, rest.natural()?))
}

fn read_path<'l>(rest: &mut Scan<'l>) -> Option<&'l [u8]> {
    rest.skip(b"{\"path\":\"")?;
    rest.until_quote().filter(|path| is_plain(path))
}

/// Returns whether a string between quotes stands for itself: it is UTF-8 without escapes, and without characters that
/// ftk escapes.
fn is_plain(text: &[u8]) -> bool {
    // Without an early exit the loop vectorises.
    let is_odd = |byte: u8| (byte < b' ') | (byte == b'\\') | (byte == b'\x7f');
    let (is_odd, all) = text.iter().fold((false, 0), |(odd, all), byte| (odd | is_odd(*byte), all | *byte));
    !is_odd && (all.is_ascii() || matches!(sanitize(text), Cow::Borrowed(_)))
}

/// The unparsed rest of a line.
struct Scan<'l>(&'l [u8]);

impl<'l> Scan<'l> {
    fn skip<const N: usize>(&mut self, literal: &[u8; N]) -> Option<()> {
        self.0 = self.0.strip_prefix(literal)?;
        Some(())
    }

    /// Reads a string up to its closing quote; the opening quote has already been read.
    fn until_quote(&mut self) -> Option<&'l [u8]> {
        let text = self.0.split_off(..memchr(b'"', self.0)?)?;
        self.0 = &self.0[1..];
        Some(text)
    }

    /// Reads the rest of a number, of which some digits have been parsed.
    fn long_natural(&mut self, mut number: u64, mut digits: usize) -> Option<u64> {
        while digits < 16
            && let Some((more, 8)) = self.0[digits..].first_chunk().map(first_digits)
        {
            number = number * 100_000_000 + more;
            digits += 8;
        }
        while let Some(digit @ b'0'..=b'9') = self.0.get(digits) {
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            digits += 1;
        }
        if !(1..=19).contains(&digits) || self.0[0] == b'0' && digits > 1 {
            return None;
        }
        self.0 = &self.0[digits..];
        Some(number)
    }
}

impl<'l> Values<'l> for Scan<'l> {
    /// Reads a number of at most 19 digits, which always fits.
    #[inline(always)]
    fn natural(&mut self) -> Option<u64> {
        match self.0.first_chunk().map(first_digits) {
            Some((number, digits @ 1..8)) if self.0[0] != b'0' || digits == 1 => {
                self.0 = &self.0[digits..];
                Some(number)
            }
            Some((number, 8)) => self.long_natural(number, 8),
            _ => self.long_natural(0, 0),
        }
    }

    #[inline(always)]
    fn natural_32(&mut self) -> Option<u32> {
        self.natural()?.try_into().ok()
    }

    #[inline(always)]
    fn integer(&mut self) -> Option<i128> {
        let is_negative = self.skip(b"-").is_some();
        let number = i128::from(self.natural()?);
        match (is_negative, number) {
            (false, number) => Some(number),
            (true, 0) => None,
            (true, number) => Some(-number),
        }
    }

    fn text(&mut self) -> Option<Cow<'l, [u8]>> {
        self.skip(b"\"")?;
        self.until_quote().filter(|text| is_plain(text)).map(Cow::Borrowed)
    }

    fn digests(&mut self, algorithms: &[Algorithm], digests: &mut Vec<u8>, _: EntryError) -> Option<()> {
        self.skip(b"{\"")?;
        for (nth, algorithm) in algorithms.iter().enumerate() {
            if nth > 0 {
                self.skip(b",\"")?;
            }
            self.0 = self.0.strip_prefix(algorithm.name().as_bytes())?;
            self.skip(b"\":\"")?;
            let hex = self.0.split_off(..2 * algorithm.digest_len())?;
            // Upper-case digits are valid, but ftk does not write them.
            if hex.iter().fold(false, |upper, byte| upper | byte.is_ascii_uppercase()) {
                return None;
            }
            digests.extend_from_slice(Digest::from_hex(hex)?.as_bytes());
            self.skip(b"\"")?;
        }
        self.skip(b"}")
    }

    fn xattrs(&mut self) -> Option<Vec<Xattr>> {
        self.skip(b"[")?;
        let mut xattrs: Vec<Xattr> = Vec::new();
        while self.skip(b"]").is_none() {
            if !xattrs.is_empty() {
                self.skip(b",")?;
            }
            self.skip(b"{\"name\":\"")?;
            let name = self.until_quote().filter(|name| is_plain(name))?.to_vec();
            self.skip(b",\"value_b64\":\"")?;
            let value = read_base64(str::from_utf8(self.until_quote()?).ok()?)?;
            self.skip(b"}")?;
            if name.contains(&0) || xattrs.last().is_some_and(|last| last.name >= name) {
                return None;
            }
            xattrs.push(Xattr { name, value });
        }
        Some(xattrs)
    }

    fn check<T>(&mut self, made: Option<T>, _: impl FnOnce() -> EntryError) -> Option<T> {
        made
    }
}

/// Parses the digits at the start. Returns their value and their number.
///
/// Three steps parse all of them: the first combines neighbours into pairs, and the second pairs into fours
/// (after Lemire, "Quickly parsing eight digits", 2018).
#[inline(always)]
fn first_digits(text: &[u8; 8]) -> (u64, usize) {
    let digits = u64::from_le_bytes(*text) ^ u64::from_ne_bytes([b'0'; 8]);
    // Adding this sets the highest bit of everything above 9. A digit does not carry into the next byte, so the
    // first byte that is not a digit is exact.
    let others =
        (digits.wrapping_add(u64::from_ne_bytes([0x80 - 10; 8])) | digits) & u64::from_ne_bytes([0x80; 8]);
    let len = others.trailing_zeros() / 8;
    // Leading zeros replace the bytes after the digits.
    let digits = digits.unbounded_shl(64 - 8 * len);
    let pairs = digits * 10 + (digits >> 8);
    let (even, odd) = (pairs & 0xff_0000_00ff, pairs >> 16 & 0xff_0000_00ff);
    let number =
        even.wrapping_mul(100 + (1_000_000 << 32)).wrapping_add(odd.wrapping_mul(1 + (10_000 << 32)));
    (number >> 32, len as usize)
}

#[cfg(test)]
mod tests {
    use ftk_file::{FsId, Stat};
    use ftk_walk::FileType;
    use proptest::prelude::*;

    use super::*;
    use crate::write::push_entry;
    use crate::{Entry, Field};

    const STAT: Stat = Stat {
        file_type: FileType::Regular,
        size: 1,
        mtime_ns: -2,
        ctime_ns: 1_763_713_800_123_456_789,
        mode: 0o4755,
        uid: u32::MAX,
        gid: 0,
        dev: 9_999_999_999_999_999_999,
        ino: 7,
        nlink: 8,
        ..Stat::EMPTY
    };

    fn header(xattrs: bool) -> Header {
        let algorithms = vec![Algorithm::Xxh3, Algorithm::Xxh64];
        Header {
            version: 2,
            root: b"/".to_vec(),
            algorithms,
            xattrs,
            trusted_xattrs: true,
            options: vec![],
            start_ns: 0,
            root_identity: None,
            mounts: Vec::new(),
            failed: crate::Failed::default(),
            shard: None,
            is_tar: false,
            provenance: crate::Provenance::default(),
        }
    }

    /// Parses a line with the canonical parser and with the JSON parser.
    fn both(line: &[u8], header: &Header) -> (Option<Owned>, Result<Owned, EntryError>) {
        let (mut plain, mut json) = (Owned::new(), Owned::new());
        (read(line, header, &mut plain).map(|()| plain), json.read_json(line, header).map(|()| json))
    }

    fn written(entry: Entry<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        push_entry(&mut out, &entry, &header(false).algorithms);
        out.pop();
        out
    }

    /// Returns lines of manifests without extended attributes, and with these in every line.
    fn lines(xattrs: Option<&[Xattr]>) -> Vec<Vec<u8>> {
        let file = Entry { digests: &[0xfe; 16], xattrs, ..Entry::new(b"a/b", STAT) };
        let other = |file_type| Entry { stat: Stat { file_type, ..STAT }, digests: &[], ..file };
        let absent = |fields: &[Field]| {
            let mut absent = FieldSet::default();
            fields.iter().for_each(|field| assert!(absent.insert(*field)));
            absent
        };
        vec![
            written(file),
            written(Entry { path: "\u{e9} \u{1f600}".as_bytes(), ..file }),
            written(other(FileType::Directory)),
            written(Entry { target: Some(b"x"), ..other(FileType::Symlink) }),
            written(Entry { fs: Some(FsId::from_bytes([0xa5; 16])), ..file }),
            written(Entry { verified_ns: Some(1_763_713_800_123_456_789), damaged_ns: Some(-7), ..file }),
            written(Entry { stat: Stat { rdev: 9, ..other(FileType::Char).stat }, ..other(FileType::Char) }),
            written(Entry { absent: absent(&[Field::Mtime, Field::Uid, Field::Nlink]), ..file }),
            written(Entry { absent: absent(&[Field::Size, Field::Rdev]), ..other(FileType::Block) }),
        ]
    }

    /// Returns lines, and whether their header has extended attributes.
    fn all_lines() -> Vec<(Vec<u8>, bool)> {
        let xattr = |name: &str, value: &[u8]| Xattr { name: name.into(), value: value.into() };
        let some = [xattr("security.capability", b"\x01\0\0\x02"), xattr("user.\u{e9}", b"")];
        let with = [&[][..], &some[..1], &some].map(|xattrs| lines(Some(xattrs))).concat();
        let lines = lines(None).into_iter().map(|line| (line, false));
        lines.chain(with.into_iter().map(|line| (line, true))).collect()
    }

    #[test]
    fn written_lines_parse_the_same_in_both_parsers() {
        for (text, xattrs) in all_lines() {
            let (plain, json) = both(&text, &header(xattrs));
            assert_eq!(plain, Some(json.unwrap()), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn unusual_lines_are_left_to_the_json_parser() {
        let file = Entry { digests: &[0xfe; 16], ..Entry::new(b"a", STAT) };
        let odd = [Xattr { name: b"user.\xff".into(), value: Vec::new() }];
        let link = Stat { file_type: FileType::Symlink, ..STAT };
        for entry in [
            Entry { path: b"quote\"", ..file },
            Entry { path: b"new\nline", ..file },
            Entry { path: b"\xff", ..file },
            Entry { target: Some(b"\xff"), ..Entry::new(b"a", link) },
            Entry { xattrs: Some(&odd), ..file },
            Entry { stat: Stat { ino: u64::MAX, ..STAT }, ..file },
            Entry { stat: Stat { mtime_ns: i128::from(u64::MAX) * 5, ..STAT }, ..file },
        ] {
            let text = written(entry);
            let (plain, json) = both(&text, &header(entry.xattrs.is_some()));
            assert_eq!(plain, None, "{}", text.escape_ascii());
            json.unwrap();
        }
    }

    /// They are valid, but ftk writes them in another way.
    #[test]
    fn lines_that_ftk_writes_differently_are_left_to_the_json_parser() {
        let stat = Stat { mtime_ns: 0, ..STAT };
        let line = written(Entry { digests: &[0xfe; 16], ..Entry::new(b"name", stat) });
        let line = String::from_utf8(line).unwrap();
        for (from, to) in [
            ("name", "na\u{7f}me"),
            ("name", "na\u{9b}me"),
            ("name", "na\u{202e}me"),
            ("fefe", "FEfe"),
            ("\"mtime_ns\":0", "\"mtime_ns\":-0"),
            (",\"mtime_ns\":0", ""),
        ] {
            let other = line.replacen(from, to, 1);
            assert_ne!(line, other, "{from}");
            let (plain, json) = both(other.as_bytes(), &header(false));
            json.unwrap();
            // A member may be absent.
            assert_eq!(plain.is_some(), to.is_empty(), "{to:?}");
        }
    }

    #[test]
    fn numbers() {
        for number in
            [0, 9, 12_345_678, 99_999_999, 100_000_000, 1_234_567_890_123_456, 9_999_999_999_999_999_999]
        {
            for rest_of_line in ["", ",\"1\":12345678"] {
                let text = format!("{number}{rest_of_line}");
                let mut rest = Scan(text.as_bytes());
                assert_eq!((rest.natural(), rest.0), (Some(number), rest_of_line.as_bytes()), "{text}");
            }
        }
        for bad in ["", "x", "-1", "01", "10000000000000000000", "123456789012345678901234567890"] {
            assert_eq!(Scan(bad.as_bytes()).natural(), None, "{bad}");
        }
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut text = *b"12345678";
                text[at] = byte;
                let digits = if byte.is_ascii_digit() { 8 } else { at };
                let number = str::from_utf8(&text[..digits]).unwrap().parse().unwrap_or_default();
                assert_eq!(first_digits(&text), (number, digits), "{}", text.escape_ascii());
            }
        }
    }

    proptest! {
        #[test]
        fn the_fast_parser_agrees_with_the_json_parser(
            (text, xattrs) in prop::sample::select(all_lines()),
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), 0..3_usize, prop::sample::select(b"\0\x1f\x7f\"\\0-9aF,:{}[]=\xff".to_vec())),
                0..3,
            ),
        ) {
            let mut text = text;
            for (index, removed, byte) in changes {
                let at = index.index(text.len());
                text.splice(at..(at + removed).min(text.len()), [byte]);
            }
            let (plain, json) = both(&text, &header(xattrs));
            if let Some(entry) = plain {
                let mut again = Vec::new();
                push_entry(&mut again, &entry.entry(), &header(xattrs).algorithms);
                prop_assert_eq!(again.strip_suffix(b"\n"), Some(&*text), "it is as ftk writes it");
                prop_assert_eq!(entry, json.unwrap());
            }
        }
    }
}
