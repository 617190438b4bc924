//! Reads checksum lists into compact tables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, bail};
use ftk_file::{FileType, open_checked};
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, PathList, Unlisted};
use ftk_record::quote;
use rustix::fs::{CWD, OFlags};

use crate::console::cause;
use crate::film::{FilmList, Ignored};
use crate::hash::check::verdict::CheckResult;
use crate::hash::reading::{ReadList, Reading, bare_name, lack_of_asked};
use crate::input::open;
use crate::run::Run;
use crate::scan::say_hint;

/// The message for a list that exceeds `--memory` or the largest possible table.
pub(in crate::hash) const TOO_LARGE: &str = "the list is too large (raise --memory)";

/// How lists are read for a check.
pub(super) struct ParseOptions<'a> {
    pub(super) reading: Reading<'a>,
    /// The directory that paths are confined to.
    pub(super) root: Option<&'a Path>,
    /// What confines them.
    pub(super) confined_by: Option<&'static str>,
    /// The names that are checked; all if empty.
    pub(super) only: &'a [OsString],
    pub(super) run: &'a Run<'a>,
}

/// The checksum lines of all lists. Their paths are stored separately, in the tables of files.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lists: Vec<List>,
    pub(super) lines: Vec<Line>,
    /// The digest of each line, followed by the size of the file (8 bytes, big-endian) if the line has it.
    pub(super) expected: Vec<u8>,
    /// Names that do not stand for a file of a table.
    pub(super) odd: Vec<Odd>,
    /// Whether some lines have the size of their file.
    pub(super) has_sizes: bool,
    /// The names of `--only`, and whether a list has them.
    pub(super) only: BTreeMap<Vec<u8>, bool>,
    /// Whether a history contradicts itself.
    pub(super) is_inconsistent: bool,
    /// What histories do not record.
    pub(super) ignored: Vec<Ignored>,
}

/// One list.
#[derive(Debug)]
pub(super) struct List {
    pub(super) read: ReadList,
    /// The path of the list.
    pub(super) path: PathBuf,
    /// The range of its lines in the table.
    pub(super) lines: Range<usize>,
    /// The table of its files, by number.
    pub(super) table: usize,
    /// The files of a film hash list that record each other, and whether they are as recorded.
    pub(super) generations: Vec<(Vec<u8>, CheckResult)>,
    /// Identity of the list, if it is a regular file.
    pub(super) identity: Option<Identity>,
    /// Whether it was found below a directory.
    pub(super) is_found: bool,
}

/// Device and inode.
type Identity = (u64, u64);

/// One digest of a list, in 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Number of the path in the tables of files, one after the other, or index into [`Lines::odd`].
    pub(super) number: u32,
    pub(super) is_odd: bool,
    pub(super) algorithm: Algorithm,
    /// Whether it is another digest of the file of the line before, in the same list. The file gets one verdict.
    pub(super) is_more: bool,
    pub(super) has_size: bool,
}

/// A name in a checksum line that does not stand for a file of a table.
#[derive(Debug)]
pub(super) enum Odd {
    Stdin,
    Path(Vec<u8>, Unlisted),
}

/// A list to read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: OsString,
    /// Where it was found below a directory. Its names are then relative to its own place.
    pub(super) found: Option<Found>,
}

/// Where a list was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The directory that was searched.
    pub(super) start: Rc<CStr>,
    /// The length of this directory in the path of the list, with the slash.
    pub(super) prefix: usize,
    /// Of a history, the directories below its root with a nested one, each with a slash at the end.
    pub(super) nested: Vec<Vec<u8>>,
}

/// Some of the files that lists name.
#[derive(Debug)]
pub(super) struct PathTable {
    pub(super) paths: PathList,
    /// What precedes each path in a verdict.
    pub(super) prefix: Vec<u8>,
    /// What confines the paths to a directory, if something does.
    pub(super) confined_by: Option<&'static str>,
}

/// What confines the paths of a film hash list.
pub(super) const FILM: &str = "a film hash list";

