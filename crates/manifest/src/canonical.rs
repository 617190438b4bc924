//! The lines that ftk writes, read in a fraction of the time that any JSON takes.
//!
//! A manifest is gone through twice to be verified, and most lines are just as [`Writer`](crate::Writer) writes them:
//! members in that order, no spaces, no escapes, no extended attributes. What looks otherwise in any way, right or
//! wrong, is left to the JSON parser.

use memchr::memchr2;

use crate::parse::{Digests, Line};
use crate::text::Text;

/// What a line says, if it is one of those.
pub(crate) fn line(line: &[u8]) -> Option<Line<'_>> {
    let mut rest = Scan(line);
    rest.skip(b"{\"path")?;
    let (path, path_b64) = rest.name()?;
    rest.skip(b",\"type\":\"")?;
    let file_type = rest.text()?;
    let mut found = Line {
        path,
        path_b64,
        file_type,
        size_bytes: rest.natural(b",\"size_bytes\":")?,
        mtime_ns: rest.integer(b",\"mtime_ns\":")?,
        ctime_ns: rest.integer(b",\"ctime_ns\":")?,
        mode: rest.skip(b",\"mode\":\"").and_then(|()| rest.text())?,
        uid: rest.natural(b",\"uid\":")?.try_into().ok()?,
        gid: rest.natural(b",\"gid\":")?.try_into().ok()?,
        dev: rest.natural(b",\"dev\":")?,
        ino: rest.natural(b",\"ino\":")?,
        nlink: rest.natural(b",\"nlink\":")?,
        rdev: None,
        target: None,
        target_b64: None,
        digests: None,
        xattrs: None,
    };
    if rest.skip(b",\"target").is_some() {
        (found.target, found.target_b64) = rest.name()?;
    }
    if rest.skip(b",\"digests\":{\"").is_some() {
        let mut digests = Vec::with_capacity(1);
        loop {
            let name = rest.text()?;
            rest.skip(b":\"")?;
            digests.push((name, rest.text()?));
            if rest.skip(b"}").is_some() {
                break;
            }
            rest.skip(b",\"")?;
        }
        found.digests = Some(Digests(digests));
    }
    (rest.0 == b"}").then_some(found)
}

/// What is left of a line.
struct Scan<'l>(&'l [u8]);

impl<'l> Scan<'l> {
    fn skip(&mut self, literal: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(literal)?;
        Some(())
    }

    /// The rest of a member whose value is a name, behind its own: as text, or as base64.
    fn name(&mut self) -> Option<(Option<Text<'l>>, Option<Text<'l>>)> {
        if self.skip(b"\":\"").is_some() {
            Some((Some(self.text()?), None))
        } else {
            self.skip(b"_b64\":\"")?;
            Some((None, Some(self.text()?)))
        }
    }

    /// A string behind its first quote.
    fn text(&mut self) -> Option<Text<'l>> {
        let end = memchr2(b'"', b'\\', self.0)?;
        let (text, rest) = self.0.split_at(end);
        // Without an early exit the loop vectorises.
        let has_control = text.iter().fold(false, |found, byte| found | (*byte < b' '));
        if has_control || rest[0] != b'"' {
            return None;
        }
        self.0 = &rest[1..];
        Some(Text(str::from_utf8(text).ok()?.into()))
    }

    /// A member with a number of at most 19 digits, which fits.
    fn natural(&mut self, member: &[u8]) -> Option<u64> {
        self.skip(member)?;
        let (mut number, mut digits) = (0_u64, 0);
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

    fn integer(&mut self, member: &[u8]) -> Option<i128> {
        self.skip(member)?;
        let is_negative = self.skip(b"-").is_some();
        let number = i128::from(self.natural(b"")?);
        Some(if is_negative { -number } else { number })
    }
}

#[cfg(test)]
mod tests {
    use ftk_hash::Algorithm;
    use ftk_walk::FileType;
    use proptest::prelude::*;

    use super::*;
    use crate::write::push_entry;
    use crate::{Entry, Stat, Xattr};

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
        rdev: 0,
    };

    fn written(entry: Entry<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        push_entry(&mut out, &entry, &[Algorithm::Xxh3, Algorithm::Xxh64]);
        out.pop();
        out
    }

    fn lines() -> Vec<Vec<u8>> {
        let file = Entry { path: b"a/b", stat: STAT, target: None, digests: &[0xfe; 16], xattrs: None };
        let other = |file_type| Entry { stat: Stat { file_type, ..STAT }, digests: &[], ..file };
        vec![
            written(file),
            written(Entry { path: "\u{e9} \u{1f600}".as_bytes(), ..file }),
            written(Entry { path: b"\xff", ..file }),
            written(other(FileType::Directory)),
            written(Entry { target: Some(b"x"), ..other(FileType::Symlink) }),
            written(Entry { target: Some(b"\xff"), ..other(FileType::Symlink) }),
        ]
    }

    #[test]
    fn what_is_written_is_read_so() {
        for text in lines() {
            let expected: Line<'_> = serde_json::from_slice(&text).unwrap();
            assert_eq!(line(&text), Some(expected), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn what_is_not_so_plain_is_left_to_others() {
        let file = Entry { path: b"a", stat: STAT, target: None, digests: &[], xattrs: None };
        let xattrs: [Xattr; 0] = [];
        let stat = Stat { file_type: FileType::Char, rdev: 9, ..STAT };
        for entry in [
            Entry { path: b"quote\"", ..file },
            Entry { path: b"new\nline", ..file },
            Entry { xattrs: Some(&xattrs), ..file },
            Entry { stat, ..file },
            Entry { stat: Stat { ino: u64::MAX, ..STAT }, ..file },
            Entry { stat: Stat { mtime_ns: i128::from(u64::MAX) * 5, ..STAT }, ..file },
        ] {
            let text = written(entry);
            assert_eq!(line(&text), None);
            assert!(serde_json::from_slice::<Line<'_>>(&text).is_ok(), "{}", text.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn nothing_is_read_otherwise_than_as_json(
            text in prop::sample::select(lines()),
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), 0..3_usize, prop::sample::select(b"\0\x1f\"\\0-9a,:{}\xff".to_vec())),
                0..3,
            ),
        ) {
            let mut text = text;
            for (index, removed, byte) in changes {
                let at = index.index(text.len());
                text.splice(at..(at + removed).min(text.len()), [byte]);
            }
            if let Some(read) = line(&text) {
                let expected: Line<'_> = serde_json::from_slice(&text).expect("no line that is no JSON");
                prop_assert_eq!(read, expected);
            }
        }
    }
}
