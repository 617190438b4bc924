//! Reads a checksum list into memory.

use std::ffi::OsStr;
use std::io::BufReader;

use anyhow::{Context as _, bail};
use ftk_hash::Algorithm;
use ftk_record::{End, SortedSums, SumReader, Sums, quote};

use crate::hash::tag::{Unusable, algorithm};
use crate::human;
use crate::input::{foreign, open};

/// A checksum list and its problems.
pub(crate) struct Table {
    pub(crate) sums: SortedSums<Algorithm>,
    /// Algorithms that were guessed from the length of a digest.
    pub(crate) assumed: Vec<Algorithm>,
    /// Messages about unusable lines, limited in number.
    pub(crate) complaints: Vec<String>,
    /// A message about the list that is not an error.
    pub(crate) note: Option<String>,
}

/// How lists are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListOptions<'a> {
    /// The terminator of lines.
    pub(crate) end: End,
    /// The possible algorithms of untagged lines, given by `-a`. If empty, the algorithm is guessed from the
    /// length of the digest.
    pub(crate) algorithms: &'a [Algorithm],
    /// Whether `./` is removed from names, because the list is compared with a manifest, whose paths do not
    /// have it.
    pub(crate) is_bare: bool,
    /// Bytes of memory that one list may use.
    pub(crate) memory: u64,
}

/// Messages per list. Further unusable lines are only counted.
const COMPLAINTS: u64 = 10;

/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

impl ListOptions<'_> {
    /// Reads the list `path`, or standard input for `-`.
    ///
    /// # Errors
    /// If the list cannot be read, does not fit into the allowed memory, contains no digest, or contains
    /// different digests of the same file.
    pub(crate) fn read(self, path: &OsStr) -> anyhow::Result<Table> {
        let name = quote(path.as_encoded_bytes());
        let input = open(path).with_context(|| format!("cannot open {name}"))?;
        let mut input = BufReader::with_capacity(BUFFER, input);
        let foreign = foreign(&mut input);
        let mut reader = SumReader::new(input, self.end);
        let (mut sums, mut digest) = (Sums::default(), Vec::new());
        let (mut assumed, mut complaints, mut unusable) = (Vec::new(), Vec::new(), 0);
        let mut is_ended = true;
        while let Some(record) = reader.next().with_context(|| format!("cannot read {name}"))? {
            is_ended = record.is_ended;
            let usable = record.line.map_err(Unusable::Line).and_then(|line| {
                let (algorithm, is_assumed) = algorithm(&line, self.algorithms)?;
                if is_assumed && !assumed.contains(&algorithm) {
                    assumed.push(algorithm);
                }
                digest.clear();
                line.push_digest(&mut digest);
                let bare = line.name.strip_prefix(b"./").filter(|_| self.is_bare);
                sums.push(algorithm, &digest, bare.unwrap_or(&line.name));
                Ok(())
            });
            if let Err(why) = usable {
                unusable += 1;
                if unusable <= COMPLAINTS {
                    complaints.push(format!("{name}, line {}: {why}", record.number));
                }
            }
            if sums.size_bytes() as u64 > self.memory {
                bail!("{name} is too large (raise --memory)");
            }
        }
        if unusable > COMPLAINTS {
            let more = human::count(unusable - COMPLAINTS, "more line");
            complaints.push(format!("{name}: {more} cannot be used"));
        }
        if self.end == End::Nul && !is_ended {
            complaints
                .push(format!("{name} does not end with NUL: it is cut off, or its lines end with newlines"));
        }
        if sums.is_empty() {
            match (foreign, complaints.first()) {
                (Some(what), _) => bail!("{name} contains no digest: it is {what}"),
                (None, Some(first)) => bail!("{name} contains no digest ({first})"),
                (None, None) => bail!("{name} contains no digest"),
            }
        }
        let note = reader.has_dos_ends().then(|| dos_note(&name));
        let sums = sums.sorted().with_context(|| name)?;
        Ok(Table { sums, assumed, complaints, note })
    }
}

/// Returns the message for a list with DOS line ends.
pub(super) fn dos_note(list: &str) -> String {
    format!("{list} has DOS line ends: carriage returns at line ends are not part of the names")
}
