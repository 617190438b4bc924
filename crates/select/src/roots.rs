//! The starting points of a walk, and the globs that lead to them.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path;
use std::sync::OnceLock;

use ftk_file::{FileType, Stat, Symlinks};
use rustix::fs::CWD;

use crate::PatternError;
use crate::glob::{Glob, Globs, Pattern};
use crate::spelling::{Spelling, divisions, expand, normalise_path, split, unescape};

/// The starting points of a walk, by their numbers, for the paths in rules.
///
/// A glob whose first names lead to a starting point also means the path below it, whatever way these names are
/// spelled: as the starting point was typed, absolute, with `..`, or through a link. They may also have special
/// characters after a directory above the starting point. Examining a glob with a slash may make system calls for the
/// directories that its first names lead to.
#[derive(Debug, Default)]
pub struct Roots<'r> {
    paths: &'r [CString],
    are_shared: bool,
    /// Whether they are those of records, and may not exist.
    are_recorded: bool,
    by_path: OnceLock<HashMap<Vec<u8>, Vec<usize>>>,
    by_id: OnceLock<HashMap<Id, Vec<usize>>>,
    /// Those that are directories, with their absolute paths.
    directories: OnceLock<Vec<(usize, Vec<Vec<u8>>)>>,
}

/// Device and inode number.
type Id = (u64, u64);

/// What a glob means below the starting points.
#[derive(Debug)]
pub(crate) struct Readings {
    /// The meaning below every starting point, if that is a valid glob.
    pub(crate) everywhere: Option<Spelling>,
    /// Other meanings below single starting points. An empty glob is the starting point itself.
    pub(crate) below: BTreeMap<usize, Vec<Spelling>>,
}

impl<'r> Roots<'r> {
    /// The starting points with these paths, numbered from 0 as in a walk.
    pub fn new(paths: &'r [CString]) -> Self {
        Self { paths, ..Self::default() }
    }

    /// No starting points: globs mean only what is below every one. This is for rules that were recorded.
    pub fn none() -> Self {
        Self::default()
    }

    /// The roots of records. Only their names count: no system call is made for them.
    pub fn recorded(paths: &'r [CString]) -> Self {
        Self { paths, are_recorded: true, ..Self::default() }
    }

    /// Makes a path below one starting point apply below all of them, because they are the sides of a comparison.
    #[must_use]
    pub fn shared(self) -> Self {
        Self { are_shared: true, ..self }
    }

    /// Whether there is more than one.
    pub(crate) fn are_several(&self) -> bool {
        self.paths.len() > 1
    }

    /// Returns what a glob means.
    ///
    /// # Errors
    /// If no meaning of it is a valid glob. A starting point whose name has special characters is a name, so a meaning
    /// below it can be valid when the whole glob is not, and the other way round.
    pub(crate) fn read(&self, glob: &[u8]) -> Result<Readings, PatternError> {
        let everywhere = Spelling::of(glob);
        let mut below = if everywhere.is_path { self.below(glob, &everywhere) } else { BTreeMap::new() };
        let check = |glob: &[u8]| Globs::check(&Pattern { glob: glob.into(), ignore_case: false });
        below.values_mut().for_each(|rests| rests.retain(|rest| check(&rest.glob).is_ok()));
        below.retain(|_, rests| !rests.is_empty());
        match check(&everywhere.glob) {
            Ok(()) => Ok(Readings { everywhere: Some(everywhere), below }),
            Err(_) if !below.is_empty() => Ok(Readings { everywhere: None, below }),
            // The position of the error is that in the glob as it was written.
            Err(error) => Err(check(glob).err().unwrap_or(error)),
        }
    }

    /// Returns globs that mean below the first starting point, without knowing it, what this glob means there. One of
    /// them must match. This is for rules that are recorded, and the same glob is returned if it does not begin with
    /// the starting point.
    ///
    /// # Errors
    /// If the glob is invalid.
    pub fn relative(&self, glob: &[u8]) -> Result<Vec<Vec<u8>>, PatternError> {
        let Readings { everywhere, mut below } = self.read(glob)?;
        let Some(mut rests) = below.remove(&0) else { return Ok(vec![glob.to_vec()]) };
        rests.extend(everywhere.filter(|everywhere| self.may_exist(everywhere)));
        let first_is_dirs = rests[0].only_dirs;
        let fits = |rest: &Spelling| {
            !rest.glob.is_empty() && rest.only_dirs == first_is_dirs && str::from_utf8(&rest.glob).is_ok()
        };
        if rests.len() > 1 && rests.iter().all(fits) {
            // One rule stays one rule.
            let escaped = |it: &Spelling| split(&it.glob, b',').join(&b"\\,"[..]);
            let alternatives = rests.iter().map(escaped).collect::<Vec<_>>().join(&b',');
            let glob = [b"{", &*alternatives, b"}"].concat();
            rests = vec![Spelling { glob, is_path: true, only_dirs: first_is_dirs }];
        }
        let written = |it: Spelling| [&b"/"[..], &it.glob, if it.only_dirs { b"/" } else { b"" }].concat();
        Ok(rests.into_iter().map(written).collect())
    }

