//! Reads the files that lists name, each once, with all the algorithms its lines need.

use std::ops::Range;

use anyhow::Context as _;
use ftk_file::{Failure, Stream};
use ftk_hash::{Algorithm, Digest, Platform};
use ftk_inventory::{Budget, DirNo, FileNo, Inventory, PathList};
use ftk_process::hash_stream;
use rustix::io::Errno;

use crate::console::cause;
use crate::hash::check::lists::{Line, Lines, Odd, PathTable, TOO_LARGE};
use crate::hash::check::verdict::CheckResult;
use crate::input;
use crate::run::{Hashed, Run};

/// The digests of the files, and the errors.
pub(super) struct Files {
    /// The tables of paths, in the order of the numbers of their paths.
    tables: Vec<Table>,
    /// Files grouped by the algorithms they need. Each group is processed in one run.
    groups: Vec<Group>,
    /// Digests of standard input, or the error.
    stdin: Result<Vec<(Algorithm, Digest)>, String>,
}

/// Where the files of a table of paths are.
struct Table {
    /// The number of its first path.
    first: u32,
    /// The file of each path: its number in the only group, or the index into `places`.
    file_of: Vec<FileNo>,
    /// The group of each file, from `group` on, and its number there. Empty if there is only one group.
    places: Vec<Place>,
    /// The number of its first group.
    group: usize,
}

/// A group, and the file's number in it.
type Place = (u16, FileNo);

struct Group {
    /// What precedes the paths of the inventory.
    prefix: Vec<u8>,
    /// What confines the paths to a directory, if something does.
    confined_by: Option<&'static str>,
    algorithms: Vec<Algorithm>,
    inventory: Inventory,
    hashed: Hashed,
}

/// Why there is no digest to compare with a line.
pub(super) struct Trouble {
    pub(super) verdict: CheckResult,
    /// The operation that failed.
    pub(super) verb: &'static str,
    pub(super) cause: String,
}

impl Files {
    /// Reads every listed file, with the algorithms that its lines need. A file in two tables is read for each.
    pub(super) fn read(lines: &Lines, tables: Vec<PathTable>, run: &Run<'_>) -> anyhow::Result<Self> {
        let mut files = Self { tables: Vec::new(), groups: Vec::new(), stdin: stdin(lines, run.platform) };
        let mut first = 0;
        for PathTable { paths, prefix, confined_by } in tables {
            let (inventory, file_of) = Inventory::from_list(paths).context(TOO_LARGE)?;
            let (parts, places) = split(inventory, lines, first, &file_of, &run.budget)?;
            let group = files.groups.len();
            for (algorithms, inventory) in parts {
                let work = run.whole(&inventory, None, &algorithms);
                let hashed = run.read(&work, run.rows(&work, lines.has_sizes).context(TOO_LARGE)?)?;
                let prefix = prefix.clone();
                files.groups.push(Group { prefix, confined_by, algorithms, inventory, hashed });
            }
            let next = first + file_of.len() as u32;
            files.tables.push(Table { first, file_of, places, group });
            first = next;
        }
        Ok(files)
    }

    /// Returns the number of bytes that were read.
    pub(super) fn bytes(&self) -> u64 {
        self.groups.iter().map(|group| group.hashed.done.bytes).sum()
    }

    /// Returns all algorithms that were used.
    pub(super) fn algorithms(&self) -> Vec<Algorithm> {
        let mut all: Vec<_> = self.groups.iter().flat_map(|group| &group.algorithms).copied().collect();
        all.sort();
        all.dedup();
        all
    }

    /// Returns a builder for the paths of lines, as written in the lists.
    pub(super) fn paths<'f>(&'f self, lines: &'f Lines) -> Paths<'f> {
        Paths { files: self, lines, path: Vec::new(), at: None }
    }

