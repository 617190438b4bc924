//! The files that lists name, and what became of them since.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, bail, ensure};
use ftk_inventory::PathList;
use ftk_record::{EditableList, quote};

use crate::console::cause;
use crate::hash::assumed::matching;
use crate::hash::check::lists::resolve;
use crate::hash::check::unlisted::simplify;
use crate::run::Run;

/// What the names of a list are relative to, and how they begin.
pub(super) struct Place {
    /// The directory of the list; `/` if all its names are absolute.
    pub(super) dir: PathBuf,
    /// The directory of the list.
    list_dir: PathBuf,
    /// What comes before each name: `./`, `/` or nothing.
    prefix: &'static [u8],
    pub(super) is_bag: bool,
}

impl Place {
    pub(super) fn of(lists: &[EditableList], dir: &Path, is_bag: bool) -> Self {
        let all_begin = |start: &[u8]| {
            lists.iter().flat_map(EditableList::lines).all(|line| line.name.starts_with(start))
        };
        let (place, prefix) = match () {
            () if all_begin(b"/") => (Path::new("/"), &b"/"[..]),
            () if all_begin(b"./") => (dir, &b"./"[..]),
            () => (dir, &b""[..]),
        };
        Self { dir: place.to_owned(), list_dir: dir.to_owned(), prefix, is_bag }
    }

    /// Returns the directory to search by default.
    pub(super) fn top(&self) -> PathBuf {
        if self.is_bag { self.dir.join("data") } else { self.list_dir.clone() }
    }

    /// Returns the name for a new file.
    pub(super) fn name(&self, key: &[u8]) -> Vec<u8> {
        [self.prefix, key].concat()
    }

    /// Returns the path of a listed file.
    pub(super) fn path(&self, name: &[u8]) -> PathBuf {
        self.dir.join(OsStr::from_bytes(name))
    }

    /// Returns the path of a starting point below the directory.
    ///
    /// # Errors
    /// If it is not below it.
    pub(super) fn below(&self, start: &Path) -> anyhow::Result<Vec<u8>> {
        let found = match (lexical(start), lexical(&self.dir)) {
            (Some(start), Some(dir)) => start.strip_prefix(dir).ok().map(Path::to_owned),
            _ => None,
        };
        let found = match found {
            Some(found) => found,
            None => {
                let is_outside = || {
                    format!(
                        "{} is not below the directory of the list, {}",
                        quote(start.as_os_str().as_bytes()),
                        quote(self.dir.as_os_str().as_bytes())
                    )
                };
                let (real, dir) = (resolved(start), self.dir.canonicalize());
                let below = real.and_then(|real| Ok(real.strip_prefix(dir?).ok().map(Path::to_owned)));
                below.ok().flatten().with_context(is_outside)?
            }
        };
        let key = found.into_os_string().into_encoded_bytes();
        ensure!(
            !self.is_bag || key == b"data" || key.starts_with(b"data/"),
            "{} is not in data/ of the bag",
            quote(start.as_os_str().as_bytes())
        );
        Ok(key)
    }
}

/// Returns the absolute path without `.`; `None` if it has `..`, which may follow a link.
fn lexical(path: &Path) -> Option<PathBuf> {
    let is_plain = path.components().all(|it| it != Component::ParentDir);
    is_plain.then(|| std::path::absolute(path).ok()).flatten()
}

/// Resolves all links but that of the last name.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            Ok(parent.canonicalize()?.join(name))
        }
        _ => path.canonicalize(),
    }
}

/// What became of a listed file.
#[derive(Debug)]
pub(super) enum State {
    /// It is not newer than the list.
    Same(Seen),
    /// It may have changed: it is newer than the list, or has another size than the list says.
    Changed(Seen),
    Missing,
    /// Its name is that of a directory or special file now.
    NotAFile,
    /// It cannot be examined.
    Failed(String),
}

/// What was seen of a file that exists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) size: u64,
    pub(super) modified: SystemTime,
}

/// A listed file.
#[derive(Debug)]
pub(super) struct Known {
    /// The name in the first list.
    pub(super) name: Vec<u8>,
    pub(super) state: State,
    /// Its lines: the list, and the number of the line.
    pub(super) lines: Vec<(usize, usize)>,
}

/// The listed files by their paths.
pub(super) struct KnownFiles(BTreeMap<Vec<u8>, Known>);

