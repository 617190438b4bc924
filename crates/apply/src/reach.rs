//! Access to files through descriptors of directories, following no symbolic links below the starting point.
//!
//! Anyone who may write to a directory of the tree can replace another directory by a link while ftk is
//! running. A path that the kernel resolves again in every call would then lead out of the tree. So each
//! directory is opened once, without following links, and all operations are relative to its descriptor.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use ftk_file::{
    Failure, File, HiddenAccess, Identity, IdentityDifference, LOOKUP, Stat, Symlinks, descend, is_temp_name,
};
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, StatVfsMountFlags, accessat, fstatvfs, openat};
use rustix::io::Errno;

use crate::own_changes::OwnChanges;
use crate::refusal::{Refusal, Side};
use crate::seen::Seen;
use crate::stat::stat_now;
use crate::sys::{CAN_ACT, open_entry};

/// The number of starting points that stay open. Usually there are fewer, but the user may have named every
/// file.
const ROOTS: usize = 8;

/// Opens the files of a scan again.
///
/// Each starting point keeps its identity: if it must be opened again and is another directory by then, everything below
/// it is refused.
#[derive(Debug)]
pub struct Reach {
    base: Option<OwnedFd>,
    /// Open starting points, the latest last.
    roots: VecDeque<(Vec<u8>, Rc<OwnedFd>)>,
    /// The identities of the starting points that were opened or recorded, by their paths.
    starts: BTreeMap<Vec<u8>, Identity>,
    /// The identities of starting points that undo has made again. Their owner changes when they are finished.
    remade: BTreeMap<Vec<u8>, Identity>,
    /// Directories to which the run gave another owner, with that owner.
    given: Vec<Identity>,
    /// Whether only starting points with a recorded identity are opened.
    only_recorded: bool,
    /// Whether files are copied from a starting point even if it is another directory than the recorded one.
    other_sources: bool,
}

/// A name in an open directory.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) dir: Rc<OwnedFd>,
    pub(crate) name: CString,
}

/// An open file of a step, and the place where it was opened.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) place: Place,
    pub(crate) file: File,
    /// The state of the file when it was opened.
    pub(crate) stat: Stat,
}

impl Default for Reach {
    fn default() -> Self {
        Self::new()
    }
}

impl Reach {
    /// Creates a `Reach` for which relative paths start from the working directory.
    pub fn new() -> Self {
        let (roots, starts, remade) = Default::default();
        Self {
            base: None,
            roots,
            starts,
            remade,
            given: Vec::new(),
            only_recorded: false,
            other_sources: false,
        }
    }

    /// Returns a `Reach` for which relative paths start from this directory.
    pub(crate) fn below(self, base: OwnedFd) -> Self {
        Self { base: Some(base), ..self }
    }

    /// Returns a `Reach` that finds keepers and copies below other starting points than the recorded ones, if `is_allowed`.
    pub(crate) fn with_other_sources(self, is_allowed: bool) -> Self {
        Self { other_sources: is_allowed, ..self }
    }

    /// Returns a `Reach` that opens only these starting points, and only if they are still the same.
    pub(crate) fn with_recorded(self, starts: BTreeMap<Vec<u8>, Identity>) -> Self {
        Self { starts, only_recorded: true, ..self }
    }

    /// Expects that the starting point with this path has this identity.
    pub fn expect_start(&mut self, path: &[u8], identity: Identity) {
        self.starts.insert(path.to_vec(), identity);
    }

    /// Expects a directory that undo has made at the path of each starting point that a run has removed.
    pub(crate) fn expect_remade(&mut self, removed: &Identity, made: &Identity) {
        for (path, _) in self.starts.iter().filter(|(_, start)| start.is_same_inode(removed)) {
            self.remade.insert(path.clone(), *made);
        }
    }

    /// Accepts directories with the owners that the run gave to them.
    pub(crate) fn expect_given(&mut self, given: Vec<Identity>) {
        self.given = given;
    }

    /// Returns what tells a recorded directory from the present one. An owner that the run gave to it does not count.
    pub(crate) fn difference(&self, recorded: &Identity, now: &Identity) -> Option<IdentityDifference> {
        let is_given = |it: &Identity| it.is_same(now) && it.is_same_inode(recorded);
        recorded.difference(now).filter(|_| !self.given.iter().any(is_given))
    }

