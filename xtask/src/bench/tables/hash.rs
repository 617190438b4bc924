//! Hashing trees and files, with a warm and a cold cache.

use anyhow::Result;

use super::hashers::Task;
use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::context::Context;
use crate::bench::measure::Meter;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// All algorithms of ftk.
const ALL: &[&str] = &["sha256", "sha1", "sha512", "blake2b", "md5", "blake3", "xxh3", "xxh128", "xxh64"];
/// All except `xxh64`, which exists for old lists.
const MOST: &[&str] = ALL.split_at(8).0;
/// The most used algorithms.
const COMMON: &[&str] = &["sha256", "md5", "blake3", "xxh3", "xxh128"];
/// Two algorithms for long runs.
const SLOWEST_AND_FASTEST: &[&str] = &["sha256", "xxh3"];
/// Algorithms that are faster than the disk.
const COLD: &[&str] = &["sha256", "blake3", "xxh3"];

/// The algorithm for runs that a shell starts. It is the fastest, so that the start has the largest share.
const FORKED: &str = "xxh3";

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    let mut add = |tree: &Tree, names: &[&str], peers: fn(&Task<'_>) -> Vec<Case>| -> Result<()> {
        if bench.fits_memory(tree) {
            sections.push(section(bench, bench.clock(), tree, names, peers)?);
        }
        Ok(())
    };
    if let Some(tree) = &bench.tree {
        add(tree, MOST, every_peer)?;
    }
    if bench.options.common.is_quick {
        add(&bench.shape(&shape::MIXED_SMALL)?, ALL, every_peer)?;
        return Ok(sections);
    }
    if let Some(tree) = bench.system() {
        add(&tree, COMMON, every_peer)?;
    }
    add(&bench.shape(&shape::MIXED.within(bench.room()?))?, COMMON, every_peer)?;
    add(&bench.shape(&shape::BULK.within(bench.room()?))?, COMMON, parallel_peers)?;
    let huge = shape::HUGE.within(bench.room()?);
    let folder = bench.shape(&huge)?;
    let path = huge.files_in(0, &folder.path.join(&huge.dirs()[0])).swap_remove(0);
    add(&Tree { path, ..folder }, MOST, parallel_peers)?;
    add(&bench.shape(&shape::LARGE)?, SLOWEST_AND_FASTEST, |task| task.tool().into_iter().collect())?;
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = bench.cold_tree() else { return Ok(Vec::new()) };
    Ok(vec![section(bench, bench.cold_clock(), tree, COLD, |task| {
        let mut cases = vec![task.ftk(&["--io", "sync"])];
        // sha256sum is slower than the disk.
        cases.extend(parallel_peers(task).into_iter().filter(|case| case.tool != "sha256sum"));
        cases
    })?])
}

fn section(
    bench: &Context,
    meter: Meter<'_>,
    tree: &Tree,
    names: &[&str],
    peers: impl Fn(&Task<'_>) -> Vec<Case>,
) -> Result<Section> {
    println!(" {}", tree.title);
    let mut groups = Vec::new();
    for algorithm in bench.algorithms(names)? {
        let task = Task::new(bench, algorithm, &tree.path, tree.files);
        let cases = || {
            let mut cases = vec![task.ftk(&[])];
            cases.extend(peers(&task));
            cases
        };
        groups.push(meter.group(algorithm.name, tree.files, cases())?);
        if algorithm.name == FORKED && meter.cache == Cache::Warm && tree.files > 1 {
            let title = format!("{FORKED}, started by a shell");
            groups.push(meter.group(&title, tree.files, cases().into_iter().map(Case::forked).collect())?);
        }
    }
    Ok(Section::new(tree, meter.cache, groups))
}

/// Returns every peer that supports the algorithm.
fn every_peer(task: &Task<'_>) -> Vec<Case> {
    let mut cases = parallel_peers(task);
    cases.extend(task.hashdeep());
    cases
}

/// Returns the peers that `xargs` runs in parallel, and b3sum, which has its own threads.
fn parallel_peers(task: &Task<'_>) -> Vec<Case> {
    let mut cases: Vec<_> = task.tool().into_iter().chain(task.openssl()).collect();
    cases.extend(task.b3sum());
    cases
}
