//! Importing a list: its entries are collected, sorted, and written as a manifest.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, BufRead};
use std::ops::Range;

use ftk_file::Stat;
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, Full, OpenDirs, Reservation};
use ftk_record::{ListError, ListReader, quote};
use ftk_walk::FileType;

use super::lists::PAYLOAD;
use super::mtree_reader::MtreeReader;
use super::{Format, LINE};
use crate::entry::{ROOT, key};
use crate::field_set::FieldSet;
use crate::parse::check_path;
use crate::text::brief;
use crate::{Entry, Error, Field, History, HistoryFile, Writer, Xattr};

/// The entries of a list, sorted, in memory.
///
/// An entry uses about 250 bytes, its path, its target and its digests.
#[derive(Debug)]
pub struct Import {
    /// The algorithms of the digests.
    algorithms: Vec<Algorithm>,
    /// Those that were guessed from the length of a digest.
    assumed: Vec<Algorithm>,
    options: Vec<Vec<u8>>,
    /// Paths at or below which the manifest has no entries.
    skipped: BTreeMap<Vec<u8>, Skipped>,
    /// All paths, targets and digests.
    bytes: Vec<u8>,
    entries: Vec<Imported>,
    /// Whether the list has extended attributes. Entries without any have none then.
    has_xattrs: bool,
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
    /// Entries with the same number are links of one file. `None` if the list does not say this.
    inode: Option<u64>,
    /// The extended attributes, sorted by name.
    xattrs: Vec<Xattr>,
}

