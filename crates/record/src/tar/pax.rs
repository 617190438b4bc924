//! The records of an extended header: `27 mtime=1763713800.123\n`.
//!
//! Their lengths say where they end, since values may contain line ends: names and attributes do.

use std::io;

use super::invalid;
use super::sparse::{MAX_SEGMENTS, Segment};

/// What extended headers say about a member. A record with an empty value removes an earlier one.
#[derive(Clone, Debug, Default)]
pub(super) struct Pax {
    pub(super) path: Option<Vec<u8>>,
    pub(super) target: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) uid: Option<u64>,
    pub(super) gid: Option<u64>,
    pub(super) mtime_ns: Option<i128>,
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
            _ => {}
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
