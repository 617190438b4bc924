//! One row of the store: what is remembered about one file.

use ftk_file::{Stat, now_ns};
use ftk_hash::Algorithm;
use ftk_read::Span;

/// What a digest is the digest of: an algorithm, and the part of the file that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The part of the file.
    pub span: Span,
}

impl Content {
    /// Returns the same for a file of `size` bytes: a part that covers the whole file is the whole file.
    fn of_size(self, size: u64) -> Self {
        if self.span.is_whole(size) { Self { span: Span::Whole, ..self } } else { self }
    }

    /// Appends the tag that stands for this in a row.
    fn push_tag(self, row: &mut Vec<u8>) {
        row.push(number(self.algorithm));
        match self.span {
            Span::Whole => row.push(0),
            Span::Sample { whole, piece, pieces } => {
                row.push(1);
                row.extend_from_slice(&whole.to_le_bytes());
                row.extend_from_slice(&piece.to_le_bytes());
                row.extend_from_slice(&pieces.to_le_bytes());
            }
        }
    }
}

/// The number of an algorithm in the store. A number is never reused.
fn number(algorithm: Algorithm) -> u8 {
    match algorithm {
        Algorithm::Sha256 => 1,
        Algorithm::Sha512 => 2,
        Algorithm::Sha1 => 3,
        Algorithm::Md5 => 4,
        Algorithm::Blake2b => 5,
        Algorithm::Blake3 => 6,
        Algorithm::Xxh64 => 7,
        Algorithm::Xxh3 => 8,
        Algorithm::Xxh128 => 9,
        Algorithm::Sha224 => 10,
        Algorithm::Sha384 => 11,
        Algorithm::Sha3_256 => 12,
        Algorithm::Sha3_512 => 13,
        Algorithm::Crc32 => 14,
        Algorithm::Crc32c => 15,
        Algorithm::Crc64Nvme => 16,
        _ => 0,
    }
}

fn algorithm(number_in_row: u8) -> Option<Algorithm> {
    Algorithm::ALL.into_iter().find(|it| number(*it) == number_in_row)
}

/// A version of a file, and when it was read and used. A row begins with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
    /// When the first of the digests was begun.
    read_ns: i64,
    /// The day of the last run that used or stored this row, since the epoch.
    pub(crate) day: u32,
}

impl Head {
    /// Describes a file whose reading began at `read_ns`. Returns `None` if its digests would not be valid
    /// later: the times of the file do not fit, or are as recent as the read.
    pub(crate) fn new(stat: &Stat, read_ns: i128) -> Option<Self> {
        if stat.is_recent(read_ns) {
            return None;
        }
        Some(Self {
            size: stat.size,
            mtime_ns: i64::try_from(stat.mtime_ns).ok()?,
            ctime_ns: i64::try_from(stat.ctime_ns).ok()?,
            read_ns: i64::try_from(read_ns).ok()?,
            day: day(read_ns),
        })
    }

    /// Whether the digests are those of a file that now looks like this.
    ///
    /// This is the rule for everything that is remembered about the content of a file: size, mtime and ctime
    /// are unchanged, and both times are older than the read.
    pub(crate) fn is_valid(&self, now: &Stat) -> bool {
        self.size == now.size
            && i128::from(self.mtime_ns) == now.mtime_ns
            && i128::from(self.ctime_ns) == now.ctime_ns
            && !now.is_recent(self.read_ns.into())
    }

    fn is_same_version(&self, other: &Self) -> bool {
        let version = |it: &Self| (it.size, it.mtime_ns, it.ctime_ns);
        version(self) == version(other)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.mtime_ns.to_le_bytes());
        out.extend_from_slice(&self.ctime_ns.to_le_bytes());
        out.extend_from_slice(&self.read_ns.to_le_bytes());
        out.extend_from_slice(&self.day.to_le_bytes());
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self {
            size: u64::from_le_bytes(take(bytes)?),
            mtime_ns: i64::from_le_bytes(take(bytes)?),
            ctime_ns: i64::from_le_bytes(take(bytes)?),
            read_ns: i64::from_le_bytes(take(bytes)?),
            day: u32::from_le_bytes(take(bytes)?),
        })
    }
}

