//! Reads checksum lists into compact tables.

use std::ffi::{CString, OsStr};
use std::io::{self, BufReader};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use ftk_hash::Algorithm;
use ftk_inventory::{Budget, PathList, Unlisted};
use ftk_record::{End, SumError, SumLine, SumReader, SumRecord, quote};

use crate::console::cause;
use crate::hash::tag::{Unusable, algorithm};
use crate::human;
use crate::input::{foreign, open};
use crate::run::Run;

/// The message for a list that exceeds `--memory` or the largest possible table.
pub(super) const TOO_LARGE: &str = "the list is too large (raise --memory)";

/// Lines per list that are reported because they cannot be checked. Further ones are only counted.
const NAMED: u64 = 10;

/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// How lists are read.
pub(super) struct ParseOptions<'a> {
    /// The algorithms of `-a`.
    pub(super) algorithms: &'a [Algorithm],
    pub(super) end: End,
    /// The directory that paths are confined to.
    pub(super) root: Option<&'a Path>,
    /// Whether to report each malformed line with its number.
    pub(super) warn: bool,
    pub(super) run: &'a Run<'a>,
}

/// The checksum lines of all lists. Their paths are stored separately, in the table of files.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lists: Vec<List>,
    pub(super) lines: Vec<Line>,
    /// The digests of all lines, concatenated.
    pub(super) expected: Vec<u8>,
    /// Names that do not stand for a file of the table.
    pub(super) odd: Vec<Odd>,
    /// Algorithms that were guessed from the length of a digest.
    pub(super) assumed: Vec<Algorithm>,
}

/// One list.
#[derive(Debug)]
pub(super) struct List {
    pub(super) name: String,
    /// The range of its lines in the table.
    pub(super) lines: Range<usize>,
    /// The kind of file, if the first bytes show that it is not a list.
    pub(super) foreign: Option<&'static str>,
    /// Whether its lines end with a carriage return and a newline.
    pub(super) has_dos_ends: bool,
    /// Number of malformed lines.
    pub(super) malformed: u64,
    /// Line number and error of the first malformed line.
    pub(super) first: Option<(u64, SumError)>,
    /// Number of lines with a digest that cannot be checked.
    pub(super) unchecked: u64,
    /// Whether the last line has no terminator and cannot be used.
    pub(super) is_cut_off: bool,
    /// Identity of the list, if it is a regular file.
    pub(super) identity: Option<Identity>,
}

/// Device and inode.
type Identity = (u64, u64);

/// One checksum line, in 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Number of the path in the table of files, or index into [`Lines::odd`].
    pub(super) number: u32,
    pub(super) is_odd: bool,
    pub(super) algorithm: Algorithm,
}

/// A name in a checksum line that does not stand for a file of the table.
#[derive(Debug)]
pub(super) enum Odd {
    Stdin,
    Path(Vec<u8>, Unlisted),
}

