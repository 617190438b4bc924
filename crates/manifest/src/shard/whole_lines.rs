//! The files of a manifest: one, or the parts of all shards.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::entry::key;
use crate::lines::{Lines, Sealed};
use crate::parse::Owned;
use crate::shard::{Shard, Split};
use crate::{Error, Header};

/// A file of a manifest.
#[derive(Debug)]
pub(crate) struct PartFile {
    pub(crate) sealed: Sealed,
    /// The SHA-256 of its lines, in hexadecimal digits.
    pub(crate) seal: String,
    /// The shards whose entries it has; empty if it has all.
    pub(crate) shards: Vec<Shard>,
    /// The name in errors; empty unless the file is a part of a manifest.
    pub(crate) name: Vec<u8>,
    /// The number of lines in the files before this one.
    pub(crate) before: u64,
}

/// The lines of the entries in all parts, in the order of a manifest, without headers and footers.
///
/// Parts with ranges are read one after another. Others are merged, and a block of each is in memory.
#[derive(Debug)]
pub(crate) struct WholeLines<'m> {
    parts: &'m [PartFile],
    header: &'m Header,
    /// The part of the next line, or of the last one after it was returned or skipped.
    at: usize,
    order: Order<'m>,
}

#[derive(Debug)]
enum Order<'m> {
    Chain(Lines<'m>),
    Merge {
        all: Vec<Lines<'m>>,
        /// The keys of the next lines' paths in the parts except [`WholeLines::at`].
        next: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
        parsed: Box<Owned>,
        /// Whether the next line of [`WholeLines::at`] is not the next of all.
        is_stale: bool,
    },
}

impl<'m> WholeLines<'m> {
    /// Starts at the first entry.
    pub(crate) fn new(parts: &'m [PartFile], header: &'m Header) -> Result<Self, Error> {
        if !are_hashed(parts) {
            let order = Order::Chain(entries_of(parts, 0)?);
            return Ok(Self { parts, header, at: 0, order });
        }
        let mut all = (0..parts.len()).map(|at| entries_of(parts, at)).collect::<Result<Vec<_>, _>>()?;
        let (mut next, mut parsed) = (BinaryHeap::new(), Box::new(Owned::new()));
        // The first part is compared with the others before a line is returned.
        for (at, lines) in all.iter_mut().enumerate().skip(1) {
            let path = next_path(lines, &parts[at], header, &mut parsed)?;
            next.extend(path.map(|path| Reverse((path.to_vec(), at))));
        }
        Ok(Self { parts, header, at: 0, order: Order::Merge { all, next, parsed, is_stale: true } })
    }

