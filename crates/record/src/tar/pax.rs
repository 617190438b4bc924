//! The records of an extended header: `27 mtime=1763713800.123\n`.
//!
//! Their lengths say where they end, since values may contain line ends: names and attributes do.

use std::io;

use data_encoding::BASE64_NOPAD;

use super::sparse::{MAX_SEGMENTS, Segment};
use super::{TarXattr, invalid};

/// What extended headers say about a member. A record with an empty value removes an earlier one.
#[derive(Clone, Debug, Default)]
pub(super) struct Pax {
    pub(super) path: Option<Vec<u8>>,
    pub(super) target: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) uid: Option<u64>,
    pub(super) gid: Option<u64>,
    pub(super) mtime_ns: Option<i128>,
    /// The extended attributes as GNU tar, star and bsdtar store them.
    schily: Vec<TarXattr>,
    /// Those as bsdtar stores them, too, with names that all can be decoded.
    libarchive: Vec<TarXattr>,
    /// The access control list, and the one for what is made in a directory, as text.
    pub(super) acls: [Option<Vec<u8>>; 2],
    pub(super) sparse: PaxSparse,
}

/// What the records of GNU tar say about a sparse file.
#[derive(Clone, Debug, Default)]
pub(super) struct PaxSparse {
    /// The version of the form: 0 or 1. The forms 0.0 and 0.1 have no such record.
    pub(super) major: Option<u64>,
    pub(super) name: Option<Vec<u8>>,
    /// The size with the holes.
    pub(super) size: Option<u64>,
    /// The number of segments, in the forms 0.0 and 0.1.
    pub(super) segments: Option<u64>,
    pub(super) map: Vec<Segment>,
    /// The offset of the next segment, in the form 0.0.
    offset: Option<u64>,
}

impl PaxSparse {
    /// Returns whether there is a map, in the records or before the content.
    pub(super) fn is_given(&self) -> bool {
        self.major.is_some() || self.segments.is_some() || !self.map.is_empty()
    }
}

impl Pax {
    /// Adds the records of an extended header.
    ///
    /// # Errors
    /// If one is malformed, or a number is not valid.
    pub(super) fn add(&mut self, mut records: &[u8]) -> io::Result<()> {
        let malformed = || invalid("an extended header is damaged");
        while !records.is_empty() {
            let blank = memchr::memchr(b' ', &records[..records.len().min(20)]).ok_or_else(malformed)?;
            let len = decimal(&records[..blank]).and_then(|len| usize::try_from(len).ok());
            let len = len.filter(|len| (blank + 1..=records.len()).contains(len)).ok_or_else(malformed)?;
            let (record, rest) = records.split_at(len);
            let record = record[blank + 1..].strip_suffix(b"\n").ok_or_else(malformed)?;
            let equals = memchr::memchr(b'=', record).ok_or_else(malformed)?;
            self.record(&record[..equals], &record[equals + 1..])?;
            records = rest;
        }
        Ok(())
    }

    fn record(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let name = || (!value.is_empty()).then(|| value.to_vec());
        let wrong = || invalid(format!("its {} is no possible number", key.escape_ascii()));
        let number = || decimal(value).filter(|it| *it <= i64::MAX as u64).ok_or_else(wrong);
        let optional = || if value.is_empty() { Ok(None) } else { number().map(Some) };
        match key {
            b"path" => self.path = name(),
            b"linkpath" => self.target = name(),
            b"size" => self.size = optional()?,
            b"uid" => self.uid = optional()?,
            b"gid" => self.gid = optional()?,
            b"mtime" if value.is_empty() => self.mtime_ns = None,
            b"mtime" => self.mtime_ns = Some(nanoseconds(value).ok_or_else(wrong)?),
            b"GNU.sparse.major" => self.sparse.major = Some(number()?),
            b"GNU.sparse.name" => self.sparse.name = name(),
            b"GNU.sparse.size" | b"GNU.sparse.realsize" => self.sparse.size = Some(number()?),
            b"GNU.sparse.numblocks" => self.sparse.segments = Some(number()?),
            b"GNU.sparse.offset" => self.sparse.offset = Some(number()?),
            b"GNU.sparse.numbytes" => {
                let offset = self.sparse.offset.take().ok_or_else(wrong)?;
                self.segment(Segment { offset, len: number()? })?;
            }
            b"GNU.sparse.map" => {
                self.sparse.map.clear();
                let mut numbers = value.split(|byte| *byte == b',');
                while let Some(offset) = numbers.next().filter(|_| !value.is_empty()) {
                    let of = |text: Option<&[u8]>| text.and_then(decimal).ok_or_else(wrong);
                    let segment = Segment { offset: of(Some(offset))?, len: of(numbers.next())? };
                    self.segment(segment)?;
                }
            }
            b"SCHILY.acl.access" => self.acls[0] = name(),
            b"SCHILY.acl.default" => self.acls[1] = name(),
            _ => self.xattr(key, value)?,
        }
        Ok(())
    }

    /// Returns the extended attributes.
    pub(super) fn take_xattrs(&mut self) -> Vec<TarXattr> {
        let of = if self.libarchive.is_empty() { &mut self.schily } else { &mut self.libarchive };
        std::mem::take(of)
    }

