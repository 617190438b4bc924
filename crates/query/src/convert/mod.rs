//! `ftk query convert`: makes a set from manifests, duplicate reports, or an S3 Inventory.

mod pages;
mod pipeline;
mod rows;
mod table;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use ftk_hash::Algorithm;
use ftk_record::quote;

use crate::args::ConvertArgs;
use crate::console::{Console, Outcome};
use crate::engine::{LEAST_MEMORY, Limits};
use crate::input::{Input, parts};
use crate::seal::{self, SetSeal, Source};

pub(crate) use pipeline::Sink;
pub(crate) use rows::{Algorithms, Origin, Rows};

/// Makes a set.
///
/// # Errors
/// If an input cannot be used, or the set cannot be written. Then there is no set.
pub(crate) fn run(args: &ConvertArgs, console: &Console) -> Result<Outcome> {
    let session = args.limits.limits().session()?;
    let mut inputs = open(&args.input, console)?;
    if let Some(source) = &args.source {
        inputs.iter_mut().for_each(|input| input.origin.source.clone_from(source));
    }
    inputs.iter_mut().for_each(|input| input.origin.snapshot.clone_from(&args.snapshot));
    let sources = sources(&inputs)?;
    let algorithms = algorithms(&inputs, args.algorithm)?;
    prepare(&args.output)?;
    let files = pipeline::run(inputs, &algorithms, &args.output, &session, threads(&args.limits.limits()), console)?;
    let seal = SetSeal { version: seal::VERSION, algorithm: algorithms.main, sources, files };
    seal.write(&args.output)
        .with_context(|| format!("cannot write {}", args.output.join(seal::NAME).display()))?;
    let rows = |table| seal.rows(table);
    console.summary(format_args!(
        "{} entries, {} files with digests",
        indicatif::HumanCount(rows(crate::schema::Table::Entries)),
        indicatif::HumanCount(rows(crate::schema::Table::Digests)),
    ));
    Ok(Outcome::Success)
}

/// Returns how many threads parse an input, and how many encode a file. Each parses about 20 MiB at the same time.
fn threads(limits: &Limits) -> usize {
    let most = usize::try_from(limits.memory / LEAST_MEMORY).unwrap_or(usize::MAX);
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(most).max(1)
}

/// More threads than this would wait for the columns that are slow to encode.
const MOST_THREADS: usize = 8;

/// Opens all inputs and checks those that have a seal, several at once.
fn open(arguments: &[PathBuf], console: &Console) -> Result<Vec<Input>> {
    let files = parts::files(arguments)?;
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut opened: Vec<(usize, Result<Vec<Input>>)> = std::thread::scope(|scope| {
        let work = || {
            let claim = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let mut opened = Vec::new();
            while let Some((nth, file)) = Some(claim()).and_then(|nth| Some((nth, files.get(nth)?))) {
                let input = Input::open(&file.path, file.is_in_dir());
                opened.push((nth, input.with_context(|| quote(file.path.as_os_str().as_encoded_bytes()))));
            }
            opened
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    opened.sort_unstable_by_key(|(nth, _)| *nth);
    let opened = opened.into_iter().map(|(_, inputs)| inputs).collect::<Result<_>>()?;
    parts::join(&files, opened, console)
}

/// Returns the trees of the inputs. Only shards of one tree may have the same name.
fn sources(inputs: &[Input]) -> Result<Vec<Source>> {
    let mut sources: Vec<Source> = Vec::new();
    for input in inputs {
        let name = &input.origin.source;
        // Each tree has a part 1, and all other parts of the tree were found with it.
        if input.origin.shard.is_some_and(|(number, _)| number > 1) {
            continue;
        }
        if sources.iter().any(|known| known.source == *name) {
            bail!("two inputs are of {name:?}: convert them separately, each with its own --source");
        }
        sources.push(Source::new(&input.origin, &input.root, &input.failed));
    }
    Ok(sources)
}

/// Chooses the main algorithm: the one that was requested, or the first that all inputs with digests have.
fn algorithms(inputs: &[Input], requested: Option<Algorithm>) -> Result<Algorithms> {
    let with_digests: Vec<_> =
        inputs.iter().map(|it| &it.origin.algorithms).filter(|it| !it.is_empty()).collect();
    let is_common = |algorithm: &Algorithm| with_digests.iter().all(|it| it.contains(algorithm));
    let main = match (requested, with_digests.first()) {
        (Some(requested), Some(_)) if !requested.identifies_content() => {
            bail!("{requested} does not identify contents")
        }
        (Some(requested), Some(_)) => {
            ensure!(is_common(&requested), "not all inputs have digests by {requested}");
            Some(requested)
        }
        (Some(_), None) => bail!("no input has digests"),
        (None, None) => None,
        (None, Some(first)) => {
            let main = first.iter().find(|it| it.identifies_content() && is_common(it)).copied();
            Some(main.context("the inputs have no algorithm in common: convert them separately")?)
        }
    };
    let mut extra: Vec<_> =
        with_digests.into_iter().flatten().copied().filter(|it| Some(*it) != main).collect();
    extra.sort_unstable_by_key(|algorithm| algorithm.name());
    extra.dedup();
    Ok(Algorithms { main, extra })
}

/// Creates the directory, or checks that it is empty.
fn prepare(dir: &Path) -> Result<()> {
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let shown = dir.display();
            let mut names = std::fs::read_dir(dir).with_context(|| format!("cannot use {shown}"))?;
            ensure!(!dir.join(seal::NAME).exists(), "{shown} is already a set: choose a new directory");
            ensure!(names.next().is_none(), "{shown} is not empty: choose a new directory");
            Ok(())
        }
        created => created.with_context(|| format!("cannot create {}", dir.display())),
    }
}
