//! Importing a list: its entries are collected, sorted, and written as a manifest.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};
use std::ops::Range;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ftk_file::Stat;
use ftk_hash::Algorithm;
use ftk_inventory::{Budget, Full, OpenDirs, Reservation};
use ftk_record::{BagReader, Encoding, End, HashdeepReader, SumReader, quote};
use ftk_walk::FileType;

use super::lists::PAYLOAD;
use super::mtree_reader::MtreeReader;
use super::{Format, LINE};
use crate::entry::{ROOT, key};
use crate::field_set::FieldSet;
use crate::parse::check_path;
use crate::text::brief;
use crate::{Entry, Error, Field, Writer};

/// The entries of a list, sorted, in memory.
///
/// An entry uses about 250 bytes, its path, its target and its digests.
#[derive(Debug)]
pub struct Import {
    /// The algorithms of the digests.
    algorithms: Vec<Algorithm>,
    options: Vec<Vec<u8>>,
    /// All paths, targets and digests.
    bytes: Vec<u8>,
    entries: Vec<Imported>,
}

/// One entry.
#[derive(Debug)]
struct Imported {
    path: Range<usize>,
    target: Option<Range<usize>>,
    /// The digests by the algorithms in `has`, in the order of the list's algorithms.
    digests: Range<usize>,
    /// A bit for each algorithm of the list.
    has: u32,
    known: FieldSet,
    stat: Stat,
}

/// What a list says about an entry.
#[derive(Debug)]
pub(super) struct Line<'l> {
    /// The path as the list gives it.
    pub(super) path: &'l [u8],
    /// The members that the list has.
    pub(super) known: FieldSet,
    pub(super) stat: Stat,
    pub(super) target: Option<&'l [u8]>,
    /// For each algorithm of the list, the hexadecimal digits of the digest, if the line has it.
    pub(super) digests: &'l [Option<&'l [u8]>],
}

/// Collects the entries of a list.
#[derive(Debug)]
pub(super) struct Collector<'c> {
    import: Import,
    /// The path with which all paths in the list begin.
    root: Option<&'c [u8]>,
    reserved: Reservation,
}

/// The members that a list may lack and whose absence an entry records.
const STAT: [Field; 11] = [
    Field::Size,
    Field::Allocated,
    Field::Mtime,
    Field::Ctime,
    Field::Mode,
    Field::Uid,
    Field::Gid,
    Field::Dev,
    Field::Ino,
    Field::Nlink,
    Field::Rdev,
];

/// An option of a manifest that has only regular files.
const ONLY_FILES: &[u8] = b"--type=f";

impl Import {
    /// Reads a list to its end.
    ///
    /// `root`: the path at the beginning of all paths in the list, which is removed. Without it, all paths must be
    /// relative. `algorithm` is that of a BagIt manifest.
    ///
    /// # Errors
    /// See [`ImportError`]. Lines that are not valid are errors: nothing is skipped.
    ///
    /// # Panics
    /// If the format cannot be imported, or for a BagIt manifest without an algorithm.
    pub fn read(
        input: impl BufRead,
        format: Format,
        root: Option<&[u8]>,
        algorithm: Option<Algorithm>,
        budget: &Budget,
    ) -> Result<Self, ImportError> {
        let all = || Algorithm::ALL.to_vec();
        let (algorithms, options) = match format {
            Format::Mtree => {
                let names = format.algorithms().unwrap_or_default();
                (all().into_iter().filter(|it| names.contains(&it.name())).collect(), Vec::new())
            }
            Format::Sha256 => (vec![Algorithm::Sha256], vec![ONLY_FILES.to_vec()]),
            Format::Bagit => (vec![algorithm.expect("an algorithm")], vec![ONLY_FILES.to_vec()]),
            _ => (Vec::new(), vec![ONLY_FILES.to_vec()]),
        };
        let import = Self { algorithms, options, bytes: Vec::new(), entries: Vec::new() };
        let mut collector = Collector { import, root, reserved: Reservation::new(budget) };
        match format {
            Format::Mtree => collector.mtree(input)?,
            Format::Hashdeep => collector.hashdeep(input)?,
            Format::Bagit => collector.bagit(input)?,
            Format::Sha256 => collector.sha256(input)?,
            Format::Ncdu | Format::Csv => panic!("{format} cannot be imported"),
        }
        collector.import.sorted(budget)
    }

    /// Returns the algorithms of the digests.
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// Returns the options that select what such a list contains.
    pub fn options(&self) -> &[Vec<u8>] {
        &self.options
    }

