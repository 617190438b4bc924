//! The visitor that counts during a walk.

use std::io;

use ftk_file::{Sealer, Stat};
use ftk_inventory::Budget;
use ftk_walk::{Directory, Entry, Fields, FileType, Op, Step, Visitor, WalkError};
use rustix::io::Errno;

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
    follows: bool,
    one_file_system: bool,
    sealer: Option<Sealer>,
    /// Device and inode number of the current directory.
    dir_id: (u64, u64),
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
            follows,
            one_file_system: false,
            sealer: None,
            dir_id: (0, 0),
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
            let node = self.part.root(root.name(), false);
            self.part.add_directory(node, &facts, false);
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
        } else {
            self.part.add_file(node, entry.name(), &facts, || [&self.dir, entry.name()].concat());
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
        self.shown = None;
        let Some(node) = node else { return self.count_root(entry) };
        if let Err(error) = self.count(*node, entry) {
            self.errors.push(error);
        }
        if self.part.full.is_some() { Step::Stop } else { Step::Descend }
    }

    fn reads(&self) -> Fields {
        Fields::BASIC
    }

    fn leave(&mut self, _node: &Node) {
        self.part.reserve();
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}