    /// Returns the next line, without its newline; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        self.find()?;
        let Self { parts, at, order, .. } = self;
        if let Order::Merge { is_stale, .. } = order {
            *is_stale = true;
        }
        order.lines(*at).next().map_err(|error| in_part(parts, *at, error))
    }

    /// Returns the next line with its newline, and the same line again until it is skipped.
    pub(crate) fn peek(&mut self) -> Result<Option<&[u8]>, Error> {
        self.find()?;
        let Self { parts, at, order, .. } = self;
        order.lines(*at).peek().map_err(|error| in_part(parts, *at, error))
    }

    /// Returns the line that was returned by [`next`](Self::next) last, with its newline, until another one is looked at.
    pub(crate) fn last(&self) -> &[u8] {
        match &self.order {
            Order::Chain(lines) => lines.last(),
            Order::Merge { all, .. } => all[self.at].last(),
        }
    }

    /// Skips a line that [`peek`](Self::peek) has returned.
    pub(crate) fn skip(&mut self) {
        if let Order::Merge { is_stale, .. } = &mut self.order {
            *is_stale = true;
        }
        self.order.lines(self.at).skip();
    }

    /// Skips lines as long as `is_skipped` returns true, and returns their number. It must return true for no line after
    /// one for which it returns false, and is not called for every line. It gets the number of the line in its part.
    pub(crate) fn skip_while(
        &mut self,
        mut is_skipped: impl FnMut(&[u8], u64) -> Result<bool, Error>,
    ) -> Result<u64, Error> {
        let mut skipped = 0;
        let Self { parts, header, at, order } = self;
        match order {
            Order::Chain(lines) => loop {
                skipped += lines.skip_while(&mut is_skipped).map_err(|error| in_part(parts, *at, error))?;
                let has_more = lines.peek().map_err(|error| in_part(parts, *at, error))?.is_some();
                if has_more || *at + 1 == parts.len() {
                    break;
                }
                *at += 1;
                *lines = entries_of(parts, *at)?;
            },
            Order::Merge { all, next, parsed, is_stale } => {
                next.clear();
                for (part, lines) in all.iter_mut().enumerate() {
                    skipped +=
                        lines.skip_while(&mut is_skipped).map_err(|error| in_part(parts, part, error))?;
                    if part != *at {
                        let path = next_path(lines, &parts[part], header, parsed)?;
                        next.extend(path.map(|path| Reverse((path.to_vec(), part))));
                    }
                }
                *is_stale = true;
            }
        }
        Ok(skipped)
    }

    /// Returns the number of the line that was returned last, counting the lines of all parts before its own.
    pub(crate) fn number(&mut self) -> u64 {
        self.parts[self.at].before + self.order.lines(self.at).number()
    }

    /// Returns the shard of the line that was returned last; `None` if its part has several or all.
    pub(crate) fn shard(&self) -> Option<&'m Shard> {
        if let [shard] = &*self.parts[self.at].shards { Some(shard) } else { None }
    }

    /// Moves to the part of the next line.
    fn find(&mut self) -> Result<(), Error> {
        let Self { parts, header, at, order } = self;
        match order {
            Order::Chain(lines) => {
                while *at + 1 < parts.len()
                    && lines.peek().map_err(|error| in_part(parts, *at, error))?.is_none()
                {
                    *at += 1;
                    *lines = entries_of(parts, *at)?;
                }
            }
            Order::Merge { all, next, parsed, is_stale } if *is_stale => {
                // The next line is often in the same part.
                let path = next_path(&mut all[*at], &parts[*at], header, parsed)?;
                if let Some(mut first) = next.peek_mut() {
                    match path {
                        None => *at = PeekMut::pop(first).0.1,
                        Some(path) if (path, *at) > (&first.0.0, first.0.1) => {
                            first.0.0.clear();
                            first.0.0.extend_from_slice(path);
                            std::mem::swap(&mut first.0.1, at);
                        }
                        Some(_) => {}
                    }
                }
                *is_stale = false;
            }
            Order::Merge { .. } => {}
        }
        Ok(())
    }
}

impl<'m> Order<'m> {
    fn lines(&mut self, at: usize) -> &mut Lines<'m> {
        match self {
            Self::Chain(lines) => lines,
            Self::Merge { all, .. } => &mut all[at],
        }
    }
}

/// Returns whether these are parts by hash, which are read at the same time.
pub(crate) fn are_hashed(parts: &[PartFile]) -> bool {
    parts.len() > 1 && matches!(&*parts[0].shards, [Shard { split: Split::Hash, .. }, ..])
}

/// Opens a part after its header.
fn entries_of(parts: &[PartFile], at: usize) -> Result<Lines<'_>, Error> {
    let open = || {
        let mut lines = Lines::new(&parts[at].sealed)?;
        lines.next()?;
        Ok(lines)
    };
    open().map_err(|error| in_part(parts, at, error))
}

/// Returns the key of the path in the next line of a part.
fn next_path<'l>(
    lines: &'l mut Lines<'_>,
    part: &PartFile,
    header: &Header,
    parsed: &'l mut Owned,
) -> Result<Option<&'l [u8]>, Error> {
    let number = lines.number() + 1;
    let path = lines.peek().and_then(|line| {
        let path = line.map(|line| parsed.path_of(line, header)).transpose();
        path.map_err(|what| Error::Line { number, what })
    });
    path.map(|path| path.map(key)).map_err(|error| error.in_part(&part.name))
}

/// Adds the name of the part to an error, if it has one.
fn in_part(parts: &[PartFile], at: usize, error: Error) -> Error {
    let name = &parts[at].name;
    if name.is_empty() { error } else { error.in_part(name) }
}

/// Replaces the number of a line, as [`WholeLines::number`] counts, by the name of the part and the number in it.
pub(crate) fn locate(parts: &[PartFile], error: Error) -> Error {
    let Error::Line { number, what } = error else { return error };
    let at = parts.partition_point(|part| part.before < number).saturating_sub(1);
    in_part(parts, at, Error::Line { number: number - parts[at].before, what })
}