    /// Returns the present device numbers of the file systems that starting points are on, by the recorded ones. A starting
    /// point that is another directory now is skipped.
    pub(crate) fn present_devices(&mut self) -> BTreeMap<u64, u64> {
        let mut devices = BTreeMap::new();
        for (path, Identity { dev, .. }) in self.starts.clone() {
            if !devices.contains_key(&dev)
                && let Ok(start) = self.root(Side::Victim, &path)
                && let Ok(now) = Stat::of(&start)
            {
                devices.insert(dev, now.dev);
            }
        }
        devices
    }

    /// Returns the path of the starting point of a file, and its identity. `None` if it was never opened.
    pub(crate) fn start_of(&self, path: &[u8], root_len: usize) -> Option<(&[u8], &Identity)> {
        let root = match path.split_at_checked(root_len)? {
            (root, b"/." | b".") => root,
            _ => split(path, root_len)?.root,
        };
        self.starts.get_key_value(root).map(|(path, identity)| (&path[..], identity))
    }

    /// Returns the directory from which relative paths start.
    pub(crate) fn base(&self) -> BorrowedFd<'_> {
        self.base.as_ref().map_or(CWD, |fd| fd.as_fd())
    }

    /// Opens a regular file and checks that it is the one that was seen, and unchanged.
    pub(crate) fn hold(
        &mut self,
        side: Side,
        seen: &Seen,
        own_changes: &OwnChanges,
    ) -> Result<Held, Refusal> {
        let held = self.open(side, seen)?;
        if is_temp_name(held.place.name.to_bytes()) {
            return Err(Refusal::TemporaryName(side));
        }
        let what = match &held.stat {
            stat if own_changes.is_unchanged(&seen.version, stat) => return Ok(held),
            stat if seen.version.is_rounded(stat) => return Err(Refusal::Rounded(side)),
            stat if stat.identity() != seen.version.identity() => return Err(Refusal::Replaced(side)),
            stat if stat.size != seen.version.size => "its size",
            stat if stat.mtime_ns != seen.version.mtime_ns => "its time of modification",
            _ => "its time of change",
        };
        Err(Refusal::Changed { side, what })
    }

    /// Opens any regular file at the path.
    pub(crate) fn open(&mut self, side: Side, seen: &Seen) -> Result<Held, Refusal> {
        let place = self.locate(side, &seen.path, seen.root_len)?;
        Held::open(place).map_err(|failure| Refusal::of_failure(side, failure))
    }

    /// Opens the directory of a path.
    pub(crate) fn locate(&mut self, side: Side, path: &[u8], root_len: usize) -> Result<Place, Refusal> {
        if !CAN_ACT {
            return Err(Refusal::System);
        }
        let parts = split(path, root_len).ok_or(Refusal::Path(side))?;
        let name = CString::new(parts.name).map_err(|_| Refusal::Path(side))?;
        let root = self.root(side, parts.root)?;
        let dir = match parts.below {
            [] => root,
            below => {
                let names = below.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
                let dir = descend(root.as_fd(), names, Symlinks::NoFollow, &mut Vec::new());
                Rc::new(dir.map_err(|error| unopened(side, error))?)
            }
        };
        match HiddenAccess::of(&dir).map_err(|errno| unopened(side, errno.into()))? {
            HiddenAccess::Granted => Err(Refusal::AccessList(side)),
            HiddenAccess::None | HiddenAccess::Denied => Ok(Place { dir, name }),
        }
    }

    /// Opens the directory of an entry of any type. A path that ends with `/.` is that of the starting point itself.
    pub(crate) fn locate_entry(
        &mut self,
        side: Side,
        path: &[u8],
        root_len: usize,
    ) -> Result<Place, Refusal> {
        match path.split_at_checked(root_len) {
            Some((root, b"/." | b".")) if !root.is_empty() && !root.contains(&0) => {
                Ok(Place { dir: self.root(side, root)?, name: c".".to_owned() })
            }
            _ => self.locate(side, path, root_len),
        }
    }

    /// Opens a starting point, and checks that it is the one that was opened or recorded before.
    fn root(&mut self, side: Side, path: &[u8]) -> Result<Rc<OwnedFd>, Refusal> {
        if let Some((_, fd)) = self.roots.iter().find(|(root, _)| root == path) {
            return Ok(fd.clone());
        }
        let shown: &[u8] = if path.is_empty() { b"." } else { path };
        let fd = openat(self.base(), shown, DIRECTORY, Mode::empty());
        let fd = Rc::new(fd.map_err(|errno| unopened(side, errno.into()))?);
        let identity = Identity::of(&fd);
        let identity =
            identity.map_err(|error| Refusal::unreadable(side, "identify the directory of", error))?;
        match self.starts.get(path) {
            Some(_) if self.remade.get(path).is_some_and(|made| made.is_same_inode(&identity)) => {}
            Some(known) => {
                if let Some(difference) = self.difference(known, &identity) {
                    let is_source = matches!(side, Side::Keeper | Side::Copy);
                    if self.other_sources && is_source {
                        return Ok(fd); // not remembered: nothing else is done in it
                    }
                    let (path, difference) = (shown.to_vec(), Some(difference));
                    return Err(Refusal::OtherStart { side, path, difference });
                }
            }
            None if self.only_recorded => {
                return Err(Refusal::OtherStart { side, path: shown.to_vec(), difference: None });
            }
            None => _ = self.starts.insert(path.to_vec(), identity),
        }
        if self.roots.len() == ROOTS {
            self.roots.pop_front();
        }
        self.roots.push_back((path.to_vec(), fd.clone()));
        Ok(fd)
    }
}

