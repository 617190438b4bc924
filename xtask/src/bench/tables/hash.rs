//! Hashing trees and files, with a warm and a cold cache.

use std::path::PathBuf;

use anyhow::Result;

use crate::bench::cache::Cache;
use crate::bench::case::Case;
use crate::bench::commands::{Commands, blocks, labelled};
use crate::bench::context::Context;
use crate::bench::measure::Meter;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// The peers for each algorithm. The first one is the usual tool for it, and its result is the reference. `xargs` runs
/// a tool, with at most so many files for each process, as a tree requires: see [`Task::command`]. The time of openssl
/// grows with the square of the number of files. Which form of b3sum is fastest depends on the tree.
const PEERS: &str = "
# sha256
xargs sha256sum
xargs -n256 openssl dgst -sha256
hashdeep -c sha256 -j{jobs} -o f -r {paths}

# sha1
xargs sha1sum
xargs -n256 openssl dgst -sha1
hashdeep -c sha1 -j{jobs} -o f -r {paths}

# sha512
xargs sha512sum
xargs -n256 openssl dgst -sha512

# md5
xargs md5sum
xargs -n256 openssl dgst -md5
hashdeep -c md5 -j{jobs} -o f -r {paths}

# blake2b
xargs b2sum
xargs -n256 openssl dgst -blake2b512

# blake3
xargs b3sum --num-threads 1
[b3sum no mmap] xargs b3sum --num-threads 1 --no-mmap
[b3sum threads] xargs -P1 b3sum

# xxh64
xargs xxhsum -H1

# xxh3
xargs xxhsum -H3

# xxh128
xargs xxhsum -H2
";

/// ftk alone.
pub(super) const FTK: &str = "ftk hash -a {algorithm} {paths}";

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

/// Minimum number of processes that `xargs` runs one after the other in each slot. With fewer, the last one would run
/// alone for a long time.
const TURNS: u64 = 4;
/// A process gets at least this many files, unless a CPU would then have none.
const FIT: u64 = 1_000;

/// Returns the names of all algorithms.
pub(crate) fn algorithms() -> impl Iterator<Item = &'static str> {
    blocks(PEERS).map(|(algorithm, _)| algorithm)
}

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let every = |_: &Task<'_>, _: &str| true;
    let parallel = |_: &Task<'_>, row: &str| row != "hashdeep";
    let mut sections = Vec::new();
    let mut add = |tree: &Tree, names, is_asked: fn(&Task<'_>, &str) -> bool| -> Result<()> {
        if bench.fits_memory(tree) {
            sections.push(section(bench, bench.clock(), tree, names, FTK, is_asked)?);
        }
        Ok(())
    };
    if let Some(tree) = &bench.tree {
        add(tree, MOST, every)?;
    }
    if bench.options.common.quick {
        add(&bench.shape(&shape::MIXED_SMALL)?, ALL, every)?;
        return Ok(sections);
    }
    if let Some(tree) = bench.system() {
        add(&tree, COMMON, every)?;
    }
    add(&bench.shape(&shape::MIXED.within(bench.room()?))?, COMMON, every)?;
    add(&bench.shape(&shape::BULK.within(bench.room()?))?, COMMON, parallel)?;
    let huge = shape::HUGE.within(bench.room()?);
    let folder = bench.shape(&huge)?;
    let path = huge.files_in(0, &folder.path.join(&huge.dirs()[0])).swap_remove(0);
    add(&Tree { path, ..folder }, MOST, parallel)?;
    add(&bench.shape(&shape::LARGE)?, SLOWEST_AND_FASTEST, |task, row| row == task.tool())?;
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = bench.cold_tree() else { return Ok(Vec::new()) };
    let ours = format!("{FTK}\n[ftk --io sync] ftk --io sync hash -a {{algorithm}} {{paths}}");
    // sha256sum is slower than the disk.
    let is_asked = |_: &Task<'_>, row: &str| !["hashdeep", "sha256sum"].contains(&row);
    Ok(vec![section(bench, bench.cold_clock(), tree, COLD, &ours, is_asked)?])
}

fn section(
    bench: &Context,
    meter: Meter<'_>,
    tree: &Tree,
    names: &[&str],
    ours: &str,
    is_asked: fn(&Task<'_>, &str) -> bool,
) -> Result<Section> {
    println!(" {}", tree.title);
    let mut groups = Vec::new();
    for algorithm in bench.algorithms(names) {
        let task = Task::new(bench, algorithm, vec![tree.path.clone()], tree.files);
        let cases = || task.cases(ours, |row| is_asked(&task, row));
        groups.push(meter.group(algorithm, tree.files, cases())?);
        if algorithm == FORKED && meter.cache == Cache::Warm && tree.files > 1 {
            let title = format!("{FORKED}, started by a shell");
            groups.push(meter.group(&title, tree.files, cases().into_iter().map(Case::forked).collect())?);
        }
    }
    Ok(Section::new(tree, meter.cache, groups))
}

/// A task: the digests of all regular files at or below some paths.
#[derive(Clone)]
pub(super) struct Task<'b> {
    bench: &'b Context,
    algorithm: &'b str,
    /// Files, or directories.
    paths: Vec<PathBuf>,
    /// Number of files.
    files: u64,
    /// Number of processes or threads of the peers.
    pub(super) jobs: usize,
}

