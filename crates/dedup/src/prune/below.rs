//! Tests whether files lie below directories, by the identity of every directory above them.
//!
//! A path says little about where a file is: links, `..` and bind mounts give one file many paths. So the directory of a
//! file is opened, and then the directory above it, up to the root. A file is below a directory if one of these has its
//! device and inode number.
//!
//! If a part of a directory is mounted elsewhere, the directories above the mount point do not show it. The table of mounts
//! does: such a mount point counts as the directory too.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use ftk_file::{Mount, Stat, Symlinks, descend, mounts};
use ftk_inventory::{DirNo, FileNo, Inventory};
use rustix::fs::CWD;

use super::MemberTest;
use crate::Member;

/// Directories that are remembered. Most files have neighbours.
const MAX_KNOWN: usize = 1 << 16;

/// Device and inode number of a directory.
type Identity = (u64, u64);

/// The numbers of directories.
type Numbers = Arc<[usize]>;

/// Directories, recognised by their identity.
#[derive(Debug, Default)]
pub struct Below {
    /// The number of directories.
    len: usize,
    /// The numbers of the directories that have an identity, or of which a part is mounted there.
    watched: HashMap<Identity, Vec<usize>>,
    /// The numbers of the directories that are inside one with this identity.
    inside: HashMap<Identity, Vec<usize>>,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    /// The numbers of the directories above others.
    known: HashMap<Identity, Numbers>,
    /// The path that was looked up last, and the answer. Neighbours come one after the other.
    last: Option<(Vec<u8>, Numbers)>,
}

impl Below {
    /// Opens the directories.
    ///
    /// # Errors
    /// If one cannot be opened. Returns its number too.
    pub fn new(directories: &[OsString]) -> Result<Self, (usize, io::Error)> {
        let mut below = Self { len: directories.len(), ..Self::default() };
        let mounts: Vec<_> = if directories.is_empty() { Vec::new() } else { mounts().collect() };
        for (nth, directory) in directories.iter().enumerate() {
            below.add(nth, directory, &mounts).map_err(|error| (nth, error))?;
        }
        Ok(below)
    }

    fn add(&mut self, nth: usize, directory: &OsStr, mounts: &[Mount]) -> io::Result<()> {
        let mut dir = open(directory.as_bytes())?;
        let mut identity = self.watch(nth, &dir, directory, mounts)?;
        while let Some((above, of_above)) = climb(&dir, identity)? {
            (dir, identity) = (above, of_above);
            self.inside.entry(identity).or_default().push(nth);
        }
        Ok(())
    }

