//! The lines of a part, with the paths of their entries.

use ftk_walk::FileType;
use memchr::memmem;

use crate::entry::key;
use crate::lines::Lines;
use crate::merge::Side;
use crate::parse::Owned;
use crate::{Entry, EntryError, Error, Field, Manifest, canonical};

/// The entries of a part. Only their paths are parsed, if they are written as ftk writes them.
#[derive(Debug)]
pub(crate) struct PartLines<'m> {
    manifest: &'m Manifest,
    lines: Lines<'m>,
    /// Whether there is a current line.
    is_at_line: bool,
    /// The length of the path in the current line; `None` if the line was parsed into `parsed`.
    path_len: Option<usize>,
    parsed: Owned,
}

/// What comes before the path in a line.
const BEFORE_PATH: usize = b"{\"path\":\"".len();

impl<'m> PartLines<'m> {
    /// Starts at the first entry.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn new(manifest: &'m Manifest) -> Result<Self, Error> {
        let mut lines = manifest.lines()?;
        lines.next()?;
        Ok(Self { manifest, lines, is_at_line: false, path_len: None, parsed: Owned::new() })
    }

    /// Returns the current line with its newline.
    pub(crate) fn line(&self) -> &[u8] {
        self.lines.current()
    }

    /// Returns the number of the current line.
    pub(crate) fn number(&self) -> u64 {
        self.lines.number() + 1
    }

    /// Returns the current entry if it is a directory without tree digests.
    ///
    /// # Errors
    /// If the line is not a valid entry.
    pub(crate) fn dir_without_tree(&mut self) -> Result<Option<Entry<'_>>, Error> {
        if let Some(len) = self.path_len {
            let rest = &self.lines.current()[BEFORE_PATH + len..];
            if !rest.starts_with(b"\",\"type\":\"directory\"")
                || memmem::find(rest, Field::Tree.in_line()).is_some()
            {
                return Ok(None);
            }
            self.parse()?;
        }
        let entry = self.parsed.entry();
        Ok(Some(entry).filter(|entry| entry.stat.file_type == FileType::Directory && entry.tree.is_empty()))
    }

    /// Parses the whole line.
    fn parse(&mut self) -> Result<(), Error> {
        let number = self.number();
        let line = self.lines.current();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        self.parsed.read(line, self.manifest.header()).map_err(|what| Error::Line { number, what })
    }

    /// Checks that the current entry comes after `last`.
    ///
    /// # Errors
    /// If it does not.
    pub(crate) fn check_order(&self, last: Option<&[u8]>) -> Result<(), Error> {
        let path = self.path();
        let what = match last.map(|last| key(last).cmp(key(path))) {
            None | Some(std::cmp::Ordering::Less) => return Ok(()),
            Some(std::cmp::Ordering::Equal) => EntryError::Twice(path.to_vec()),
            Some(std::cmp::Ordering::Greater) => EntryError::Order(path.to_vec()),
        };
        Err(Error::Line { number: self.number(), what })
    }
}

impl Side for PartLines<'_> {
    fn advance(&mut self) -> Result<bool, Error> {
        if self.is_at_line {
            self.lines.skip();
        }
        let Some(line) = self.lines.peek()? else {
            self.is_at_line = false;
            return Ok(false);
        };
        self.is_at_line = true;
        self.path_len = canonical::path(line).map(<[u8]>::len);
        if self.path_len.is_none() {
            self.parse()?;
        }
        Ok(true)
    }

    fn path(&self) -> &[u8] {
        match self.path_len {
            Some(len) => &self.lines.current()[BEFORE_PATH..][..len],
            None => self.parsed.entry().path,
        }
    }
}
