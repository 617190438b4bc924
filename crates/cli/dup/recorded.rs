//! `ftk dup --manifests FILE...`: finds duplicates by the digests in manifests. Reads no file of the trees.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_dedup::report::Writer;
use ftk_dedup::{
    GroupTally, RecordedFile, RecordedGroups, RecordedMember, RecordedName, RecordedSearch, recorded_path,
};
use ftk_hash::Algorithm;
use ftk_manifest::{Entry, Field, Manifest};
use ftk_record::quote;

use crate::console::{Console, Outcome};
use crate::dup::options::{OutputArgs, ReportFormat, SizeArgs};
use crate::dup::report::groups::{Found, GroupPrinter, Name};
use crate::dup::report::{csv, header};
use crate::dup::tally;
use crate::foreign::refuse_output;
use crate::globals::Globals;
use crate::human;
use crate::list::{List, named};
use crate::manifest::input::Input;
use crate::manifest::refuse_archive;
use crate::rules::Rules;
use crate::stats::{Phase, nanos};
use crate::stdout::Stdout;

/// Options of a search among recorded digests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct RecordedArgs {
    /// Search manifests instead of trees; no file is read
    ///
    /// Compares the recorded digests and sizes of any number of trees, for example of disks that are not mounted. The
    /// report lists candidates: `ftk dup apply --root FILE=DIR` acts on it, and compares every byte first. All
    /// manifests must have an algorithm in common, and cryptographic ones are preferred. Files marked as damaged are
    /// skipped. If the records do not fit into --memory, they are sorted in $TMPDIR.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = ["paths", "algorithm", "verify", "DirArgs", "CacheArgs", "NameArgs", "InodeArgs", "ExpressionArgs", "WalkArgs", "ExclusionArgs", "StartArgs"]
    )]
    pub(super) manifests: Vec<OsString>,
}

/// The manifests of a search, and what is compared.
struct Sources {
    manifests: Vec<Manifest>,
    paths: Vec<Vec<u8>>,
    roots: Vec<Vec<u8>>,
    algorithm: Algorithm,
}

/// Counts of recorded files.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    compared: u64,
    damaged: u64,
    /// Entries without a size, from lists of other programs.
    unsized_files: u64,
}

pub(super) fn run(
    args: &RecordedArgs,
    sizes: &SizeArgs,
    output: &OutputArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    refuse_output(named(output.output.as_deref()))?;
    let (start, begun) = (SystemTime::now(), Instant::now());
    let stdout = Stdout::default();
    let mut list = List::create(named(output.output.as_deref()), &stdout)?;
    let range = sizes.range()?;
    let sources = open(&args.manifests, globals, console)?;
    let format = output.format(globals.json, list.is_shown());
    let mut head = Vec::new();
    let json = (format == ReportFormat::Json).then(|| {
        let header =
            header(sources.algorithm, false, sizes, &sources.roots, &sources.paths, &Rules::default(), start);
        Writer::new(&header, &mut head)
    });
    let json = json.transpose()?;

    let mut search = RecordedSearch::new(sources.algorithm.digest_len(), globals.memory());
    let mut counts = Counts::default();
    for nth in 0..sources.manifests.len() {
        add(&sources, nth, &range, &mut search, &mut counts)?;
    }
    let groups = search.finish().context(TEMPORARY)?;
    let contradicting = say_contradictions(&groups, &sources, console)?;
    let elapsed_ns = nanos(begun.elapsed());
    console.stats.phase(Phase {
        phase: "manifests",
        elapsed_ns,
        files: Some(counts.compared),
        ..Phase::default()
    });

    if format == ReportFormat::Csv {
        head.extend_from_slice(csv::RECORDED_HEADER);
    }
    list.line(|out| out.append(&mut head));
    let mut printer = GroupPrinter::new(&mut list, format, json, output.null, &sources.paths);
    print(&groups, &mut printer).context(TEMPORARY)?;
    let (tally, outcome) = printer.finish(console);
    // If the reader closed the pipe, the remaining groups were not counted.
    let is_whole = !list.is_over();
    if format == ReportFormat::Summary {
        let failed = contradicting + counts.unsized_files;
        list.line(|out| tally::push(&tally, globals.json, failed, &Rules::default(), out));
    }
    list.finish()?;
    say_done(&sources, counts, contradicting, begun.elapsed(), console);
    if is_whole {
        tally::say(&tally, format, console);
    }
    Ok(outcome.max(Outcome::error_if(contradicting + counts.unsized_files > 0)))
}

const TEMPORARY: &str =
    "cannot sort in temporary files (set TMPDIR to a directory with more space, or raise --memory)";

/// Opens the manifests and chooses the algorithm.
fn open(paths: &[OsString], globals: &Globals, console: &Console) -> anyhow::Result<Sources> {
    ensure!(paths.iter().filter(|path| *path == "-").count() < 2, "standard input can be read only once");
    let mut known = HashMap::new();
    let mut manifests = Vec::with_capacity(paths.len());
    for path in paths {
        let Input { manifest, own } = Input::open(path, globals, console)?;
        refuse_archive(&manifest, path)?;
        let shown = || quote(path.as_bytes());
        for own in own {
            if let Some(other) = known.insert(own, path) {
                bail!("{} and {} are the same manifest", quote(other.as_bytes()), shown());
            }
        }
        ensure!(!manifest.header().algorithms.is_empty(), "{} records no digests", shown());
        manifests.push(manifest);
    }
    let algorithm = common(paths, &manifests)?;
    let roots = manifests.iter().map(|manifest| manifest.header().root.clone()).collect();
    let paths = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
    Ok(Sources { manifests, paths, roots, algorithm })
}