impl Lines {
    /// Returns a message if no list has a digest by one of the algorithms that were asked for, so that nothing is
    /// checked by it. A list that has none of them has its own message. For untagged lines, they are alternatives.
    pub(super) fn lack_of_one(&self, asked: &[Algorithm]) -> Option<String> {
        if self.lists.iter().any(|list| list.read.lacks_asked || !list.read.names_algorithms) {
            return None;
        }
        let listed = self.lists.iter().flat_map(|list| &list.read.algorithms).copied();
        let mut found: Vec<_> = listed.chain(self.lines.iter().map(|line| line.algorithm)).collect();
        found.sort();
        found.dedup();
        let absent: Vec<_> = asked.iter().copied().filter(|it| !found.contains(it)).collect();
        let name = match &*self.lists {
            [list] => &list.read.name,
            _ => "the lists",
        };
        lack_of_asked(name, &found, &absent)
    }
}

impl ParseOptions<'_> {
    /// Reads all lists. Returns their lines, their paths, and whether all of them were read to the end.
    /// Errors are reported, and the other lists are still read.
    pub(super) fn read(&self, lists: &[Source]) -> anyhow::Result<(Lines, Vec<PathTable>, bool)> {
        let paths = confined(self.root)?.within(&self.run.budget);
        let has_stdin =
            self.root.is_none() && lists.iter().all(|list| list.path != "-" && list.found.is_none());
        let mut tables = Tables::new(paths, self.confined_by, has_stdin);
        tables.lines.only =
            self.only.iter().map(|name| (bare_name(name.as_bytes()).to_vec(), false)).collect();
        let mut is_whole = true;
        for list in lists {
            is_whole &= self.one(list, &mut tables)?;
        }
        tables.number_across()?;
        Ok((tables.lines, tables.paths, is_whole))
    }

    fn one(&self, source: &Source, tables: &mut Tables) -> anyhow::Result<bool> {
        let Source { path, found } = source;
        let film = FilmList::of(path);
        if let Some(film) = film.as_ref().filter(|film| film.is_history) {
            return self.history(source, &film.root, tables);
        }
        let is_found = found.is_some();
        let said = |verb, error: &io::Error| self.run.console.path_error(verb, path.as_bytes(), cause(error));
        let opened = if is_found { open_found(path) } else { open(path) };
        let opened = opened.and_then(|input| Ok((input.metadata()?, input)));
        let (metadata, input) = match opened {
            Ok((metadata, _)) if metadata.is_dir() => {
                self.run.console.error(format_args!(
                    "{} is a directory, and no list: without --root, ftk finds the lists in it, and checks each where it is",
                    quote(path.as_bytes())
                ));
                return Ok(false);
            }
            Ok(opened) => opened,
            Err(error) => {
                said("open", &error);
                say_hint(path.as_bytes());
                return Ok(false);
            }
        };
        let identity = (path != "-" && metadata.is_file()).then(|| (metadata.dev(), metadata.ino()));
        let start = tables.lines.lines.len();
        let mut separators = Separators::default();
        let mut root = self.root.unwrap_or(Path::new(""));
        if is_found {
            root = Path::new(path).parent().unwrap_or(root);
        }
        let is_confined = film.is_some();
        let (table, place) = tables.place(found.as_ref(), root, is_confined, &self.run.budget)?;
        let (read, result) = self.reading.read(
            path,
            input,
            |line| {
                // Many programs do not encode `%` in BagIt manifests. So if the decoded path does not exist but the
                // other one does, the line means that one.
                let name = resolve(&line.name, line.other_name.as_deref(), root);
                let is_wanted = tables.is_wanted(name);
                let number = is_wanted.then_some(tables.lines.lines.len());
                separators.note(name, number, &self.run.budget)?;
                if !is_wanted {
                    return Ok(());
                }
                tables.push(table, &placed(place, name), line.digests, line.size, &self.run.budget)
            },
            |complaint| self.run.console.error(complaint),
        )?;
        if let Err(error) = &result {
            said("read", error);
        }
        if read.is_film && self.root.is_none() && !(is_found && is_confined) {
            bail!("{} is a film hash list: --root names the directory of its files", read.name);
        }
        let lines = start..tables.lines.lines.len();
        if let Some(names) = separators.backslashes(root) {
            tables.replace(table, names, place)?;
            self.run.console.summary(format_args!(
                "{}: `\\` in names is read as `/`, since no name has `/` and none exists as it is",
                read.name
            ));
        }
        let is_whole = result.is_ok();
        // If reading fails before the first checksum line, the error has been reported, and the list is not
        // needed.
        if is_whole || !lines.is_empty() {
            let path = path.into();
            let generations = Vec::new();
            tables.lines.lists.push(List { read, path, lines, table, generations, identity, is_found });
        }
        Ok(is_whole)
    }
}

