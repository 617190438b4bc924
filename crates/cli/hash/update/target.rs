//! A list that `--update` replaces.

use std::fs::{self, Metadata};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, bail, ensure};
use ftk_hash::Algorithm;
use ftk_record::{EditError, EditableList, End, ListFormat, named_algorithm, quote};

use crate::console::Console;
use crate::hash::reading::lack_of_asked;
use crate::input::foreign;
use crate::list::List;
use crate::lock::Lock;
use crate::stdout::Stdout;

/// A file of text that is locked, was read, and is replaced as a whole.
pub(super) struct Target<'o> {
    pub(super) path: &'o Path,
    lock: Lock,
    out: List<'o>,
    /// The metadata before it was read.
    before: Metadata,
    pub(super) bytes: Vec<u8>,
    /// The time when the new file was created, before anything else was examined.
    pub(super) start: SystemTime,
}

impl<'o> Target<'o> {
    /// Locks and reads a file, and creates the one that will replace it. `memory` is the most bytes it may have.
    ///
    /// # Errors
    /// If it is not a regular file that the caller may replace, or is too large.
    pub(super) fn open(
        path: &'o Path,
        memory: u64,
        stdout: &'o Stdout,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let name = || quote(path.as_os_str().as_bytes());
        ensure!(path != Path::new("-"), "--update replaces a file: standard input cannot be one");
        let mut lock = Lock::acquire(path, console)?;
        let before = lock.file().metadata()?;
        let mut bytes = Vec::new();
        let read = lock.file().take(memory).read_to_end(&mut bytes);
        read.with_context(|| format!("cannot read {}", name()))?;
        ensure!((bytes.len() as u64) < memory, "{} is too large (raise --memory)", name());
        let mut out = List::create(Some(path), stdout)?;
        let prepared = lock.extend_to(&out).and_then(|()| {
            let start =
                out.file()?.map_or_else(|| Ok(SystemTime::now()), |file| file.metadata()?.modified())?;
            out.keep_owner(start)?;
            Ok(start)
        });
        let start = prepared.with_context(|| format!("cannot replace {}", name()))?;
        Ok(Self { path, lock, out, before, bytes, start })
    }

    /// Returns the mtime of the file.
    pub(super) fn modified(&self) -> io::Result<SystemTime> {
        self.before.modified()
    }

    /// Device and inode of the file and of the one that replaces it.
    pub(super) fn own(&self) -> Vec<(u64, u64)> {
        self.out.own()
    }

    /// Writes the new file, which has no name yet. `modified` is the mtime that it will have.
    pub(super) fn write(&mut self, bytes: &[u8], modified: SystemTime) -> anyhow::Result<()> {
        self.out.keep_owner(modified)?;
        self.out.write(bytes);
        Ok(())
    }

    /// Gives the new file its name.
    ///
    /// # Errors
    /// If this fails, or another program has changed the file since it was read, which then stays.
    pub(super) fn replace(self) -> anyhow::Result<()> {
        let name = quote(self.path.as_os_str().as_bytes());
        self.lock.check().with_context(|| name.clone())?;
        let (was, is) = (&self.before, fs::metadata(self.path)?);
        let known = |it: &Metadata| (it.len(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec());
        ensure!(known(was) == known(&is), "{name}: another program has changed it since it was read");
        self.out.finish()
    }
}

/// Parses the list in a file. Its name can say the algorithm of untagged lines.
///
/// # Errors
/// If it is not a list of digests, or has lines that are not understood.
pub(super) fn parse(
    target: &Target<'_>,
    end: End,
    asked: &[Algorithm],
    memory: u64,
) -> anyhow::Result<EditableList> {
    let name = || quote(target.path.as_os_str().as_bytes());
    let mut input = BufReader::new(&*target.bytes);
    if let Some(what) = foreign(&mut input) {
        bail!("{} is no checksum list: it is {what}", name());
    }
    let format = ListFormat::of(target.path.as_os_str(), input.fill_buf()?);
    ensure!(
        format != ListFormat::Mhl,
        "{} is a film hash list, which is not updated: `ftk manifest export --format ascmhl` adds a generation",
        name()
    );
    let is_sums = format == ListFormat::Sums;
    ensure!(is_sums || end == End::Newline, "--zero: the lines of {} do not end with NUL", name());
    ensure!(
        is_sums || asked.is_empty(),
        "--algorithm cannot be used with {}: the list says its algorithms",
        name()
    );
    let named = named_algorithm(target.path.file_name().unwrap_or_default().as_bytes());
    let named: Vec<_> = named.filter(|_| is_sums && asked.is_empty()).into_iter().collect();
    let parse =
        |asked: &[Algorithm]| EditableList::parse(target.bytes.clone(), format.clone(), end, asked, memory);
    let list = match parse(if named.is_empty() { asked } else { &named }) {
        // The name may be wrong.
        Err(EditError::Line(..)) if !named.is_empty() => parse(&[]),
        parsed => parsed,
    };
    let list = list.with_context(|| format!("cannot update {}", name()))?;
    ensure!(!list.lines().is_empty(), "{} contains no digest: `ftk hash -o` makes a list", name());
    if let Some(lack) = lack_of_asked(&name().to_string(), &list.algorithms(), asked) {
        bail!(lack);
    }
    ensure!(!list.algorithms().is_empty(), "cannot update {}: its files have no algorithm in common", name());
    Ok(list)
}
