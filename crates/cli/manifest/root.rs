//! The directory that a manifest records, opened once.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use ftk_file::{FsId, Stat, Subvolume, Symlinks, current_path, descend, mounts};
use ftk_inventory::{DirNo, Inventory};
use ftk_manifest::{Header, Kinship, Mount, Place, Provenance, RootIdentity, Shard, Snapshot};
use ftk_record::quote;
use rustix::fs::CWD;

use crate::manifest::create::join;

/// The directory ROOT. It stays open, so that it is the same one whatever happens to its path while ftk runs.
pub(crate) struct Root {
    given: OsString,
    dir: OwnedFd,
    identity: RootIdentity,
    /// The subvolume that contains it, and its lineage.
    subvolume: Option<Subvolume>,
    lineage: Option<FsId>,
}

/// What is mounted below a root.
pub(super) struct MountBelow {
    /// Its path below the root.
    pub(super) path: Vec<u8>,
    /// Whether it is on the file system that contains the root.
    is_same: bool,
}

impl Root {
    /// Opens the directory. A symbolic link is followed.
    ///
    /// # Errors
    /// If it is not a directory, or cannot be examined.
    pub(crate) fn open(given: &OsStr) -> anyhow::Result<Self> {
        let cannot = || format!("cannot open {}", quote(given.as_bytes()));
        let is_dir = Path::new(given).metadata().with_context(cannot)?.is_dir();
        ensure!(is_dir, "{} is not a directory", quote(given.as_bytes()));
        let name = CString::new(given.as_bytes())?;
        let dir = descend(CWD, [name.to_bytes()], Symlinks::Follow, &mut Vec::new()).with_context(cannot)?;
        let path = path_of(&dir, given).with_context(cannot)?;
        let identity = RootIdentity::of(&dir, path).with_context(cannot)?;
        let subvolume = Subvolume::of(&dir);
        let lineage = subvolume.and_then(|it| it.mounted_lineage(&dir));
        Ok(Self { given: given.to_owned(), dir, identity, subvolume, lineage })
    }

    /// Opens the directory whose absolute path a manifest records.
    ///
    /// # Errors
    /// If none is recorded, or it is not the recorded directory or cannot be examined.
    pub(super) fn recorded(header: &Header) -> anyhow::Result<Self> {
        let recorded = header.root_identity.as_ref().filter(|recorded| recorded.path.starts_with(b"/"));
        let recorded =
            recorded.context("it does not record the absolute path of its root: give ROOT and FILE")?;
        let root = Self::open(OsStr::from_bytes(&recorded.path))?;
        if let Some(why) = recorded.difference(&root.identity) {
            let path = quote(&recorded.path);
            bail!("{path} is not the recorded directory: {why} (mount the right one, or give ROOT and FILE)");
        }
        Ok(root)
    }

    /// The path as given.
    pub(super) fn given(&self) -> &OsStr {
        &self.given
    }

    pub(crate) fn identity(&self) -> &RootIdentity {
        &self.identity
    }

    /// The open directory, for look-ups only.
    pub(super) fn dir(&self) -> impl AsFd {
        &self.dir
    }

    /// Returns the snapshot that contains the directory.
    pub(super) fn snapshot(&self) -> Snapshot {
        let Self { subvolume, lineage, .. } = *self;
        Snapshot { subvolume, lineage, fs: self.identity.identity.fs }
    }

    /// Returns the provenance of a new manifest of this directory.
    pub(super) fn provenance(&self) -> Provenance {
        let provenance = Provenance::of(self.subvolume.as_ref(), self.lineage);
        // Its entries would be recorded as if they were in the snapshot.
        let is_mixed = || self.mounts_below().is_none_or(|below| below.iter().any(|mount| mount.is_same));
        let subvolume = provenance.subvolume.filter(|_| !is_mixed());
        Provenance { subvolume, ..provenance }
    }

    /// Returns what is mounted below the directory. `None` if that is not known.
    pub(super) fn mounts_below(&self) -> Option<Vec<MountBelow>> {
        let root = Path::new(OsStr::from_bytes(&self.identity.path));
        let all: Vec<_> = mounts().collect();
        let own = all.iter().filter(|it| root.starts_with(&it.at));
        let own = own.max_by_key(|it| it.at.as_os_str().len())?;
        let below = all.iter().filter_map(|it| {
            let path = it.at.strip_prefix(root).ok().filter(|path| !path.as_os_str().is_empty())?;
            Some(MountBelow { path: path.as_os_str().as_bytes().to_vec(), is_same: it.dev == own.dev })
        });
        Some(below.collect())
    }

    /// Returns why inode numbers of this directory can be compared with those in a manifest.
    pub(super) fn kinship(&self, header: &Header, is_snapshot: bool) -> Kinship {
        let recorded = header.root_identity.as_ref().and_then(|it| it.identity.fs);
        match recorded {
            _ if is_snapshot => Kinship::SnapshotOf,
            Some(fs) if header.provenance.is_history_of(self.subvolume.as_ref(), self.lineage) => {
                Kinship::History { fs, dev: self.identity.identity.dev }
            }
            _ => Kinship::None,
        }
    }