/// Appends a row. `digests` has one digest for each content, in their order.
///
/// # Panics
/// If `digests` has another length.
pub(crate) fn encode(head: &Head, contents: &[Content], mut digests: &[u8], out: &mut Vec<u8>) {
    head.encode(out);
    for content in contents {
        content.of_size(head.size).push_tag(out);
        let digest = digests.split_off(..content.algorithm.digest_len());
        out.extend_from_slice(digest.expect("a digest for each content"));
    }
    assert!(digests.is_empty(), "a content for each digest");
}

/// What is remembered about one file, in the bytes that are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'b> {
    pub(crate) head: Head,
    digests: &'b [u8],
}

impl<'b> Row<'b> {
    /// Reads what [`encode`] wrote. Returns `None` if the bytes are too short.
    pub(crate) fn decode(mut bytes: &'b [u8]) -> Option<Self> {
        Some(Self { head: Head::decode(&mut bytes)?, digests: bytes })
    }

    /// Returns the digest of this content.
    pub(crate) fn digest(&self, content: Content) -> Option<&'b [u8]> {
        let content = content.of_size(self.head.size);
        self.digests().find(|(it, _)| *it == content).map(|(_, digest)| digest)
    }

    /// Returns all digests. Ends early at bytes that [`encode`] did not write.
    fn digests(&self) -> impl Iterator<Item = (Content, &'b [u8])> + use<'b> {
        let mut rest = self.digests;
        std::iter::from_fn(move || {
            let [number, kind] = take(&mut rest)?;
            let algorithm = algorithm(number)?;
            let span = match kind {
                0 => Span::Whole,
                1 => Span::Sample {
                    whole: u64::from_le_bytes(take(&mut rest)?),
                    piece: u32::from_le_bytes(take(&mut rest)?),
                    pieces: u32::from_le_bytes(take(&mut rest)?),
                },
                _ => return None,
            };
            Some((Content { algorithm, span }, rest.split_off(..algorithm.digest_len())?))
        })
    }

    /// Appends this row, with the digests of an earlier row if it is of the same version of the file.
    pub(crate) fn merge(&self, earlier: &Self, out: &mut Vec<u8>) {
        let is_same = self.head.is_same_version(&earlier.head);
        let read_ns = if is_same { earlier.head.read_ns.min(self.head.read_ns) } else { self.head.read_ns };
        Head { read_ns, ..self.head }.encode(out);
        out.extend_from_slice(self.digests);
        for (content, digest) in earlier.digests().filter(|_| is_same) {
            if self.digests().all(|(it, _)| it != content) {
                content.push_tag(out);
                out.extend_from_slice(digest);
            }
        }
    }

    /// Appends this row as one that was used on this day.
    pub(crate) fn used(&self, day: u32, out: &mut Vec<u8>) {
        Head { day, ..self.head }.encode(out);
        out.extend_from_slice(self.digests);
    }
}

/// Returns the present day, since the epoch.
pub(crate) fn today() -> u32 {
    day(now_ns())
}

/// Returns the day of a time, since the epoch.
fn day(nanos: i128) -> u32 {
    u32::try_from(nanos / (24 * 60 * 60 * 1_000_000_000)).unwrap_or(0)
}

pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: i128 = 1_000_000_000;
    const READ: i128 = 1_763_713_800 * SECOND + 500_000_000;

    fn stat() -> Stat {
        Stat { size: 900, mtime_ns: READ - 9 * SECOND - 1, ctime_ns: READ - 5 * SECOND - 1, ..Stat::EMPTY }
    }

    fn head() -> Head {
        Head::new(&stat(), READ).unwrap()
    }

    fn digest(algorithm: Algorithm, of: &str) -> Vec<u8> {
        algorithm.hash_one(of.as_bytes()).as_bytes().to_vec()
    }

    fn whole(algorithm: Algorithm) -> Content {
        Content { algorithm, span: Span::Whole }
    }

    fn ends(whole: u64) -> Content {
        Content { algorithm: Algorithm::Xxh128, span: Span::Sample { whole, piece: 100, pieces: 2 } }
    }

    fn encoded(head: &Head, digests: &[(Content, &[u8])]) -> Vec<u8> {
        let (contents, digests): (Vec<_>, Vec<_>) = digests.iter().copied().unzip();
        let mut bytes = Vec::new();
        encode(head, &contents, &digests.concat(), &mut bytes);
        bytes
    }

    /// The bytes of a row with two digests.
    fn two() -> Vec<u8> {
        let (a, b) = (digest(Algorithm::Sha256, "a"), digest(Algorithm::Xxh128, "b"));
        encoded(&head(), &[(whole(Algorithm::Sha256), &a), (ends(300), &b)])
    }

    fn merged(newer: &[u8], earlier: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        Row::decode(newer).unwrap().merge(&Row::decode(earlier).unwrap(), &mut bytes);
        bytes
    }

    #[test]
    fn numbers_of_algorithms_are_unique() {
        for algorithm_ in Algorithm::ALL {
            assert_ne!(number(algorithm_), 0, "{algorithm_} has no number");
            assert_eq!(algorithm(number(algorithm_)), Some(algorithm_));
        }
    }

    #[test]
    fn a_row_is_valid_only_while_size_and_both_times_are_unchanged() {
        let (head, stat) = (head(), stat());
        assert!(head.is_valid(&stat));
        for changed in [
            Stat { size: 901, ..stat },
            Stat { mtime_ns: stat.mtime_ns + 1, ..stat },
            Stat { mtime_ns: stat.mtime_ns - 1, ..stat },
            Stat { ctime_ns: stat.ctime_ns + 1, ..stat },
            Stat { ctime_ns: stat.ctime_ns + (1 << 64), ..stat },
        ] {
            assert!(!head.is_valid(&changed), "{changed:?}");
        }
    }

    #[test]
    fn a_file_written_during_the_tick_in_which_it_was_read_gets_no_row() {
        for ctime_ns in [READ - 1, READ - SECOND / 50, READ, READ + SECOND] {
            assert_eq!(Head::new(&Stat { ctime_ns, ..stat() }, READ), None, "{ctime_ns}");
        }
        assert_eq!(Head::new(&Stat { mtime_ns: 1 << 64, ..stat() }, 2 << 64), None, "does not fit");
    }

    #[test]
    fn a_part_that_covers_the_whole_file_is_the_whole_file() {
        let sum = digest(Algorithm::Xxh128, "all");
        let bytes = encoded(&head(), &[(ends(900), &sum)]);
        let row = Row::decode(&bytes).unwrap();
        assert_eq!(row.digest(whole(Algorithm::Xxh128)), Some(&*sum));
        assert_eq!(row.digest(ends(300)), None);
        assert_eq!(row.digest(whole(Algorithm::Sha256)), None);
    }

    #[test]
    fn merging_keeps_the_digests_of_the_same_version_and_the_earlier_time() {
        let sha1 = digest(Algorithm::Sha1, "c");
        let sha256 = digest(Algorithm::Sha256, "newer");
        let digests = [(whole(Algorithm::Sha1), &*sha1), (whole(Algorithm::Sha256), &*sha256)];
        let later = encoded(&Head::new(&stat(), READ + SECOND).unwrap(), &digests);
        let (bytes, earlier) = (merged(&later, &two()), two());
        let row = Row::decode(&bytes).unwrap();
        assert_eq!(row.head.read_ns, head().read_ns);
        assert_eq!(row.digest(whole(Algorithm::Sha1)), Some(&*sha1));
        assert_eq!(row.digest(whole(Algorithm::Sha256)), Some(&*sha256), "the newer of two");
        assert_eq!(row.digest(ends(300)), Row::decode(&earlier).unwrap().digest(ends(300)));
        assert_eq!(row.digests().count(), 3);
        let changed = Stat { mtime_ns: stat().mtime_ns + 1, ..stat() };
        let other = encoded(&Head::new(&changed, READ).unwrap(), &digests[..1]);
        assert_eq!(merged(&other, &two()), other, "digests of another version are dropped");
    }

    #[test]
    fn a_used_row_differs_only_in_its_day() {
        let (bytes, mut again) = (two(), Vec::new());
        let row = Row::decode(&bytes).unwrap();
        row.used(row.head.day + 9, &mut again);
        let used = Row::decode(&again).unwrap();
        assert_eq!(Row { head: Head { day: row.head.day, ..used.head }, ..used }, row);
        assert_eq!(used.head.day, row.head.day + 9);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_row_or_not_but_never_a_panic(bytes: Vec<u8>, earlier: Vec<u8>) {
            if let (Some(row), Some(earlier)) = (Row::decode(&bytes), Row::decode(&earlier)) {
                row.digest(ends(300));
                row.merge(&earlier, &mut Vec::new());
            }
        }
    }
}