/// What a manifest has not although the list names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// An entry, and everything below it.
    Whole,
    /// Everything below an entry.
    Below,
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
    /// The digests by algorithms of the list.
    pub(super) digests: &'l [(Algorithm, Digest)],
    /// Entries with the same number are links of one file. `None` if the list does not say this.
    pub(super) inode: Option<u64>,
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
    /// Reads a specification of mtree to its end.
    ///
    /// `root`: the path at the beginning of all paths in the list, which is removed. Without it, all paths must be
    /// relative.
    ///
    /// # Errors
    /// See [`ImportError`]. Lines that are not valid are errors: nothing is skipped.
    pub fn mtree(input: impl BufRead, root: Option<&[u8]>, budget: &Budget) -> Result<Self, ImportError> {
        let names = Format::Mtree.algorithms().unwrap_or_default();
        let algorithms = Algorithm::ALL.into_iter().filter(|it| names.contains(&it.name())).collect();
        let mut collector = Collector::new(algorithms, root, budget);
        let mut reader = MtreeReader::new(input);
        while reader.next(&mut collector)? {}
        collector.import.sorted(Repeated::Replaces, budget)
    }

    /// Reads a list of digests to its end. Lines of other text are passed to `text`, with their number and why they
    /// are no lines of the list. Several lines about one file become one entry.
    ///
    /// `is_bag`: the list is the payload manifest of a BagIt bag, and the paths are those below `data`. `root` is that
    /// of [`Import::mtree`].
    ///
    /// # Errors
    /// See [`ImportError`]. A line with a digest that cannot be used is an error.
    pub fn list(
        mut reader: ListReader<'_, impl BufRead>,
        is_bag: bool,
        root: Option<&[u8]>,
        budget: &Budget,
        mut text: impl FnMut(u64, &ListError),
    ) -> Result<Self, ImportError> {
        let mut collector = Collector::new(Algorithm::ALL.to_vec(), root, budget);
        collector.import.options = vec![ONLY_FILES.to_vec()];
        let allows_text = reader.allows_text();
        while let Some(record) = reader.next()? {
            let (number, is_ended) = (record.number, record.is_ended);
            let line = match record.line {
                Ok(line) => line,
                Err(unusable) if unusable.why.has_digest() || !allows_text || !is_ended => {
                    return Err(ImportError::Line { number, what: unusable.why.to_string() });
                }
                Err(unusable) => {
                    text(number, &unusable.why);
                    continue;
                }
            };
            let mut path = &*line.name;
            if is_bag {
                let whole = path.strip_prefix(b"./").unwrap_or(path);
                path = whole.strip_prefix(PAYLOAD).ok_or_else(|| {
                    let path = brief(quote(path));
                    let what = format!("{path} is not below data/, as all payload files are");
                    ImportError::Line { number, what }
                })?;
            }
            let (known, size) = size_known(line.size);
            let stat = Stat { size, ..Stat::EMPTY };
            collector
                .add(number, &Line { path, known, stat, target: None, digests: line.digests, inode: None })?;
            refuse_unended(number, is_ended)?;
        }
        let is_assumed = reader.assumed().to_vec();
        let mut import = collector.import.sorted(Repeated::Completes, budget)?;
        import.assumed = is_assumed;
        if import.algorithms.iter().all(|it| !it.identifies_content()) {
            return Err(ImportError::OnlyCrc);
        }
        Ok(import)
    }

    /// Makes entries of the files of a history of ASC MHL. If some files have digests by further algorithms, only those
    /// that all files have are used.
    ///
    /// # Errors
    /// See [`ImportError`]. The lines in it are numbers of files.
    pub fn history(history: &History, budget: &Budget) -> Result<Self, ImportError> {
        let has = |file: &HistoryFile, algorithm| file.digests.iter().any(|(it, _)| *it == algorithm);
        let all = Algorithm::ALL;
        let shared: Vec<_> =
            all.into_iter().filter(|it| history.files.iter().all(|file| has(file, *it))).collect();
        let algorithms = if shared.is_empty() { all.to_vec() } else { shared };
        let mut collector = Collector::new(algorithms, None, budget);
        collector.import.options = vec![ONLY_FILES.to_vec()];
        for (number, file) in history.files.iter().enumerate() {
            let (known, size) = size_known(file.size);
            let stat = Stat { size, ..Stat::EMPTY };
            let line =
                Line { path: &file.path, known, stat, target: None, digests: &file.digests, inode: None };
            collector.add(number as u64 + 1, &line)?;
        }
        collector.import.sorted(Repeated::Completes, budget)
    }

    /// Returns the algorithms of the digests.
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// Returns the algorithms that were guessed from the length of a digest.
    pub fn assumed(&self) -> &[Algorithm] {
        &self.assumed
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
        // The first path and the number of the links of each file.
        let mut links: HashMap<u64, (&Range<usize>, u64)> = HashMap::new();
        for it in &self.entries {
            if let Some(inode) = it.inode {
                links.entry(inode).or_insert((&it.path, 0)).1 += 1;
            }
        }
        for it in &self.entries {
            let group = it.inode.map(|inode| links[&inode]).filter(|(_, links)| *links > 1);
            let mut absent = FieldSet::default();
            for field in STAT.into_iter().filter(|field| !it.known.contains(*field)) {
                absent.insert(field);
            }
            writer.entry(&Entry {
                absent,
                target: it.target.clone().map(|target| &self.bytes[target]),
                digests: &self.bytes[it.digests.clone()],
                link_group: group.map(|(first, _)| &self.bytes[first.clone()]),
                xattrs: self.has_xattrs.then_some(&it.xattrs),
                ..Entry::new(&self.bytes[it.path.clone()], it.stat)
            })?;
        }
        Ok(self.entries.len() as u64)
    }

    /// Removes the entries that `keeps` refuses, given their path below the root, which is empty for the root, and
    /// type.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&[u8], FileType) -> bool) {
        let Self { bytes, entries, .. } = self;
        entries.retain(|it| keeps(key(&bytes[it.path.clone()]), it.stat.file_type));
    }

    /// Returns whether an entry has an extended attribute with a name that begins so.
    pub(super) fn has_xattr(&self, start: &[u8]) -> bool {
        self.entries.iter().flat_map(|it| &it.xattrs).any(|xattr| xattr.name.starts_with(start))
    }

    /// Sorts the entries, joins those of one path, and checks that they make a manifest.
    fn sorted(mut self, repeated: Repeated, budget: &Budget) -> Result<Self, ImportError> {
        let Self { algorithms, options, skipped, bytes, entries, .. } = &mut self;
        // Entries of one path stay in the order of the list, which is that of their bytes.
        entries.sort_unstable_by(|a, b| {
            let path = |it: &Imported| key(&bytes[it.path.clone()]);
            path(a).cmp(path(b)).then(a.path.start.cmp(&b.path.start))
        });
        let mut conflict = None;
        entries.dedup_by(|later, first| {
            if bytes[later.path.clone()] != bytes[first.path.clone()] {
                return false;
            }
            let is_joined = match repeated {
                Repeated::Replaces => replace(first, later),
                Repeated::Follows => {
                    std::mem::swap(first, later);
                    Ok(())
                }
                Repeated::Completes => complete(first, later, bytes, algorithms),
            };
            if let Err(what) = is_joined {
                conflict.get_or_insert_with(|| (bytes[first.path.clone()].to_vec(), what));
            }
            true
        });
        if let Some((path, what)) = conflict {
            return Err(ImportError::Twice { path, what });
        }
        // What the list does not compare is excluded from the manifest, so that it is not new either.
        options.extend(skipped.iter().map(|(path, skipped)| exclude(path, *skipped)));
        if !skipped.is_empty() {
            entries.retain(|it| {
                let path = key(&bytes[it.path.clone()]);
                let mut above = memchr::memchr_iter(b'/', path).map(|at| &path[..at]);
                let is_below = skipped.contains_key(ROOT) && !path.is_empty();
                !is_below
                    && skipped.get(path) != Some(&Skipped::Whole)
                    && !above.any(|dir| skipped.contains_key(dir))
            });
        }
        if entries.is_empty() {
            return Err(ImportError::Empty);
        }
        let path = |it: &Imported| key(&bytes[it.path.clone()]);
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

/// What a later entry of the same path means.
#[derive(Clone, Copy, Debug)]
enum Repeated {
    /// It replaces the earlier one, as in mtree.
    Replaces,
    /// It replaces the earlier one, whatever that was, as in the extraction of an archive.
    Follows,
    /// It says more about the same file.
    Completes,
}

/// Puts the later entry of a path into the place of the first one.
fn replace(first: &mut Imported, later: &mut Imported) -> Result<(), &'static str> {
    if first.stat.file_type != later.stat.file_type {
        return Err("with different types");
    }
    std::mem::swap(first, later);
    Ok(())
}

