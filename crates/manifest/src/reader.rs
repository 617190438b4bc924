//! Reading manifests: only complete and undamaged ones, one entry at a time.

use std::fs::File;
use std::io::{self, BufRead as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ftk_file::{AlignedReader, FileType, Stat};
use ftk_record::{Magic, SealedReader, Sums};
use memchr::memmem::Finder;

use crate::blocks::{At, BLOCK, Fingerprints, FirstPass, Handle, Source, is_compressed};
use crate::entry::{is_below, path_below};
use crate::lines::{LinePlace, Sealed};
use crate::merge::Side;
use crate::parse::Owned;
use crate::sequence::check_order;
use crate::shard::Shard;
use crate::shard::whole_lines::{PartFile, WholeLines, are_hashed, locate};
use crate::sniff::{Kind, sniff_plain};
use crate::trees::TreeCheck;
use crate::{
    Entry, EntryError, Error, Failed, Field, Header, Provenance, RootIdentity, Selector, Which, canonical,
};

/// An open manifest whose footer has been checked.
///
/// The entries are read from the file in each pass, so that memory use is small and constant. They are always
/// the entries that the footer covers: if the file is changed meanwhile, reading the changed part is an
/// error.
#[derive(Debug)]
pub struct Manifest {
    /// One file, or the parts of all shards, sorted by their numbers.
    parts: Vec<PartFile>,
    header: Header,
    /// The [time](Provenance::settled_ns) from which on files may be incomplete.
    settled_ns: Option<i128>,
    /// Whether only the entries of the header's shard are read, although there are others.
    is_restricted: bool,
    /// The directory whose entries are read, with paths below it; `None` for all.
    below: Option<Vec<u8>>,
    /// The entries that are read; `None` for all.
    part: Option<Selector>,
    /// How many entries the last complete pass has not selected.
    unselected: AtomicU64,
    /// Whether a pass over all entries has found that the tree digests are those of the entries. Later passes read the
    /// same bytes.
    are_trees_checked: AtomicBool,
}

impl Manifest {
    /// Checks that the file is a complete and unchanged manifest, which may be compressed with Zstandard.
    /// Anything but a regular file, such as a pipe, can be read only once and is first copied to an unnamed
    /// temporary file.
    ///
    /// # Errors
    /// When the file cannot be read, is not a manifest, has a newer version, or when its footer is missing or
    /// does not match. [`Error::Shard`] if it records only a part of a tree. Entries are checked only when they are
    /// read.
    pub fn open(file: File) -> Result<Self, Error> {
        Self::open_any(file)?.whole()
    }

    /// Prepares the manifest for a comparison with a tree whose provenance is `now`. If one of the two is a snapshot, this
    /// decides which files may have been [incomplete](Provenance::settled_ns) in it.
    pub fn settle(&mut self, now: &Provenance) {
        self.settled_ns = self.header.provenance.settled_with(now);
    }

    /// Returns the time before which a file must have changed to be complete in the recorded snapshot, and in the tree with
    /// which the manifest is [compared](Self::settle). `None` if all files are.
    pub(crate) fn settled_ns(&self) -> Option<i128> {
        self.settled_ns
    }

    /// Returns whether a file may have been incomplete in a snapshot. What is mounted below the root is not in it.
    pub(crate) fn is_unsettled(&self, entry: &Entry<'_>) -> bool {
        let is_recent = |settled_ns| entry.stat.is_regular() && entry.stat.is_recent(settled_ns);
        let is_below = |root: &RootIdentity| match (root.identity.fs, entry.fs) {
            (Some(root), Some(own)) => root != own,
            _ => entry.knows(Field::Dev) && entry.stat.dev != root.identity.dev,
        };
        self.settled_ns.is_some_and(is_recent)
            && entry.damaged_ns.is_none()
            && !self.header.root_identity.as_ref().is_some_and(is_below)
    }

    /// Refuses a manifest of one shard.
    pub(crate) fn whole(self) -> Result<Self, Error> {
        match &self.header.shard {
            Some(shard) => Err(Error::Shard { number: shard.number, of: shard.of }),
            None => Ok(self),
        }
    }

    /// Opens a manifest like [`open`](Self::open), which may be that of one shard of a tree.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), except [`Error::Shard`].
    pub fn open_any(file: File) -> Result<Self, Error> {
        Self::scan(file, |_, _, _| Ok(()))
    }

    /// Opens a manifest like [`open_any`](Self::open_any), and passes the header and each entry's line to `each`, with its
    /// number and without its newline, while the footer is checked. The lines may be those of a damaged manifest until
    /// this returns.
    pub(crate) fn scan(
        mut file: File,
        mut each: impl FnMut(&Header, u64, &[u8]) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let file_type = file.metadata()?.file_type();
        if file_type.is_char_device() || file_type.is_block_device() {
            return Err(Error::NotManifest("it is a device".into()));
        }
        if !file_type.is_file() {
            let mut copy = tempfile::tempfile()?;
            io::copy(&mut file, &mut copy)?;
            file = copy;
        }
        let is_compressed = is_compressed(&file)?;
        let mut fingerprints = Fingerprints::default();
        let source = Source::new(At::Open(&file), is_compressed)?;
        let first = FirstPass { source, fingerprints: &mut fingerprints };
        let mut input = AlignedReader::new(BLOCK, first);
        refuse_others(input.fill_buf()?)?;
        let mut lines = SealedReader::new(input);
        let line = lines.next_line()?;
        let mut next = LinePlace { offset: line.map_or(0, <[u8]>::len) as u64 + 1, lines: 1 };
        let header = line.map(Header::read);
        let header = header.unwrap_or_else(|| Err(Error::NotManifest("it has only a footer".into())))?;
        let (mut index, mut block) = (Vec::new(), BLOCK as u64);
        while let Some(line) = lines.next_line()? {
            if next.offset >= block {
                index.push(next);
                block = (next.offset / BLOCK as u64 + 1) * BLOCK as u64;
            }
            next = LinePlace { offset: next.offset + line.len() as u64 + 1, lines: next.lines + 1 };
            each(&header, next.lines, line)?;
        }
        let seal = lines.seal().digest();
        let sealed =
            Sealed { file: Handle::Open(file), is_compressed, fingerprints, lines: next.lines, index };
        let part = PartFile {
            sealed,
            seal,
            shards: header.shard.iter().cloned().collect(),
            name: Vec::new(),
            before: 0,
        };
        Ok(Self::of_files(vec![part], header))
    }

    /// Reads all entries of these files, and numbers their lines.
    pub(crate) fn of_files(mut parts: Vec<PartFile>, header: Header) -> Self {
        let mut before = 0;
        for part in &mut parts {
            part.before = before;
            before += part.sealed.lines;
        }
        Self {
            parts,
            settled_ns: header.provenance.settled_ns,
            header,
            is_restricted: false,
            below: None,
            part: None,
            unselected: AtomicU64::new(0),
            are_trees_checked: AtomicBool::new(false),
        }
    }

    /// Reads the header of a manifest without checking the rest.
    ///
    /// # Errors
    /// When the file cannot be read, does not begin like a manifest, or has a newer version.
    pub fn peek(file: &File) -> Result<Header, Error> {
        let mut fingerprints = Fingerprints::default();
        let source = Source::new(At::Open(file), is_compressed(file)?)?;
        let mut input = AlignedReader::new(BLOCK, FirstPass { source, fingerprints: &mut fingerprints });
        refuse_others(input.fill_buf()?)?;
        match SealedReader::new(input).next_line()? {
            Some(line) => Header::read(line),
            None => Err(Error::NotManifest("it has only a footer".into())),
        }
    }

    /// Joins parts with one file each, which are sorted and complete, to a manifest with this header.
    pub(crate) fn join(parts: impl IntoIterator<Item = (Vec<u8>, Self)>, header: Header) -> Self {
        let files = parts.into_iter().flat_map(|(name, manifest)| {
            manifest.parts.into_iter().map(move |part| PartFile { name: name.clone(), ..part })
        });
        Self::of_files(files.collect(), header)
    }

    /// Closes the file, which must be at this path. It is opened again for each block that is read, so that more manifests
    /// can be read than files can be open.
    ///
    /// # Panics
    /// If the manifest consists of several files.
    pub fn close(&mut self, path: PathBuf) {
        let [part] = &mut *self.parts else { panic!("one file") };
        part.sealed.file = Handle::Closed(path);
    }

    /// Forgets which directories had changed more than `span_ns` before the run of a part, to use less memory.
    pub fn forget_old_changes(&mut self, span_ns: i128) {
        // The clocks of file systems are coarse.
        let ns = self.header.start_ns.saturating_sub(span_ns).saturating_sub(10_000_000_000);
        let of_parts = self.parts.iter_mut().flat_map(|part| &mut part.shards);
        self.header.shard.iter_mut().chain(of_parts).for_each(|shard| shard.forget_changes_before(ns));
    }

    /// Reads only the entries of this shard from now on.
    ///
    /// # Errors
    /// [`Error::OtherShard`] if the manifest is that of another shard.
    pub fn restrict(&mut self, shard: Shard) -> Result<(), Error> {
        match &self.header.shard {
            Some(own) if !own.is_same(&shard) => Err(Error::OtherShard { number: own.number, of: own.of }),
            Some(_) => Ok(()),
            None => {
                self.header.shard = Some(shard);
                self.is_restricted = true;
                Ok(())
            }
        }
    }

    /// Returns the recorded directory at this path below the root: `Some(None)` if only entries below it are recorded, because
    /// a selection omits directories. `None` if it is not recorded.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed.
    pub fn directory(&self, path: &[u8]) -> Result<Option<Option<Stat>>, Error> {
        let mut entries = self.entries()?;
        while let Some(entry) = entries.next()? {
            if entry.path == path {
                return Ok((entry.stat.file_type == FileType::Directory).then_some(Some(entry.stat)));
            }
            if is_below(path, entry.path) {
                return Ok(Some(None));
            }
        }
        Ok(None)
    }

    /// Reads only the entries at and below a [directory](Self::directory) from now on, as if it were the root. The options of
    /// the header are still relative to the recorded root.
    pub fn narrow(&mut self, dir: &[u8]) {
        self.header.narrow(dir);
        self.below = Some(dir.to_vec());
    }

    /// Reads only these entries from now on. Directories have no tree digests then, since those cover other entries too. What
    /// could not be read and is not skipped stays unknown.
    pub fn select(&mut self, part: Selector) {
        let failed = self.header.failed.paths().iter().filter(|path| !part.skips(path));
        self.header.failed = Failed::new(failed.cloned().collect());
        self.part = Some(part);
    }

    /// Returns how many entries the last complete pass has not [selected](Self::select).
    pub fn unselected(&self) -> u64 {
        self.unselected.load(Ordering::Relaxed)
    }

    /// Returns the SHA-256 that the footer has, in hexadecimal digits; `None` if the manifest consists of several files.
    pub fn seal(&self) -> Option<&str> {
        if let [part] = &*self.parts { Some(&part.seal) } else { None }
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the number of entries in all its parts, also those that a [restriction](Self::restrict) hides.
    pub fn records(&self) -> u64 {
        self.parts.iter().map(|part| part.sealed.lines - 1).sum()
    }

    /// Returns a reader that starts at the first entry.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn entries(&self) -> Result<Entries<'_>, Error> {
        let lines = WholeLines::new(&self.parts, &self.header)?;
        let (current, last) = (Owned::new(), Vec::new());
        let is_checked = self.are_trees_checked.load(Ordering::Relaxed);
        let has_trees = self.header.version > 1 && !self.header.algorithms.is_empty();
        let check = (has_trees && !is_checked).then(|| TreeCheck::new(&self.header.algorithms));
        Ok(Entries {
            manifest: self,
            lines,
            current,
            last,
            is_first: true,
            is_written: false,
            check,
            unselected: 0,
            which: None,
        })
    }

    /// Returns how many bytes of memory parts by hash need, which are read at the same time. For other files, which are read
    /// one after another, this is 0.
    pub fn bytes_at_a_time(&self) -> u64 {
        let parts = self.parts.iter().filter(|_| are_hashed(&self.parts));
        parts.map(|part| part.sealed.bytes_to_read()).sum()
    }

    /// Returns whether no entry is hidden or changed.
    fn reads_all(&self) -> bool {
        !self.is_restricted && self.below.is_none() && self.part.is_none()
    }

    /// Returns all files and the header.
    pub(crate) fn into_files(self) -> (Vec<PartFile>, Header) {
        (self.parts, self.header)
    }

    /// Returns the files: one, or the parts of all shards, sorted by their numbers.
    pub(crate) fn parts(&self) -> &[PartFile] {
        &self.parts
    }

    /// Like [`entries`](Self::entries). For one of two manifests, errors report which one.
    pub(crate) fn entries_of(&self, which: Option<Which>) -> Result<Entries<'_>, Error> {
        let entries = self.entries().map_err(|error| error.of(which))?;
        Ok(Entries { which, ..entries })
    }

    /// Reads the digests of all regular files into memory, to compare them with a checksum list.
    ///
    /// # Errors
    /// When the file cannot be read, or has an invalid line.
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

/// A reader of the entries of a manifest. Uses memory for an entry and a path.
#[derive(Debug)]
pub struct Entries<'m> {
    manifest: &'m Manifest,
    lines: WholeLines<'m>,
    current: Owned,
    /// The path of the entry before.
    last: Vec<u8>,
    is_first: bool,
    /// Whether the line that was read last is certainly as ftk writes it.
    is_written: bool,
    /// The check of tree digests, unless an earlier pass did it.
    check: Option<TreeCheck>,
    /// How many entries were not selected.
    unselected: u64,
    /// Which of two manifests this is, for errors.
    which: Option<Which>,
}