impl KnownFiles {
    /// Examines the files of all lists. `written` is the time since which a file counts as changed.
    ///
    /// # Errors
    /// If a name in a bag leads out of its payload, or names have `\` as the separator.
    pub(super) fn examine(
        lists: &[EditableList],
        place: &Place,
        written: SystemTime,
        shown: &str,
    ) -> anyhow::Result<Self> {
        let mut files = BTreeMap::<Vec<u8>, Known>::new();
        let mut plain = Vec::new();
        for (nth, list) in lists.iter().enumerate() {
            for (number, line) in list.lines().iter().enumerate() {
                let name = resolve(&line.name, line.other_name.as_deref(), &place.dir);
                let is_absolute = name.starts_with(b"/");
                let is_inside = simplify(name, b"", &mut plain) && (!is_absolute || place.prefix == b"/");
                let is_payload = is_inside && plain.starts_with(b"data/");
                ensure!(
                    !place.is_bag || is_payload,
                    "{shown}, line {}: {} is not in data/ of the bag",
                    line.number,
                    quote(name)
                );
                let key = if is_inside { plain.clone() } else { name.to_vec() };
                let file = files.entry(key).or_insert_with(|| Known {
                    name: name.to_vec(),
                    state: examine(&place.path(name), written),
                    lines: Vec::new(),
                });
                if let (State::Same(seen), Some(listed)) = (&file.state, line.size)
                    && seen.size != listed
                {
                    file.state = State::Changed(*seen);
                }
                file.lines.push((nth, number));
            }
        }
        let has_slash = files.values().any(|file| file.name.contains(&b'/'));
        let windows = files.values().find(|file| {
            let path =
                || file.name.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect::<Vec<_>>();
            matches!(file.state, State::Missing) && file.name.contains(&b'\\') && place.path(&path()).exists()
        });
        if let Some(file) = windows.filter(|_| !has_slash) {
            bail!(
                "{shown} has names with `\\` between directories, such as {}: make the list again",
                quote(&file.name)
            );
        }
        Ok(Self(files))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Vec<u8>, &Known)> {
        self.0.iter()
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether any list has a file.
    pub(super) fn is_listed(&self, key: &[u8]) -> bool {
        self.0.contains_key(key)
    }

    /// Whether a list has a file.
    pub(super) fn has(&self, key: &[u8], list: usize) -> bool {
        self.0.get(key).is_some_and(|file| file.lines.iter().any(|(nth, _)| *nth == list))
    }

    /// Returns the number of names that no file has.
    pub(super) fn missing(&self) -> u64 {
        self.0.values().filter(|file| matches!(file.state, State::Missing | State::NotAFile)).count() as u64
    }

    /// Returns the sizes of the files that exist.
    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.0.values().filter_map(|file| match file.state {
            State::Same(seen) | State::Changed(seen) => Some(seen.size),
            State::Missing | State::NotAFile | State::Failed(_) => None,
        })
    }

    /// Returns the number of bytes of the files that exist.
    pub(super) fn bytes(&self) -> u64 {
        self.sizes().sum()
    }

    /// Returns the number of files that exist.
    pub(super) fn present(&self) -> u64 {
        self.sizes().count() as u64
    }

    /// Checks that the algorithm is right if neither the list nor its name says it. Reads one listed file, or up to
    /// [`SAMPLE`] if their digests are others.
    ///
    /// # Errors
    /// If none of them has the listed digest.
    pub(super) fn check_assumed(
        &self,
        list: &EditableList,
        run: &Run<'_>,
        place: &Place,
    ) -> anyhow::Result<()> {
        let [assumed] = *list.assumed() else {
            ensure!(
                list.assumed().is_empty(),
                "the digests have several lengths: name the algorithms with -a"
            );
            return Ok(());
        };
        // Files that are newer than the list may have their listed contents nevertheless.
        let mut present: Vec<_> = self
            .0
            .values()
            .filter_map(|file| match file.state {
                State::Same(seen) => Some((false, seen.size, file)),
                State::Changed(seen) => Some((true, seen.size, file)),
                _ => None,
            })
            .collect();
        present.sort_by_key(|(is_newer, size, _)| (*is_newer, *size));
        let are_newer = present.iter().all(|(is_newer, ..)| *is_newer);
        let mut other = None;
        for (.., file) in present.iter().filter(|(_, size, _)| *size > 0).take(SAMPLE) {
            let mut paths = PathList::new();
            if paths.push(place.path(&file.name).as_os_str().as_bytes()).is_err() {
                continue;
            }
            let listed: Vec<_> = list.lines()[file.lines[0].1].digests.iter().map(|it| it.1).collect();
            let found = matching(paths, &listed, run)?;
            if found.contains(&assumed) {
                return Ok(());
            }
            other = found.first().copied().or(other);
        }
        match other {
            Some(other) => bail!("its digests are not by {assumed} but by {other}: add -a {other}"),
            None if are_newer => bail!(
                "it does not say its algorithm, all files that it names are newer than the list, and those that were \
                 read have other digests by {assumed}: name the algorithm with -a"
            ),
            None => bail!(
                "it does not say its algorithm, and no file that was read has the listed digest by {assumed}: name the \
                 algorithm with -a"
            ),
        }
    }
}

/// The most listed files that are read to find out the algorithm.
const SAMPLE: usize = 3;

/// Returns what became of a file.
fn examine(path: &Path, written: SystemTime) -> State {
    match fs::metadata(path).and_then(|it| Ok((it.modified()?, it))) {
        Ok((_, metadata)) if !metadata.is_file() => State::NotAFile,
        Ok((modified, metadata)) => {
            let seen = Seen { size: metadata.len(), modified };
            if modified > written { State::Changed(seen) } else { State::Same(seen) }
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            State::Missing
        }
        Err(error) => State::Failed(cause(&error)),
    }
}
