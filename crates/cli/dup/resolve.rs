//! Finds the files of a report of manifests in mounted trees.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use ftk_dedup::report::{Group, Recorded};
use ftk_dedup::{Member, RecordedMember};
use ftk_file::{File, FsId, Stat, Symlinks, descend};
use ftk_record::quote;
use rustix::fs::CWD;

use crate::console::{Console, Outcome, cause};
use crate::human;

/// Groups of files as they are now.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) groups: Vec<Group>,
    /// The directory of each manifest; empty if it is not mounted.
    pub(super) roots: Vec<Vec<u8>>,
    /// `Error` if a file is not the recorded one.
    pub(super) outcome: Outcome,
}

/// Finds the files of all manifests whose trees are mounted. `roots` are the values of `--root`. The others are
/// reported and omitted: a file counts as a copy only if it can be compared.
///
/// # Errors
/// If a value of `--root` names no manifest of the report, or no directory.
pub(super) fn resolve(
    recorded: Recorded,
    recorded_roots: &[Vec<u8>],
    roots: &[OsString],
    console: &Console,
) -> anyhow::Result<Resolved> {
    let Recorded { manifests, groups } = recorded;
    let mut trees = Vec::with_capacity(manifests.len());
    let given = given(roots, &manifests)?;
    for (nth, recorded) in recorded_roots.iter().enumerate() {
        trees.push(Tree::open(given.get(&nth).map(|dir| &**dir), recorded)?);
    }
    let mut finder = Finder { trees: &trees, file_systems: HashMap::new(), parent: None };
    let mut outcome = Outcome::Success;
    let mut absent = vec![0; trees.len()];
    let mut resolved = Vec::new();
    for group in groups {
        let mut members = Vec::with_capacity(group.members.len());
        for member in &group.members {
            if trees[member.manifest].fd.is_none() {
                absent[member.manifest] += 1;
                continue;
            }
            match finder.find(member, group.size) {
                Ok(found) => members.push(found),
                Err(what) => {
                    let (path, manifest) = (finder.path(member), quote(&manifests[member.manifest]));
                    console.error_of(
                        "resolve",
                        format_args!("{} of {manifest}: {what}: not considered", quote(&path)),
                    );
                    outcome = Outcome::Error;
                }
            }
        }
        members.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        // The same directory may have been given for several manifests.
        members.dedup_by(|a, b| a.path == b.path);
        let group = Group { size: group.size, digest: group.digest, members };
        if group.clusters().iter().any(|&cluster| cluster > 0) {
            resolved.push(group);
        }
    }
    for ((n, manifest), root) in
        absent.into_iter().zip(&manifests).zip(recorded_roots).filter(|((n, _), _)| *n > 0)
    {
        let (files, manifest, root) = (human::count(n, "file"), quote(manifest), quote(root));
        console.warning(format_args!(
            "{files} of {manifest} are not considered: its root {root} is not here (add --root FILE=DIR)"
        ));
    }
    let roots =
        trees.into_iter().map(|tree| if tree.fd.is_some() { tree.path } else { Vec::new() }).collect();
    Ok(Resolved { groups: resolved, roots, outcome })
}

/// Returns the number of the manifest with this name in a report: its path, or the last part of it if no other
/// manifest has the same.
pub(super) fn manifest_named(name: &[u8], manifests: &[Vec<u8>]) -> Option<usize> {
    let base = |path: &[u8]| path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
    let mut whole = (0..manifests.len()).filter(|&nth| manifests[nth] == name);
    let mut last = (0..manifests.len()).filter(|&nth| base(&manifests[nth]) == name);
    whole.next().or_else(|| last.next().filter(|_| last.next().is_none()))
}

/// Returns the directories given for manifests, by the numbers of these.
fn given(roots: &[OsString], manifests: &[Vec<u8>]) -> anyhow::Result<HashMap<usize, Vec<u8>>> {
    let mut given = HashMap::new();
    for value in roots {
        let value = value.as_bytes();
        // A name may contain `=`.
        let splits = (0..value.len()).filter(|&at| value[at] == b'=');
        let mut splits =
            splits.filter_map(|at| Some((manifest_named(&value[..at], manifests)?, &value[at + 1..])));
        let Some((nth, dir)) = splits.next() else {
            let names = manifests.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
            bail!("--root {}: expected FILE=DIR, where FILE is one of {names}", quote(value));
        };
        ensure!(!dir.is_empty(), "--root {}: the directory is missing", quote(value));
        ensure!(
            given.insert(nth, dir.to_vec()).is_none(),
            "--root is given twice for {}",
            quote(&manifests[nth])
        );
    }
    Ok(given)
}

/// A recorded tree.
struct Tree<'r> {
    /// The recorded root, with which the paths in the report begin.
    recorded: &'r [u8],
    /// Where it is now.
    path: Vec<u8>,
    /// `None` if it is not mounted.
    fd: Option<OwnedFd>,
}