/// Adds the digests of a later entry to those of the first one.
fn complete(
    first: &mut Imported,
    later: &Imported,
    bytes: &mut Vec<u8>,
    algorithms: &[Algorithm],
) -> Result<(), &'static str> {
    let knows_size = |it: &Imported| it.known.contains(Field::Size);
    match (knows_size(first), knows_size(later)) {
        (true, true) if first.stat.size != later.stat.size => return Err("with different sizes"),
        (false, true) => (first.known, first.stat) = (later.known, later.stat),
        _ => {}
    }
    let start = bytes.len();
    let (mut ours, mut theirs) = (first.digests.clone(), later.digests.clone());
    for (nth, algorithm) in algorithms.iter().enumerate() {
        let next = |of: &mut Range<usize>, has: u32| {
            let end = of.start + algorithm.digest_len();
            (has & 1 << nth != 0).then(|| std::mem::replace(&mut of.start, end)..end)
        };
        let (our, their) = (next(&mut ours, first.has), next(&mut theirs, later.has));
        if let (Some(our), Some(their)) = (&our, &their)
            && bytes[our.clone()] != bytes[their.clone()]
        {
            bytes.truncate(start);
            return Err("with different digests");
        }
        if let Some(digest) = our.or(their) {
            bytes.extend_from_within(digest);
        }
    }
    first.has |= later.has;
    first.digests = start..bytes.len();
    Ok(())
}