    /// Writes all entries, and returns their number. The header must have the algorithms and options of this list.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write<S: FnMut(&[u8]) -> io::Result<()>>(&self, writer: &mut Writer<S>) -> Result<u64, Error> {
        for it in &self.entries {
            let mut absent = FieldSet::default();
            for field in STAT.into_iter().filter(|field| !it.known.contains(*field)) {
                absent.insert(field);
            }
            writer.entry(&Entry {
                absent,
                target: it.target.clone().map(|target| &self.bytes[target]),
                digests: &self.bytes[it.digests.clone()],
                ..Entry::new(&self.bytes[it.path.clone()], it.stat)
            })?;
        }
        Ok(self.entries.len() as u64)
    }

    /// Sorts the entries, and checks that they make a manifest.
    fn sorted(mut self, budget: &Budget) -> Result<Self, ImportError> {
        let Self { bytes, entries, .. } = &mut self;
        if entries.is_empty() {
            return Err(ImportError::Empty);
        }
        let path = |it: &Imported| key(&bytes[it.path.clone()]);
        entries.sort_unstable_by(|a, b| path(a).cmp(path(b)));
        if let Some(twice) = entries.windows(2).find(|pair| path(&pair[0]) == path(&pair[1])) {
            return Err(ImportError::Twice(bytes[twice[0].path.clone()].to_vec()));
        }
        let (mut leaves, mut memory) = (OpenDirs::default(), Reservation::new(budget));
        for it in entries.iter() {
            let below = path(it);
            if leaves.go_to(below).is_some() {
                return Err(ImportError::BelowFile(below.to_vec()));
            }
            if it.stat.file_type != FileType::Directory {
                leaves.push_within(&mut memory, LINE, below, ())?;
            }
        }
        let files = || entries.iter().filter(|it| it.stat.is_regular());
        let union = files().fold(0, |union, it| union | it.has);
        let mut partial = files().filter(|it| it.has != union);
        if let Some(first) = partial.next() {
            let path = bytes[first.path.clone()].to_vec();
            return Err(ImportError::Digests { path, count: 1 + partial.count() as u64 });
        }
        let mut bit = 1;
        self.algorithms.retain(|_| {
            let is_used = union & bit != 0;
            bit <<= 1;
            is_used
        });
        Ok(self)
    }
}

impl Collector<'_> {
    /// Adds an entry.
    pub(super) fn add(&mut self, number: u64, line: &Line<'_>) -> Result<(), ImportError> {
        let invalid = |what: String| ImportError::Line { number, what };
        let path = self.below_root(line.path).map_err(invalid)?;
        let Import { bytes, entries, algorithms, .. } = &mut self.import;
        let mut start = bytes.len();
        let mut take = |bytes: &Vec<u8>| {
            let range = start..bytes.len();
            start = range.end;
            range
        };
        bytes.extend_from_slice(path);
        let path = take(bytes);
        let target = line.target.map(|target| {
            bytes.extend_from_slice(target);
            take(bytes)
        });
        let mut has = 0;
        for (nth, (algorithm, hex)) in algorithms.iter().zip(line.digests).enumerate() {
            let Some(hex) = hex else { continue };
            if hex.len() != 2 * algorithm.digest_len() || push_hex(bytes, hex).is_none() {
                let hex = String::from_utf8_lossy(hex);
                return Err(invalid(format!("{:?} is not a digest by {algorithm}", brief(hex.into_owned()))));
            }
            has |= 1 << nth;
        }
        let digests = take(bytes);
        let len = digests.end - path.start;
        // A growing vector needs up to three times its contents.
        self.reserved.consume((2 * len + 2 * size_of::<Imported>()) as u64)?;
        entries.push(Imported { path, target, digests, has, known: line.known, stat: line.stat });
        Ok(())
    }

    /// Returns the path below the root.
    fn below_root<'p>(&self, path: &'p [u8]) -> Result<&'p [u8], String> {
        let mut below = match self.root {
            None if path.starts_with(b"/") => {
                return Err(format!(
                    "{} is absolute: name the directory in which the list was made (--root)",
                    brief(quote(path))
                ));
            }
            None => path,
            Some(root) => {
                let rest = path.strip_prefix(root).filter(|rest| {
                    rest.is_empty() || rest.starts_with(b"/") || root.ends_with(b"/") || root.is_empty()
                });
                match rest {
                    None => {
                        return Err(format!("{} is not below the root {}", brief(quote(path)), quote(root)));
                    }
                    Some(b"" | b"/") => ROOT,
                    Some(rest) => rest.strip_prefix(b"/").unwrap_or(rest),
                }
            }
        };
        while let Some(rest) = below.strip_prefix(b"./").filter(|rest| !rest.is_empty()) {
            below = rest;
        }
        check_path(below).map_err(|error| brief(error.to_string()))?;
        Ok(below)
    }

    fn mtree(&mut self, input: impl BufRead) -> Result<(), ImportError> {
        let mut reader = MtreeReader::new(input, self.import.algorithms.clone());
        while reader.next(self)? {}
        Ok(())
    }

    fn hashdeep(&mut self, input: impl BufRead) -> Result<(), ImportError> {
        let header = HashdeepReader::new(input)?;
        let mut reader = header.map_err(|error| ImportError::Line { number: 1, what: error.to_string() })?;
        // `hashdeep` has algorithms that ftk does not have.
        let columns: Vec<_> = reader.algorithms().iter().map(|name| name.parse::<Algorithm>().ok()).collect();
        let known: Vec<_> = columns.iter().copied().flatten().collect();
        if known.is_empty() || known.iter().enumerate().any(|(nth, it)| known[..nth].contains(it)) {
            let what = format!("no digests that ftk can compute: {}", reader.algorithms().join(", "));
            return Err(ImportError::Line { number: 2, what });
        }
        self.import.algorithms = known;
        let known = set(&[Field::Size]);
        while let Some(record) = reader.next()? {
            let (number, is_ended) = (record.number, record.is_ended);
            let line = record.line.map_err(|error| ImportError::Line { number, what: error.to_string() })?;
            let digests: Vec<_> = line
                .hex()
                .zip(&columns)
                .filter(|(_, column)| column.is_some())
                .map(|(hex, _)| Some(hex))
                .collect();
            let stat = Stat { size: line.size, ..Stat::EMPTY };
            self.add(number, &Line { path: line.name, known, stat, target: None, digests: &digests })?;
            refuse_unended(number, is_ended)?;
        }
        Ok(())
    }

    fn bagit(&mut self, input: impl BufRead) -> Result<(), ImportError> {
        let mut reader = BagReader::new(input);
        while let Some(record) = reader.next()? {
            let (number, is_ended) = (record.number, record.is_ended);
            let invalid = |what: String| ImportError::Line { number, what };
            let line = record.line.map_err(|error| invalid(error.to_string()))?;
            let path = line.path();
            let whole = path.strip_prefix(b"./").unwrap_or(&path);
            let below = whole.strip_prefix(PAYLOAD).ok_or_else(|| {
                invalid(format!("{} is not below data/, as all payload files are", brief(quote(&path))))
            })?;
            self.add(number, &file(below, &[Some(line.hex)]))?;
            refuse_unended(number, is_ended)?;
        }
        Ok(())
    }

    fn sha256(&mut self, input: impl BufRead) -> Result<(), ImportError> {
        let mut reader = SumReader::new(input, End::Newline);
        while let Some(record) = reader.next()? {
            let (number, is_ended) = (record.number, record.is_ended);
            let invalid = |what: String| ImportError::Line { number, what };
            let line = record.line.map_err(|error| invalid(error.to_string()))?;
            if line.tag.is_some_and(|tag| !matches!(tag, "SHA256" | "SHA2-256")) {
                return Err(invalid("a digest by another algorithm than SHA-256".into()));
            }
            let hex = match line.encoding {
                Encoding::Hex => Cow::Borrowed(line.digest),
                Encoding::Base64 => {
                    let mut bytes = Vec::new();
                    line.push_digest(&mut bytes);
                    Cow::Owned(HEXLOWER.encode(&bytes).into_bytes())
                }
            };
            self.add(number, &file(&line.name, &[Some(&*hex)]))?;
            refuse_unended(number, is_ended)?;
        }
        Ok(())
    }
}

