//! The list of long tests.

use anyhow::Result;

use super::command::Soak;
use super::figures::Figures;
use super::{busy, histories, holes, kills, limits, peaks, races, shards, stale, stress};

/// One long test.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    /// What it tests, in one line.
    pub(super) title: &'static str,
    /// Adds counts and deviations to the figures. An error means that the part did not run to its end.
    pub(super) run: fn(&Soak, &mut Figures) -> Result<()>,
}

pub(super) const ALL: &[Part] = &[
    Part { name: "stress", title: "a million files, listed and hashed a hundred times", run: stress::run },
    Part { name: "races", title: "parent directories exchanged with links out of the tree", run: races::run },
    Part { name: "kills", title: "runs with --cache, killed at random moments", run: kills::run },
    Part {
        name: "stale",
        title: "digests of files that change in ways that are hard to see",
        run: stale::run,
    },
    Part { name: "limits", title: "few descriptors and little address space", run: limits::run },
    Part { name: "memory", title: "memory use on trees of extreme shapes", run: peaks::run },
    Part {
        name: "shards",
        title: "trees of extreme shapes, recorded in shards and merged",
        run: shards::run,
    },
    Part {
        name: "holes",
        title: "random records of shards with missing mounts, failures, reruns and renames",
        run: holes::run,
    },
    Part {
        name: "histories",
        title: "manifests of a part of a tree after random changes, compared with full updates",
        run: histories::run,
    },
    Part { name: "busy", title: "all tests three times, with every core busy", run: busy::run },
];
