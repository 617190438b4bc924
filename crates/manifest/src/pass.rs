//! Reading a manifest once, with several threads.
//!
//! One thread reads the lines, checks the footer and divides the lines into pieces. Other threads parse the pieces, and the
//! caller's thread gets the results in order. It also checks what needs all entries in their order: the tree digests, and the
//! order where two pieces meet.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread::{self, Builder};

use memchr::memchr;

use crate::outline::Outline;
use crate::parse::Owned;
use crate::sequence::check_order;
use crate::trees::TreeCheck;
use crate::{Entry, Error, Header, Manifest};

/// A piece ends with the line that reaches this length.
const PIECE_BYTES: usize = 4 << 20;

impl Manifest {
    /// Reads a manifest of a whole tree in one pass, with a thread for each of `makers`, which is at least one. `header` is
    /// what [`peek`](Self::peek) has returned.
    ///
    /// The lines are divided into pieces, in the same way for every number of threads: a piece ends after `most` lines, or
    /// with the line that reaches 4 MiB. A maker makes something of the entries of a piece, and `each` gets what was made, in
    /// the order of the pieces. All of it must be discarded if this fails, because the footer is checked last.
    ///
    /// With one maker, the caller's thread does everything. Otherwise each thread has up to three pieces at the same time.
    ///
    /// # Errors
    /// Those of [`open`](Self::open) and of [`Entries::next`](crate::Entries::next), the first of a maker or of `each`, and
    /// [`Error::Changed`] if the header differs. The first invalid line is the error, whatever the number of threads.
    ///
    /// # Panics
    /// If there is no maker.
    pub fn pass<T: Send, E: From<Error> + Send>(
        file: File,
        header: &Header,
        most: usize,
        mut makers: Vec<impl FnMut(&mut Piece<'_>) -> Result<T, E> + Send>,
        mut each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let has_trees = header.version > 1 && !header.algorithms.is_empty();
        let mut joint = Joint { check: has_trees.then(|| TreeCheck::new(&header.algorithms)), last: None };
        let (joined, read) = if let [make] = &mut *makers {
            let (mut parsed, mut joined) = (Owned::new(), Ok(()));
            let read = read(file, header, most, |lines| {
                let made = joint.add(Parsed::of(&lines, header, has_trees, &mut parsed, make));
                joined = made.and_then(&mut each);
                joined.is_ok()
            });
            (joined, read)
        } else {
            thread::scope(|scope| -> Result<_, Error> {
                let (mut to, mut from) = (Vec::new(), Vec::new());
                for mut make in makers {
                    let ((sender, pieces), (made, receiver)) = (sync_channel::<Lines>(1), sync_channel(1));
                    let work = move || {
                        let mut parsed = Owned::new();
                        for lines in pieces {
                            // On failure no more pieces are needed.
                            if made
                                .send(Parsed::of(&lines, header, has_trees, &mut parsed, &mut make))
                                .is_err()
                            {
                                break;
                            }
                        }
                    };
                    Builder::new().spawn_scoped(scope, work)?;
                    to.push(sender);
                    from.push(receiver);
                }
                // Each thread gets every piece of its turn, so the pieces come back in order.
                let give = move || {
                    let mut turns = to.iter().cycle();
                    read(file, header, most, |lines| {
                        turns.next().is_some_and(|thread| thread.send(lines).is_ok())
                    })
                };
                let reader = Builder::new().spawn_scoped(scope, give)?;
                let results = from.iter().cycle().map_while(|thread| thread.recv().ok());
                let joined =
                    results.map(|parsed| joint.add(parsed)).try_for_each(|made| made.and_then(&mut each));
                // Ends the other threads, if they have not ended.
                drop(from);
                Ok((joined, reader.join().unwrap_or_else(|panic| resume_unwind(panic))))
            })?
        };
        // An invalid line comes before what was read after it.
        joined?;
        read?;
        joint.finish().map_err(E::from)
    }
}

/// Divides the lines of a manifest into pieces until `give` returns false, and checks the footer.
///
/// # Errors
/// Those of [`Manifest::open`], and [`Error::Changed`] if the header differs. The lines before an error are given too.
fn read(file: File, header: &Header, most: usize, mut give: impl FnMut(Lines) -> bool) -> Result<(), Error> {
    let mut lines = Lines { first: FIRST, count: 0, text: Vec::new() };
    let read = Manifest::scan(file, |found, number, line| {
        if number == FIRST && found != header {
            return Err(Error::Changed);
        }
        lines.text.extend_from_slice(line);
        lines.text.push(b'\n');
        lines.count += 1;
        if lines.count < most && lines.text.len() < PIECE_BYTES {
            return Ok(());
        }
        let text = Vec::with_capacity(lines.text.len());
        let full = std::mem::replace(&mut lines, Lines { first: number + 1, count: 0, text });
        if give(full) { Ok(()) } else { Err(io::Error::from(ErrorKind::BrokenPipe).into()) }
    });
    if lines.count > 0 {
        give(lines);
    }
    read.and_then(Manifest::whole).map(drop)
}

/// The number of the line of the first entry.
const FIRST: u64 = 2;

/// Some successive lines, each with its newline.
#[derive(Debug)]
struct Lines {
    /// The number of the first one.
    first: u64,
    count: usize,
    text: Vec<u8>,
}

/// Some successive entries of a manifest.
#[derive(Debug)]
pub struct Piece<'p> {
    header: &'p Header,
    /// The lines that are left.
    rest: &'p [u8],
    /// The number of the next line.
    next: u64,
    current: &'p mut Owned,
    /// The path of the first entry, and that of the entry before the current one.
    first: Option<Vec<u8>>,
    last: Vec<u8>,
    outline: Option<Outline>,
}

