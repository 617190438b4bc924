//! Manifests, read: complete and undamaged ones only, one entry at a time.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::FileTypeExt as _;

use ftk_record::{SealedReader, Sums};

use crate::blocks::{BLOCK, First, Prints};
use crate::entry::key;
use crate::lines::{Lines, Sealed};
use crate::merge::Side;
use crate::parse::Owned;
use crate::sniff::{Kind, sniff};
use crate::text::brief;
use crate::{Entry, Error, Header, Which};

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
        let file_type = file.metadata()?.file_type();
        if file_type.is_char_device() || file_type.is_block_device() {
            return Err(Error::NotManifest("it is a device".into()));
        }
        if !file_type.is_file() {
            let mut copy = tempfile::tempfile()?;
            io::copy(&mut file, &mut copy)?;
            file = copy;
        }
        let mut prints = Prints::new();
        let first = First { file: &file, prints: &mut prints };
        let mut input = BufReader::with_capacity(BLOCK, first);
        refuse_others(input.fill_buf()?)?;
        let mut lines = SealedReader::new(input);
        let header = lines.next_line()?.map(Header::read);
        let header = header.unwrap_or_else(|| Err(Error::NotManifest("it has only a footer".into())))?;
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
        let (current, last) = (Owned::new(), Owned::new());
        Ok(Entries { lines, header: &self.header, current, last, is_first: true, which: None })
    }

    /// The same for one of two manifests: errors say which.
    pub(crate) fn entries_of(&self, which: Which) -> Result<Entries<'_>, Error> {
        let entries = self.entries().map_err(|error| error.of(Some(which)))?;
        Ok(Entries { which: Some(which), ..entries })
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
    /// Which of two manifests it is.
    which: Option<Which>,
}

/// Refuses a file that does not begin as a manifest does.
fn refuse_others(start: &[u8]) -> Result<(), Error> {
    Err(Error::NotManifest(match sniff(start) {
        Kind::Compressed { with, cat } => {
            format!("it is compressed with {with}: `{cat} FILE | ftk manifest verify ROOT -` reads it")
        }
        Kind::Other(what) if !start.trim_ascii_start().starts_with(b"{") => format!("it is {what}"),
        // The header tells more.
        Kind::Other(_) | Kind::Manifest => return Ok(()),
    }))
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
        let line = self.lines.peek().map_err(|error| error.of(self.which))?;
        Ok(line.is_some() && line == other.lines.peek().map_err(|error| error.of(other.which))?)
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
        let which = self.which;
        let Some(line) = self.lines.next().map_err(|error| error.of(which))? else { return Ok(false) };
        std::mem::swap(&mut self.current, &mut self.last);
        let read = self.current.read(line, self.header);
        let (path, last) = (self.current.entry().path, self.last.entry().path);
        let read = read.and_then(|()| match key(last).cmp(key(path)) {
            _ if self.is_first => Ok(()),
            std::cmp::Ordering::Less => Ok(()),
            std::cmp::Ordering::Equal => Err(format!("{} is there twice", ftk_record::quote(path))),
            std::cmp::Ordering::Greater => Err(format!("{} is out of order", ftk_record::quote(path))),
        });
        let number = self.lines.number();
        read.map_err(|what| Error::Line { number, what: brief(what) }.of(which))?;
        self.is_first = false;
        Ok(true)
    }

    fn path(&self) -> &[u8] {
        self.current.entry().path
    }
}
