//! A list of digests, read into memory.

use std::ffi::OsStr;
use std::io::BufReader;

use anyhow::{Context as _, bail};
use ftk_hash::Algorithm;
use ftk_record::{End, SortedSums, SumReader, Sums, quote};

use crate::hash::tag::{Unusable, algorithm};
use crate::human;
use crate::input::{foreign, open};

/// A list, and what is wrong with it.
pub(crate) struct Table {
    pub(crate) sums: SortedSums<Algorithm>,
    /// Algorithms that the length of a digest alone told.
    pub(crate) assumed: Vec<Algorithm>,
    /// What is said of lines that could not be used, not too many of them.
    pub(crate) complaints: Vec<String>,
    /// What is said of the list that is no complaint.
    pub(crate) note: Option<String>,
}

/// How lists are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListOptions<'a> {
    /// What ends their lines.
    pub(crate) end: End,
    /// Of which algorithms untagged lines may be; none: the length of the digest tells.
    pub(crate) algorithms: &'a [Algorithm],
    /// Whether a `./` before a name is no part of it, since other names are relative without it.
    pub(crate) is_bare: bool,
    /// Bytes that one of them may take.
    pub(crate) memory: u64,
}

/// Complaints about one list before the others are only counted.
const COMPLAINTS: u64 = 10;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

impl ListOptions<'_> {
    /// Reads the list `path`, or standard input for `-`.
    ///
    /// # Errors
    /// When it cannot be read, takes too much memory, holds no digest at all, or two of one file.
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
                bail!("{name} is too large (see --memory)");
            }
        }
        if unusable > COMPLAINTS {
            let more = human::count(unusable - COMPLAINTS, "more line");
            complaints.push(format!("{name}: {more} not understood"));
        }
        if self.end == End::Nul && !is_ended {
            complaints
                .push(format!("{name} does not end with NUL: it is cut off, or its lines end otherwise"));
        }
        if sums.is_empty() {
            match (foreign, complaints.first()) {
                (Some(what), _) => bail!("{name} holds no digest: it is {what}"),
                (None, Some(first)) => bail!("{name} holds no digest ({first})"),
                (None, None) => bail!("{name} holds no digest"),
            }
        }
        let note = reader.has_dos_ends().then(|| dos_note(&name));
        let sums = sums.sorted().with_context(|| name)?;
        Ok(Table { sums, assumed, complaints, note })
    }
}

/// What is said of a list with DOS line ends.
pub(super) fn dos_note(list: &str) -> String {
    format!("{list} has DOS line ends: carriage returns at the ends of lines are not part of names")
}