    /// Opens the directories as far as possible. The result does not say what is above them.
    pub(super) fn of_those_here<'d>(directories: impl Iterator<Item = &'d [u8]>, mounts: &[Mount]) -> Self {
        let mut below = Self::default();
        for (nth, directory) in directories.enumerate() {
            below.len = nth + 1;
            // Nothing in a directory that is gone has another name.
            if let Ok(dir) = open(directory) {
                let _ = below.watch(nth, &dir, OsStr::from_bytes(directory), mounts);
            }
        }
        below
    }

    /// Adds an open directory, and the parts of it that are mounted elsewhere. Returns its identity.
    fn watch(&mut self, nth: usize, dir: &OwnedFd, path: &OsStr, mounts: &[Mount]) -> io::Result<Identity> {
        let identity = Stat::of(dir)?.identity();
        self.watched.entry(identity).or_default().push(nth);
        if mounts.is_empty() {
            return Ok(identity);
        }
        for mount in mounts_inside(&fs::canonicalize(path)?, mounts) {
            if let Ok(stat) = open(mount.at.as_os_str().as_bytes()).and_then(|dir| Ok(Stat::of(&dir)?)) {
                self.watched.entry(stat.identity()).or_default().push(nth);
            }
        }
        Ok(identity)
    }

    /// Returns the numbers of the directories that have this identity, or of which a part is mounted there.
    pub(super) fn watched(&self, identity: Identity) -> &[usize] {
        self.watched.get(&identity).map_or(&[], |numbers| numbers)
    }

    /// Returns a test for each directory: whether it contains a member, or the member is a directory that contains it.
    pub fn tests(self) -> Vec<MemberTest> {
        let (len, below) = (self.len, Rc::new(self));
        let test = |nth| {
            let below = below.clone();
            let accepts = move |member: &Member| {
                below.holders(&member.path).contains(&nth) || below.touched(&member.path).contains(&nth)
            };
            Box::new(accepts) as MemberTest
        };
        (0..len).map(test).collect()
    }

    /// Returns the number of the directories.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the numbers of the directories that contain a file.
    pub fn holders(&self, file: &[u8]) -> Numbers {
        let cut = file.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        self.at_or_above(&file[..cut])
    }

    /// Returns whether one of the directories contains a file.
    pub fn contains(&self, file: &[u8]) -> bool {
        !self.holders(file).is_empty()
    }

    /// Returns the numbers of the directories that a directory is, is below or is above.
    pub fn touched(&self, dir: &[u8]) -> Vec<usize> {
        if self.len == 0 {
            return Vec::new();
        }
        let mut numbers = self.at_or_above(dir).to_vec();
        if let Ok(stat) = open(dir).and_then(|dir| Ok(Stat::of(&dir)?)) {
            numbers.extend(self.inside.get(&stat.identity()).into_iter().flatten());
        }
        numbers
    }

    /// Returns whether a directory is one of the directories, below one, or above one.
    pub fn touches(&self, dir: &[u8]) -> bool {
        !self.touched(dir).is_empty()
    }

    /// Returns for each of the directories whether the walk found a file below it.
    pub fn have_files(&self, inventory: &Inventory) -> Vec<bool> {
        let mut have_files = vec![false; self.len];
        if self.len == 0 {
            return have_files;
        }
        let mut path = Vec::new();
        for dir in (0..inventory.dirs()).map(DirNo) {
            path.clear();
            let numbers: Numbers = if inventory.has_starting_points(dir) {
                for file in inventory.files_of(dir).map(FileNo) {
                    path.clear();
                    inventory.push_path(file, &mut path);
                    self.holders(&path).iter().for_each(|&nth| have_files[nth] = true);
                }
                continue;
            } else if inventory.parent(dir).is_none() {
                inventory.push_dir_path(dir, &mut path);
                self.at_or_above(&path)
            } else {
                let own = self.watched.get(&inventory.identity_of_dir(dir));
                own.map_or_else(Numbers::default, |numbers| numbers[..].into())
            };
            if numbers.iter().any(|&nth| !have_files[nth]) && has_files(inventory, dir) {
                numbers.iter().for_each(|&nth| have_files[nth] = true);
            }
        }
        have_files
    }

    /// Returns the numbers of the directories that are this one or above it. A directory that does not exist is below none;
    /// its files will be refused. One that cannot be examined counts as below all.
    pub fn at_or_above(&self, dir: &[u8]) -> Numbers {
        if self.len == 0 {
            return [].into();
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((path, numbers)) = &cache.last
            && path == dir
        {
            return numbers.clone();
        }
        let numbers = match self.look_up(dir, &mut cache.known) {
            Ok(numbers) => numbers,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                [].into()
            }
            Err(_) => (0..self.len).collect(),
        };
        cache.last = Some((dir.to_vec(), numbers.clone()));
        numbers
    }

    fn look_up(&self, dir: &[u8], known: &mut HashMap<Identity, Numbers>) -> io::Result<Numbers> {
        let mut dir = open(dir)?;
        let mut identity = Stat::of(&dir)?.identity();
        // The identities of directories that are not known yet, the innermost first.
        let mut chain = Vec::new();
        let mut numbers: Numbers = loop {
            if let Some(numbers) = known.get(&identity) {
                break numbers.clone();
            }
            chain.push(identity);
            match climb(&dir, identity)? {
                Some(above) => (dir, identity) = above,
                None => break [].into(),
            }
        };
        if known.len() + chain.len() > MAX_KNOWN {
            known.clear();
        }
        for identity in chain.into_iter().rev() {
            if let Some(own) = self.watched.get(&identity) {
                numbers = numbers.iter().chain(own).copied().collect();
            }
            known.insert(identity, numbers.clone());
        }
        Ok(numbers)
    }
}

/// Returns whether the walk found a file below a directory.
fn has_files(inventory: &Inventory, top: DirNo) -> bool {
    dirs_below(inventory, top).any(|dir| !inventory.files_of(dir).is_empty())
}

/// Returns a directory and all below it, which have the next numbers.
pub(super) fn dirs_below(inventory: &Inventory, top: DirNo) -> impl Iterator<Item = DirNo> {
    let is_below =
        move |dir: &DirNo| *dir == top || inventory.parent(*dir).is_some_and(|parent| parent >= top);
    (top.0..inventory.dirs()).map(DirNo).take_while(is_below)
}

fn open(dir: &[u8]) -> io::Result<OwnedFd> {
    let dir = if dir.is_empty() { b"." } else { dir };
    descend(CWD, [dir], Symlinks::Follow, &mut Vec::new())
}

