//! Finds files that a rule skips under one name, and that a search has found under another one.
//!
//! Two mounts of one directory give each file in it two paths, and so does a followed link. `--exclude` and
//! `--exclude-where` are about paths. If one of them skips one path of a file, the file must not be removed under the
//! other one.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::ffi::{CString, OsStr};
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{self, PathBuf};

use ftk_file::{FileType, Mount, PATH_MAX, Stat, Symlinks, mounts};
use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_record::quote;
use ftk_select::{Glob, Rest, Selection, SkippedEntry, SkippedFile, Unseen};
use rustix::fs::CWD;

use super::Below;
use super::below::{dirs_below, mounts_inside, shown};

/// Whether files below the starting points of a search may have several paths.
#[derive(Debug)]
pub struct OtherNames {
    /// The mounted file systems; none if no two of them show the same directory below the starting points.
    mounts: Vec<Mount>,
    follows_links: bool,
}

/// Files that were found under one name, while a rule skips another name of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherName {
    /// One of the files.
    pub found: Vec<u8>,
    /// The name that is skipped: of this file, or of a directory that contains it.
    pub skipped: Vec<u8>,
    /// Whether `skipped` is the name of a directory.
    pub is_inside: bool,
    /// Whether the rule may skip only a part of this directory.
    pub is_part: bool,
    /// The long option of the rule.
    pub option: &'static str,
    /// The number of such files.
    pub files: u64,
}

/// What a rule skips.
struct SkippedName {
    path: Vec<u8>,
    option: &'static str,
    /// Whether this is the path of a directory.
    is_directory: bool,
    /// The file, if it is one or has been found in the directory.
    file: Option<SkippedFile>,
    /// Whether the rule may skip only a part of the directory.
    is_part: bool,
}

impl From<SkippedEntry> for SkippedName {
    fn from(SkippedEntry { path, option, file }: SkippedEntry) -> Self {
        Self { path, option, is_directory: file.is_none(), file, is_part: false }
    }
}

impl Error for OtherName {}

impl fmt::Display for OtherName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, skipped, is_inside, is_part, option, files } = self;
        let is = if *is_inside { "is also in" } else { "is also" };
        let skips = if *is_part { "may skip" } else { "skips" };
        write!(f, "{} {is} {}, which {option} {skips}", quote(found), quote(skipped))?;
        match files {
            0 | 1 => {}
            2 => f.write_str(", and 1 more file is like this")?,
            files => write!(f, ", and {} more files are like this", files - 1)?,
        }
        f.write_str(": skip both names, or neither")
    }
}

impl OtherNames {
    /// Returns `None` if no rule skips anything, or no file below the starting points can have two paths, as far as the
    /// table of mounts says. Links are followed if they are a starting point or lead to one, and others on request.
    pub fn of(roots: &[CString], follows_links: bool, has_rules: bool) -> Option<Self> {
        if !has_rules {
            return None;
        }
        let mut mounts: Vec<_> = mounts().collect();
        let paths: Vec<_> = roots.iter().map(|root| resolved(root.as_bytes())).collect();
        let has_link = roots.iter().zip(&paths).any(|(root, path)| absolute(root.as_bytes()) != *path);
        if !overlap(paths.into_iter().flatten(), &mounts) {
            mounts.clear();
        }
        (follows_links || has_link || !mounts.is_empty()).then_some(Self { mounts, follows_links })
    }

    /// Looks for files that a rule of the selection skips under another name. `unseen` is what the walk did not show,
    /// and `inventory` what it did.
    ///
    /// # Errors
    /// If there are any.
    pub fn check(
        &self,
        inventory: &Inventory,
        roots: &[CString],
        selection: &Selection,
        unseen: Unseen,
    ) -> Result<(), OtherName> {
        let Unseen { entries, mut not_entered } = unseen;
        not_entered.sort_unstable();
        not_entered.dedup();
        let mut entries: Vec<_> = entries.into_iter().map(SkippedName::from).collect();
        entries.extend(self.inside(&not_entered, inventory, roots, selection));
        // The order of the walk is not always the same, and what is certain comes first.
        entries.sort_by(|a, b| (a.is_part, &a.path).cmp(&(b.is_part, &b.path)));
        self.add_mounted(&mut entries);
        let (files, directories): (Vec<_>, Vec<_>) = entries.into_iter().partition(|it| it.file.is_some());
        let mut conflicts = Conflicts { inventory, found: None, files: 0 };
        conflicts.of_directories(&directories, self, roots);
        conflicts.of_files(&files);
        let files = conflicts.files;
        conflicts.found.map_or(Ok(()), |found| Err(OtherName { files, ..found }))
    }