impl ParseOptions<'_> {
    /// Reads all lists. Returns their lines, their paths, and whether all of them were read to the end.
    /// Errors are reported, and the other lists are still read.
    pub(super) fn read<P: AsRef<OsStr>>(&self, lists: &[P]) -> anyhow::Result<(Lines, PathList, bool)> {
        let paths = match self.root {
            Some(root) => PathList::confined(CString::new(root.as_os_str().as_bytes())?),
            None => PathList::new(),
        };
        let has_stdin = self.root.is_none() && lists.iter().all(|list| list.as_ref() != "-");
        let paths = paths.within(&self.run.budget);
        let mut tables = Tables { lines: Lines::default(), paths, has_stdin, reserved: 0 };
        let mut is_whole = true;
        for list in lists {
            is_whole &= self.one(list.as_ref(), &mut tables)?;
        }
        Ok((tables.lines, tables.paths, is_whole))
    }

    fn one(&self, path: &OsStr, tables: &mut Tables) -> anyhow::Result<bool> {
        let said = |verb, error: &io::Error| self.run.console.path_error(verb, path.as_bytes(), cause(error));
        let opened = open(path).and_then(|input| Ok((input.metadata()?, input)));
        let (metadata, input) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                said("open", &error);
                return Ok(false);
            }
        };
        let identity = (path != "-" && metadata.is_file()).then(|| (metadata.dev(), metadata.ino()));
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut list = List {
            name: quote(path.as_bytes()),
            lines: tables.lines.lines.len()..0,
            foreign: foreign(&mut input),
            has_dos_ends: false,
            malformed: 0,
            first: None,
            unchecked: 0,
            is_cut_off: false,
            identity,
        };
        let mut reader = SumReader::new(input, self.end);
        let is_whole = loop {
            match reader.next() {
                Ok(Some(record)) => self.record(record, &mut list, tables)?,
                Ok(None) => break true,
                Err(error) => {
                    said("read", &error);
                    break false;
                }
            }
        };
        if list.unchecked > NAMED {
            let (name, more) = (&list.name, human::count(list.unchecked - NAMED, "more line"));
            self.run.console.error(format_args!("{name}: {more} cannot be checked"));
        }
        list.has_dos_ends = reader.has_dos_ends();
        list.lines.end = tables.lines.lines.len();
        // If reading fails before the first checksum line, the error has been reported, and the list is not
        // needed.
        if is_whole || !list.lines.is_empty() {
            tables.lines.lists.push(list);
        }
        Ok(is_whole)
    }

    fn record(&self, record: SumRecord<'_>, list: &mut List, tables: &mut Tables) -> anyhow::Result<()> {
        let line = record.line.as_ref().map_err(|error| Unusable::Line(*error));
        let why = match line.and_then(|line| Ok((algorithm(line, self.algorithms)?, line))) {
            Ok(((algorithm, is_assumed), line)) => {
                if is_assumed && !tables.lines.assumed.contains(&algorithm) {
                    tables.lines.assumed.push(algorithm);
                }
                return tables.push(algorithm, line, &self.run.budget);
            }
            Err(why) => why,
        };
        list.is_cut_off = !record.is_ended;
        let (name, number) = (&list.name, record.number);
        match why {
            Unusable::Line(why) if !why.has_digest() => {
                list.malformed += 1;
                if self.warn {
                    self.run
                        .console
                        .error(format_args!("{name}: {number}: improperly formatted checksum line: {why}"));
                }
                list.first.get_or_insert((number, why));
            }
            why => {
                list.unchecked += 1;
                if list.unchecked <= NAMED {
                    let file = record.line.map_or_else(|_| "it".into(), |line| quote(&line.name));
                    self.run.console.error(format_args!("{name}, line {number}: cannot check {file}: {why}"));
                }
            }
        }
        Ok(())
    }
}

/// The tables while they are filled.
struct Tables {
    lines: Lines,
    paths: PathList,
    /// Whether the name `-` in a list stands for standard input.
    has_stdin: bool,
    /// Bytes reserved from the budget for the lines.
    reserved: usize,
}

impl Tables {
    fn push(&mut self, algorithm: Algorithm, line: &SumLine<'_>, budget: &Budget) -> anyhow::Result<()> {
        let Lines { lines, expected, odd, .. } = &mut self.lines;
        let as_odd = if self.has_stdin && *line.name == *b"-" {
            Some(Odd::Stdin)
        } else {
            match self.paths.push(&line.name) {
                Ok(()) => None,
                Err(full @ Unlisted::Full(_)) => bail!(anyhow::Error::new(full).context(TOO_LARGE)),
                Err(why) => Some(Odd::Path(line.name.to_vec(), why)),
            }
        };
        let is_odd = as_odd.is_some();
        odd.extend(as_odd);
        let number = if is_odd { odd.len() } else { self.paths.len() } as u32 - 1;
        lines.push(Line { number, is_odd, algorithm });
        line.push_digest(expected);
        /// Bytes reserved at a time.
        const UNIT: usize = 64 << 10;
        if size_of_val(&**lines) + expected.len() > self.reserved {
            budget.reserve(UNIT as u64).context(TOO_LARGE)?;
            self.reserved += UNIT;
        }
        Ok(())
    }
}