fn unopened(side: Side, error: io::Error) -> Refusal {
    match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => Refusal::Link(side),
        _ => Refusal::unreadable(side, "open the directory of", error),
    }
}

/// The directory is used only to look up names, which needs no permission to list it.
pub(crate) const DIRECTORY: OFlags = LOOKUP;

/// Opens a directory that can be listed, and through which metadata can be set.
pub(crate) const READABLE: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Place {
    /// Returns the identity of the directory.
    pub(crate) fn directory(&self, side: Side) -> Result<Identity, Refusal> {
        let identity = Identity::of(&self.dir);
        identity.map_err(|error| Refusal::unreadable(side, "identify the directory of", error))
    }

    /// Returns the identity of the present file. Links are not followed.
    pub(crate) fn identity(&self, side: Side) -> Result<Identity, Refusal> {
        let file = open_entry(&self.dir, &self.name).map_err(io::Error::from);
        file.and_then(Identity::of).map_err(|error| Refusal::unreadable(side, "identify", error))
    }

    /// Returns the `stat` of the present file. Links are not followed.
    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        stat_now(&self.dir, &self.name)
    }

    /// Returns whether the directory is on a read-only file system, mount or subvolume.
    pub(crate) fn is_read_only(&self) -> bool {
        is_read_only(self.dir.as_fd())
    }

    /// Returns whether the directory is on a read-only file system or mount.
    pub(crate) fn is_on_read_only_mount(&self) -> bool {
        is_on_read_only_mount(self.dir.as_fd())
    }

    /// Returns whether this is the place of a directory that is on one.
    pub(crate) fn is_read_only_directory(&self) -> bool {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        openat(&self.dir, &self.name, flags, Mode::empty()).is_ok_and(|dir| is_read_only(dir.as_fd()))
    }

    /// Returns another name in the same directory.
    pub(crate) fn sibling(&self, name: &CStr) -> Self {
        Self { dir: self.dir.clone(), name: name.to_owned() }
    }
}

fn is_read_only(dir: BorrowedFd<'_>) -> bool {
    accessat(dir, ".", Access::WRITE_OK, AtFlags::empty()) == Err(Errno::ROFS) || is_on_read_only_mount(dir)
}

fn is_on_read_only_mount(dir: BorrowedFd<'_>) -> bool {
    fstatvfs(dir).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
}