impl<'r> Tree<'r> {
    /// Opens the given directory. Without one, opens the recorded root if it is absolute.
    fn open(given: Option<&[u8]>, recorded: &'r [u8]) -> anyhow::Result<Self> {
        let path = given.unwrap_or(recorded).to_vec();
        let open = || descend(CWD, [&path[..]], Symlinks::Follow, &mut Vec::new());
        let fd = match given {
            Some(_) => Some(open().with_context(|| format!("--root: cannot open {}", quote(&path)))?),
            // A relative path leads to different places.
            None => recorded.starts_with(b"/").then(open).and_then(Result::ok),
        };
        Ok(Self { recorded, path, fd })
    }
}

/// Finds recorded files.
struct Finder<'t> {
    trees: &'t [Tree<'t>],
    /// The identities of file systems, by device number.
    file_systems: HashMap<u64, Option<FsId>>,
    /// The directory that was opened last.
    parent: Option<(usize, Vec<u8>, OwnedFd)>,
}

/// Why a file is not the recorded one.
enum Difference {
    Io(std::io::Error),
    NotRegular,
    /// It lies on another file system, or has another inode number.
    Other,
    Changed(&'static str),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => f.write_str(&cause(error)),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::Other => f.write_str("it is another file than the recorded one"),
            Self::Changed(what) => write!(f, "its {what} is not as recorded"),
        }
    }
}

impl From<std::io::Error> for Difference {
    fn from(error: std::io::Error) -> Self {
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
    fn find(&mut self, member: &RecordedMember, size: u64) -> Result<Member, Difference> {
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
        let stat = Stat::at(parent, name, Symlinks::NoFollow).map_err(std::io::Error::from)?;
        if !stat.is_regular() {
            return Err(Difference::NotRegular);
        }
        if let Some(recorded) = member.fs {
            let fs = match self.file_systems.get(&stat.dev) {
                Some(fs) => *fs,
                None => {
                    let name = std::ffi::CString::new(name).map_err(std::io::Error::from)?;
                    let open = File::open(parent, &name, Symlinks::NoFollow);
                    let file = open.map_err(|_| Difference::Other)?;
                    let fs = FsId::of(&file)?;
                    self.file_systems.insert(stat.dev, fs);
                    fs
                }
            };
            if fs != Some(recorded) {
                return Err(Difference::Other);
            }
        }
        if member.ino.is_some_and(|ino| ino != stat.ino) {
            return Err(Difference::Other);
        }
        let is_as = |recorded: Option<i128>, now| recorded.is_none_or(|recorded| recorded == now);
        match () {
            () if stat.size != size => Err(Difference::Changed("size")),
            () if !is_as(member.mtime_ns, stat.mtime_ns) => Err(Difference::Changed("time of modification")),
            () if !is_as(member.ctime_ns, stat.ctime_ns) => Err(Difference::Changed("time of change")),
            () => Ok(Member {
                root: member.manifest,
                path: self.path(member),
                version: stat.version(),
                blocks: stat.blocks,
                nlink: stat.nlink,
                via_link: false,
            }),
        }
    }
}

/// Divides the values of `--reference` into manifests of the report, by their numbers, and directories.
///
/// # Errors
/// If a manifest is not mounted: its files cannot be compared, so nothing could be removed.
pub(super) fn references(
    values: &[OsString],
    manifests: &[Vec<u8>],
    roots: &[Vec<u8>],
) -> anyhow::Result<(BTreeSet<usize>, Vec<OsString>)> {
    let (mut numbers, mut directories) = (BTreeSet::new(), Vec::new());
    for value in values {
        match manifest_named(value.as_bytes(), manifests).filter(|_| !Path::new(value).is_dir()) {
            Some(nth) => {
                ensure!(
                    !roots[nth].is_empty(),
                    "the tree of the reference {} is not here: add --root FILE=DIR",
                    quote(value.as_bytes())
                );
                numbers.insert(nth);
            }
            None => directories.push(OsString::from_vec(value.as_bytes().to_vec())),
        }
    }
    Ok((numbers, directories))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_named_by_path_or_by_a_unique_last_part() {
        let manifests =
            ["lists/a.jsonl", "b=c.jsonl", "x/same", "y/same"].map(|name| name.as_bytes().to_vec());
        for (name, nth) in [
            ("lists/a.jsonl", Some(0)),
            ("a.jsonl", Some(0)),
            ("b=c.jsonl", Some(1)),
            ("x/same", Some(2)),
            ("same", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(manifest_named(name.as_bytes(), &manifests), nth, "{name}");
        }
        let parse = |value: &str| given(&[value.into()], &manifests);
        assert_eq!(parse("b=c.jsonl=/mnt/x=y").unwrap(), HashMap::from([(1, b"/mnt/x=y".to_vec())]));
        for bad in ["a.jsonl", "a.jsonl=", "same=/mnt", "=/mnt", "0=/mnt"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(given(&["a.jsonl=x".into(), "lists/a.jsonl=y".into()], &manifests).is_err());
    }
}
