//! The cost of commands with almost no work.

use std::fs;

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::commands::{Commands, Lines};
use crate::bench::context::Context;
use crate::bench::machine;
use crate::bench::record::Section;

const VERSION: &Lines<'_> =
    &[("ftk", "ftk --version"), ("sha256sum", "sha256sum --version"), ("fd", "fd --version")];

const ONE_FILE: &Lines<'_> = &[
    ("ftk", "ftk hash {tiny}"),
    ("sha256sum", "sha256sum {tiny}"),
    ("openssl", "openssl dgst -sha256 {tiny}"),
];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tiny = bench.scratch.path("tiny");
    fs::write(&tiny, "abc")?;
    let commands = Commands::new(bench).with("tiny", &tiny);
    let cases = commands.clone().printing(Format::Sums).cases(ONE_FILE);
    let one = bench.clock().group("one file of 3 bytes", 1, cases)?;
    let version = bench.clock().group("`--version`", 0, commands.cases(VERSION))?;
    Ok(vec![Section {
        title: "small work".into(),
        file_system: machine::file_system(&tiny),
        cache: Cache::Warm.to_string(),
        groups: vec![version, one],
    }])
}