impl Held {
    /// Opens the regular file at a place. An inner `Err` is that of `fstat`.
    pub(crate) fn open(place: Place) -> Result<Self, Failure> {
        let file = File::open(&place.dir, &place.name, Symlinks::NoFollow)?;
        let stat = *file.stat();
        Ok(Self { place, file, stat })
    }

    pub(crate) fn identity(&self) -> (u64, u64) {
        self.stat.identity()
    }
}

/// The parts of a path.
#[derive(Debug, PartialEq, Eq)]
struct Parts<'p> {
    /// The part that the user named: links in it are followed. Empty for the working directory.
    root: &'p [u8],
    /// The directories below it, without trailing slashes.
    below: &'p [u8],
    name: &'p [u8],
}

/// Splits a path into starting point, directories and name. Returns `None` for a path that no scan prints.
fn split(path: &[u8], root_len: usize) -> Option<Parts<'_>> {
    let (root, rest) = path.split_at_checked(root_len)?;
    if path.contains(&0) {
        return None;
    }
    let (root, rest) = match (root, rest) {
        // The user named the file itself, and trusts its directory.
        (root, []) => {
            let cut = root.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
            root.split_at(cut)
        }
        ([], [b'/', ..]) => path.split_at(1),
        ([], rest) => (root, rest),
        (root, rest) if root.ends_with(b"/") || rest.starts_with(b"/") => (root, rest),
        _ => return None,
    };
    let start = rest.iter().position(|&byte| byte != b'/')?;
    let rest = &rest[start..];
    let cut = rest.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    let (below, name) = rest.split_at(cut);
    let climbs = below.split(|&byte| byte == b'/').any(|part| part == b"..");
    if climbs || name.is_empty() || name == b"." || name == b".." {
        return None;
    }
    Some(Parts { root, below: without_end_slashes(below), name })
}