/// Opens a list that was found by its name, if it still is a regular file: a FIFO in its place is not opened.
fn open_found(path: &OsStr) -> io::Result<File> {
    open_checked(CWD, path, OFlags::RDONLY | OFlags::NOFOLLOW, |found| match found.file_type {
        FileType::Regular => Ok(()),
        _ => Err(io::Error::other("it is not a regular file any more")),
    })
}

/// Returns the path of a name in a list: in the directory `place`, or else as it is.
pub(super) fn placed<'n>(place: Option<&Path>, name: &'n [u8]) -> Cow<'n, [u8]> {
    let Some(dir) = place else { return Cow::Borrowed(name) };
    Cow::Owned(dir.join(OsStr::from_bytes(bare_name(name))).into_os_string().into_vec())
}

/// Returns an empty list of paths, which do not lead out of the root if there is one.
///
/// # Errors
/// If the root is no path.
pub(super) fn confined(root: Option<&Path>) -> anyhow::Result<PathList> {
    Ok(match root {
        Some(root) => PathList::confined(CString::new(root.as_os_str().as_bytes())?),
        None => PathList::new(),
    })
}

/// Returns the path below `root` that a line of a BagIt manifest means, given the name according to RFC 8493 and that
/// of a program that does not encode `%`.
pub(in crate::hash) fn resolve<'l>(name: &'l [u8], other: Option<&'l [u8]>, root: &Path) -> &'l [u8] {
    match other {
        Some(other) if !exists(root, name) && exists(root, other) => other,
        _ => name,
    }
}

fn exists(root: &Path, path: &[u8]) -> bool {
    root.join(OsStr::from_bytes(path)).symlink_metadata().is_ok()
}

/// The names of a list with `\`, as long as they may be paths of Windows.
#[derive(Debug, Default)]
struct Separators {
    /// Whether a name has `/`.
    has_slash: bool,
    /// The number of the first line of each file, and its name.
    names: Vec<(usize, Vec<u8>)>,
}

impl Separators {
    /// Notes the name of a file whose first line has this number, if the file is checked.
    fn note(&mut self, name: &[u8], line: Option<usize>, budget: &Budget) -> anyhow::Result<()> {
        if self.has_slash || memchr::memchr2(b'/', b'\\', name).is_none() {
            return Ok(());
        }
        self.has_slash = name.contains(&b'/');
        if self.has_slash {
            self.names = Vec::new();
        } else if let Some(line) = line {
            budget.reserve((name.len() + size_of::<(usize, Vec<u8>)>()) as u64).context(TOO_LARGE)?;
            self.names.push((line, name.to_vec()));
        }
        Ok(())
    }

    /// Returns the names with `\` if it is the separator: no name has `/`, and none of them exists below `root`.
    fn backslashes(self, root: &Path) -> Option<Vec<(usize, Vec<u8>)>> {
        let is_separator = !self.names.is_empty() && self.names.iter().all(|(_, name)| !exists(root, name));
        is_separator.then_some(self.names)
    }
}

/// The tables while they are filled.
pub(super) struct Tables {
    pub(super) lines: Lines,
    /// The first is that of the lists that were named, and of other lists than film hash lists.
    pub(super) paths: Vec<PathTable>,
    /// Whether the name `-` in a list stands for standard input.
    has_stdin: bool,
    /// Bytes reserved from the budget for the lines.
    reserved: usize,
}

impl Tables {
    /// Makes empty tables. The first one has `paths`, which `confined_by` confines to a directory.
    pub(super) fn new(paths: PathList, confined_by: Option<&'static str>, has_stdin: bool) -> Self {
        let paths = vec![PathTable { paths, prefix: Vec::new(), confined_by }];
        Self { lines: Lines::default(), paths, has_stdin, reserved: 0 }
    }