impl<'c> Collector<'c> {
    pub(super) fn new(algorithms: Vec<Algorithm>, root: Option<&'c [u8]>, budget: &Budget) -> Self {
        let (assumed, options, skipped) = (Vec::new(), Vec::new(), BTreeMap::new());
        let (bytes, entries, has_xattrs) = (Vec::new(), Vec::new(), false);
        let import = Import { algorithms, assumed, options, skipped, bytes, entries, has_xattrs };
        Self { import, root, reserved: Reservation::new(budget) }
    }

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
        for (nth, algorithm) in algorithms.iter().enumerate() {
            if let Some((_, digest)) = line.digests.iter().find(|(it, _)| it == algorithm) {
                bytes.extend_from_slice(digest.as_bytes());
                has |= 1 << nth;
            }
        }
        let digests = take(bytes);
        let len = digests.end - path.start;
        // A growing vector needs up to three times its contents.
        self.reserved.consume((2 * len + 2 * size_of::<Imported>()) as u64)?;
        entries.push(Imported {
            path,
            target,
            digests,
            has,
            known: line.known,
            stat: line.stat,
            inode: line.inode,
            xattrs: Vec::new(),
        });
        Ok(())
    }

    /// Sets the extended attributes of the last entry.
    pub(super) fn set_xattrs(&mut self, mut xattrs: Vec<Xattr>) -> Result<(), ImportError> {
        xattrs.sort_by(|a, b| a.name.cmp(&b.name));
        self.reserved.consume(size_of_xattrs(&xattrs))?;
        if let Some(last) = self.import.entries.last_mut() {
            last.xattrs = xattrs;
        }
        Ok(())
    }

    /// Adds another link to the file of an earlier entry, with what was known of it.
    pub(super) fn link(&mut self, at: usize, path: &[u8]) -> Result<(), ImportError> {
        let Import { bytes, entries, .. } = &mut self.import;
        self.reserved.consume((2 * path.len() + 2 * size_of::<Imported>()) as u64)?;
        let start = bytes.len();
        bytes.extend_from_slice(path);
        let Imported { ref target, ref digests, has, known, stat, inode, ref xattrs, .. } = entries[at];
        let (target, digests, xattrs) = (target.clone(), digests.clone(), xattrs.clone());
        self.reserved.consume(size_of_xattrs(&xattrs))?;
        entries.push(Imported { path: start..bytes.len(), target, digests, has, known, stat, inode, xattrs });
        Ok(())
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.import.entries.len()
    }

    /// Returns whether an entry is a directory.
    pub(super) fn is_directory(&self, at: usize) -> bool {
        self.import.entries[at].stat.file_type == FileType::Directory
    }

    /// Reserves memory that the caller uses.
    pub(super) fn reserve(&mut self, bytes: u64) -> Result<(), ImportError> {
        Ok(self.reserved.consume(bytes)?)
    }

    /// Removes the entries of all paths that `keeps` refuses.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&[u8]) -> bool) {
        let Import { bytes, entries, .. } = &mut self.import;
        entries.retain(|it| keeps(&bytes[it.path.clone()]));
    }

    /// Sorts the entries of an archive, whose files have digests by all `algorithms`, even if it has no file.
    /// `has_xattrs`: whether it records extended attributes.
    pub(super) fn of_archive(
        self,
        algorithms: &[Algorithm],
        has_xattrs: bool,
        budget: &Budget,
    ) -> Result<Import, ImportError> {
        let mut import = self.import.sorted(Repeated::Follows, budget)?;
        import.has_xattrs = has_xattrs;
        import.algorithms = algorithms.to_vec();
        Ok(import)
    }

    /// Notes what is skipped at or below the path of an entry. The last entry of a path counts.
    pub(super) fn skip(
        &mut self,
        number: u64,
        path: &[u8],
        skipped: Option<Skipped>,
    ) -> Result<(), ImportError> {
        if skipped.is_none() && self.import.skipped.is_empty() {
            return Ok(());
        }
        let path = self.below_root(path).map_err(|what| ImportError::Line { number, what })?;
        let Some(skipped) = skipped else {
            self.import.skipped.remove(path);
            return Ok(());
        };
        let path = path.to_vec();
        self.reserved.consume(2 * path.len() as u64 + 64)?;
        self.import.skipped.insert(path, skipped);
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
}

/// Returns the option that excludes what is skipped at or below a path.
fn exclude(path: &[u8], skipped: Skipped) -> Vec<u8> {
    let path = if path == ROOT { b"" } else { path };
    let mut option = b"--exclude=".to_vec();
    option.extend_from_slice(if path.is_empty() { b"" } else { b"/" });
    for byte in path {
        if byte.is_ascii_punctuation() && *byte != b'/' {
            option.push(b'\\');
        }
        option.push(*byte);
    }
    option.extend_from_slice(if skipped == Skipped::Whole { b"" } else { b"/*" });
    option
}

/// Returns the memory that extended attributes use.
fn size_of_xattrs(xattrs: &[Xattr]) -> u64 {
    xattrs.iter().map(|it| (size_of::<Xattr>() + it.name.len() + it.value.len()) as u64).sum()
}

/// Returns the members that a list with only sizes has, and the size.
fn size_known(size: Option<u64>) -> (FieldSet, u64) {
    match size {
        Some(size) => (set(&[Field::Size]), size),
        None => (FieldSet::default(), 0),
    }
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
    /// A path occurs twice, and the entries contradict each other.
    Twice {
        /// The path.
        path: Vec<u8>,
        /// How they differ.
        what: &'static str,
    },
    /// The list has only CRCs, which do not identify contents.
    OnlyCrc,
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
            Self::Twice { path, what } => write!(f, "{} appears twice, {what}", brief(quote(path))),
            Self::OnlyCrc => f.write_str("a CRC does not identify contents: a list needs other digests, too"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_itself_is_excluded() {
        for (path, whole, below) in [
            (".", "--exclude=", "--exclude=/*"),
            ("a", "--exclude=/a", "--exclude=/a/*"),
            ("d=/e=0", "--exclude=/d\\=/e\\=0", "--exclude=/d\\=/e\\=0/*"),
            ("[a]*", "--exclude=/\\[a\\]\\*", "--exclude=/\\[a\\]\\*/*"),
        ] {
            assert_eq!(exclude(path.as_bytes(), Skipped::Whole), whole.as_bytes());
            assert_eq!(exclude(path.as_bytes(), Skipped::Below), below.as_bytes());
        }
    }
}