/// A line that was not parsed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextLine<'l> {
    /// The line with its newline.
    pub(crate) line: &'l [u8],
    /// Its [number](Entries::number).
    pub(crate) number: u64,
    pub(crate) path: &'l [u8],
}

/// Refuses a file that does not begin like a manifest.
fn refuse_others(start: &[u8]) -> Result<(), Error> {
    Err(Error::NotManifest(match sniff_plain(start) {
        Kind::Binary(Magic::Compressed { with, cat }) => {
            format!("it is compressed with {with}: `{cat} FILE | ftk manifest verify ROOT -` reads it")
        }
        Kind::Binary(what) => format!("it is {what}"),
        Kind::List(what) => return Err(Error::List(what)),
        Kind::Other(what) if !start.trim_ascii_start().starts_with(b"{") => format!("it is {what}"),
        // Parsing the header gives a better error.
        Kind::Other(_) | Kind::Manifest | Kind::Plan => return Ok(()),
    }))
}

impl Entries<'_> {
    /// Returns the next entry, valid until the next call; `None` after the last.
    ///
    /// # Errors
    /// When the file cannot be read, [`Error::Changed`] when it has changed since the manifest was opened,
    /// and for a line that is not a valid entry or is out of order. The reader cannot be used after an error.
    #[expect(clippy::should_implement_trait, reason = "an entry borrows the reader's memory")]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, Error> {
        Ok(if self.advance()? { Some(self.entry()) } else { None })
    }

    /// Returns the entry that was read last.
    pub(crate) fn entry(&self) -> Entry<'_> {
        let entry = self.current.entry();
        let tree = if self.manifest.part.is_some() { &[] } else { entry.tree };
        let is_unsettled = self.manifest.is_unsettled(&entry);
        Entry { path: self.relative(entry.path), tree, is_unsettled, ..entry }
    }

    /// Returns a path of the files below the root of the manifest.
    fn relative<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        self.manifest.below.as_ref().map_or(path, |dir| path_below(dir, path).unwrap_or(path))
    }

    /// Does not compare tree digests with entries.
    pub(crate) fn trust_trees(&mut self) {
        self.check = None;
    }

    /// Returns the number of the line that was read last.
    pub(crate) fn number(&mut self) -> u64 {
        self.lines.number()
    }

    /// Returns the line of the current entry with its newline, until another one is looked at, if ftk would write the same
    /// line for the [entry](Self::entry).
    pub(crate) fn written_line(&self) -> Option<&[u8]> {
        (self.is_written && self.manifest.reads_all()).then(|| self.lines.last())
    }

    /// Returns the next line with its number and the path of its entry, and the same line again until it is
    /// [skipped](Self::skip), if the line begins as ftk writes it and the manifest is read as a whole.
    pub(crate) fn peek(&mut self) -> Result<Option<NextLine<'_>>, Error> {
        let Self { manifest, lines, which, .. } = self;
        let is_line = lines.peek().map_err(|error| error.of(*which))?.is_some();
        if !is_line || !manifest.reads_all() {
            return Ok(None);
        }
        let number = lines.number() + 1;
        let line = lines.peek().map_err(|error| error.of(*which))?.unwrap_or_default();
        Ok(canonical::path(line).map(|path| NextLine { line, number, path }))
    }

    /// Returns the shard of the part of the line that was read last; `None` if the part has several or all.
    pub(crate) fn shard(&self) -> Option<&Shard> {
        self.lines.shard()
    }

    /// Adds to an error which file it is about.
    pub(crate) fn place(&self, error: Error) -> Error {
        locate(&self.manifest.parts, error).of(self.which)
    }

    /// Returns whether the next lines of both are identical.
    pub(crate) fn is_at_line_of(&mut self, other: &mut Entries<'_>) -> Result<bool, Error> {
        let line = self.lines.peek().map_err(|error| error.of(self.which))?;
        Ok(line.is_some() && line == other.lines.peek().map_err(|error| error.of(other.which))?)
    }

    /// Skips all entries below `dir`, a directory before or at the current entry, without parsing them. They are taken for
    /// those of its tree digests. Returns their number.
    ///
    /// # Errors
    /// When the file cannot be read or has changed, or the path of a line that is examined is not valid.
    pub(crate) fn skip_below(&mut self, dir: &[u8]) -> Result<u64, Error> {
        let Self { manifest, lines, check, which, .. } = self;
        let mut parsed = Owned::new();
        let mut is_in = |line: &[u8], number: u64| {
            let path = parsed.path_of(line, &manifest.header);
            path.map(|path| is_below(dir, path)).map_err(|what| Error::Line { number, what })
        };
        let skipped =
            lines.skip_while(&mut is_in).map_err(|error| locate(&manifest.parts, error).of(*which))?;
        if let Some(check) = check {
            check.assume(dir);
        }
        Ok(skipped)
    }

    /// Returns whether the next line has the member whose start in a line is searched for, in the form that ftk writes.
    pub(crate) fn is_at(&mut self, start: &Finder<'_>) -> Result<bool, Error> {
        let which = self.which;
        let line = self.lines.peek().map_err(|error| error.of(which))?;
        Ok(line.is_some_and(|line| start.find(line).is_some()))
    }

    /// Skips a line that was compared, without parsing it.
    pub(crate) fn skip(&mut self) {
        self.lines.skip();
    }

    /// Moves to the path of `other`'s current entry, whose line was identical. The next entry must sort after
    /// it.
    pub(crate) fn stand_at(&mut self, other: &Entries<'_>) {
        self.current.set_path(other.path());
        self.is_first = false;
    }

    /// Checks `other`'s current entry, whose line was identical, in this manifest too: its shard and its tree digests.
    pub(crate) fn check_line_of(&mut self, other: &Entries<'_>) -> Result<(), Error> {
        let number = self.lines.number();
        if self.lines.shard().is_some_and(|shard| !shard.contains(other.path())) {
            let what = EntryError::OutsideShard(other.path().to_vec());
            return Err(self.place(Error::Line { number, what }));
        }
        let checked = self.check.as_mut().map_or(Ok(()), |check| check.add(&other.entry(), number));
        checked.map_err(|error| self.place(error))
    }
}

