//! Directories that a run empties.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use ftk_file::{FileType, Stat, Symlinks, Version};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::metadata::Metadata;
use crate::reach::{Place, Reach};
use crate::refusal::{Refusal, Side};
use crate::seen::Seen;
use crate::tree::open;

/// The directories from which a run removes entries, to find those that it empties.
///
/// A starting point, the working directory, and everything above them never count as emptied. Neither do directories that
/// were empty before, nor those with any entry that the run does not remove.
#[derive(Debug, Default)]
pub struct Emptied {
    directories: BTreeMap<Vec<u8>, Directory>,
    /// The state of directories before the run changed them.
    before: BTreeMap<Vec<u8>, Result<(Version, Metadata), Refusal>>,
    /// Device and inode number of the directories that stay.
    protected: HashSet<(u64, u64)>,
}

/// A directory from which entries are removed.
#[derive(Debug)]
struct Directory {
    root_len: usize,
    /// The names of the entries that are removed.
    gone: BTreeSet<Vec<u8>>,
}

/// A directory that is empty now, and its state before the run.
#[derive(Debug)]
pub(crate) struct Empty {
    pub(crate) victim: Seen,
    pub(crate) metadata: Metadata,
}

/// The path of a directory that is empty now, or why it cannot be examined.
type Examined = (Vec<u8>, Result<Empty, Refusal>);

impl Emptied {
    /// Starts with no directories. `starts` are the starting points, which stay.
    pub fn new<'s>(starts: impl IntoIterator<Item = &'s [u8]>) -> Self {
        let starts = starts.into_iter().chain([&b"."[..]]);
        let identity =
            |path: &[u8]| Some(Stat::at(CWD, OsStr::from_bytes(path), Symlinks::Follow).ok()?.identity());
        Self { protected: starts.filter_map(identity).collect(), ..Self::default() }
    }

    /// Notes that an entry is removed, or is to be removed.
    pub fn remove(&mut self, victim: &Seen) {
        if let Some((path, name)) = directory_of(victim) {
            let directory = self.directories.entry(path.to_vec());
            let directory =
                directory.or_insert_with(|| Directory { root_len: victim.root_len, gone: BTreeSet::new() });
            directory.gone.insert(name.to_vec());
        }
    }

    /// Returns the directories that will be empty when all entries are removed, the innermost first.
    ///
    /// # Errors
    /// An item is an error if a directory cannot be examined.
    pub fn plan(mut self, reach: &mut Reach) -> Vec<(Seen, Result<(), Refusal>)> {
        let mut planned = Vec::new();
        // A directory is ordered before everything in it.
        while let Some((path, directory)) = self.directories.pop_last() {
            let mut seen = Seen { path, root_len: directory.root_len, version: Version::default() };
            match self.becomes_empty(reach, &seen, &directory) {
                Ok(None) => {}
                Ok(Some(version)) => {
                    seen.version = version;
                    self.remove(&seen);
                    planned.push((seen, Ok(())));
                }
                Err(refusal) => planned.push((seen, Err(refusal))),
            }
        }
        planned
    }

    /// Remembers the state of the directory of an entry that is about to be removed.
    pub(crate) fn remember(&mut self, reach: &mut Reach, victim: &Seen) {
        let Some((path, _)) = directory_of(victim) else { return };
        if !self.before.contains_key(path) {
            let state = reach.locate(Side::Victim, path, victim.root_len).and_then(|place| {
                let (_, stat, metadata) = open(&place)?;
                Ok((Version { size: 0, ..stat.version() }, metadata))
            });
            self.before.insert(path.to_vec(), state);
        }
    }

    /// Takes the innermost directories, and returns those that are empty now. Returns `None` if there are no more.
    pub(crate) fn innermost(&mut self, reach: &mut Reach) -> Option<Vec<Examined>> {
        let depth = |path: &[u8]| path.iter().filter(|&&byte| byte == b'/').count();
        let deepest = self.directories.keys().map(|path| depth(path)).max()?;
        let (innermost, others) =
            std::mem::take(&mut self.directories).into_iter().partition(|(path, _)| depth(path) == deepest);
        self.directories = others;
        let innermost: BTreeMap<_, _> = innermost;
        let empty = innermost.into_iter().filter_map(|(path, directory)| {
            let seen = Seen { path, root_len: directory.root_len, version: Version::default() };
            let examined = self.becomes_empty(reach, &seen, &directory).transpose()?;
            let before = self.before.remove(&seen.path);
            let empty = examined.and_then(|now| match before {
                Some(Ok((version, metadata))) if (version.dev, version.ino) == (now.dev, now.ino) => {
                    Ok(Empty { victim: Seen { version, ..seen.clone() }, metadata })
                }
                Some(Err(refusal)) => Err(refusal),
                _ => Err(Refusal::Replaced(Side::Victim)),
            });
            Some((seen.path, empty))
        });
        Some(empty.collect())
    }

    /// Returns the version of a directory, if nothing is in it except what is removed and it need not stay.
    fn becomes_empty(
        &self,
        reach: &mut Reach,
        seen: &Seen,
        directory: &Directory,
    ) -> Result<Option<Version>, Refusal> {
        let place = match reach.locate(Side::Victim, &seen.path, seen.root_len) {
            Err(Refusal::Unreadable { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None); // removed with a directory around it
            }
            place => place?,
        };
        let unreadable = |op| move |errno: Errno| Refusal::unreadable(Side::Victim, op, errno);
        let stat = match place.stat() {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat.map_err(unreadable("stat"))?,
        };
        let above = Stat::of(&place.dir).map_err(unreadable("stat the directory above"))?;
        let is_mount = above.dev != stat.dev;
        if stat.file_type != FileType::Directory || is_mount || self.protected.contains(&stat.identity()) {
            return Ok(None);
        }
        let has_other =
            has_entry(&place, |name| !directory.gone.contains(name)).map_err(unreadable("list"))?;
        Ok((!has_other).then(|| Version { size: 0, ..stat.version() }))
    }
}

