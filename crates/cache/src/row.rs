//! One row of the store: what is remembered about one file.

use ftk_file::{FsId, Stat, now_ns};
use ftk_hash::{Algorithm, Digest};
use ftk_read::Span;
use twox_hash::XxHash3_64;

/// The key of a row: the file system and the inode number, so that it does not depend on the path.
pub(crate) type Key = [u8; 24];

/// Returns the key of a file. Keys have the order of file systems, then inode numbers.
pub(crate) fn key(fs: FsId, ino: u64) -> Key {
    let mut key = [0; 24];
    key[..16].copy_from_slice(fs.as_bytes());
    key[16..].copy_from_slice(&ino.to_be_bytes());
    key
}

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
        _ => 0,
    }
}

fn algorithm(number_in_row: u8) -> Option<Algorithm> {
    Algorithm::ALL.into_iter().find(|it| number(*it) == number_in_row)
}

/// A file as it was when it was read, and the digests of what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
    /// When the first of the digests was begun.
    read_ns: i64,
    /// The day of the last run that used or stored this row, since the epoch.
    pub(crate) day: u32,
    digests: Vec<(Content, Digest)>,
}

impl Row {
    /// Makes the row of a file whose reading began at `read_ns`. Returns `None` if the digests would not be
    /// valid later: the times of the file do not fit, or are as recent as the read.
    pub(crate) fn new(stat: &Stat, read_ns: i128, digests: &[(Content, Digest)]) -> Option<Self> {
        if stat.is_recent(read_ns) {
            return None;
        }
        let digests = digests.iter().map(|(content, digest)| (content.of_size(stat.size), *digest));
        Some(Self {
            size: stat.size,
            mtime_ns: i64::try_from(stat.mtime_ns).ok()?,
            ctime_ns: i64::try_from(stat.ctime_ns).ok()?,
            read_ns: i64::try_from(read_ns).ok()?,
            day: day(read_ns),
            digests: digests.collect(),
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

    /// Returns the digest of this content.
    pub(crate) fn digest(&self, content: Content) -> Option<&Digest> {
        let content = content.of_size(self.size);
        self.digests.iter().find(|(it, _)| *it == content).map(|(_, digest)| digest)
    }

    /// Adds the digests of an earlier row, if it is of the same version of the file.
    pub(crate) fn merged(mut self, mut earlier: Self) -> Self {
        let key = |row: &Self| (row.size, row.mtime_ns, row.ctime_ns);
        if key(&self) == key(&earlier) {
            self.read_ns = self.read_ns.min(earlier.read_ns);
            earlier.digests.retain(|(content, _)| self.digests.iter().all(|(it, _)| it != content));
            self.digests.append(&mut earlier.digests);
        }
        self
    }

    /// Appends the bytes of the row, which end with a checksum of the key and of everything before it.
    pub(crate) fn encode(&self, key: &Key, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.mtime_ns.to_le_bytes());
        out.extend_from_slice(&self.ctime_ns.to_le_bytes());
        out.extend_from_slice(&self.read_ns.to_le_bytes());
        out.extend_from_slice(&self.day.to_le_bytes());
        for (content, digest) in &self.digests {
            content.push_tag(out);
            out.extend_from_slice(digest.as_bytes());
        }
        let sum = checksum(key, &out[start..]);
        out.extend_from_slice(&sum);
    }

    /// Reads a row. Returns `None` if it is not a row of this key that was written by [`encode`](Self::encode).
    pub(crate) fn decode(key: &Key, bytes: &[u8]) -> Option<Self> {
        let (mut rest, sum) = bytes.split_last_chunk()?;
        if checksum(key, rest) != *sum {
            return None;
        }
        let size = u64::from_le_bytes(take(&mut rest)?);
        let mtime_ns = i64::from_le_bytes(take(&mut rest)?);
        let ctime_ns = i64::from_le_bytes(take(&mut rest)?);
        let read_ns = i64::from_le_bytes(take(&mut rest)?);
        let day = u32::from_le_bytes(take(&mut rest)?);
        let mut digests = Vec::with_capacity(1);
        while !rest.is_empty() {
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
            let digest = Digest::from_bytes(rest.split_off(..algorithm.digest_len())?);
            digests.push((Content { algorithm, span }, digest));
        }
        Some(Self { size, mtime_ns, ctime_ns, read_ns, day, digests })
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

/// XXH3 of key and row. A store on a bad disk, or one that another program wrote to, must not return digests.
fn checksum(key: &Key, row: &[u8]) -> [u8; 8] {
    let mut hasher = XxHash3_64::with_seed(0);
    std::hash::Hasher::write(&mut hasher, key);
    std::hash::Hasher::write(&mut hasher, row);
    std::hash::Hasher::finish(&hasher).to_le_bytes()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use ftk_hash::Platform;
    use proptest::prelude::*;

    use super::*;

    const SECOND: i128 = 1_000_000_000;
    const READ: i128 = 1_763_713_800 * SECOND + 500_000_000;
    const KEY: Key = [3; 24];

    fn stat() -> Stat {
        Stat { size: 900, mtime_ns: READ - 9 * SECOND - 1, ctime_ns: READ - 5 * SECOND - 1, ..Stat::EMPTY }
    }

    fn digest(algorithm: Algorithm, of: &str) -> Digest {
        algorithm.hash_one(Platform::detect(), of.as_bytes())
    }

    fn whole(algorithm: Algorithm) -> Content {
        Content { algorithm, span: Span::Whole }
    }

    fn ends(whole: u64) -> Content {
        Content { algorithm: Algorithm::Xxh128, span: Span::Sample { whole, piece: 100, pieces: 2 } }
    }

    fn row() -> Row {
        let digests = [
            (whole(Algorithm::Sha256), digest(Algorithm::Sha256, "a")),
            (ends(300), digest(Algorithm::Xxh128, "b")),
        ];
        Row::new(&stat(), READ, &digests).unwrap()
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
        let (row, stat) = (row(), stat());
        assert!(row.is_valid(&stat));
        for changed in [
            Stat { size: 901, ..stat },
            Stat { mtime_ns: stat.mtime_ns + 1, ..stat },
            Stat { mtime_ns: stat.mtime_ns - 1, ..stat },
            Stat { ctime_ns: stat.ctime_ns + 1, ..stat },
            Stat { ctime_ns: stat.ctime_ns + (1 << 64), ..stat },
        ] {
            assert!(!row.is_valid(&changed), "{changed:?}");
        }
    }

    #[test]
    fn a_file_written_during_the_tick_in_which_it_was_read_gets_no_row() {
        for ctime_ns in [READ - 1, READ - SECOND / 50, READ, READ + SECOND] {
            assert_eq!(Row::new(&Stat { ctime_ns, ..stat() }, READ, &[]), None, "{ctime_ns}");
        }
        assert_eq!(Row::new(&Stat { mtime_ns: 1 << 64, ..stat() }, 2 << 64, &[]), None, "does not fit");
    }

    #[test]
    fn a_part_that_covers_the_whole_file_is_the_whole_file() {
        let sum = digest(Algorithm::Xxh128, "all");
        let row = Row::new(&stat(), READ, &[(ends(900), sum)]).unwrap();
        assert_eq!(row.digest(whole(Algorithm::Xxh128)), Some(&sum));
        assert_eq!(row.digest(ends(300)), None);
        assert_eq!(row.digest(whole(Algorithm::Sha256)), None);
    }

    #[test]
    fn merging_keeps_the_digests_of_the_same_version_and_the_earlier_time() {
        let sha1 = (whole(Algorithm::Sha1), digest(Algorithm::Sha1, "c"));
        let sha256 = (whole(Algorithm::Sha256), digest(Algorithm::Sha256, "newer"));
        let later = Row::new(&stat(), READ + SECOND, &[sha1, sha256]).unwrap().merged(row());
        assert_eq!(later.read_ns, row().read_ns);
        assert_eq!(later.digest(sha1.0), Some(&sha1.1));
        assert_eq!(later.digest(sha256.0), Some(&sha256.1), "the newer of two");
        assert_eq!(later.digest(ends(300)), row().digest(ends(300)));
        let changed = Stat { mtime_ns: stat().mtime_ns + 1, ..stat() };
        let other = Row::new(&changed, READ, &[sha1]).unwrap().merged(row());
        assert_eq!(other.digests, [sha1], "digests of another version");
    }

    #[test]
    fn no_bit_of_a_row_can_change_unnoticed() {
        let mut bytes = Vec::new();
        row().encode(&KEY, &mut bytes);
        assert_eq!(Row::decode(&KEY, &bytes), Some(row()));
        assert_eq!(Row::decode(&[4; 24], &bytes), None, "the row of another file");
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Row::decode(&KEY, &damaged), None, "bit {bit}");
        }
        (0..bytes.len()).for_each(|len| assert_eq!(Row::decode(&KEY, &bytes[..len]), None, "{len} bytes"));
    }

    proptest! {
        #[test]
        fn any_bytes_with_a_correct_checksum_are_a_row_or_not_but_never_a_panic(mut bytes: Vec<u8>) {
            let sum = checksum(&KEY, &bytes);
            bytes.extend_from_slice(&sum);
            if let Some(row) = Row::decode(&KEY, &bytes) {
                let mut again = Vec::new();
                row.encode(&KEY, &mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
