//! Every command that looks at a tree, for failures that none of them may have.

use crate::harness::{Dir, Ftk};

/// The trees `t` and `u`, which are the same, and beside them what was recorded of `t`.
pub(super) struct Scene {
    pub(super) dir: Dir,
}

/// A command and its arguments.
pub(super) type Command = &'static [&'static str];

/// Those that read every file of `t`, if all are of one size.
pub(super) const READING: [Command; 6] = [
    &["hash", "t"],
    &["hash", "--check", "../list"],
    &["dup", "t", "u"],
    &["manifest", "create", "t"],
    &["manifest", "verify", "t", "../manifest"],
    &["cmp", "t", "u"],
];

/// Those that walk it, beside the ones above that do.
const WALKING: [Command; 5] = [
    &["find", "t"],
    &["find", "--sort", "t"],
    &["dup", "prune", "--action", "delete", "t", "u"],
    &["manifest", "update", "t", "../manifest"],
    &["manifest", "verify", "--mode", "metadata", "t", "../manifest"],
];

impl Scene {
    /// `plant` is given the name of each tree.
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

/// All of them.
pub(super) fn every() -> impl Iterator<Item = Command> {
    READING.into_iter().chain(WALKING)
}
