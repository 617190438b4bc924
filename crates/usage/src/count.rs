//! The visitor that counts during a walk.

use std::io;

use ftk_file::{Sealer, Stat};
use ftk_inventory::Budget;
use ftk_walk::{Directory, Entry, Fields, FileType, Metadata, Op, Step, Visitor, WalkError};
use rustix::io::Errno;

use crate::exclusive::{Exclusives, Flushed};
use crate::part::Node;
use crate::{Facts, Keep, Part};

/// Counts the entries that one worker of a walk is shown.
///
/// A directory counts when the walk descends into it, and a directory that is not shown is not counted itself, but what is
/// shown of its contents is. Every entry that is shown is examined by one system call.
#[derive(Debug)]
pub struct Count {
    /// What was counted.
    pub part: Part,
    /// What could not be examined or listed.
    pub errors: Vec<WalkError>,
    /// The device and the path of each file system that was entered: that of a starting point, or of a mount point. One may
    /// occur several times.
    pub file_systems: Vec<(u64, Vec<u8>)>,
    follows: bool,
    one_file_system: bool,
    sealer: Option<Sealer>,
    /// Device and inode number of the current directory.
    dir_id: (u64, u64),
    /// The name of the directory that was shown last, if such a directory counts even if the walk does not descend into it.
    unentered: Option<Vec<u8>>,
    /// What was written to the disk, if the space of files is counted that no other file shares.
    exclusive: Option<Flushed>,
    /// The device of the current directory, and whether its file system marks blocks that several files share.
    dir_marks: (u64, bool),
    /// What the directory that was shown last uses itself, until the walk descends into it.
    shown: Option<Facts>,
    /// The device of the starting point of the current directory.
    root_dev: u64,
    /// The path of the current directory, with a slash at its end, if paths are needed.
    dir: Vec<u8>,
}

impl Count {
    /// Creates a visitor for worker number `worker`. `follows`: whether the walk follows all links.
    pub fn new(worker: usize, keep: &Keep, budget: &Budget, follows: bool) -> Self {
        Self {
            part: Part::new(worker, keep, budget),
            errors: Vec::new(),
            file_systems: Vec::new(),
            follows,
            one_file_system: false,
            sealer: None,
            dir_id: (0, 0),
            unentered: None,
            exclusive: None,
            dir_marks: (0, false),
            shown: None,
            root_dev: 0,
            dir: Vec::new(),
        }
    }

    /// Sets whether entries on other file systems than that of their starting point are not counted. The walk must not
    /// enter directories there. A file counts with its directory, unless it is a mount point. The default is `false`.
    #[must_use]
    pub fn one_file_system(self, one_file_system: bool) -> Self {
        Self { one_file_system, ..self }
    }

    /// Also sums up what identifies each entry: see [`Usage::seal`](crate::Usage::seal). Entries that are not shown do not
    /// count, so the sum then differs from that of all entries.
    #[must_use]
    pub fn sealing(mut self, sealer: &Sealer) -> Self {
        self.part.seals = Some(Vec::new());
        Self { sealer: Some(sealer.clone()), ..self }
    }

    /// Counts directories that are shown even if the walk does not descend into them, as a manifest records them.
    #[must_use]
    pub fn all_shown(self) -> Self {
        Self { unentered: Some(Vec::new()), ..self }
    }

    /// Also counts the space of regular files that no other file shares. Opens each, where files can share any, and
    /// first writes the changed data of their file system to the disk. All workers of a walk get clones of `flushed`.
    #[must_use]
    pub fn exclusive(mut self, flushed: &Flushed) -> Self {
        self.exclusive = Some(flushed.clone());
        self.part.exclusives = Some(Exclusives::default());
        self
    }

    /// Counts the space that a regular file does not share. An error makes it unknown.
    fn add_exclusive(&mut self, node: Node, entry: &Entry<'_>, metadata: &Metadata) {
        let Some(flushed) = self.exclusive.as_ref().filter(|_| metadata.file_type == FileType::Regular)
        else {
            return;
        };
        let (dir_dev, may_be_known) = self.dir_marks;
        let bytes = match (metadata.size, metadata.blocks) {
            (0, 0) => Ok(Some(0)),
            _ if metadata.dev == dir_dev && !may_be_known => Ok(None),
            _ => entry.open().and_then(|file| {
                let flush = match metadata.dev != dir_dev && ftk_read::marks_shared_extents(&file) {
                    true => flushed.flush(metadata.dev, &file),
                    false => Ok(()),
                };
                let bytes = flush.and_then(|()| ftk_read::exclusive_bytes(&file));
                bytes.map_err(|error| entry.error(Op::Read, error))
            }),
        };
        let bytes = bytes.unwrap_or_else(|error| {
            self.errors.push(error);
            None
        });
        self.part.add_exclusive(node, bytes, (metadata.nlink, (metadata.dev, metadata.ino)));
    }

