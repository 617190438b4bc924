//! All tables.

use anyhow::Result;

use super::{find, hash, memory, scale, startup};
use crate::bench::context::Context;
use crate::bench::record::{Section, Unit};

/// A table that can be made.
pub(crate) struct Kind {
    /// On the command line and in records.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    pub(crate) per_file: bool,
    /// Measures; without sections, there is no such table on this machine, and it has said why.
    pub(crate) make: fn(&Context) -> Result<Vec<Section>>,
}

/// In the order in which they are made and shown.
pub(crate) const ALL: &[Kind] = &[
    Kind {
        name: "find",
        title: "Listing files",
        unit: Unit::Milliseconds,
        per_file: false,
        make: find::make,
    },
    Kind {
        name: "hash",
        title: "Hashing files",
        unit: Unit::Milliseconds,
        per_file: false,
        make: hash::warm,
    },
    Kind {
        name: "hash-cold",
        title: "Hashing files that are not in memory",
        unit: Unit::Milliseconds,
        per_file: false,
        make: hash::cold,
    },
    Kind {
        name: "scale",
        title: "SHA-256 from one file to a million",
        unit: Unit::Milliseconds,
        per_file: true,
        make: scale::make,
    },
    Kind {
        name: "startup",
        title: "Starting up",
        unit: Unit::Milliseconds,
        per_file: false,
        make: startup::make,
    },
    Kind { name: "memory", title: "Peak memory", unit: Unit::Kibibytes, per_file: true, make: memory::make },
];