impl Piece<'_> {
    /// Returns the next entry, valid until the next call; `None` after the last.
    ///
    /// # Errors
    /// For a line that is not a valid entry or is out of order. The piece cannot be used after an error.
    #[expect(clippy::should_implement_trait, reason = "an entry borrows the memory of the piece")]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, Error> {
        let Some(end) = memchr(b'\n', self.rest) else { return Ok(None) };
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        let number = self.next;
        self.next += 1;
        self.current.swap_path(&mut self.last);
        let read = self.current.read(line, self.header);
        let entry = self.current.entry();
        let read = read.and_then(|_| match &self.first {
            Some(_) => check_order(&self.last, entry.path),
            None => Ok(()),
        });
        read.map_err(|what| Error::Line { number, what })?;
        self.first.get_or_insert_with(|| entry.path.to_vec());
        if let Some(outline) = &mut self.outline {
            outline.push(&entry);
        }
        Ok(Some(entry))
    }
}

/// A piece that was parsed, as far as its lines are valid.
struct Parsed<T, E> {
    /// The number of the first line.
    number: u64,
    /// The path of the first entry, and that of the last.
    first: Option<Vec<u8>>,
    last: Vec<u8>,
    outline: Option<Outline>,
    made: Result<T, E>,
}

impl<T, E: From<Error>> Parsed<T, E> {
    /// `has_trees`: whether to keep what tree digests cover.
    fn of(
        lines: &Lines,
        header: &Header,
        has_trees: bool,
        current: &mut Owned,
        make: &mut impl FnMut(&mut Piece<'_>) -> Result<T, E>,
    ) -> Self {
        let mut piece = Piece {
            header,
            rest: &lines.text,
            next: lines.first,
            current,
            first: None,
            last: Vec::new(),
            outline: has_trees.then(Outline::default),
        };
        let made = make(&mut piece).and_then(|made| {
            while piece.next()?.is_some() {}
            Ok(made)
        });
        let Piece { current, first, outline, .. } = piece;
        Self { number: lines.first, first, last: current.entry().path.to_vec(), outline, made }
    }
}

/// Checks what needs all pieces in their order.
struct Joint {
    check: Option<TreeCheck>,
    /// The path of the last entry.
    last: Option<Vec<u8>>,
}

impl Joint {
    /// Adds the next piece.
    ///
    /// # Errors
    /// The first of the piece.
    fn add<T, E: From<Error>>(&mut self, parsed: Parsed<T, E>) -> Result<T, E> {
        let Parsed { number, first, last, outline, made } = parsed;
        if let Some((last, first)) = self.last.as_ref().zip(first) {
            check_order(last, &first).map_err(|what| Error::Line { number, what })?;
        }
        if let Some(check) = &mut self.check {
            for (entry, number) in outline.iter().flat_map(Outline::entries).zip(number..) {
                check.add(&entry, number)?;
            }
        }
        self.last = Some(last);
        made
    }

    /// Checks the directories that are open.
    fn finish(&mut self) -> Result<(), Error> {
        self.check.as_mut().map_or(Ok(()), |check| check.finish().map(drop))
    }
}