    /// Returns what rules skip, or may skip, below directories that were not entered under these paths.
    fn inside(
        &self,
        not_entered: &[Vec<u8>],
        inventory: &Inventory,
        roots: &[CString],
        selection: &Selection,
    ) -> Vec<SkippedName> {
        let mut dirs: HashMap<_, Vec<_>> = HashMap::new();
        if !not_entered.is_empty() {
            let all = (0..inventory.dirs()).map(DirNo);
            all.for_each(|dir| dirs.entry(inventory.identity_of_dir(dir)).or_default().push(dir));
        }
        let has_match = |directory: &[u8], glob: &[u8]| {
            let known =
                Stat::at(CWD, directory, Symlinks::Follow).ok().and_then(|it| dirs.get(&it.identity()));
            known.is_none_or(|known| known.iter().any(|&dir| has_match(inventory, dir, glob)))
        };
        let mut entries = Vec::new();
        for path in not_entered {
            let Ok(stat) = Stat::at(CWD, &path[..], Symlinks::Follow) else { continue };
            // What a rule skips under the path that was entered was skipped there.
            let of_entered = |&dir: &DirNo| {
                let (root, path) = (inventory.root_of_dir(dir), inventory.dir_path(dir));
                let below = below_root(&path, roots[root].as_bytes()).unwrap_or_default();
                selection.excluded_below(root, below)
            };
            let entered: Vec<_> = dirs.get(&stat.identity()).into_iter().flatten().map(of_entered).collect();
            let is_new = |rest: &Rest| entered.is_empty() || entered.iter().any(|it| !it.contains(rest));
            let of_root = |(root, start): (usize, &CString)| {
                let below = below_root(path, start.as_bytes())?;
                Some(selection.excluded_below(root, below))
            };
            let rests = roots.iter().enumerate().filter_map(of_root).flatten();
            for Rest { place, inside, .. } in rests.filter(is_new) {
                let path = if place.is_empty() { path.clone() } else { [path, &b"/"[..], &place].concat() };
                if inside.is_empty() || has_match(&path, &inside) {
                    entries.extend(self.skipped(path, "--exclude", !inside.is_empty()));
                }
            }
            if let Some(option) = selection.excludes_by_path() {
                entries.extend(self.skipped(path.clone(), option, true));
            }
        }
        entries
    }

    /// Adds what is mounted inside of directories that are skipped, and files of theirs that are mounted elsewhere.
    fn add_mounted(&self, entries: &mut Vec<SkippedName>) {
        if self.mounts.is_empty() {
            return;
        }
        let mut added = Vec::new();
        for SkippedName { path, option, is_part, .. } in entries.iter().filter(|it| it.file.is_none()) {
            let Some(directory) = resolved(path) else { continue };
            let inside = self.mounts.iter().filter(|it| it.at.starts_with(&directory) && it.at != directory);
            let at = |it: &Mount| it.at.as_os_str().as_bytes().to_vec();
            added.extend(inside.filter_map(|it| self.skipped(at(it), option, *is_part)));
            // Files that are mounted elsewhere.
            let parts = mounts_inside(&directory, &self.mounts);
            let parts = parts.filter_map(|it| self.skipped(at(it), option, *is_part));
            let parts = parts.filter(|it| it.file.is_some());
            added.extend(parts.map(|it| SkippedName { path: path.clone(), is_directory: true, ..it }));
        }
        entries.extend(added);
    }

    /// Returns what is at a path, if it exists. If only `is_part` of it is skipped, this is the whole directory.
    fn skipped(&self, path: Vec<u8>, option: &'static str, is_part: bool) -> Option<SkippedName> {
        let stat = Stat::at(CWD, &path[..], Symlinks::follow_if(self.follows_links)).ok()?;
        let file = match stat.file_type {
            FileType::Directory => None,
            FileType::Regular => {
                let is_mounted = self.mounts.iter().any(|it| it.at.as_os_str().as_bytes() == path);
                let (directory, identity) = (directory_of(&path)?, stat.identity());
                Some(SkippedFile { directory, identity, is_unique: stat.nlink == 1 || is_mounted })
            }
            // No other type, nor any future type, is a duplicate.
            _ => return None,
        };
        Some(SkippedName { path, option, is_directory: file.is_none(), file, is_part })
    }
}

