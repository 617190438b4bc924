//! Reads checksum lists into compact tables.

use std::ffi::{CString, OsStr};
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, PathList, Unlisted};
use ftk_record::{End, SumReader, SumRecord, quote};

use crate::console::cause;
use crate::hash::check::kind::Kind;
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
    /// The digest of each line, followed by the size of the file (8 bytes, big-endian) if the line has it.
    pub(super) expected: Vec<u8>,
    /// Names that do not stand for a file of the table.
    pub(super) odd: Vec<Odd>,
    /// Algorithms that were guessed from the length of a digest.
    pub(super) assumed: Vec<Algorithm>,
    /// Whether some lines have the size of their file.
    pub(super) has_sizes: bool,
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
    pub(super) first: Option<(u64, String)>,
    /// Number of lines with a digest that cannot be checked.
    pub(super) unchecked: u64,
    /// Whether the last line has no terminator and cannot be used.
    pub(super) is_cut_off: bool,
    /// Identity of the list, if it is a regular file.
    pub(super) identity: Option<Identity>,
}

/// Device and inode.
type Identity = (u64, u64);

/// One digest of a list, in 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Number of the path in the table of files, or index into [`Lines::odd`].
    pub(super) number: u32,
    pub(super) is_odd: bool,
    pub(super) algorithm: Algorithm,
    /// Whether it is another digest of the file of the line before, in the same list. The file gets one verdict.
    pub(super) is_more: bool,
    pub(super) has_size: bool,
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
        let mut tables = Tables::new(paths.within(&self.run.budget), has_stdin);
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
        let read = match Kind::of(path, &mut input) {
            Kind::Sums => self.sums(input, &mut list, tables)?,
            Kind::Hashdeep => self.hashdeep(input, &mut list, tables)?,
            Kind::Bag(name) => self.bag(&name, input, &mut list, tables)?,
        };
        if let Err(error) = &read {
            said("read", error);
        }
        let is_whole = read.is_ok();
        if list.unchecked > NAMED {
            let (name, more) = (&list.name, human::count(list.unchecked - NAMED, "more line"));
            self.run.console.error(format_args!("{name}: {more} cannot be checked"));
        }
        list.lines.end = tables.lines.lines.len();
        // If reading fails before the first checksum line, the error has been reported, and the list is not
        // needed.
        if is_whole || !list.lines.is_empty() {
            tables.lines.lists.push(list);
        }
        Ok(is_whole)
    }

    /// Reads the lines of `sha256sum` and similar tools. The inner error is that of reading the input.
    fn sums(
        &self,
        input: impl BufRead,
        list: &mut List,
        tables: &mut Tables,
    ) -> anyhow::Result<io::Result<()>> {
        let mut reader = SumReader::new(input, self.end);
        let read = loop {
            match reader.next() {
                Ok(Some(record)) => self.record(record, list, tables)?,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        list.has_dos_ends = reader.has_dos_ends();
        Ok(read)
    }

    fn record(&self, record: SumRecord<'_>, list: &mut List, tables: &mut Tables) -> anyhow::Result<()> {
        let line = record.line.as_ref().map_err(|error| Unusable::Line(*error));
        let why = match line.and_then(|line| Ok((algorithm(line, self.algorithms)?, line))) {
            Ok(((algorithm, is_assumed), line)) => {
                if is_assumed && !tables.lines.assumed.contains(&algorithm) {
                    tables.lines.assumed.push(algorithm);
                }
                let mut digest = Vec::with_capacity(Digest::MAX_LEN);
                line.push_digest(&mut digest);
                return tables.push(&line.name, &[(algorithm, &digest)], None, &self.run.budget);
            }
            Err(why) => why,
        };
        let name = record.line.as_ref().map(|line| &*line.name).ok();
        self.refuse(list, (record.number, record.is_ended), name, &why);
        Ok(())
    }

    /// Reports and counts line `number`, which cannot be used. `name` is the file that it names, if that is
    /// known.
    pub(super) fn refuse(
        &self,
        list: &mut List,
        (number, is_ended): (u64, bool),
        name: Option<&[u8]>,
        why: &Unusable,
    ) {
        list.is_cut_off = !is_ended;
        let (of, console) = (&list.name, self.run.console);
        if why.has_digest() {
            list.unchecked += 1;
            if list.unchecked <= NAMED {
                let file = name.map_or_else(|| "it".into(), quote);
                console.error(format_args!("{of}, line {number}: cannot check {file}: {why}"));
            }
            return;
        }
        list.malformed += 1;
        if self.warn {
            console.error(format_args!("{of}: {number}: improperly formatted checksum line: {why}"));
        }
        list.first.get_or_insert_with(|| (number, why.to_string()));
    }
}

/// The tables while they are filled.
pub(super) struct Tables {
    pub(super) lines: Lines,
    pub(super) paths: PathList,
    /// Whether the name `-` in a list stands for standard input.
    has_stdin: bool,
    /// Bytes reserved from the budget for the lines.
    reserved: usize,
}

impl Tables {
    pub(super) fn new(paths: PathList, has_stdin: bool) -> Self {
        Self { lines: Lines::default(), paths, has_stdin, reserved: 0 }
    }

    /// Adds a file with at least one digest, and its size if the list has it.
    pub(super) fn push(
        &mut self,
        name: &[u8],
        digests: &[(Algorithm, &[u8])],
        mut size: Option<u64>,
        budget: &Budget,
    ) -> anyhow::Result<()> {
        let Lines { lines, expected, odd, has_sizes, .. } = &mut self.lines;
        let as_odd = if self.has_stdin && *name == *b"-" {
            Some(Odd::Stdin)
        } else {
            match self.paths.push(name) {
                Ok(()) => None,
                Err(full @ Unlisted::Full(_)) => bail!(anyhow::Error::new(full).context(TOO_LARGE)),
                Err(why) => Some(Odd::Path(name.to_vec(), why)),
            }
        };
        let is_odd = as_odd.is_some();
        odd.extend(as_odd);
        let number = if is_odd { odd.len() } else { self.paths.len() } as u32 - 1;
        for (nth, &(algorithm, digest)) in digests.iter().enumerate() {
            // The first line of the file has the size.
            let size = size.take();
            lines.push(Line { number, is_odd, algorithm, is_more: nth > 0, has_size: size.is_some() });
            expected.extend_from_slice(digest);
            expected.extend(size.into_iter().flat_map(u64::to_be_bytes));
            *has_sizes |= size.is_some();
        }
        /// Bytes reserved at a time.
        const UNIT: usize = 64 << 10;
        if size_of_val(&**lines) + expected.len() > self.reserved {
            budget.reserve(UNIT as u64).context(TOO_LARGE)?;
            self.reserved += UNIT;
        }
        Ok(())
    }
}