/// Opens the directory above one; `None` above the root.
fn climb(dir: &OwnedFd, identity: Identity) -> io::Result<Option<(OwnedFd, Identity)>> {
    let above = descend(dir.as_fd(), [&b".."[..]], Symlinks::Follow, &mut Vec::new())?;
    let of_above = Stat::of(&above)?.identity();
    Ok((of_above != identity).then_some((above, of_above)))
}

/// Returns the mounts whose root is a directory inside of `directory`, which has no links in its path.
pub(super) fn mounts_inside<'m>(
    directory: &Path,
    mounts: &'m [Mount],
) -> impl Iterator<Item = &'m Mount> + use<'m> {
    let shown = shown(directory, mounts);
    let is_inside = move |mount: &&Mount| {
        shown.as_ref().is_some_and(|(_, dev, root)| mount.dev == *dev && mount.root.starts_with(root))
    };
    mounts.iter().filter(is_inside)
}

/// Returns the number of the mount that a path without links is on, its device, and what the path is called there.
pub(super) fn shown(path: &Path, mounts: &[Mount]) -> Option<(usize, u64, PathBuf)> {
    // Of several mounts at one place, the last one is visible.
    let own = mounts.iter().enumerate().filter(|(_, mount)| path.starts_with(&mount.at));
    let (nth, own) = own.max_by_key(|(_, mount)| mount.at.components().count())?;
    let below = path.strip_prefix(&own.at).ok()?;
    Some((nth, own.dev, joined(&own.root, below)))
}

fn joined(root: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { root.to_path_buf() } else { root.join(below) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn below(directories: &[&Path]) -> Below {
        let directories: Vec<_> = directories.iter().map(|dir| dir.as_os_str().to_owned()).collect();
        Below::new(&directories).unwrap()
    }

    #[test]
    fn files_are_below_directories_however_these_are_spelled() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::create_dir_all(at("d")).unwrap();
        symlink("a/b", at("link")).unwrap();
        let found = below(&[&at("link/../b/."), &at("d")]);
        let holders = |path: &str| found.holders(at(path).as_os_str().as_bytes()).to_vec();
        for (path, expected) in [
            ("a/b/x", &[0][..]),
            ("a/b/c/x", &[0]),
            ("a/b/c/../x", &[0]),
            ("link/c/x", &[0]),
            ("d/../link/x", &[0]),
            ("d//x", &[1]),
            ("a/x", &[]),
            ("x", &[]),
            ("missing/x", &[]),
        ] {
            assert_eq!(holders(path), expected, "{path}");
        }
        let touches = |path: &str| found.touches(at(path).as_os_str().as_bytes());
        assert!(touches("a") && touches("") && touches("a/b/c") && touches("link") && touches("d"));
        fs::create_dir_all(at("e/b")).unwrap();
        assert!(!touches("e") && !touches("e/b"));
        assert!(!below(&[]).touches(b"/") && below(&[&at("a")]).touches(b"/"));
        assert_eq!(Below::new(&[at("missing").into()]).unwrap_err().0, 0);
    }

    #[test]
    fn two_directories_may_contain_each_other() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        let found = below(&[&at("a"), &at("a/b"), &at("a")]);
        let mut holders = found.holders(at("a/b/x").as_os_str().as_bytes()).to_vec();
        holders.sort_unstable();
        assert_eq!(holders, [0, 1, 2]);
    }

    #[test]
    fn parts_that_are_mounted_elsewhere_are_inside() {
        let mount = |dev, root: &str, at: &str| Mount {
            number: 1,
            dev,
            root: root.into(),
            at: at.into(),
            kind: "ext4".into(),
        };
        let mounts = [
            mount(1, "/", "/"),
            mount(1, "/p/keep/inner", "/q"),
            mount(1, "/p/keep", "/bind"),
            mount(1, "/p", "/all"),
            mount(1, "/p/keeper", "/other"),
            mount(2, "/", "/data"),
            mount(2, "/p/keep", "/second"),
        ];
        let inside = |path: &str| -> Vec<_> {
            mounts_inside(Path::new(path), &mounts).map(|it| it.at.display().to_string()).collect()
        };
        assert_eq!(inside("/p/keep"), ["/q", "/bind"]);
        assert_eq!(inside("/bind"), ["/q", "/bind"]);
        assert_eq!(inside("/all/keep/inner"), ["/q"]);
        assert_eq!(inside("/data/p"), ["/second"]);
        assert_eq!(inside("/data"), ["/data", "/second"]);
    }
}