    /// Returns whether the directory that everything is in which a glob matches exists below the first starting point.
    fn may_exist(&self, glob: &Spelling) -> bool {
        let (place, _) = glob.place();
        let root = self.paths.first().map_or(&b"."[..], |root| root.to_bytes());
        Stat::at(CWD, [root, b"/", &place].concat(), Symlinks::NoFollow).is_ok()
    }

    /// Returns whether a glob is the path of a starting point.
    pub(crate) fn is_named_by(&self, glob: &[u8]) -> bool {
        let is_root = |rests: &Vec<Spelling>| rests.iter().any(|rest| rest.glob.is_empty());
        self.read(glob).is_ok_and(|readings| readings.below.values().any(is_root))
    }

    /// Returns the paths below single starting points that a glob means, apart from what it means below all.
    fn below(&self, glob: &[u8], everywhere: &Spelling) -> BTreeMap<usize, Vec<Spelling>> {
        let mut below = BTreeMap::new();
        if self.paths.is_empty() {
            return below;
        }
        self.add_below(glob, everywhere, &mut below);
        if below.is_empty() {
            // The braces are not part of a name.
            expand(glob).iter().for_each(|glob| self.add_below(glob, everywhere, &mut below));
        }
        expand(glob).iter().for_each(|glob| self.add_matching(glob, everywhere, &mut below));
        if self.are_shared && !below.is_empty() {
            let mut all: Vec<Spelling> = Vec::new();
            for rest in below.into_values().flatten() {
                if !all.contains(&rest) {
                    all.push(rest);
                }
            }
            below = (0..self.paths.len()).map(|root| (root, all.clone())).collect();
        }
        below
    }

    /// Adds what a glob means below the starting points that its first names lead to.
    fn add_below(&self, glob: &[u8], everywhere: &Spelling, below: &mut BTreeMap<usize, Vec<Spelling>>) {
        // The names before each slash, and the whole glob.
        let ends = glob.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([glob.len()]) {
            let names = if end == 0 { &b"/"[..] } else { &glob[..end] };
            // With its slash, the rest is a path that begins there.
            let mut rest = Spelling::of(glob.get(end..).filter(|rest| rest.len() > 1).unwrap_or_default());
            rest.is_path = true;
            if rest != *everywhere {
                self.at(names).into_iter().for_each(|root| add(below, root, &rest));
            }
        }
    }

    /// Adds what a glob means below the starting points that its first names match: `/home/*/cache` means `cache` below
    /// `/home/a`. The names before its first special character must lead to a directory above the starting point.
    fn add_matching(&self, glob: &[u8], everywhere: &Spelling, below: &mut BTreeMap<usize, Vec<Spelling>>) {
        let (spelling, start) = (Spelling::of(glob), if glob.starts_with(b"/") { &b"/"[..] } else { b"" });
        let ((place, is_whole), special) = (spelling.place(), spelling.after_place());
        if is_whole || place.is_empty() {
            return;
        }
        let matcher = |(first, rest): (Vec<u8>, Vec<u8>)| Some((Glob::new(first).ok()?, rest));
        let divisions: Vec<_> = divisions(&special).into_iter().filter_map(matcher).collect();
        let places = self.paths_of(&[start, &place].concat());
        for (root, paths) in self.directories.get_or_init(|| self.directories()) {
            for names in paths.iter().flat_map(|path| places.iter().filter_map(|it| below_of(path, it))) {
                for (_, rest) in divisions.iter().filter(|(first, _)| first.is_match(names)) {
                    let rest = Spelling { glob: rest.clone(), is_path: true, only_dirs: spelling.only_dirs };
                    if rest != *everywhere {
                        add(below, *root, &rest);
                    }
                }
            }
        }
    }

    /// Returns the numbers of the starting points that these names lead to. The names may be escaped as in a glob, but
    /// a special character that is not escaped stands for itself.
    fn at(&self, names: &[u8]) -> Vec<usize> {
        let plain = unescape(names);
        let mut roots = self.at_path(names);
        if plain != names {
            roots.extend(self.at_path(&plain));
        }
        roots
    }

