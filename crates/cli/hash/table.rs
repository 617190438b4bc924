//! A list of digests, read into memory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read};

use anyhow::{Context as _, bail};
use ftk_hash::Algorithm;
use ftk_record::{End, SortedSums, SumLine, SumReader, Sums, quote};

use crate::human;

/// A list, and what is wrong with it.
pub(super) struct Table {
    pub(super) sums: SortedSums<Algorithm>,
    /// What is said of lines that could not be used, not too many of them.
    pub(super) complaints: Vec<String>,
}

/// How lists are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// What ends their lines.
    pub(super) end: End,
    /// Of which algorithms untagged lines may be; none: their length tells.
    pub(super) algorithms: &'a [Algorithm],
    /// Bytes that one of them may take.
    pub(super) memory: u64,
}

/// Complaints about one list before the others are only counted.
const COMPLAINTS: u64 = 10;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

impl Reading<'_> {
    /// Reads the list `path`, or standard input for `-`.
    ///
    /// # Errors
    /// When it cannot be read, takes too much memory, holds no digest at all, or two of one file.
    pub(super) fn read(self, path: &OsStr) -> anyhow::Result<Table> {
        let name = quote(path.as_encoded_bytes());
        let input: Box<dyn Read> = if path == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(File::open(path).with_context(|| format!("cannot open {name}"))?)
        };
        let mut reader = SumReader::new(BufReader::with_capacity(BUFFER, input), self.end);
        let (mut sums, mut digest) = (Sums::default(), Vec::new());
        let (mut complaints, mut unusable) = (Vec::new(), 0);
        while let Some(record) = reader.next().with_context(|| format!("cannot read {name}"))? {
            let usable = record.line.map_err(|error| error.to_string()).and_then(|line| {
                let algorithm = self.algorithm_of(&line)?;
                digest.clear();
                line.push_digest(&mut digest);
                sums.push(algorithm, &digest, &line.name);
                Ok(())
            });
            if let Err(why) = usable {
                unusable += 1;
                if unusable <= COMPLAINTS {
                    complaints.push(format!("{name}, line {}: {why}", record.number));
                }
            }
            if sums.size_bytes() as u64 > self.memory {
                bail!("{name} is too large (see --memory)");
            }
        }
        if unusable > COMPLAINTS {
            let more = human::count(unusable - COMPLAINTS, "more line");
            complaints.push(format!("{name}: {more} not understood"));
        }
        if sums.is_empty() {
            bail!("{name} holds no digest");
        }
        let sums = sums.sorted().with_context(|| name)?;
        Ok(Table { sums, complaints })
    }

    /// What the digest of a line was made with: what its tag says; one of those asked for; or the usual one of
    /// that length.
    fn algorithm_of(self, line: &SumLine<'_>) -> Result<Algorithm, String> {
        const USUAL: &[Algorithm] =
            &[Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512, Algorithm::Xxh64];
        let len = line.digest_len();
        let has_len = |algorithm: &Algorithm| algorithm.digest_len() == len;
        let found = match line.tag {
            Some(tag) => tag.parse().ok().filter(has_len),
            None if self.algorithms.is_empty() => USUAL.iter().copied().find(has_len),
            None => self.algorithms.iter().copied().find(has_len),
        };
        found.ok_or_else(|| match line.tag {
            Some(tag) => format!("no {tag} digest that is known has {len} bytes"),
            None => format!("no digest that is expected has {len} bytes"),
        })
    }
}
