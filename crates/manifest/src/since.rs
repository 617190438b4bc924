//! What changed between two snapshots of Btrfs, and when that is known for certain.

use std::collections::HashMap;
use std::io;

use ftk_file::{ChangedInode, FsId, Subvolume, TreeSearch};

use crate::entry::path_of_key;
use crate::{Examination, Header};

/// The snapshot that contains a directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// The subvolume. `None` if it is not on Btrfs.
    pub subvolume: Option<Subvolume>,
    /// Its [lineage](Subvolume::mounted_lineage).
    pub lineage: Option<FsId>,
    /// Its file system.
    pub fs: Option<FsId>,
}

impl Snapshot {
    /// Returns why the changes from this snapshot to the snapshot `now` are not certainly those from the tree that a manifest
    /// with this header records; `None` if they are. `root_ino` is the inode of the root in `now`.
    ///
    /// The recorded snapshot must still exist: it shows that the file system was not set back to an earlier state since, as a
    /// virtual machine may be. Numbers of transactions would have been used twice.
    pub fn unproven(&self, header: &Header, now: &Self, root_ino: u64) -> Option<&'static str> {
        /// A file above the root, where nothing is searched, may decide about every entry.
        const IGNORE_FILES: &[u8] = b"--ignore-files";
        let is_changed = |it: &Subvolume| it.changed > it.made;
        let recorded = header.root_identity.as_ref();
        if header.provenance.examined.is_some() {
            return Some("OLD is not from a full update");
        }
        let Some(of_old) = header.provenance.subvolume else {
            return Some("OLD does not say that it records all of a read-only snapshot");
        };
        let (Some(then), Some(current)) = (self.subvolume, now.subvolume) else {
            return Some("ROOT and SNAPSHOT are not both on Btrfs");
        };
        Some(match () {
            () if then.uuid != Some(of_old.uuid) || then.made != of_old.made => {
                "SNAPSHOT is not the snapshot that OLD records"
            }
            () if !then.is_read_only => "SNAPSHOT is not read-only",
            () if is_changed(&then) || of_old.changed > of_old.made => {
                "SNAPSHOT was changed after it was made, or was received"
            }
            () if !current.is_read_only => "ROOT is not in a read-only snapshot",
            () if is_changed(&current) => {
                "the snapshot that contains ROOT was changed after it was made, or was received"
            }
            () if then.parent.is_none() || then.parent != current.parent => {
                "ROOT and SNAPSHOT are not snapshots of one subvolume"
            }
            () if current.made <= then.made => "the snapshot that contains ROOT is not newer than SNAPSHOT",
            () if self.lineage.is_none() || self.lineage != now.lineage => {
                "a copy of the file system is mounted, too"
            }
            () if !self.fs.zip(now.fs).is_some_and(|(then, now)| then.is_on_same_btrfs(&now)) => {
                "ROOT and SNAPSHOT are on different file systems"
            }
            () if recorded.is_none_or(|it| it.identity.ino != root_ino) => {
                "ROOT is another directory than OLD records"
            }
            () if header.xattrs && !header.trusted_xattrs => {
                "OLD lacks attributes that only root sees (trusted.*)"
            }
            () if header.options.iter().any(|option| option == IGNORE_FILES) => {
                "OLD has --ignore-files, and files above ROOT may have changed"
            }
            () => return None,
        })
    }
}

impl Examination {
    /// Returns an examination of everything that changed between two snapshots: these inodes, found in the later one,
    /// which contains the root. `options` are those of the manifest.
    ///
    /// # Errors
    /// If names cannot be searched.
    pub fn of_changes(
        search: &TreeSearch,
        root_ino: u64,
        changed: &[ChangedInode],
        options: &[Vec<u8>],
    ) -> io::Result<Self> {
        let has = |option: &[u8]| options.iter().any(|it| it.starts_with(option));
        let (by_tag, by_marker) = (has(b"--exclude-caches"), has(b"--exclude-if-present"));
        let mut examination = Self::complete(changed.len() as u64);
        let mut paths = Paths { search, known: HashMap::from([(root_ino, Some(Vec::new()))]) };
        for &ChangedInode { ino, is_dir } in changed {
            if !is_dir {
                for (dir, name) in search.names(ino)? {
                    let Some(dir) = paths.of_dir(dir)? else { continue };
                    // What is in the file decides about its directory.
                    let is_tag = by_tag && name == b"CACHEDIR.TAG";
                    examination.add(path_of_key(&if is_tag { dir } else { join(&dir, &name) }));
                }
            } else if let Some(dir) = paths.of_dir(ino)? {
                // An entry may decide about all others.
                if by_tag || by_marker {
                    examination.add(path_of_key(&dir));
                } else {
                    examination.add_changed_dir(dir, search.entries(ino)?);
                }
            }
        }
        Ok(examination)
    }
}

/// Finds the paths of directories.
struct Paths<'s> {
    search: &'s TreeSearch,
    /// The key of each directory; `None` if it is not below the root.
    known: HashMap<u64, Option<Vec<u8>>>,
}

