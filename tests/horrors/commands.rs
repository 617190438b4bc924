//! The commands that read or walk a tree, for failures that all of them must avoid.

use crate::harness::{Dir, Ftk};

/// The equal trees `t` and `u`, and next to them a checksum list and a manifest of `t`.
pub(super) struct Scene {
    pub(super) dir: Dir,
}

/// A command and its arguments.
pub(super) type Command = &'static [&'static str];

/// Commands that read every file of `t` if all have the same size.
pub(super) const READING: [Command; 6] = [
    &["hash", "t"],
    &["hash", "--check", "../list"],
    &["dup", "t", "u"],
    &["manifest", "create", "t"],
    &["manifest", "verify", "t", "../manifest"],
    &["cmp", "t", "u"],
];

/// More commands that walk the tree.
const WALKING: [Command; 5] = [
    &["find", "t"],
    &["find", "--sort", "t"],
    &["dup", "prune", "--action", "delete", "t", "u"],
    &["manifest", "update", "t", "../manifest"],
    &["manifest", "verify", "--mode", "metadata", "t", "../manifest"],
];

impl Scene {
    /// Creates both trees; `plant` gets the name of each.
    pub(super) fn new(plant: impl Fn(&Dir, &str)) -> Self {
        let dir = Dir::new();
        for tree in ["t", "u"] {
            dir.dir(tree);
            plant(&dir, tree);
        }
        dir.ftk(["hash", "t", "-o", "../list"]).run().status(0);
        dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
        Self { dir }
    }

    pub(super) fn ftk(&self, command: Command) -> Ftk {
        self.dir.ftk(command)
    }
}

/// Returns all commands.
pub(super) fn every() -> impl Iterator<Item = Command> {
    READING.into_iter().chain(WALKING)
}
