//! The names of each victim of a run.

use std::collections::{BTreeMap, HashMap};

use ftk_file::{Identity, Version};

use crate::action::ActionKind;
use crate::intent::{Intent, To};

/// What is known about the names of a victim.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// How many of them the run handled.
    pub(super) handled: u64,
    /// For how many of these the journal does not say that they are undone.
    pub(super) left: u64,
    /// How many there were before the run.
    pub(super) all: u64,
    /// The path of the copy that was made for the first of them, or of the victim itself, and its identity. `None` until
    /// there is one.
    pub(super) copy: Option<(To, Identity)>,
    /// Whether `copy` is the victim itself.
    pub(super) is_original: bool,
    /// The files that undos have made for these names.
    pub(super) made: Vec<Identity>,
    /// Whether one of the names leads to another file that looks like the victim. Another user could have put it there.
    pub(super) has_other: bool,
}

/// What all names of a victim agree in. The number of a removed file may belong to another one later in the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct VictimKey {
    dev: u64,
    ino: u64,
    uid: u32,
    size: u64,
    mtime_ns: i128,
    digest: Option<blake3::Hash>,
}

impl VictimKey {
    pub(super) fn of(intent: &Intent) -> Self {
        let Version { dev, ino, size, mtime_ns, .. } = intent.victim.version;
        let digest = intent.proof.as_ref().and_then(|proof| proof.digest);
        Self { dev, ino, uid: intent.metadata.uid, size, mtime_ns, digest }
    }
}

/// Counts the names of each victim, and finds the files that undos have made for them.
pub(super) fn names(
    steps: &[Intent],
    undone: &BTreeMap<u64, bool>,
    remade: &BTreeMap<u64, Identity>,
) -> HashMap<VictimKey, Names> {
    let mut names: HashMap<_, Names> = HashMap::new();
    for intent in
        steps.iter().filter(|intent| !matches!(intent.kind, ActionKind::Create | ActionKind::SetMetadata))
    {
        let names = names.entry(VictimKey::of(intent)).or_default();
        names.handled += 1;
        names.left += u64::from(!undone.contains_key(&intent.step));
        names.all = names.all.max(intent.proof.as_ref().map_or(0, |proof| proof.nlink));
        names.made.extend(remade.get(&intent.step));
    }
    names
}