/// Returns whether a directory has an entry whose name `accepts` accepts.
pub(crate) fn has_entry(place: &Place, accepts: impl Fn(&[u8]) -> bool) -> Result<bool, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = openat(&place.dir, &place.name, flags, Mode::empty())?;
    for entry in Dir::new(fd)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") && accepts(name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Splits the path of an entry into its directory and its name. Returns `None` if the directory is not below the starting
/// point.
fn directory_of(victim: &Seen) -> Option<(&[u8], &[u8])> {
    let slash = victim.path.iter().rposition(|&byte| byte == b'/')?;
    let (mut dir, name) = (&victim.path[..slash], &victim.path[slash + 1..]);
    while let [before @ .., b'/'] = dir {
        dir = before;
    }
    let root = &victim.path[..victim.root_len.min(victim.path.len())];
    let root_len = root.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
    (dir.len() > root_len).then_some((dir, name))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn seen(path: &str, root_len: usize) -> Seen {
        Seen { path: path.into(), root_len, version: Version::default() }
    }

    #[test]
    fn only_directories_below_the_starting_point_count() {
        for (path, root_len, expected) in [
            ("t/a/x", 1, Some(("t/a", "x"))),
            ("t/a/b/x", 1, Some(("t/a/b", "x"))),
            ("t/x", 1, None),
            ("t/x", 2, None),
            ("t//x", 3, None),
            ("t//a/x", 3, Some(("t//a", "x"))),
            ("t/a//x", 1, Some(("t/a", "x"))),
            ("./x", 1, None),
            ("./a/x", 1, Some(("./a", "x"))),
            ("/x", 1, None),
            ("/a/x", 1, Some(("/a", "x"))),
            // Starting points that are files, and directories that are removed as a whole.
            ("t/x", 3, None),
            ("x", 1, None),
            ("t", 1, None),
            ("../t/a", 4, None),
        ] {
            let expected = expected.map(|(dir, name)| (dir.as_bytes(), name.as_bytes()));
            assert_eq!(directory_of(&seen(path, root_len)), expected, "{path} {root_len}");
        }
    }

    #[test]
    fn directories_become_empty_from_the_inside() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().to_str().unwrap();
        for file in ["a/b/c/x", "a/b/y", "d/e/x", "d/other", "f/x", "g/x", "g/keep/none"] {
            let path = temp.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::create_dir(temp.path().join("f/in")).unwrap();
        let plan = |starts: &[&str], removed: &[&str]| {
            let starts: Vec<_> = starts.iter().map(|start| Path::new(top).join(start)).collect();
            let mut emptied = Emptied::new(starts.iter().map(|start| start.as_os_str().as_bytes()));
            for path in removed {
                emptied.remove(&seen(&format!("{top}/{path}"), top.len()));
            }
            let planned = emptied.plan(&mut Reach::new());
            let path = |(seen, planned): (Seen, Result<(), Refusal>)| {
                planned.unwrap();
                String::from_utf8(seen.path).unwrap()[top.len() + 1..].to_owned()
            };
            planned.into_iter().map(path).collect::<Vec<_>>()
        };
        let all = ["a/b/c/x", "a/b/y", "d/e/x", "f/x", "g/x"];
        assert_eq!(plan(&[""], &all), ["d/e", "a/b/c", "a/b", "a"]);
        // Another starting point below stays, and so does everything above it.
        assert_eq!(plan(&["", "a/b"], &all), ["d/e", "a/b/c"]);
        assert_eq!(plan(&[""], &["a/b/c/x"]), ["a/b/c"]);
        assert_eq!(plan(&[""], &["a/b/y"]), [""; 0]);
        assert_eq!(plan(&[""], &[]), [""; 0]);
    }
}