fn without_end_slashes(path: &[u8]) -> &[u8] {
    let len = path.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
    &path[..len]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_are_split_after_the_starting_point() {
        for (path, root_len, expected) in [
            ("dir/a/b/x", 3, Some(("dir", "a/b", "x"))),
            ("dir/x", 3, Some(("dir", "", "x"))),
            ("dir/x", 4, Some(("dir/", "", "x"))),
            ("dir//a/x", 4, Some(("dir/", "a", "x"))),
            ("./x", 1, Some((".", "", "x"))),
            ("/x", 1, Some(("/", "", "x"))),
            ("../d/./a/x", 4, Some(("../d", "./a", "x"))),
            // Files that the user named.
            ("x", 1, Some(("", "", "x"))),
            ("a/../x", 6, Some(("a/../", "", "x"))),
            ("/x", 2, Some(("/", "", "x"))),
            // No part is trusted.
            ("a/x", 0, Some(("", "a", "x"))),
            ("/a/x", 0, Some(("/", "a", "x"))),
            // Paths that no scan prints.
            ("", 0, None),
            ("dir/x", 2, None),
            ("dir/x", 6, None),
            ("dir/../x", 3, None),
            ("dir/..", 3, None),
            ("dir/.", 3, None),
            ("dir/a/", 3, None),
            ("dir/", 4, None),
            ("..", 2, None),
            ("/", 1, None),
            ("dir/a\0b", 3, None),
        ] {
            let parts = split(path.as_bytes(), root_len);
            let shown = parts.map(|parts| {
                [parts.root, parts.below, parts.name].map(|part| str::from_utf8(part).unwrap().to_owned())
            });
            assert_eq!(shown, expected.map(|(r, b, n)| [r, b, n].map(str::to_owned)), "{path:?} {root_len}");
        }
    }

    #[test]
    fn links_are_followed_only_in_the_starting_point() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path();
        fs::create_dir_all(top.join("real/sub")).unwrap();
        fs::write(top.join("real/sub/x"), "").unwrap();
        symlink("real", top.join("link")).unwrap();
        symlink("sub", top.join("real/inner")).unwrap();
        symlink("x", top.join("real/sub/y")).unwrap();
        let top = top.as_os_str().as_bytes();
        let at = |below: &str| [top, below.as_bytes()].concat();
        let mut reach = Reach::new();
        let stat = |place: Place| place.stat().unwrap().ino;
        let ino = stat(reach.locate(Side::Victim, &at("/real/sub/x"), top.len()).unwrap());
        for (path, root_len) in [
            ("/link/sub/x", "/link".len()),
            ("/link/sub/x", "/link/sub".len()),
            ("/real/inner/x", "/real/inner".len()),
            ("/link/inner/x", "/link/inner/x".len()),
        ] {
            let place = reach.locate(Side::Victim, &at(path), top.len() + root_len).unwrap();
            assert_eq!(stat(place), ino, "{path}");
        }
        for (path, root_len) in [("/link/sub/x", 0), ("/real/inner/x", 5), ("/link/inner/x", 5)] {
            let refused = reach.locate(Side::Keeper, &at(path), top.len() + root_len).unwrap_err();
            assert!(matches!(refused, Refusal::Link(Side::Keeper)), "{path}: {refused:?}");
        }
        let link = reach.locate(Side::Victim, &at("/real/sub/y"), top.len()).unwrap();
        assert!(matches!(Held::open(link), Err(Failure::NotRegular)));
    }

    #[test]
    fn h92_a_replaced_starting_point_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let (top, tree) = (temp.path(), temp.path().join("tree"));
        for dir in ["tree", "other"] {
            fs::create_dir_all(top.join(dir).join("sub")).unwrap();
            fs::write(top.join(dir).join("sub/x"), "").unwrap();
        }
        let path = [tree.as_os_str().as_bytes(), b"/sub/x"].concat();
        let root_len = tree.as_os_str().len();
        let mut first = Reach::new();
        first.locate(Side::Victim, &path, root_len).unwrap();
        let (start, &identity) = first.start_of(&path, root_len).unwrap();
        let starts = BTreeMap::from([(start.to_vec(), identity)]);
        let base = || openat(CWD, top, DIRECTORY, Mode::empty()).unwrap();
        let recorded = || Reach::new().below(base()).with_recorded(starts.clone());
        recorded().locate(Side::Victim, &path, root_len).unwrap();
        let unknown = recorded().locate(Side::Victim, b"other/sub/x", 5).unwrap_err();
        assert!(matches!(unknown, Refusal::OtherStart { difference: None, .. }), "{unknown}");
        fs::rename(&tree, top.join("old")).unwrap();
        let refused = || recorded().locate(Side::Victim, &path, root_len).unwrap_err();
        symlink("other", &tree).unwrap();
        let (by_link, _) = (refused(), fs::remove_file(&tree).unwrap());
        fs::rename(top.join("other"), &tree).unwrap();
        let (by_other, _) = (refused(), fs::rename(&tree, top.join("other")).unwrap());
        fs::create_dir_all(tree.join("sub")).unwrap();
        for refused in [by_link, by_other, refused()] {
            let is_other = matches!(
                refused,
                Refusal::OtherStart { difference: Some(ftk_file::IdentityDifference::Inode), .. }
            );
            assert!(is_other, "{refused}");
        }
        // The first one still has it open.
        first.locate(Side::Victim, &path, root_len).unwrap();
    }

    #[test]
    fn paths_longer_than_path_max_work() {
        let temp = tempfile::tempdir().unwrap();
        let mut dir = Rc::new(openat(CWD, temp.path(), DIRECTORY, Mode::empty()).unwrap());
        let mut path = temp.path().as_os_str().as_bytes().to_vec();
        let root_len = path.len();
        let name = "d".repeat(250);
        for _ in 0..40 {
            rustix::fs::mkdirat(&dir, &name, Mode::RWXU).unwrap();
            dir = Rc::new(openat(&dir, &name, DIRECTORY, Mode::empty()).unwrap());
            path.extend_from_slice(b"/");
            path.extend_from_slice(name.as_bytes());
        }
        path.extend_from_slice(b"/x");
        assert!(path.len() > 2 * ftk_file::PATH_MAX);
        let place = Reach::new().locate(Side::Victim, &path, root_len).unwrap();
        assert_eq!(place.name.as_c_str(), c"x");
        assert_eq!(Stat::of(&place.dir).unwrap().ino, Stat::of(&dir).unwrap().ino);
    }
}