    /// Ends the directory that was shown last, if the walk has not descended into it.
    fn forget_shown(&mut self, node: Node) {
        if let (Some(facts), Some(name)) = (self.shown.take(), &self.unentered) {
            let dir = self.part.directory(node, name);
            self.part.add_directory(dir, &facts, true);
        }
    }

    /// Counts a starting point. A directory counts when the walk descends into it.
    fn count_root(&mut self, root: &mut Entry<'_>) -> Step {
        if self.follows && root.file_type() == FileType::Symlink {
            let dangling = io::Error::from(Errno::NOENT);
            return self.error(WalkError::new(Op::Stat, root.name().to_vec(), dangling));
        }
        let metadata = match root.metadata() {
            Ok(metadata) => *metadata,
            Err(error) => return self.error(error),
        };
        let facts = Facts::of(&metadata, self.follows);
        if metadata.file_type == FileType::Directory {
            self.shown = Some(facts);
        } else {
            self.file_systems.push((metadata.dev, root.name().to_vec()));
            let node = self.part.root(root.name(), false);
            self.part.add_directory(node, &facts, false);
            self.add_exclusive(node, root, &metadata);
        }
        Step::Descend
    }

    fn count(&mut self, node: Node, entry: &mut Entry<'_>) -> Result<(), WalkError> {
        let metadata = *entry.metadata()?;
        if let Some(sealer) = &self.sealer {
            let seal = sealer.entry(self.dir_id, entry.name(), &Stat::from(&metadata));
            self.part.seal(node, seal);
        }
        // Overlays show files with other devices than their directories.
        let is_elsewhere = self.one_file_system
            && metadata.dev != self.root_dev
            && (metadata.file_type == FileType::Directory || entry.is_mount_point());
        if is_elsewhere {
            return Ok(());
        }
        let facts = Facts::of(&metadata, self.follows);
        if metadata.file_type == FileType::Directory {
            self.shown = Some(facts);
            if let Some(name) = &mut self.unentered {
                name.clear();
                name.extend_from_slice(entry.name());
            }
        } else {
            self.part.add_file(node, entry.name(), &facts, || [&self.dir, entry.name()].concat());
            self.add_exclusive(node, entry, &metadata);
        }
        Ok(())
    }
}

impl Visitor for Count {
    type Dir = Node;

    fn descend(&mut self, from: Option<&Node>, entry: &mut Entry<'_>) -> Node {
        let node = match from {
            Some(from) => self.part.directory(*from, entry.name()),
            None => self.part.root(entry.name(), true),
        };
        if let Some(facts) = self.shown.take() {
            self.part.add_directory(node, &facts, true);
        }
        node
    }

    fn enter(&mut self, _node: &Node, dir: &Directory<'_>) -> Step {
        self.root_dev = dir.root_dev();
        self.dir_id = (dir.dev(), dir.ino());
        if let Some(flushed) = &self.exclusive {
            let marks = ftk_read::marks_shared_extents(dir);
            self.dir_marks = (dir.dev(), marks);
            if marks && let Err(error) = flushed.flush(dir.dev(), dir) {
                let mut path = Vec::new();
                dir.push_path(&mut path);
                self.errors.push(WalkError::new(Op::Read, path, error));
            }
        }
        if dir.depth() == 0 || dir.is_mount() {
            let mut path = Vec::new();
            dir.push_path(&mut path);
            self.file_systems.push((dir.dev(), path));
        }
        if self.part.largest.is_some() {
            self.dir.clear();
            dir.push_path(&mut self.dir);
            if !self.dir.ends_with(b"/") {
                self.dir.push(b'/');
            }
        }
        Step::Descend
    }

    fn entry(&mut self, node: Option<&Node>, entry: &mut Entry<'_>) -> Step {
        let Some(node) = node else { return self.count_root(entry) };
        self.forget_shown(*node);
        if let Err(error) = self.count(*node, entry) {
            self.errors.push(error);
        }
        if self.part.full.is_some() { Step::Stop } else { Step::Descend }
    }

    fn reads(&self) -> Fields {
        Fields::BASIC
    }

    fn leave(&mut self, node: &Node) {
        self.forget_shown(*node);
        self.part.reserve();
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}