    /// Adds an attribute. GNU tar encodes `=` and `%` in names, bsdtar everything that is special in a URL.
    fn xattr(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let damaged = || invalid(format!("its attribute {} is damaged", key.escape_ascii()));
        let (of, name, value) = if let Some(name) = key.strip_prefix(b"SCHILY.xattr.") {
            (&mut self.schily, decoded(name, |byte| matches!(byte, b'=' | b'%')), value.to_vec())
        } else if let Some(name) = key.strip_prefix(b"LIBARCHIVE.xattr.") {
            let text = value.strip_suffix(b"==").or(value.strip_suffix(b"=")).unwrap_or(value);
            let value = BASE64_NOPAD.decode(text).map_err(|_| damaged())?;
            (&mut self.libarchive, decoded(name, |_| true), value)
        } else {
            return Ok(());
        };
        if name.is_empty() || name.contains(&0) {
            return Err(damaged());
        }
        match of.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => of.push((name, value)),
        }
        Ok(())
    }

    fn segment(&mut self, segment: Segment) -> io::Result<()> {
        if self.sparse.map.len() >= MAX_SEGMENTS {
            return Err(invalid("its sparse map is too large"));
        }
        self.sparse.map.push(segment);
        Ok(())
    }
}

/// Returns a name in which `%` and two hexadecimal digits stand for a byte, as far as `is_encoded` says so.
fn decoded(name: &[u8], is_encoded: impl Fn(u8) -> bool) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(name.len()), 0);
    while let Some(&byte) = name.get(at) {
        let digit = |at: usize| name.get(at).and_then(|it| char::from(*it).to_digit(16));
        let code = digit(at + 1).zip(digit(at + 2)).map(|(high, low)| (high * 16 + low) as u8);
        match code.filter(|code| byte == b'%' && is_encoded(*code)) {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// Returns a number of decimal digits.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// Returns a time such as `-1.5` in nanoseconds. Further digits are dropped.
fn nanoseconds(text: &[u8]) -> Option<i128> {
    let (sign, text) = text.strip_prefix(b"-").map_or((1, text), |rest| (-1, rest));
    let point = memchr::memchr(b'.', text).unwrap_or(text.len());
    let fraction = text.get(point + 1..).unwrap_or_default();
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let seconds = decimal(&text[..point]).filter(|it| *it <= i64::MAX as u64)?;
    let digits = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(9);
    let nanos = digits.fold(0, |all, digit| all * 10 + i128::from(digit - b'0'));
    Some(sign * (i128::from(seconds) * 1_000_000_000 + nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(records: &[u8]) -> Result<Pax, String> {
        let mut pax = Pax::default();
        pax.add(records).map(|()| pax).map_err(|error| error.to_string())
    }

    /// A line end in a value does not end its record.
    #[test]
    fn records_end_where_their_lengths_say() {
        let pax = of(b"27 mtime=1763713800.123456\n19 path=a\n9 size=1\n9 size=7\n").unwrap();
        assert_eq!(pax.path.unwrap(), b"a\n9 size=1");
        assert_eq!((pax.size, pax.mtime_ns), (Some(7), Some(1_763_713_800_123_456_000)));
        for wrong in [
            &b"9 size=1"[..],
            b"8 size=1\n",
            b"11 size=1\n",
            b"99 size=1\n",
            b"9 sizes1\n",
            b" size=1\n",
            b"3 \n",
            b"0 size=1\n",
            b"99999999999999999999 size=1\n",
            b"10 size=1x\n",
            b"10 size=-1\n",
            b"12 mtime=1e\n",
            b"9 size=1\n\0",
        ] {
            assert!(of(wrong).is_err(), "{}", wrong.escape_ascii());
        }
    }

    /// GNU tar and bsdtar encode names differently, and an empty value is one.
    #[test]
    fn attributes_have_any_name_and_value() {
        let record = |key: &str, value: &[u8]| {
            let mut rest = [b" ", key.as_bytes(), b"=", value, b"\n"].concat();
            let len = (1..).find(|digits| (rest.len() + digits).to_string().len() == *digits).unwrap();
            rest.splice(..0, (rest.len() + len).to_string().into_bytes());
            rest
        };
        let xattr = |name: &str, value: &[u8]| (name.as_bytes().to_vec(), value.to_vec());
        let gnu = [
            record("SCHILY.xattr.user.a%3Db%25c%20", b"1=\n\0"),
            record("SCHILY.xattr.user.e", b""),
            record("SCHILY.xattr.user.e", b"2"),
        ];
        let mut pax = of(&gnu.concat()).unwrap();
        assert_eq!(pax.take_xattrs(), [xattr("user.a=b%c%20", b"1=\n\0"), xattr("user.e", b"2")]);
        let both = [
            record("LIBARCHIVE.xattr.user.a%20%3d", b"bA"),
            record("SCHILY.xattr.user.a%20%3d", b"l"),
            record("LIBARCHIVE.xattr.user.e", b""),
            record("LIBARCHIVE.xattr.user.f", b"bGw="),
        ];
        let mut pax = of(&both.concat()).unwrap();
        assert_eq!(
            pax.take_xattrs(),
            [xattr("user.a =", b"l"), xattr("user.e", b""), xattr("user.f", b"ll")]
        );
        for wrong in [
            record("LIBARCHIVE.xattr.user.e", b"!"),
            record("SCHILY.xattr.", b"1"),
            record("LIBARCHIVE.xattr.user.%00", b"bA"),
        ] {
            assert!(of(&wrong).unwrap_err().contains("is damaged"));
        }
        let acl = record("SCHILY.acl.access", b"user::rwx\n");
        assert_eq!(of(&acl).unwrap().acls, [Some(b"user::rwx\n".to_vec()), None]);
    }

    #[test]
    fn times_are_decimal_fractions() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1.", Some(1_000_000_000)),
            ("1.5", Some(1_500_000_000)),
            ("-1.5", Some(-1_500_000_000)),
            ("1.1234567899", Some(1_123_456_789)),
            ("", None),
            (".5", None),
            ("1.5.2", None),
            ("+1", None),
            ("1 ", None),
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), expected, "{text}");
        }
    }
}
