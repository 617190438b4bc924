//! Hashing a tree, with its contents in memory and without.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

use super::Algorithm;
use crate::bench::answer::Format;
use crate::bench::cache::{self, Cache};
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::{Context, Tree};
use crate::bench::measure::Meter;
use crate::bench::record::Section;
use crate::bench::shape;

/// What is hashed on the million files, where a run takes long: the best peer of each kind shows all there
/// is to see.
const ON_LARGE: &[&str] = &["sha256", "xxh3"];

/// How often at most: a cold run takes seconds, and the disk is calmer than the cache.
const COLD_RUNS: usize = 3;

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    let chosen = &bench.options.algorithms[..];
    let meter = bench.clock();
    if let Some(tree) = &bench.tree {
        sections.push(section(bench, meter, tree, chosen, peers)?);
    }
    if bench.options.is_quick {
        sections.push(section(bench, meter, &bench.shape(&shape::SMALL)?, chosen, peers)?);
    } else {
        let chosen: Vec<_> = chosen.iter().copied().filter(|a| ON_LARGE.contains(&a.name)).collect();
        if !chosen.is_empty() {
            sections.push(section(bench, meter, &bench.shape(&shape::LARGE)?, &chosen, parallel_peers)?);
        }
    }
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = &bench.tree else {
        println!(" not measured: no tree (see --tree)");
        return Ok(Vec::new());
    };
    if let Err(error) = cache::drop_all() {
        println!(" not measured: {error:#}");
        return Ok(Vec::new());
    }
    let runs = bench.options.runs.min(COLD_RUNS);
    let meter = Meter { cache: Cache::Cold, runs, ..bench.clock() };
    let chosen: Vec<_> = bench.options.algorithms.iter().copied().filter(|a| a.name != "md5").collect();
    let peers = |bench: &Context, algorithm: &Algorithm, top: &Path| {
        let sync = words![&bench.programs.ftk, "--io", "sync", "hash", "-a", algorithm.name, top];
        let mut cases = vec![Case::new("ftk --io sync", Format::Sums, Pipeline::new(sync))];
        let fast = parallel_peers(bench, algorithm, top);
        cases.extend(fast.into_iter().filter(|case| case.tool != "sha256sum"));
        cases
    };
    Ok(vec![section(bench, meter, tree, &chosen, peers)?])
}

fn section(
    bench: &Context,
    meter: Meter<'_>,
    tree: &Tree,
    algorithms: &[&'static Algorithm],
    peers: impl Fn(&Context, &Algorithm, &Path) -> Vec<Case>,
) -> Result<Section> {
    println!(" {}", tree.title);
    let mut groups = Vec::new();
    for algorithm in algorithms {
        let ftk = words![&bench.programs.ftk, "hash", "-a", algorithm.name, &tree.path];
        let mut cases = vec![Case::new("ftk", Format::Sums, Pipeline::new(ftk))];
        cases.extend(peers(bench, algorithm, &tree.path));
        groups.push(meter.group(algorithm.name, tree.files, cases)?);
    }
    let cache = if meter.cache == Cache::Cold { "cold" } else { "warm" };
    Ok(Section {
        title: tree.title.clone(),
        file_system: tree.file_system.clone(),
        cache: cache.into(),
        groups,
    })
}

/// Every peer that knows the algorithm. Its own tool comes first, as its answer is the reference.
fn peers(bench: &Context, algorithm: &Algorithm, top: &Path) -> Vec<Case> {
    let mut cases = parallel_peers(bench, algorithm, top);
    if let Some(hashdeep) = bench.peers.get("hashdeep").filter(|_| algorithm.hashdeep) {
        let jobs = format!("-j{}", bench.jobs);
        let words = words![hashdeep, "-c", algorithm.name, &jobs, "-r", top];
        cases.push(Case::new("hashdeep", Format::Sums, Pipeline::new(words)));
    }
    cases
}

/// The peers that `xargs` runs in parallel, and b3sum, which has threads of its own.
fn parallel_peers(bench: &Context, algorithm: &Algorithm, top: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, batch: Option<usize>, tool: Vec<OsString>| {
        let timed = xargs(&[top], bench.jobs, batch, &tool);
        cases.push(Case::new(name, Format::Sums, timed).answered_by(xargs(&[top], 1, batch, &tool)));
    };
    if let [name, options @ ..] = algorithm.tool
        && let Some(program) = bench.peers.get(name)
    {
        let mut words = words![program];
        words.extend(options.iter().map(OsString::from));
        add(name, None, words);
    }
    if let Some((program, option)) = bench.peers.get("openssl").zip(algorithm.openssl) {
        add("openssl", Some(256), words![program, "dgst", option]);
    }
    if let Some(program) = bench.peers.get("b3sum").filter(|_| algorithm.name == "blake3") {
        let threads = xargs(&[top], 1, None, &[program.into()]);
        cases.push(Case::new("b3sum, its own threads", Format::Sums, threads));
    }
    cases
}

/// `find TOP... -type f -print0 | xargs -0 -P JOBS TOOL`, with `batch` files a process or as many as fit.
pub(super) fn xargs(tops: &[&Path], jobs: usize, batch: Option<usize>, tool: &[OsString]) -> Pipeline {
    let mut find = words!["find"];
    find.extend(tops.iter().map(OsString::from));
    find.extend(words!["-type", "f", "-print0"]);
    let mut xargs = words!["xargs", "-0", "-r", &format!("-P{jobs}")];
    xargs.extend(batch.map(|batch| format!("-n{batch}").into()));
    xargs.extend_from_slice(tool);
    Pipeline::new(find).pipe(xargs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xargs_is_given_names_that_may_hold_anything() {
        let pipeline = xargs(
            &[Path::new("a"), Path::new("b c")],
            2,
            Some(256),
            &["openssl", "dgst"].map(OsString::from),
        );
        assert_eq!(pipeline.stages[0], words!["find", "a", "b c", "-type", "f", "-print0"]);
        assert_eq!(pipeline.stages[1], words!["xargs", "-0", "-r", "-P2", "-n256", "openssl", "dgst"]);
        assert_eq!(xargs(&[], 1, None, &["x".into()]).stages[1], words!["xargs", "-0", "-r", "-P1", "x"]);
    }
}
