//! Finds the files of a report of manifests in mounted trees.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use ftk_file::{File, FsId, Stat, Symlinks, Version, descend};
use rustix::fs::CWD;

use super::member::RecordedMember;
use crate::Member;
use crate::report::{Group, Recorded};

/// The trees of manifests, where they are mounted now.
pub struct MountedTrees {
    trees: Vec<Tree>,
}

/// A recorded file that is not considered.
pub struct NotFound {
    /// Where it should be.
    pub path: Vec<u8>,
    /// The number of its manifest.
    pub manifest: usize,
    /// Why it is not considered.
    pub difference: FoundDifference,
}

impl MountedTrees {
    /// Opens the trees of these recorded roots. `given` are directories where some of them are now, by the numbers of
    /// their manifests. Another recorded root is used if it is absolute and exists.
    ///
    /// # Errors
    /// If a given directory cannot be opened. Returns its number too.
    pub fn open(recorded: &[Vec<u8>], given: &HashMap<usize, Vec<u8>>) -> Result<Self, (usize, io::Error)> {
        let trees = recorded.iter().enumerate().map(|(nth, recorded)| {
            let path = given.get(&nth).unwrap_or(recorded).clone();
            let open = || descend(CWD, [&path[..]], Symlinks::Follow, &mut Vec::new());
            let fd = match given.contains_key(&nth) {
                true => Some(open().map_err(|error| (nth, error))?),
                // A relative path leads to different places.
                false => recorded.starts_with(b"/").then(open).and_then(Result::ok),
            };
            Ok(Tree { recorded: recorded.clone(), path, fd })
        });
        Ok(Self { trees: trees.collect::<Result<_, _>>()? })
    }

    /// Returns the directory of each manifest; empty if it is not mounted.
    pub fn roots(&self) -> Vec<Vec<u8>> {
        let root = |tree: &Tree| if tree.fd.is_some() { tree.path.clone() } else { Vec::new() };
        self.trees.iter().map(root).collect()
    }

    /// Finds the recorded files, and returns the groups that still have copies. Files of trees that are not mounted are
    /// omitted, since only what can be compared counts as a copy; returns their number for each manifest. Calls `report`
    /// for a file that is not the recorded one.
    pub fn find(&self, recorded: Recorded, mut report: impl FnMut(NotFound)) -> (Vec<Group>, Vec<u64>) {
        let mut finder = Finder { trees: &self.trees, file_systems: HashMap::new(), parent: None };
        let mut absent = vec![0; self.trees.len()];
        let mut found = Vec::new();
        for group in recorded.groups {
            let mut members = Vec::with_capacity(group.members.len());
            for member in &group.members {
                if self.trees[member.manifest].fd.is_none() {
                    absent[member.manifest] += 1;
                    continue;
                }
                match finder.find(member, group.size) {
                    Ok(found) => members.push(found),
                    Err(difference) => {
                        let (path, manifest) = (finder.path(member), member.manifest);
                        report(NotFound { path, manifest, difference });
                    }
                }
            }
            members.sort_unstable_by(|a, b| a.path.cmp(&b.path));
            // The same directory may have been given for several manifests.
            members.dedup_by(|a, b| a.path == b.path);
            let group = Group { size: group.size, digest: group.digest, members };
            if group.clusters().iter().any(|&cluster| cluster > 0) {
                found.push(group);
            }
        }
        (found, absent)
    }
}

/// A recorded tree.
struct Tree {
    /// The recorded root, with which the paths in the report begin.
    recorded: Vec<u8>,
    /// Where it is now.
    path: Vec<u8>,
    /// `None` if it is not mounted.
    fd: Option<OwnedFd>,
}

/// Finds recorded files.
struct Finder<'t> {
    trees: &'t [Tree],
    /// The identities of file systems, by device number.
    file_systems: HashMap<u64, Option<FsId>>,
    /// The directory that was opened last.
    parent: Option<(usize, Vec<u8>, OwnedFd)>,
}