    /// Returns whether the manifest records a subvolume of the same Btrfs file system, as after a rollback.
    pub(super) fn is_on_same_btrfs(&self, header: &Header) -> bool {
        let recorded = header.root_identity.as_ref().and_then(|it| it.identity.fs);
        let is_on_one = |(a, b): (FsId, FsId)| a.is_on_same_btrfs(&b);
        header.provenance.lineage.is_some()
            && self.lineage.is_some()
            && recorded.zip(self.identity.identity.fs).is_some_and(is_on_one)
    }

    /// Checks that the recorded file systems `mounts` are still mounted; with a shard, those that it lists. `or` is
    /// what to do if they will not be.
    ///
    /// # Errors
    /// If one is not, or another one is mounted at its path.
    pub(super) fn check_mounts(
        &self,
        mounts: &[Mount],
        shard: Option<&Shard>,
        or: &str,
    ) -> anyhow::Result<()> {
        let is_listed = |mount: &&Mount| shard.is_none_or(|it| it.place(mount.path()) != Place::Outside);
        let mounts: Vec<_> = mounts.iter().filter(is_listed).cloned().collect();
        let lost = Mount::lost(&mounts, &self.mounts_now(&mounts));
        let Some(first) = lost.first() else { return Ok(()) };
        let (what, others) = match (lost.len() - 1, first.why) {
            (0, None) => ("it", String::new()),
            (0, Some(_)) => ("the right one", String::new()),
            (1, _) => ("both", "; the recorded one is missing at 1 other path too".to_owned()),
            (n, _) => ("all", format!("; the recorded ones are missing at {n} other paths too")),
        };
        bail!("{}: {first}{others} (mount {what}, {or})", quote(&join(self.given.as_bytes(), &first.path)))
    }

    /// Returns which of these file systems are mounted now, or others at their paths.
    pub(crate) fn mounts_now(&self, mounts: &[Mount]) -> Vec<Mount> {
        let open = |path: &[u8]| {
            let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
            descend(self.dir.as_fd(), names.chain([&b"."[..]]), Symlinks::NoFollow, &mut Vec::new())
        };
        let now = |path: &[u8]| -> io::Result<Option<Mount>> {
            let parent = path.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |end| &path[..end]);
            let (parent, top) = (Stat::of(open(parent)?)?, open(path)?);
            let identity = RootIdentity::of(&top, path.to_vec())?;
            Ok((identity.identity.dev != parent.dev).then_some(Mount::Identified(identity)))
        };
        let found = mounts.iter().map(Mount::path).map(|path| match now(path) {
            Ok(mount) => mount,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            // The walk reports everything else.
            Err(_) => Some(Mount::Named(path.to_vec())),
        });
        found.flatten().collect()
    }

    /// Returns whether there is an entry at a path below the directory. No link in the path is followed.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (&b"."[..], path),
        };
        let above = descend(self.dir.as_fd(), [above], Symlinks::NoFollow, &mut Vec::new());
        let stat = above.and_then(|above| Ok(Stat::at(&above, &CString::new(name)?, Symlinks::NoFollow)?));
        stat.is_ok()
    }

    /// Checks that a walk of the path went through this directory.
    ///
    /// # Errors
    /// If it went through another one.
    pub(super) fn check(&self, inventory: &Inventory) -> anyhow::Result<()> {
        let is_root = |dir: &DirNo| inventory.parent(*dir).is_none() && !inventory.has_starting_points(*dir);
        let walked = (0..inventory.dirs()).map(DirNo).find(is_root).map(|dir| inventory.identity_of_dir(dir));
        let opened = Stat::of(&self.dir).map(|stat| stat.identity());
        ensure!(
            walked.is_none_or(|walked| opened == Ok(walked)),
            "{} was replaced by another directory while ftk was reading it",
            quote(self.given.as_bytes())
        );
        Ok(())
    }
}

/// Returns the absolute path of an open directory, without symbolic links.
fn path_of(dir: &OwnedFd, given: &OsStr) -> std::io::Result<Vec<u8>> {
    // Where there is no procfs, the path is resolved again.
    current_path(dir.as_fd()).or_else(|_| Ok(fs::canonicalize(given)?.into_os_string().into_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_root_has_no_links() {
        let temp = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir(real.join("dir")).unwrap();
        std::os::unix::fs::symlink("dir", real.join("link")).unwrap();
        let roots =
            ["dir", "link", "dir/../link/"].map(|name| Root::open(real.join(name).as_os_str()).unwrap());
        for root in &roots {
            assert_eq!(root.identity().path, real.join("dir").as_os_str().as_bytes());
            assert_eq!(root.identity().difference(roots[0].identity()), None);
        }
    }
}