    fn at_path(&self, path: &[u8]) -> Vec<usize> {
        let by_path = self.by_path.get_or_init(|| {
            let mut numbers: HashMap<_, Vec<_>> = HashMap::new();
            for (number, root) in self.paths.iter().enumerate() {
                numbers.entry(self.absolute(root.to_bytes())).or_default().push(number);
            }
            numbers
        });
        // Some file systems give a directory another inode number each time.
        let mut roots = by_path.get(&self.absolute(path)).cloned().unwrap_or_default();
        if let Some(id) = (!self.are_recorded).then(|| directory(path)).flatten() {
            let by_id = self.by_id.get_or_init(|| {
                let mut numbers: HashMap<_, Vec<_>> = HashMap::new();
                for (number, root) in self.paths.iter().enumerate() {
                    if let Some(id) = directory(root.to_bytes()) {
                        numbers.entry(id).or_default().push(number);
                    }
                }
                numbers
            });
            roots.extend(by_id.get(&id).into_iter().flatten());
        }
        roots
    }

    /// Returns the starting points that are directories, by their numbers, with their paths. The root of a record is
    /// one.
    fn directories(&self) -> Vec<(usize, Vec<Vec<u8>>)> {
        let is_directory = |root: &[u8]| self.are_recorded || directory(root).is_some();
        let numbered = self.paths.iter().enumerate().filter(|(_, root)| is_directory(root.to_bytes()));
        numbered.map(|(number, root)| (number, self.paths_of(root.to_bytes()))).collect()
    }

    /// Returns a path as an absolute one: as it is spelled, and without links.
    fn paths_of(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let mut paths = vec![self.absolute(path)];
        if !self.are_recorded {
            let resolved = fs::canonicalize(OsStr::from_bytes(path)).ok();
            paths.extend(resolved.map(|it| it.into_os_string().into_vec()).filter(|it| *it != paths[0]));
        }
        paths
    }

    /// Returns a path as an absolute one, without what only spells it differently. The root of a record is not relative
    /// to the working directory.
    fn absolute(&self, path: &[u8]) -> Vec<u8> {
        let absolute = (!self.are_recorded).then(|| path::absolute(OsStr::from_bytes(path)).ok()).flatten();
        absolute.map_or_else(|| normalise_path(path), |it| normalise_path(it.as_os_str().as_bytes()))
    }
}

/// Adds what a glob means below a starting point.
fn add(below: &mut BTreeMap<usize, Vec<Spelling>>, root: usize, rest: &Spelling) {
    let known = below.entry(root).or_default();
    if !known.contains(rest) {
        known.push(rest.clone());
    }
}

/// Returns the rest of a path below a directory, if it is below it.
fn below_of<'p>(path: &'p [u8], dir: &[u8]) -> Option<&'p [u8]> {
    path.strip_prefix(dir)?.strip_prefix(b"/")
}

/// Returns the identity of the directory that a path leads to, or `None` if there is no such directory.
fn directory(path: &[u8]) -> Option<Id> {
    let stat = Stat::at(CWD, path, Symlinks::Follow).ok()?;
    (stat.file_type == FileType::Directory).then(|| stat.identity())
}

/// A value for each starting point. Most have the same one.
#[derive(Clone, Debug)]
pub(crate) struct PerRoot<T> {
    common: T,
    others: BTreeMap<usize, T>,
}

impl<T> PerRoot<T> {
    /// Makes the common value, and those for the starting points with these numbers.
    pub(crate) fn new<E>(
        others: impl IntoIterator<Item = usize>,
        mut make: impl FnMut(Option<usize>) -> Result<T, E>,
    ) -> Result<Self, E> {
        let common = make(None)?;
        let others =
            others.into_iter().map(|root| Ok((root, make(Some(root))?))).collect::<Result<_, E>>()?;
        Ok(Self { common, others })
    }

    /// Returns the value for the starting point with this number.
    pub(crate) fn of(&self, root: usize) -> &T {
        if self.others.is_empty() { &self.common } else { self.others.get(&root).unwrap_or(&self.common) }
    }

    /// Returns the value for starting points that do not have their own.
    pub(crate) fn common(&self) -> &T {
        &self.common
    }

    /// Whether any value satisfies `is_wanted`.
    pub(crate) fn any(&self, is_wanted: impl Fn(&T) -> bool) -> bool {
        is_wanted(&self.common) || self.others.values().any(is_wanted)
    }
}
