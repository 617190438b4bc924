//! The cost of commands with almost no work.

use std::fs;

use anyhow::Result;

use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::record::Section;

const VERSION: &str = "
# `--version`
ftk|sha256sum|fd --version
";

const ONE_FILE: &str = "
# one file of 3 bytes [sums]
ftk hash {tiny}
sha256sum {tiny}
openssl dgst -sha256 {tiny}
";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tiny = bench.scratch.path("tiny");
    fs::write(&tiny, "abc")?;
    let commands = Commands::new(bench).with("tiny", &tiny);
    let mut groups = commands.measure(bench.clock(), 0, VERSION)?;
    groups.extend(commands.measure(bench.clock(), 1, ONE_FILE)?);
    Ok(vec![Section::without_tree("small work", &tiny, groups)])
}
