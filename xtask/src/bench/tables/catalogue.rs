//! All tables.

use anyhow::Result;

use super::{
    cmp, dup, hash, kernels, lake, listing, lists, manifest, parity, reuse, scale, scaling, slow, threads,
    walkers,
};
use crate::bench::context::Context;
use crate::bench::record::Section;

/// A kind of table.
pub(crate) struct Kind {
    /// The name on the command line and in records.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Whether the cost per file is shown.
    pub(crate) per_file: bool,
    /// Whether the CPU time is shown.
    pub(crate) shows_cpu: bool,
    /// Measures and returns the sections. If the table is impossible on this machine, prints why and returns none.
    pub(crate) make: fn(&Context) -> Result<Vec<Section>>,
}

const fn kind(name: &'static str, title: &'static str, make: fn(&Context) -> Result<Vec<Section>>) -> Kind {
    Kind { name, title, per_file: false, shows_cpu: false, make }
}

/// Returns the names of all tables.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|table| table.name)
}

/// All tables, in the order in which they are made and shown.
pub(crate) const ALL: &[Kind] = &[
    kind("find", "Listing files", listing::warm),
    kind("find-cold", "Listing files with nothing in memory", listing::cold),
    kind("expressions", "Expressions and order", listing::expressions),
    Kind { shows_cpu: true, ..kind("walkers", "Walkers as libraries", walkers::make) },
    kind("du", "What uses the space", listing::space),
    kind("hash", "Hashing files", hash::warm),
    kind("hash-cold", "Hashing files with nothing in memory", hash::cold),
    kind("lists", "Checking and comparing lists", lists::make),
    kind("dup", "Finding duplicates", dup::warm),
    kind("dup-cold", "Finding duplicates with nothing in memory", dup::cold),
    kind("cache", "Hashing and finding duplicates again, with `--cache`", reuse::make),
    kind("manifest", "Manifests", manifest::make),
    kind("lake", "Questions about manifests", lake::make),
    kind("parity", "Parity: damaged files without a copy", parity::make),
    kind("cmp", "Comparing files and trees", cmp::make),
    kind("threads", "Threads, and what ftk chooses by itself", threads::make),
    kind("scaling", "One CPU and all of them", scaling::make),
    kind("slow", "A server that answers late", slow::make),
    Kind { per_file: true, ..kind("scale", "SHA-256 from one file to a million", scale::make) },
    kind("startup", "Starting up", listing::startup),
    kind("kernels", "Digests without files", kernels::make),
];