/// A regular file of which only the digests are known.
fn file<'l>(path: &'l [u8], digests: &'l [Option<&'l [u8]>]) -> Line<'l> {
    Line { path, known: FieldSet::default(), stat: Stat::EMPTY, target: None, digests }
}

pub(super) fn set(fields: &[Field]) -> FieldSet {
    let mut set = FieldSet::default();
    for field in fields {
        set.insert(*field);
    }
    set
}

/// Refuses a last line without an end: it may be cut off in the middle of a name.
pub(super) fn refuse_unended(number: u64, is_ended: bool) -> Result<(), ImportError> {
    if is_ended {
        Ok(())
    } else {
        Err(ImportError::Line { number, what: "the list is cut off in this line".into() })
    }
}

/// Appends the bytes of hexadecimal digits of either case.
fn push_hex(out: &mut Vec<u8>, hex: &[u8]) -> Option<()> {
    let start = out.len();
    out.resize(start + hex.len() / 2, 0);
    HEXLOWER_PERMISSIVE.decode_mut(hex, &mut out[start..]).ok().map(drop)
}

/// Why a list cannot be imported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportError {
    /// The list cannot be read.
    Io(io::Error),
    /// A line is not valid.
    Line {
        /// The line number; the first line is 1.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// The list has no entries.
    Empty,
    /// A path occurs twice.
    Twice(Vec<u8>),
    /// The entry of this path is below something that is not a directory.
    BelowFile(Vec<u8>),
    /// Some regular files lack digests that others have.
    Digests {
        /// The path of the first one.
        path: Vec<u8>,
        /// Their number.
        count: u64,
    },
    /// The list does not fit into the memory budget.
    Full(Full),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("cannot be read"),
            Self::Line { number, what } => write!(f, "line {number}: {what}"),
            Self::Empty => f.write_str("it lists no files"),
            Self::Twice(path) => write!(f, "{} appears twice", brief(quote(path))),
            Self::BelowFile(path) => {
                write!(f, "{} is below a file that the list has too", brief(quote(path)))
            }
            Self::Digests { path, count } => {
                let path = brief(quote(path));
                write!(f, "{path} lacks digests that other files have")?;
                match count - 1 {
                    0 => Ok(()),
                    1 => f.write_str(", and so does 1 more file"),
                    more => write!(f, ", and so do {more} more files"),
                }
            }
            Self::Full(_) => f.write_str("too large (raise --memory)"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Full(full) => Some(full),
            _ => None,
        }
    }
}

impl From<io::Error> for ImportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Full> for ImportError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}