/// Returns the preferred algorithm that all manifests have.
fn common(paths: &[OsString], manifests: &[Manifest]) -> anyhow::Result<Algorithm> {
    let has = |manifest: &Manifest, algorithm| manifest.header().algorithms.contains(algorithm);
    let common = Algorithm::BY_STRENGTH
        .iter()
        .find(|algorithm| manifests.iter().all(|manifest| has(manifest, algorithm)));
    common.copied().with_context(|| {
        let names = |manifest: &Manifest| {
            manifest.header().algorithms.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")
        };
        let mut listed = String::new();
        for (path, manifest) in paths.iter().zip(manifests) {
            let separator = if listed.is_empty() { "" } else { "; " };
            listed += &format!("{separator}{} has {}", quote(path.as_bytes()), names(manifest));
        }
        format!("the manifests have no digest algorithm in common that identifies contents: {listed}")
    })
}

/// Adds the files of a manifest to the search.
fn add(
    sources: &Sources,
    nth: usize,
    sizes: &RangeInclusive<u64>,
    search: &mut RecordedSearch,
    counts: &mut Counts,
) -> anyhow::Result<()> {
    let (manifest, path) = (&sources.manifests[nth], &sources.paths[nth]);
    let shown = || quote(path);
    let algorithms = &manifest.header().algorithms;
    let before = algorithms.iter().take_while(|&&it| it != sources.algorithm).map(|it| it.digest_len()).sum();
    let range = before..before + sources.algorithm.digest_len();
    let mut entries = manifest.entries().with_context(shown)?;
    let mut number = 0;
    while let Some(entry) = entries.next().with_context(shown)? {
        number += 1;
        if !entry.stat.is_regular() {
            continue;
        }
        let Some(size) = entry.size() else {
            counts.unsized_files += 1;
            continue;
        };
        if !sizes.contains(&size) {
            continue;
        }
        if entry.damaged_ns.is_some() {
            counts.damaged += 1;
            continue;
        }
        counts.compared += 1;
        let member = member(nth, &sources.roots[nth], &entry);
        let dev = entry.knows(Field::Dev).then_some(entry.stat.dev);
        let digest = &entry.digests[range.clone()];
        let file = RecordedFile { member: &member, entry: number, dev, size, digest };
        search.add(&file).context(TEMPORARY)?;
    }
    Ok(())
}

fn member(manifest: usize, root: &[u8], entry: &Entry<'_>) -> RecordedMember {
    let Entry { stat, fs, .. } = entry;
    let known = |field, value: u64| entry.knows(field).then_some(value);
    let time = |field, value: i128| entry.knows(field).then_some(value);
    RecordedMember {
        manifest,
        path: recorded_path(root, entry.path),
        fs: *fs,
        ino: known(Field::Ino, stat.ino),
        nlink: known(Field::Nlink, stat.nlink),
        allocated: known(Field::Allocated, stat.blocks.saturating_mul(512)),
        mtime_ns: time(Field::Mtime, stat.mtime_ns),
        ctime_ns: time(Field::Ctime, stat.ctime_ns),
    }
}

fn print(groups: &RecordedGroups, printer: &mut GroupPrinter<'_, '_>) -> io::Result<()> {
    let mut names = groups.names()?;
    while !printer.list.is_over()
        && let Some(RecordedName { is_first, size, digest, cluster, has_hard_links, member }) =
            names.next()?
    {
        if is_first {
            printer.end(None);
            printer.begin(size, digest, GroupTally::new(size, has_hard_links), None);
        }
        printer.name(Name { cluster, member: Found::Recorded(member) });
    }
    printer.end(None);
    Ok(())
}

/// Reports files with contradicting digests. Returns their number.
fn say_contradictions(groups: &RecordedGroups, sources: &Sources, console: &Console) -> anyhow::Result<u64> {
    let mut names = groups.contradictions().context(TEMPORARY)?;
    let (mut files, mut last) = (0, None);
    while let Some(name) = names.next().context(TEMPORARY)? {
        if last.replace(name.file) != Some(name.file) {
            files += 1;
        }
        let (path, manifest) = (quote(&name.path), quote(&sources.paths[name.manifest]));
        let what = "its inode is recorded with different digests: not compared";
        console.error_of("contradiction", format_args!("{path} in {manifest}: {what} (inode {files})"));
    }
    Ok(files)
}

fn say_done(sources: &Sources, counts: Counts, contradicting: u64, took: Duration, console: &Console) {
    let Counts { compared, damaged, unsized_files } = counts;
    let files = human::count(compared, "recorded file");
    let manifests = human::count(sources.manifests.len() as u64, "manifest");
    let algorithm = sources.algorithm;
    let mut line = format!("compared {files} of {manifests} by {algorithm} in {}", human::time(took));
    for (n, what) in [
        (damaged, "marked as damaged: skipped"),
        (unsized_files, "without a recorded size: not compared (status 2)"),
        (contradicting, "with contradicting digests: not compared (status 2)"),
    ] {
        if n > 0 {
            line += &format!("; {} {what}", human::count(n, "file"));
        }
    }
    console.summary(line);
    if !algorithm.is_cryptographic() {
        console.summary(format_args!(
            "{algorithm} finds accidental duplicates; files can be crafted to have equal digests"
        ));
    }
    console.summary("no file was read: the groups are candidates until `ftk dup apply` compares their bytes");
}
