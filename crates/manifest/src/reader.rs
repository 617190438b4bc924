//! Manifests, read: complete and undamaged ones only, one entry at a time.

use std::fs::File;
use std::io::{self, BufReader};

use ftk_record::{SealedReader, Sums};

use crate::blocks::{BLOCK, First, Prints};
use crate::entry::key;
use crate::lines::{Lines, Sealed};
use crate::merge::Side;
use crate::parse::Owned;
use crate::text::brief;
use crate::{Entry, Error, Header};

/// A manifest that was read to its footer, which matches. Its entries are read from the file each time they are gone
/// through, so that it takes next to no memory, and are always those that the footer vouches for: a file that is changed
/// meanwhile is an error before anything is read from where it was.
#[derive(Debug)]
pub struct Manifest {
    sealed: Sealed,
    header: Header,
}

impl Manifest {
    /// Checks that the file is a manifest, complete, and as it was written. What is not a regular file, such as a
    /// pipe, is copied to an unnamed temporary file first, because it can be read only once.
    ///
    /// # Errors
    /// When it cannot be read, is no manifest or of a later version, or its footer is missing or does not match.
    /// What its entries say is looked at only when they are read.
    pub fn open(mut file: File) -> Result<Self, Error> {
        if !file.metadata()?.is_file() {
            let mut copy = tempfile::tempfile()?;
            io::copy(&mut file, &mut copy)?;
            file = copy;
        }
        let mut prints = Prints::new();
        let first = First { file: &file, prints: &mut prints };
        let mut lines = SealedReader::new(BufReader::with_capacity(BLOCK, first));
        let header = lines.next_line()?.map(Header::read);
        let header = header.unwrap_or_else(|| Err(Error::NotManifest("it holds nothing".into())))?;
        while lines.next_line()?.is_some() {}
        let footer = lines.number();
        Ok(Self { sealed: Sealed { file, prints, lines: footer - 1 }, header })
    }

    /// What it is of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file, to tell it from the tree that is walked.
    pub fn file(&self) -> &File {
        &self.sealed.file
    }

    /// Its entries, from the first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entries(&self) -> Result<Entries<'_>, Error> {
        let mut lines = Lines::new(&self.sealed);
        lines.next()?;
        Ok(Entries { lines, header: &self.header, current: Owned::new(), last: Owned::new(), is_first: true })
    }

    /// The digests of all regular files by their paths, in memory, to be held against those of a list.
    ///
    /// # Errors
    /// When it cannot be read, or holds what a manifest may not.
    pub fn sums(&self) -> Result<Sums<ftk_hash::Algorithm>, Error> {
        let mut sums = Sums::default();
        let mut entries = self.entries()?;
        while let Some(entry) = entries.next()? {
            let mut rest = entry.digests;
            for &algorithm in self.header.algorithms.iter().filter(|_| entry.stat.is_regular()) {
                let digest = rest.split_off(..algorithm.digest_len()).expect("all digests were read");
                sums.push(algorithm, digest, entry.path);
            }
        }
        Ok(sums)
    }
}

/// The entries of a manifest, one after the other. Takes memory for two.
#[derive(Debug)]
pub struct Entries<'m> {
    lines: Lines<'m>,
    header: &'m Header,
    current: Owned,
    last: Owned,
    is_first: bool,
}

impl Entries<'_> {
    /// The next entry, valid until the next call; `None` behind the last.
    ///
    /// # Errors
    /// When the file cannot be read, [`Error::Changed`] when it is not what it was when the manifest was opened, and for a
    /// line that is no entry or out of order. Nothing is to be had after that.
    #[expect(clippy::should_implement_trait, reason = "an entry borrows the reader's memory")]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, Error> {
        Ok(if self.advance()? { Some(self.entry()) } else { None })
    }

    /// The entry that was read last.
    pub(crate) fn entry(&self) -> Entry<'_> {
        self.current.entry()
    }

    /// Whether the next lines of both are the same.
    pub(crate) fn is_at_line_of(&mut self, other: &mut Entries<'_>) -> Result<bool, Error> {
        let line = self.lines.peek()?;
        Ok(line.is_some() && line == other.lines.peek()?)
    }

    /// Goes past a line that was seen, without understanding it.
    pub(crate) fn skip(&mut self) {
        self.lines.skip();
    }

    /// The entry that was read last is at the path of that of `other`.
    pub(crate) fn stand_at(&mut self, other: &Entries<'_>) {
        self.current.set_path(other.path());
        self.is_first = false;
    }
}

impl Side for Entries<'_> {
    fn advance(&mut self) -> Result<bool, Error> {
        let Some(line) = self.lines.next()? else { return Ok(false) };
        std::mem::swap(&mut self.current, &mut self.last);
        let read = self.current.read(line, self.header);
        let (path, last) = (self.current.entry().path, self.last.entry().path);
        let read = read.and_then(|()| match key(last).cmp(key(path)) {
            _ if self.is_first => Ok(()),
            std::cmp::Ordering::Less => Ok(()),
            std::cmp::Ordering::Equal => Err(format!("{} is there twice", ftk_record::quote(path))),
            std::cmp::Ordering::Greater => Err(format!("{} is out of order", ftk_record::quote(path))),
        });
        read.map_err(|what| Error::Line { number: self.lines.number(), what: brief(what) })?;
        self.is_first = false;
        Ok(true)
    }

    fn path(&self) -> &[u8] {
        self.current.entry().path
    }
}