impl Paths<'_> {
    fn of_dir(&mut self, ino: u64) -> io::Result<Option<Vec<u8>>> {
        // The names from the directory up to the first known one above it.
        let (mut names, mut above) = (Vec::new(), ino);
        let mut path = loop {
            if let Some(path) = self.known.get(&above) {
                break path.clone();
            }
            match self.search.names(above)?.pop() {
                // The top of the subvolume is a name of itself.
                Some((dir, _)) if dir == above => break None,
                Some((dir, name)) => {
                    names.push((above, name));
                    above = dir;
                }
                None => break None,
            }
        };
        self.known.insert(above, path.clone());
        for (ino, name) in names.into_iter().rev() {
            path = path.map(|above| join(&above, &name));
            self.known.insert(ino, path.clone());
        }
        Ok(path)
    }
}

/// Returns the key of an entry in a directory with this key.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}

#[cfg(test)]
mod tests {
    use ftk_file::{FileType, Identity};

    use super::*;
    use crate::{Examined, Provenance, RootIdentity};

    const fn id(byte: u8) -> FsId {
        FsId::from_bytes([byte; 16])
    }

    /// The file system of a subvolume of Btrfs.
    fn fs(subvolume: u8, of: u8) -> Option<FsId> {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&0x9123_683e_u32.to_be_bytes());
        (bytes[8], bytes[15]) = (subvolume, of);
        Some(FsId::from_bytes(bytes))
    }

    fn snapshot(uuid: u8, made: u64) -> Snapshot {
        let parent = Some(id(1));
        let subvolume = Subvolume {
            uuid: Some(id(uuid)),
            parent,
            is_read_only: true,
            changed: made - 1,
            made,
            made_ns: 0,
        };
        Snapshot { subvolume: Some(subvolume), lineage: parent, fs: fs(uuid, 1) }
    }

    #[test]
    fn every_doubt_about_two_snapshots_has_a_reason() {
        let (then, now, ino) = (snapshot(2, 10), snapshot(3, 20), 300);
        let identity =
            Identity { fs: then.fs, dev: 4, ino, birth_ns: None, file_type: FileType::Directory, uid: 0 };
        let root_identity = Some(RootIdentity { path: b"/s/2".to_vec(), fs_type: 0, identity });
        let provenance = Provenance::of(then.subvolume.as_ref(), then.lineage);
        let header = Header::of_list(b"r".to_vec(), Vec::new(), 7);
        let header = Header { root_identity, provenance, xattrs: true, ..header };
        assert_eq!(then.unproven(&header, &now, ino), None);

        let with = |it: Snapshot, change: fn(&mut Subvolume)| {
            let mut it = it;
            it.subvolume.iter_mut().for_each(change);
            it
        };
        let in_header = |change: fn(&mut Header)| {
            let mut header = header.clone();
            change(&mut header);
            header
        };
        let nowhere = Snapshot::default();
        for (header, then, now, ino, why) in [
            (
                in_header(|it| it.provenance.examined = Some(Examined { full_ns: 1 })),
                then,
                now,
                ino,
                "full update",
            ),
            (in_header(|it| it.provenance.subvolume = None), then, now, ino, "does not say"),
            (header.clone(), nowhere, now, ino, "not both on Btrfs"),
            (header.clone(), then, nowhere, ino, "not both on Btrfs"),
            (header.clone(), snapshot(4, 10), now, ino, "not the snapshot that OLD"),
            // The image of the file system was set back, and a snapshot got the number again.
            (header.clone(), snapshot(2, 11), now, ino, "not the snapshot that OLD"),
            (header.clone(), with(then, |it| it.is_read_only = false), now, ino, "SNAPSHOT is not read-only"),
            (header.clone(), with(then, |it| it.changed = 11), now, ino, "SNAPSHOT was changed"),
            (
                in_header(|it| it.provenance.subvolume.as_mut().unwrap().changed = 11),
                then,
                now,
                ino,
                "SNAPSHOT was changed",
            ),
            (header.clone(), then, with(now, |it| it.is_read_only = false), ino, "ROOT is not in a"),
            (header.clone(), then, with(now, |it| it.changed = 21), ino, "contains ROOT was changed"),
            (header.clone(), then, with(now, |it| it.parent = Some(id(9))), ino, "not snapshots of one"),
            (
                header.clone(),
                with(then, |it| it.parent = None),
                with(now, |it| it.parent = None),
                ino,
                "not snapshots of one",
            ),
            (header.clone(), then, snapshot(3, 10), ino, "is not newer"),
            (header.clone(), then, Snapshot { lineage: None, ..now }, ino, "a copy of the file system"),
            (
                header.clone(),
                Snapshot { lineage: None, ..then },
                Snapshot { lineage: None, ..now },
                ino,
                "a copy",
            ),
            (header.clone(), then, Snapshot { fs: fs(3, 2), ..now }, ino, "on different file systems"),
            (header.clone(), then, Snapshot { fs: None, ..now }, ino, "on different file systems"),
            (header.clone(), then, now, 301, "another directory"),
            (in_header(|it| it.root_identity = None), then, now, ino, "another directory"),
            (in_header(|it| it.trusted_xattrs = false), then, now, ino, "only root sees"),
            (in_header(|it| it.options = vec![b"--ignore-files".to_vec()]), then, now, ino, "--ignore-files"),
        ] {
            let found = then.unproven(&header, &now, ino);
            assert!(found.is_some_and(|found| found.contains(why)), "{why}: {found:?}");
        }
        // A part of the attributes is missing only if there are any.
        let without = in_header(|it| (it.xattrs, it.trusted_xattrs) = (false, false));
        assert_eq!(then.unproven(&without, &now, ino), None);
    }
}