impl Entries<'_> {
    /// Moves to the next entry of the files, whether or not the manifest is restricted to a shard.
    fn step(&mut self) -> Result<bool, Error> {
        let which = self.which;
        let Some(line) = self.lines.next().map_err(|error| error.of(which))? else {
            if let Some(mut check) = self.check.take() {
                let is_complete = check.finish().map_err(|error| self.place(error))?;
                self.manifest.are_trees_checked.fetch_or(is_complete, Ordering::Relaxed);
            }
            self.manifest.unselected.store(self.unselected, Ordering::Relaxed);
            return Ok(false);
        };
        self.current.swap_path(&mut self.last);
        let read = self.current.read(line, &self.manifest.header);
        let (path, last) = (self.current.entry().path, &*self.last);
        self.is_written = *read.as_ref().unwrap_or(&false);
        let read = read.and_then(|_| if self.is_first { Ok(()) } else { check_order(last, path) });
        let read = read.and_then(|()| match self.lines.shard() {
            Some(shard) if !shard.contains(path) => Err(EntryError::OutsideShard(path.to_vec())),
            _ => Ok(()),
        });
        let number = self.lines.number();
        read.map_err(|what| self.place(Error::Line { number, what }))?;
        if let Some(check) = &mut self.check {
            let checked = check.add(&self.current.entry(), number);
            checked.map_err(|error| self.place(error))?;
        }
        self.is_first = false;
        Ok(true)
    }

    /// Whether the current entry is skipped, because the manifest is restricted to a shard or a directory that it does not
    /// belong to.
    fn is_outside(&self) -> bool {
        let (manifest, path) = (self.manifest, self.current.entry().path);
        let shard = manifest.header.shard.as_ref().filter(|_| manifest.is_restricted);
        shard.is_some_and(|shard| !shard.contains(path))
            || manifest.below.as_ref().is_some_and(|dir| path_below(dir, path).is_none())
    }
}

impl Side for Entries<'_> {
    fn advance(&mut self) -> Result<bool, Error> {
        while self.step()? {
            if self.is_outside() {
                continue;
            }
            let entry = self.entry();
            if self.manifest.part.as_ref().is_none_or(|part| part.selects(entry.path, entry.stat.file_type)) {
                return Ok(true);
            }
            self.unselected += 1;
        }
        Ok(false)
    }

    fn path(&self) -> &[u8] {
        self.relative(self.current.entry().path)
    }
}
