//! Reads a list of digests into memory.

use std::ffi::OsStr;

use anyhow::{Context as _, bail};
use ftk_hash::Algorithm;
use ftk_record::{End, SortedSums, Sums, quote};

use crate::hash::reading::{ReadList, Reading, bare_name};
use crate::input::open;

/// A list of digests and its problems.
pub(crate) struct Table {
    /// The digests. The paths do not begin with `./`.
    pub(crate) sums: SortedSums<Algorithm>,
    /// Whether every name in the list begins with `./`.
    pub(crate) has_dot: bool,
    pub(crate) list: ReadList,
    /// Messages about unusable lines, limited in number.
    pub(crate) complaints: Vec<String>,
}

/// How tables are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListOptions<'a> {
    /// The terminator of lines.
    pub(crate) end: End,
    /// The possible algorithms of untagged lines, given by `-a`.
    pub(crate) algorithms: &'a [Algorithm],
    /// Bytes of memory that one list may use.
    pub(crate) memory: u64,
}

impl ListOptions<'_> {
    /// Reads the list `path`, or standard input for `-`.
    ///
    /// # Errors
    /// If the list cannot be read, does not fit into the allowed memory, contains no digest, or contains
    /// different digests of the same file.
    pub(crate) fn read(self, path: &OsStr) -> anyhow::Result<Table> {
        let name = quote(path.as_encoded_bytes());
        let input = open(path).with_context(|| format!("cannot open {name}"))?;
        let (mut sums, mut has_dot, mut complaints) = (Sums::default(), true, Vec::new());
        let reading = Reading {
            end: self.end,
            algorithms: self.algorithms,
            verb: ["compare", "compared"],
            warn: false,
        };
        let (list, read) = reading.read(
            path,
            input,
            |line| {
                has_dot &= line.name.starts_with(b"./");
                let bare = bare_name(&line.name);
                for (algorithm, digest) in line.digests {
                    sums.push(*algorithm, digest.as_bytes(), bare);
                }
                if sums.size_bytes() as u64 > self.memory {
                    bail!("{name} is too large (raise --memory)");
                }
                Ok(())
            },
            |complaint| complaints.push(complaint),
        )?;
        read.with_context(|| format!("cannot read {name}"))?;
        if self.end == End::Nul && list.is_unended {
            complaints
                .push(format!("{name} does not end with NUL: it is cut off, or its lines end with newlines"));
        }
        if sums.is_empty() {
            match complaints.first() {
                Some(first) if list.foreign.is_none() => bail!("{name} contains no digest ({first})"),
                _ => bail!("{name} contains no digest{}", list.why_empty()),
            }
        }
        let sums = sums.sorted().with_context(|| name)?;
        Ok(Table { sums, has_dot, list, complaints })
    }
}