    /// Returns the digest of the file that a line names, by the algorithm of the line.
    fn digest(&self, line: Line, lines: &Lines) -> Result<&[u8], Trouble> {
        let unreadable = |verb, cause| Err(Trouble { verdict: CheckResult::Unreadable, verb, cause });
        if line.is_odd {
            return match (&lines.odd[line.number as usize], &self.stdin) {
                (Odd::Path(_, why), _) => unreadable("open", why.to_string()),
                (Odd::Stdin, Err(why)) => unreadable("read", why.clone()),
                (Odd::Stdin, Ok(digests)) => {
                    let digest = digests.iter().find(|(algorithm, _)| *algorithm == line.algorithm);
                    Ok(digest.expect("every algorithm asked of it was computed").1.as_bytes())
                }
            };
        }
        let (group, file) = self.place(line);
        let group = &self.groups[group];
        let nth = group.algorithms.iter().position(|algorithm| *algorithm == line.algorithm);
        if let Some(digest) =
            group.hashed.rows.digest(file.0, nth.expect("a group has its files' algorithms"))
        {
            return Ok(digest);
        }
        Err(group.trouble(group.hashed.failure(file).expect("a row without digest has failed")))
    }

    /// Returns the size of the file that a line names, if it was read. The lists must have sizes.
    fn size(&self, line: Line) -> Option<u64> {
        if line.is_odd {
            return None;
        }
        let (group, file) = self.place(line);
        self.groups[group].hashed.rows.stat(file.0).map(|stat| stat.size)
    }

    /// Returns the group of a line's file, and its number in the group.
    fn place(&self, line: Line) -> (usize, FileNo) {
        // The last one that begins here has paths.
        let table = &self.tables[self.tables.partition_point(|table| table.first <= line.number) - 1];
        let file = table.file_of[(line.number - table.first) as usize];
        let place = table.places.get(file.0 as usize);
        place.map_or((table.group, file), |&(group, file)| (table.group + usize::from(group), file))
    }
}

impl Group {
    fn trouble(&self, failure: &Failure) -> Trouble {
        let is_link = |option| format!("the path contains a symbolic link, which {option} does not follow");
        let (verdict, verb, cause) = match failure {
            Failure::Io { op, source } => match source.raw_os_error().map(Errno::from_raw_os_error) {
                // NOTDIR: a directory of the path has been replaced by a file.
                Some(Errno::NOENT | Errno::NOTDIR) => (CheckResult::Missing, *op, cause(source)),
                Some(Errno::LOOP) => {
                    let why = self.confined_by.map_or_else(|| cause(source), is_link);
                    (CheckResult::Unreadable, *op, why)
                }
                _ => (CheckResult::Unreadable, *op, cause(source)),
            },
            Failure::NotRegular => {
                let or =
                    self.confined_by.map_or_else(String::new, |option| format!(", or {}", is_link(option)));
                (CheckResult::Unreadable, "read", format!("it is not a regular file{or}"))
            }
            _ => (CheckResult::Changed, "check", "it changed while being read".to_owned()),
        };
        Trouble { verdict, verb, cause }
    }
}

/// Builds the paths that lines name. Successive paths in the same directory are cheap.
pub(super) struct Paths<'f> {
    files: &'f Files,
    lines: &'f Lines,
    path: Vec<u8>,
    at: Option<At>,
}

/// The directory of the last path.
struct At {
    group: usize,
    dir: DirNo,
    /// The files in this directory.
    files: Range<u32>,
    /// Length of the directory in the path, with the slash.
    prefix: usize,
}

