//! The long runs there are.

use anyhow::Result;

use super::command::Soak;
use super::figures::Figures;
use super::{exhaustive, peaks, races, squeeze, stress};

/// One long run.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    /// What it tries, in a line.
    pub(super) title: &'static str,
    /// Notes what it counts and what it finds. An error is a part that could not be run, or not to its end.
    pub(super) run: fn(&Soak, &mut Figures) -> Result<()>,
}

pub(super) const ALL: &[Part] = &[
    Part { name: "stress", title: "a million files, listed and hashed a hundred times", run: stress::run },
    Part { name: "races", title: "parent directories swapped for links to elsewhere", run: races::run },
    Part { name: "limits", title: "few descriptors and little address space", run: squeeze::run },
    Part { name: "memory", title: "trees of extreme shapes, and what they take", run: peaks::run },
    Part {
        name: "exhaustive",
        title: "the tests that are left out of every other run",
        run: exhaustive::run,
    },
];
