//! A file system whose server answers late, as over a network.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::late::{Mounts, remount};
use crate::bench::record::Section;
use crate::bench::shape;

/// Delays of each request, in microseconds.
const DELAYS: [u32; 2] = [1_000, 5_000];

/// The most hosts. Each has a mount with a client and a server of its own.
const HOSTS: usize = 4;

const TEXT: &str = "
# find [lines]
find {one}
ftk find {one}
[ftk -j1] ftk find -j1 {one}

# hash sha256 [sums]
[xargs -P16 sha256sum] find {one} -type f -print0 | xargs -0 -n16 -P16 sha256sum
ftk hash {one}
[ftk -j1] ftk hash -j1 {one}

# manifest create, of all or in shards
ftk manifest create -q --force -o {parts}all {one}
[ftk, 2 hosts] seq 2 | xargs -P2 -I HOST @ftk manifest create -q --force --shard HOST/2 -o {parts}HOST {points}HOST
[ftk, 4 hosts] seq 4 | xargs -P4 -I HOST @ftk manifest create -q --force --shard HOST/4 -o {parts}HOST {points}HOST
";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.shape(&shape::SLOW)?;
    let points: Vec<PathBuf> = (1..=HOSTS).map(|host| bench.scratch.path(&format!("slow-{host}"))).collect();
    points.iter().try_for_each(fs::create_dir_all)?;
    let mounts = Mounts(points);
    let names: Vec<&str> = mounts.0.iter().filter_map(|point| point.to_str()).collect();
    let source = fs::canonicalize(&tree.path)?;
    let source = source.to_str().context("the scratch folder is not UTF-8")?;
    let commands = Commands::new(bench).with("one", names[0]).with("points", bench.scratch.path("slow-"));
    let commands = commands.with("parts", bench.scratch.path("slow-part-"));
    let mut sections = Vec::new();
    for delay in DELAYS.map(|delay| delay.to_string()) {
        if let Err(error) = remount(&delay, source, &names) {
            println!(" not measured: {error:#}");
            return Ok(Vec::new());
        }
        let title =
            format!("{}, through sshfs with a delay of {} ms", tree.title, delay.trim_end_matches("000"));
        println!(" {title}");
        let mut groups = Vec::new();
        for (title, mut cases) in commands.groups(TEXT) {
            for case in &mut cases {
                let remount = words![&bench.programs.helper, "bench", "remount", &delay, source];
                let points = names.iter().map(Into::into);
                case.before = Some(Pipeline::new(remount.into_iter().chain(points).collect()));
                case.serial = Some(alone(case));
            }
            groups.push(bench.clock().group(&title, tree.files, cases)?);
        }
        sections.push(Section { title, ..Section::new(&tree, Cache::Cold, groups) });
    }
    Ok(sections)
}

/// Returns the same pipeline without parallel processes, whose lines would mix.
fn alone(case: &Case) -> Pipeline {
    let mut pipeline = case.timed.clone();
    let words = pipeline.stages.iter_mut().flatten();
    words.filter(|word| **word == "-P16").for_each(|word| *word = "-P1".into());
    pipeline
}