impl<'f> Paths<'f> {
    /// Returns the digest of the file that a line names, by the algorithm of the line.
    pub(super) fn digest(&self, line: Line) -> Result<&'f [u8], Trouble> {
        self.files.digest(line, self.lines)
    }

    /// Returns the size of the file that a line names, if it was read. The lists must have sizes.
    pub(super) fn size(&self, line: Line) -> Option<u64> {
        self.files.size(line)
    }

    /// Returns the path that a line names, as written in the list.
    pub(super) fn of(&mut self, line: Line) -> &[u8] {
        if line.is_odd {
            return match &self.lines.odd[line.number as usize] {
                Odd::Stdin => b"-",
                Odd::Path(path, _) => path,
            };
        }
        let (group, file) = self.files.place(line);
        let Group { inventory, prefix, .. } = &self.files.groups[group];
        let at = match self.at.take() {
            Some(at) if at.group == group && at.files.contains(&file.0) => at,
            _ => {
                let dir = inventory.dir_of(file);
                self.path.clone_from(prefix);
                inventory.push_prefix(dir, &mut self.path);
                At { group, dir, files: inventory.files_of(dir), prefix: self.path.len() }
            }
        };
        self.path.truncate(at.prefix);
        self.path.extend_from_slice(inventory.name(at.dir, file).to_bytes());
        self.at = Some(at);
        &self.path
    }
}

/// Computes the digests of standard input that lines need.
fn stdin(lines: &Lines, platform: Platform) -> Result<Vec<(Algorithm, Digest)>, String> {
    let is_stdin = |line: &&Line| line.is_odd && matches!(lines.odd[line.number as usize], Odd::Stdin);
    let mut algorithms = Vec::new();
    if !lines.odd.is_empty() {
        algorithms.extend(lines.lines.iter().filter(is_stdin).map(|line| line.algorithm));
    }
    algorithms.sort();
    algorithms.dedup();
    if algorithms.is_empty() {
        return Ok(Vec::new());
    }
    let digests = input::stdin().and_then(|stdin| hash_stream(Stream::new(stdin), &algorithms, platform));
    digests.map(|digests| algorithms.into_iter().zip(digests).collect()).map_err(|error| cause(&error))
}

/// Algorithms, and the files that need exactly these.
type Part = (Vec<Algorithm>, Inventory);

/// Splits the files of a table by the algorithms they need. The number of its first path is `first`. Also returns the
/// place of each file. If there is only one part, which is the usual case, no places are needed and the list is empty.
fn split(
    inventory: Inventory,
    lines: &Lines,
    first: u32,
    file_of: &[FileNo],
    budget: &Budget,
) -> anyhow::Result<(Vec<Part>, Vec<Place>)> {
    let bit =
        |algorithm| 1_u16 << Algorithm::ALL.iter().position(|it| *it == algorithm).expect("it is one of all");
    let algorithms = |set| Algorithm::ALL.into_iter().filter(|&it| set & bit(it) != 0).collect::<Vec<_>>();
    let mut sets = vec![0_u16; inventory.files() as usize];
    for line in lines.lines.iter().filter(|line| !line.is_odd) {
        let own = line.number.checked_sub(first).and_then(|nth| file_of.get(nth as usize));
        if let Some(file) = own {
            sets[file.0 as usize] |= bit(line.algorithm);
        }
    }
    let mut different = sets.clone();
    different.sort_unstable();
    different.dedup();
    match *different {
        [] => return Ok((Vec::new(), Vec::new())),
        [set] => return Ok((vec![(algorithms(set), inventory)], Vec::new())),
        _ => {}
    }
    let mut places = vec![(0, FileNo(0)); sets.len()];
    let mut groups = Vec::with_capacity(different.len());
    let mut path = Vec::new();
    for (group, set) in different.into_iter().enumerate() {
        let mut part = PathList::like(&inventory).within(budget);
        let files = || sets.iter().enumerate().filter(|(_, it)| **it == set).map(|(file, _)| file);
        for file in files() {
            path.clear();
            inventory.push_path(FileNo(file as u32), &mut path);
            part.push(&path).context(TOO_LARGE)?;
        }
        let (part, numbers) = Inventory::from_list(part).context(TOO_LARGE)?;
        for (file, number) in files().zip(numbers) {
            places[file] = (group as u16, number);
        }
        groups.push((algorithms(set), part));
    }
    Ok((groups, places))
}
