//! Hashing trees and files, with their contents in memory and without.

use anyhow::Result;

use super::hashers::Question;
use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::context::Context;
use crate::bench::measure::Meter;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// What ftk can compute.
const ALL: &[&str] = &["sha256", "sha1", "sha512", "blake2b", "md5", "blake3", "xxh3", "xxh128", "xxh64"];
/// The same without `xxh64`, which is there for old lists.
const MOST: &[&str] = ALL.split_at(8).0;
/// What people use most.
const COMMON: &[&str] = &["sha256", "md5", "blake3", "xxh3", "xxh128"];
/// For where a run takes long: the best peer of each kind shows all there is to see.
const SLOWEST_AND_FASTEST: &[&str] = &["sha256", "xxh3"];
/// What waits for the disk, and not for the digest.
const COLD: &[&str] = &["sha256", "blake3", "xxh3"];

/// The digest that is also computed by tools that a shell starts: the fastest, of which the start is most of all.
const FORKED: &str = "xxh3";

/// How often at most: a cold run takes seconds, and the disk is calmer than the cache.
const COLD_RUNS: usize = 3;

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    let mut add = |tree: &Tree, names: &[&str], peers: fn(&Question<'_>) -> Vec<Case>| -> Result<()> {
        if bench.fits_memory(tree) {
            sections.push(section(bench, bench.clock(), tree, names, peers)?);
        }
        Ok(())
    };
    if let Some(tree) = &bench.tree {
        add(tree, MOST, every_peer)?;
    }
    if bench.options.is_quick {
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
    add(&bench.shape(&shape::LARGE)?, SLOWEST_AND_FASTEST, |question| question.tool().into_iter().collect())?;
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = bench.cold_tree() else { return Ok(Vec::new()) };
    let meter = Meter { cache: Cache::Cold, runs: bench.options.runs.min(COLD_RUNS), ..bench.clock() };
    Ok(vec![section(bench, meter, tree, COLD, |question| {
        let mut cases = vec![question.ftk(&["--io", "sync"])];
        // sha256sum waits for its own arithmetic.
        cases.extend(parallel_peers(question).into_iter().filter(|case| case.tool != "sha256sum"));
        cases
    })?])
}

fn section(
    bench: &Context,
    meter: Meter<'_>,
    tree: &Tree,
    names: &[&str],
    peers: impl Fn(&Question<'_>) -> Vec<Case>,
) -> Result<Section> {
    println!(" {}", tree.title);
    let mut groups = Vec::new();
    for algorithm in bench.algorithms(names)? {
        let question = Question::new(bench, algorithm, &tree.path, tree.files);
        let cases = || {
            let mut cases = vec![question.ftk(&[])];
            cases.extend(peers(&question));
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

/// Every peer that knows the algorithm.
fn every_peer(question: &Question<'_>) -> Vec<Case> {
    let mut cases = parallel_peers(question);
    cases.extend(question.hashdeep());
    cases
}

/// The peers that `xargs` runs in parallel, and b3sum, which has threads of its own.
fn parallel_peers(question: &Question<'_>) -> Vec<Case> {
    let mut cases: Vec<_> = question.tool().into_iter().chain(question.openssl()).collect();
    cases.extend(question.b3sum());
    cases
}