/// The files that have another name.
struct Conflicts<'i> {
    inventory: &'i Inventory,
    found: Option<OtherName>,
    files: u64,
}

impl Conflicts<'_> {
    /// Adds the files in directories that are skipped under another path.
    fn of_directories(&mut self, directories: &[SkippedName], names: &OtherNames, roots: &[CString]) {
        if directories.is_empty() {
            return;
        }
        let inventory = self.inventory;
        let below = Below::of_those_here(directories.iter().map(|it| &it.path[..]), &names.mounts);
        // A starting point that is given by a path inside of such a directory is wanted.
        let is_given = |root: usize, nth: usize| {
            let (root, directory) = (absolute(roots[root].as_bytes()), absolute(&directories[nth].path));
            root.zip(directory).is_some_and(|(root, directory)| root.starts_with(directory))
        };
        let mut holders: Vec<Vec<usize>> = Vec::with_capacity(inventory.dirs() as usize);
        let mut path = Vec::new();
        for dir in (0..inventory.dirs()).map(DirNo) {
            path.clear();
            let files = inventory.files_of(dir).map(FileNo);
            if inventory.has_starting_points(dir) {
                for file in files {
                    let path = inventory.path(file);
                    let root = inventory.root_of(dir, file);
                    if let Some(&nth) = below.holders(&path).iter().find(|&&nth| !is_given(root, nth)) {
                        self.add(file, &directories[nth], 1);
                    }
                }
                holders.push(Vec::new());
                continue;
            }
            let parent = inventory.parent(dir);
            let mut numbers = parent.map_or_else(Vec::new, |parent| holders[parent.0 as usize].clone());
            numbers.extend(below.watched(inventory.identity_of_dir(dir)));
            // What is above a starting point or below a link is no directory of the walk.
            if parent.is_none() || names.follows_links {
                inventory.push_dir_path(dir, &mut path);
                if path.len() < PATH_MAX {
                    numbers.extend(below.at_or_above(&path).iter());
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            let root = inventory.root_of_dir(dir);
            if let (Some(file), Some(&nth)) =
                (files.clone().next(), numbers.iter().find(|&&nth| !is_given(root, nth)))
            {
                self.add(file, &directories[nth], files.count() as u64);
            }
            holders.push(numbers);
        }
    }

    /// Adds the files that are skipped under another name.
    fn of_files(&mut self, skipped: &[SkippedName]) {
        let (mut named, mut unique) = (HashMap::<_, HashMap<_, _>>::new(), HashMap::new());
        for entry in skipped {
            let Some(SkippedFile { directory, identity, is_unique }) = entry.file else { continue };
            if !entry.is_directory {
                named.entry(directory).or_default().insert(last_name(&entry.path), entry);
            }
            if is_unique {
                unique.insert(identity, entry);
            }
        }
        if skipped.is_empty() {
            return;
        }
        let inventory = self.inventory;
        for dir in (0..inventory.dirs()).map(DirNo) {
            let are_starts = inventory.has_starting_points(dir);
            let mut here = named.get(&inventory.identity_of_dir(dir));
            for file in inventory.files_of(dir).map(FileNo) {
                let name = inventory.name(dir, file).to_bytes();
                if are_starts {
                    here = directory_of(name).and_then(|directory| named.get(&directory));
                }
                let by_name = || here.and_then(|here| here.get(last_name(name)));
                // A link to a file is never removed.
                let is_link = inventory.symlinks(dir, file) == Symlinks::Follow;
                if let Some(entry) = by_name().or_else(|| unique.get(&inventory.identity(dir, file)))
                    && !is_link
                {
                    self.add(file, entry, 1);
                }
            }
        }
    }

    fn add(&mut self, file: FileNo, skipped: &SkippedName, files: u64) {
        self.files += files;
        let SkippedName { path, option, is_directory, is_part, .. } = skipped;
        self.found.get_or_insert_with(|| OtherName {
            found: self.inventory.path(file),
            skipped: path.clone(),
            is_inside: *is_directory,
            is_part: *is_part,
            option,
            files,
        });
    }
}

/// Returns whether a glob for paths below a directory matches a file that was found there, or a directory that contains it.
fn has_match(inventory: &Inventory, top: DirNo, glob: &[u8]) -> bool {
    let Ok(glob) = Glob::new(glob) else { return true };
    let mut path = Vec::new();
    inventory.push_prefix(top, &mut path);
    let start = path.len();
    dirs_below(inventory, top).flat_map(|dir| inventory.files_of(dir)).any(|file| {
        path.clear();
        inventory.push_path(FileNo(file), &mut path);
        let below = &path[start..];
        let ends = below.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.chain([below.len()]).any(|end| glob.is_match(&below[..end]))
    })
}

/// Returns the identity of the directory that contains an entry.
fn directory_of(path: &[u8]) -> Option<(u64, u64)> {
    let directory = path.iter().rposition(|&byte| byte == b'/').map_or(&b"."[..], |at| &path[..=at]);
    Some(Stat::at(CWD, directory, Symlinks::Follow).ok()?.identity())
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Returns whether two mounts show the same directory below these paths, which have no links.
fn overlap(paths: impl IntoIterator<Item = PathBuf>, mounts: &[Mount]) -> bool {
    let mut visible = HashSet::new();
    for path in paths {
        visible.extend(shown(&path, mounts).map(|(nth, dev, root)| (dev, root, nth)));
        let inside = mounts.iter().enumerate().filter(|(_, it)| it.at.starts_with(&path));
        visible.extend(inside.map(|(nth, it)| (it.dev, it.root.clone(), nth)));
    }
    let mut visible: Vec<_> = visible.into_iter().collect();
    // What is inside of a directory follows it.
    visible.sort();
    visible.iter().enumerate().any(|(at, (dev, root, nth))| {
        let inside = visible[at + 1..].iter().take_while(|(of, it, _)| of == dev && it.starts_with(root));
        inside.into_iter().any(|(_, _, other)| other != nth)
    })
}

/// Returns the absolute path without links.
fn resolved(path: &[u8]) -> Option<PathBuf> {
    fs::canonicalize(OsStr::from_bytes(if path.is_empty() { b"." } else { path })).ok()
}

/// Returns the absolute path as it is spelled.
fn absolute(path: &[u8]) -> Option<PathBuf> {
    path::absolute(OsStr::from_bytes(if path.is_empty() { b"." } else { path })).ok()
}

/// Returns the part of a path below a starting point, if it is below it.
fn below_root<'p>(path: &'p [u8], root: &[u8]) -> Option<&'p [u8]> {
    match path.strip_prefix(root)? {
        [] => Some(b""),
        [b'/', below @ ..] => Some(below),
        below if root.ends_with(b"/") => Some(below),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use ftk_inventory::{Collect, Keep};
    use ftk_select::{Filtered, Roots};
    use ftk_walk::{Follow, Walker};

    use super::*;

    fn mount(dev: u64, root: &str, at: &str) -> Mount {
        Mount { number: 1, dev, root: root.into(), at: at.into(), kind: "ext4".into() }
    }

    #[test]
    fn mounts_overlap_only_below_the_starting_points() {
        let mounts = [
            mount(1, "/", "/"),
            mount(1, "/p/keep", "/q/m"),
            mount(1, "/elsewhere/z", "/q/n"),
            mount(2, "/", "/data"),
            mount(3, "/vol/a", "/data/a"),
            mount(3, "/vol", "/data/vol"),
            mount(2, "/x", "/data/x2"),
        ];
        for (starts, expected) in [
            (&["/p", "/q"][..], true),
            (&["/p/keep/inner", "/q"], true),
            (&["/p/other", "/q"], false),
            (&["/p"], false),
            (&["/q"], false),
            (&["/q/m", "/p"], true),
            (&["/p", "/p/keep"], false),
            (&["/"], true),
            (&["/data/a", "/data/vol/a/b"], true),
            (&["/data/a", "/data/vol/b"], false),
            (&["/data/y", "/data/x2"], false),
            (&["/data"], true),
        ] {
            assert_eq!(overlap(starts.iter().map(PathBuf::from), &mounts), expected, "{starts:?}");
        }
    }

    /// Searches with links followed; returns what the check says about the only glob.
    fn check(glob: &str, starts: &[PathBuf]) -> Result<(), OtherName> {
        let roots: Vec<_> =
            starts.iter().map(|it| CString::new(it.as_os_str().as_bytes()).unwrap()).collect();
        let selection = Selection::builder().exclude(glob).build_for(&Roots::new(&roots)).unwrap();
        let selection = selection.recording_unseen();
        let walker = Walker::new(starts).follow(Follow::Always);
        let parts = walker.run(|worker| Filtered::new(&selection, Collect::new(worker, Keep::Sizes)));
        let (mut unseen, mut collected) = (Unseen::default(), Vec::new());
        for part in parts.into_iter().map(Filtered::into_parts) {
            unseen.merge(part.unseen);
            collected.push(part.visitor);
        }
        let names = OtherNames { mounts: Vec::new(), follows_links: true };
        names.check(&Inventory::merge(collected).unwrap(), &roots, &selection, unseen)
    }

    #[test]
    fn files_are_found_under_the_names_that_links_give_them() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        for dir in ["b", "p/a/keep/in", "q"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        for file in ["p/a/keep/x", "p/a/keep/y.tmp", "p/a/keep/in/z", "p/other"] {
            fs::write(at(file), file).unwrap();
        }
        symlink("../p/a", at("b/l")).unwrap();
        symlink("../p/a/keep/in", at("q/l")).unwrap();
        symlink("../p/other", at("q/to file")).unwrap();
        let starts = |names: &[&str]| -> Vec<_> { names.iter().map(|it| at(it)).collect() };
        let found = |glob: &str, names: &[&str]| {
            let glob = glob.replace('@', temp.path().to_str().unwrap());
            check(&glob, &starts(names)).err().map(|it| {
                let below = |path: &[u8]| {
                    String::from_utf8(path[temp.path().as_os_str().len() + 1..].to_vec()).unwrap()
                };
                (below(&it.found), below(&it.skipped), it.is_inside, it.is_part, it.files)
            })
        };
        let some = |found: &str, skipped: &str, is_inside, is_part, files| {
            Some((found.to_owned(), skipped.to_owned(), is_inside, is_part, files))
        };
        // The link is skipped, or what it leads to, or what is above that.
        assert_eq!(found("l", &["p", "q"]), some("p/a/keep/in/z", "q/l", true, false, 1));
        assert_eq!(found("@/p/a/keep/in", &["p", "q"]), some("q/l/z", "p/a/keep/in", true, false, 1));
        assert_eq!(found("keep", &["p", "q"]), some("q/l/z", "p/a/keep", true, false, 1));
        assert_eq!(found("to file", &["p", "q"]), some("p/other", "q/to file", false, false, 1));
        // `p/a` is entered as `b/l`.
        assert_eq!(found("@/p/a/keep", &["p", "b"]), some("b/l/keep/x", "p/a/keep", true, false, 3));
        assert_eq!(found("@/p/a/keep/x", &["p", "b"]), some("b/l/keep/x", "p/a/keep/x", false, false, 1));
        assert_eq!(found("@/p/*/keep", &["p", "b"]), some("b/l/keep/x", "p/a/keep", true, false, 3));
        assert_eq!(found("@/p/a/keep/?", &["p", "b"]), some("b/l/keep/x", "p/a/keep", true, true, 3));
        assert_eq!(found("@/p/a/*/in/z", &["p", "b"]), some("b/l/keep/x", "p/a", true, true, 3));
        assert_eq!(found("@/p/*/i?", &["p", "b"]), some("b/l/keep/x", "p/a", true, true, 3));
        assert_eq!(
            found("@/p/a/keep/in/z", &["b", "p"]),
            some("b/l/keep/in/z", "p/a/keep/in/z", false, false, 1)
        );
        // Globs that mean the same under both paths, or match nothing there.
        for glob in [
            "*.tmp",
            "*/keep",
            "a/keep/nothing",
            "@/p/z/*",
            "@/b/l/keep",
            "other",
            "@/p/a/nothing",
            "@/p/a/*.c",
        ] {
            assert_eq!(found(glob, &["p", "b"]), None, "{glob}");
        }
        // A starting point inside is wanted.
        assert_eq!(found("keep", &["p", "p/a/keep/in"]), None);
        assert_eq!(found("keep", &["p", "q/l"]), some("q/l/z", "p/a/keep", true, false, 1));
    }

    #[test]
    fn the_message_has_an_example_and_the_number() {
        let name = OtherName {
            found: b"q/m/x".into(),
            skipped: b"p/keep/x".into(),
            is_inside: false,
            is_part: false,
            option: "--exclude",
            files: 1,
        };
        assert_eq!(
            name.to_string(),
            "'q/m/x' is also 'p/keep/x', which --exclude skips: skip both names, or neither"
        );
        let name = OtherName { skipped: b"p/keep".into(), is_inside: true, is_part: true, files: 3, ..name };
        assert_eq!(
            name.to_string(),
            "'q/m/x' is also in 'p/keep', which --exclude may skip, and 2 more files are like this: skip both names, or neither"
        );
    }
}