    /// Returns the number of the table for the files of a list, and the directory in it that their names are relative
    /// to, if the list was found. `root` is that directory.
    ///
    /// The files of film hash lists are confined to the directory that was searched. Since their names are, too, they
    /// do not leave `root`.
    pub(super) fn place<'r>(
        &mut self,
        found: Option<&Found>,
        root: &'r Path,
        is_film: bool,
        budget: &Budget,
    ) -> anyhow::Result<(usize, Option<&'r Path>)> {
        let Some(found) = found else { return Ok((0, None)) };
        if !is_film {
            return Ok((0, Some(root)));
        }
        let mut prefix = found.start.to_bytes().to_vec();
        prefix.resize(found.prefix, b'/');
        let below = root.as_os_str().as_bytes().get(found.prefix..).unwrap_or_default();
        let table = self.paths.iter().skip(1).position(|table| table.prefix == prefix);
        let table = match table {
            Some(at) => at + 1,
            None => {
                let paths = PathList::confined((*found.start).to_owned()).within(budget);
                self.paths.push(PathTable { paths, prefix, confined_by: Some(FILM) });
                self.paths.len() - 1
            }
        };
        Ok((table, Some(Path::new(OsStr::from_bytes(below)))))
    }

    /// Numbers the paths of all tables one after the other.
    fn number_across(&mut self) -> anyhow::Result<()> {
        let mut first = 0_u32;
        for (nth, table) in self.paths.iter().enumerate() {
            for list in self.lines.lists.iter().filter(|list| list.table == nth && first > 0) {
                for line in self.lines.lines[list.lines.clone()].iter_mut().filter(|line| !line.is_odd) {
                    line.number += first;
                }
            }
            let len = u32::try_from(table.paths.len()).ok();
            first = len.and_then(|len| first.checked_add(len)).context(TOO_LARGE)?;
        }
        Ok(())
    }

    /// Returns whether a name is to be checked, and notes that a list has it.
    pub(super) fn is_wanted(&mut self, name: &[u8]) -> bool {
        let only = &mut self.lines.only;
        only.is_empty() || only.get_mut(bare_name(name)).map(|it| *it = true).is_some()
    }

    /// Adds a file with at least one digest, and its size if the list has it, to the table of this number.
    pub(super) fn push(
        &mut self,
        table: usize,
        name: &[u8],
        digests: &[(Algorithm, Digest)],
        mut size: Option<u64>,
        budget: &Budget,
    ) -> anyhow::Result<()> {
        let (number, is_odd) = self.number(table, name)?;
        let Lines { lines, expected, has_sizes, .. } = &mut self.lines;
        for (nth, &(algorithm, ref digest)) in digests.iter().enumerate() {
            // The first line of the file has the size.
            let size = size.take();
            lines.push(Line { number, is_odd, algorithm, is_more: nth > 0, has_size: size.is_some() });
            expected.extend_from_slice(digest.as_bytes());
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

    /// Adds a name. Returns its number in the table, and whether it is an odd one.
    fn number(&mut self, table: usize, name: &[u8]) -> anyhow::Result<(u32, bool)> {
        let odd = &mut self.lines.odd;
        let PathTable { paths, prefix, .. } = &mut self.paths[table];
        let as_odd = if self.has_stdin && *name == *b"-" {
            Some(Odd::Stdin)
        } else {
            match paths.push(name) {
                Ok(()) => None,
                Err(full @ Unlisted::Full(_)) => bail!(anyhow::Error::new(full).context(TOO_LARGE)),
                Err(why) if name.starts_with(b"/") => Some(Odd::Path(name.to_vec(), why)),
                Err(why) => Some(Odd::Path([&**prefix, name].concat(), why)),
            }
        };
        let is_odd = as_odd.is_some();
        odd.extend(as_odd);
        Ok((if is_odd { odd.len() } else { paths.len() } as u32 - 1, is_odd))
    }

    /// Gives other names to files: those with `/` instead of `\`, at the place of the list.
    fn replace(
        &mut self,
        table: usize,
        names: Vec<(usize, Vec<u8>)>,
        place: Option<&Path>,
    ) -> anyhow::Result<()> {
        for (first, mut name) in names {
            name.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
            let (number, is_odd) = self.number(table, &placed(place, &name))?;
            let file = self.lines.lines[first..].iter_mut().enumerate();
            for (_, line) in file.take_while(|(nth, line)| *nth == 0 || line.is_more) {
                (line.number, line.is_odd) = (number, is_odd);
            }
        }
        Ok(())
    }
}