impl<'b> Task<'b> {
    pub(super) fn new(bench: &'b Context, algorithm: &'b str, paths: Vec<PathBuf>, files: u64) -> Self {
        Self { bench, algorithm, paths, files, jobs: bench.jobs }
    }

    /// Returns the commands of ftk, and of the peers that are asked.
    pub(super) fn cases(&self, ours: &str, is_asked: impl Fn(&str) -> bool) -> Vec<Case> {
        let case = |row: &str, processes| {
            let commands = Commands::new(self.bench).with("jobs", self.jobs.to_string());
            let commands = commands.with("algorithm", self.algorithm).with_all("paths", &self.paths);
            commands.group(&format!("# digests [sums]\n{}", self.command(row, processes))).1.pop()
        };
        let mut cases: Vec<_> = ours.lines().filter_map(|row| case(row, self.jobs)).collect();
        for row in self.peers().filter(|row| is_asked(name(row))) {
            // Parallel processes would mix their lines in the pipe.
            let serial = case(row, 1).map(|case| case.timed);
            cases.extend(case(row, self.jobs).map(|timed| Case { serial, ..timed }));
        }
        cases
    }

    /// Returns the name of the usual tool.
    pub(super) fn tool(&self) -> &'static str {
        self.peers().next().map(name).unwrap_or_default()
    }

    fn peers(&self) -> impl Iterator<Item = &'static str> {
        let block = blocks(PEERS).find(|(algorithm, _)| *algorithm == self.algorithm);
        block.into_iter().flat_map(|(_, rows)| rows.lines())
    }

    /// Replaces `xargs`: the tool gets files as arguments, and those in a tree from `find` and `xargs`.
    fn command(&self, row: &str, processes: usize) -> String {
        let Some(command) = labelled(row).1.strip_prefix("xargs ") else { return row.to_owned() };
        let is_option = |word: &&str| word.starts_with("-P") || word.starts_with("-n");
        let options: Vec<_> = command.split(' ').take_while(is_option).collect();
        let (name, tool) = (name(row), command.split(' ').skip(options.len()).collect::<Vec<_>>().join(" "));
        if self.paths.iter().all(|path| path.is_file()) {
            return format!("[{name}] {tool} {{paths}}");
        }
        let number = |option| options.iter().find_map(|word| word.strip_prefix(option)?.parse::<u64>().ok());
        let jobs = number("-P").unwrap_or(self.jobs as u64);
        let batch = batch(self.files, jobs, number("-n")).map(|n| format!("-n{n}")).unwrap_or_default();
        let processes = jobs.min(processes as u64);
        format!("[{name}] find {{paths}} -type f -print0 | xargs -0 -r -P{processes} {batch} @{tool}")
    }
}

/// Returns the name of a row of [`PEERS`]: that of the tool, if it has no other.
fn name(row: &str) -> &str {
    let (name, command) = labelled(row);
    let mut words = command.split(' ').skip(1);
    if name == "xargs" { words.find(|word| !word.starts_with('-')).unwrap_or_default() } else { name }
}

/// Returns the number of files per process when `jobs` run at a time; `None` if only the command line limits it.
fn batch(files: u64, jobs: u64, most: Option<u64>) -> Option<u64> {
    let fair = (files / (jobs * TURNS)).max(1);
    let fair = Some(fair).filter(|&fair| jobs > 1 && fair < FIT);
    fair.into_iter().chain(most).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_has_work() {
        assert_eq!(batch(16, 2, None), Some(2));
        assert_eq!(batch(3, 2, None), Some(1));
        assert_eq!(batch(100_000, 2, None), None);
        assert_eq!(batch(16, 1, None), None);
        assert_eq!(batch(100_000, 2, Some(256)), Some(256));
        assert_eq!(batch(16, 2, Some(256)), Some(2));
    }

    #[test]
    fn every_algorithm_has_a_tool() {
        assert!(ALL.iter().all(|name| algorithms().any(|algorithm| algorithm == *name)));
        assert_eq!(name("xargs -n256 openssl dgst -md5"), "openssl");
        assert_eq!(name("[b3sum threads] xargs -P1 b3sum"), "b3sum threads");
    }
}