/// Why a file is not the recorded one.
#[derive(Debug)]
pub enum FoundDifference {
    /// It cannot be examined.
    Io(io::Error),
    /// It is not a regular file.
    NotRegular,
    /// It lies on another file system, or has another inode number.
    Other,
    /// The recorded inode number or times have lost their last digits.
    Rounded,
    /// This is not as recorded.
    Changed(&'static str),
}

impl fmt::Display for FoundDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::Other => f.write_str("it is another file than the recorded one"),
            Self::Rounded => {
                f.write_str("its recorded inode number or times are rounded, as by jq before 1.7")
            }
            Self::Changed(what) => write!(f, "its {what} is not as recorded"),
        }
    }
}

impl From<io::Error> for FoundDifference {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Finder<'_> {
    /// Returns the path below the recorded root; empty for the root itself.
    fn below(&self, member: &RecordedMember) -> Vec<u8> {
        let rest = &member.path[self.trees[member.manifest].recorded.len()..];
        let start = rest.iter().position(|&byte| byte != b'/').unwrap_or(rest.len());
        rest[start..].to_vec()
    }

    /// Returns the path of a member in the mounted tree.
    fn path(&self, member: &RecordedMember) -> Vec<u8> {
        let root = &self.trees[member.manifest].path;
        match &self.below(member)[..] {
            b"" => root.clone(),
            below if root.ends_with(b"/") => [root, below].concat(),
            below => [root, &b"/"[..], below].concat(),
        }
    }

    /// Finds a file and checks that it is the recorded one. Values that were not recorded are not compared. No link
    /// below the root is followed.
    fn find(&mut self, member: &RecordedMember, size: u64) -> Result<Member, FoundDifference> {
        let below = self.below(member);
        let cut = below.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        let (dir, name) = below.split_at(cut);
        let root = self.trees[member.manifest].fd.as_ref().expect("the tree is mounted");
        let is_open =
            |(manifest, path, _): &(usize, Vec<u8>, OwnedFd)| *manifest == member.manifest && path == dir;
        if !self.parent.as_ref().is_some_and(is_open) {
            let names = dir.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
            let fd = if dir.is_empty() {
                root.try_clone()?
            } else {
                descend(root.as_fd(), names, Symlinks::NoFollow, &mut Vec::new())?
            };
            self.parent = Some((member.manifest, dir.to_vec(), fd));
        }
        let (.., parent) = self.parent.as_ref().expect("it was just opened");
        let stat = Stat::at(parent, name, Symlinks::NoFollow).map_err(io::Error::from)?;
        if !stat.is_regular() {
            return Err(FoundDifference::NotRegular);
        }
        if let Some(recorded) = member.fs {
            let fs = match self.file_systems.get(&stat.dev) {
                Some(fs) => *fs,
                None => {
                    let name = CString::new(name).map_err(io::Error::from)?;
                    let open = File::open(parent, &name, Symlinks::NoFollow);
                    let file = open.map_err(|_| FoundDifference::Other)?;
                    let fs = FsId::of(&file)?;
                    self.file_systems.insert(stat.dev, fs);
                    fs
                }
            };
            if fs != Some(recorded) {
                return Err(FoundDifference::Other);
            }
        }
        let recorded = Version {
            ino: member.ino.unwrap_or(stat.ino),
            size,
            mtime_ns: member.mtime_ns.unwrap_or(stat.mtime_ns),
            ctime_ns: member.ctime_ns.unwrap_or(stat.ctime_ns),
            dev: stat.dev,
        };
        if recorded.is_rounded(&stat) {
            return Err(FoundDifference::Rounded);
        }
        if member.ino.is_some_and(|ino| ino != stat.ino) {
            return Err(FoundDifference::Other);
        }
        let is_as = |recorded: Option<i128>, now| recorded.is_none_or(|recorded| recorded == now);
        match () {
            () if stat.size != size => Err(FoundDifference::Changed("size")),
            () if !is_as(member.mtime_ns, stat.mtime_ns) => {
                Err(FoundDifference::Changed("time of modification"))
            }
            () if !is_as(member.ctime_ns, stat.ctime_ns) => Err(FoundDifference::Changed("time of change")),
            () => Ok(Member {
                blocks: stat.blocks,
                nlink: stat.nlink,
                ..Member::new(member.manifest, self.path(member), stat.version())
            }),
        }
    }
}
