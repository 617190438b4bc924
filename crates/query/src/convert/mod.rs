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
    make(args, threads(&args.limits.limits()), console)
}

fn make(args: &ConvertArgs, threads: usize, console: &Console) -> Result<Outcome> {
    let session = args.limits.limits().session()?;
    let mut inputs = open(&args.input)?;
    if let Some(source) = &args.source {
        inputs.iter_mut().for_each(|input| input.origin.source.clone_from(source));
    }
    inputs.iter_mut().for_each(|input| input.origin.snapshot.clone_from(&args.snapshot));
    let sources = sources(&inputs)?;
    let algorithms = algorithms(&inputs, args.algorithm)?;
    prepare(&args.output)?;
    let files = pipeline::run(inputs, &algorithms, &args.output, &session, threads, console)?;
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
fn open(arguments: &[PathBuf]) -> Result<Vec<Input>> {
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
    parts::join(&files, opened)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use clap::{Args as _, Command, FromArgMatches as _};
    use data_encoding::BASE64;
    use ftk_harness::{bytes, sha256};
    use serde_json::json;

    use super::*;

    /// Returns the lines of a manifest with odd names, and with one line that is longer than a piece.
    fn lines(seed: u64) -> Vec<String> {
        let mut entries = BTreeMap::new();
        let random = bytes(seed, 18_000 * 40);
        for random in random.chunks(40) {
            let start = ["", "-", "!", "a/"][usize::from(random[0] % 4)];
            let end =
                [&b""[..], b"\n", b"\"", b"\\", "\u{e9}".as_bytes(), b"\xff"][usize::from(random[1] % 6)];
            let name = [start.as_bytes(), &sha256(&random[2..6]).as_bytes()[..9], end].concat();
            entries.insert(name, random);
        }
        let mut lines = vec![
            json!({
                "ftk": "manifest", "version": 2, "root": "t", "algorithms": ["md5"], "xattrs": false, "options": [],
                "start_ns": 1
            }),
            json!({ "path": ".", "type": "directory", "mtime_ns": 1 }),
        ];
        for (nth, (name, random)) in entries.into_iter().enumerate() {
            let number = |at: usize| u64::from_le_bytes(*random[at..].first_chunk().unwrap());
            let mut line = json!({
                "type": "file", "size_bytes": number(6) >> 20, "mtime_ns": number(14) >> 4, "ctime_ns": number(15) >> 4,
                "uid": random[7], "fs": "0123456789abcdef0123456789abcdef", "ino": nth, "nlink": random[8],
                "digests": { "md5": &sha256(&random[9..11])[..32] }
            });
            if nth == 10_000 {
                line = json!({ "type": "symlink", "target": "x".repeat(5 << 20) });
            }
            match String::from_utf8(name) {
                Ok(name) => line["path"] = name.into(),
                Err(error) => line["path_b64"] = BASE64.encode(error.as_bytes()).into(),
            }
            lines.push(line);
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn sealed(lines: &[String]) -> String {
        let text = lines.concat();
        let footer = json!({ "footer": { "records": lines.len(), "sha256": sha256(text.as_bytes()) } });
        format!("{text}{footer}\n")
    }

    /// Converts a manifest, and returns the files of the set, or the error.
    fn converted(dir: &Path, manifest: &str, threads: usize) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let set = dir.join(format!("{manifest}-{threads}"));
        let (input, output) = (dir.join(manifest).display().to_string(), set.display().to_string());
        let words = ["convert", &input, "-q", "--snapshot", "2026-01-31", "-o", &output];
        let matches = ConvertArgs::augment_args(Command::new("convert")).get_matches_from(words);
        let args = ConvertArgs::from_arg_matches(&matches).unwrap();
        let done = make(&args, threads, &Console { is_quiet: true });
        let files = fs::read_dir(set).unwrap().map(|file| {
            let file = file.unwrap();
            (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())
        });
        let files: BTreeMap<_, _> = files.collect();
        match done {
            Ok(_) => Ok(files),
            Err(error) => {
                assert!(files.is_empty(), "{:?}", files.keys());
                Err(format!("{error:#}").replace(&input, "INPUT"))
            }
        }
    }

    #[test]
    fn the_seal_keeps_the_time_of_the_last_whole_update() {
        let dir = tempfile::tempdir().unwrap();
        for (name, examined) in [("whole", None), ("part", Some(json!({ "by": "list", "full_ns": 7 })))] {
            let mut lines = lines(1);
            lines.truncate(10);
            let mut header: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
            if let Some(examined) = &examined {
                header["examined"] = examined.clone();
            }
            lines[0] = format!("{header}\n");
            fs::write(dir.path().join(name), sealed(&lines)).unwrap();
            let files = converted(dir.path(), name, 1).unwrap();
            let seal = str::from_utf8(&files[seal::NAME]).unwrap();
            assert_eq!(seal.contains("\"full_ns\":7"), examined.is_some(), "{seal}");
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for seed in 1..3 {
            let lines = lines(seed);
            let whole = sealed(&lines);
            let edited = |nth: usize, line: &str| {
                let mut lines = lines.clone();
                lines[nth] = line.to_owned();
                sealed(&lines)
            };
            let digits = whole.len() - 10;
            let cases = [
                ("whole", whole.clone(), None),
                ("footer", format!("{}{}", &whole[..digits], "0000000\"}}\n"), Some("footer")),
                ("cut", whole[..digits].to_owned(), Some("incomplete")),
                ("invalid", edited(9_000, "{\"path\":\"x\n"), Some("line 9001")),
                ("order", edited(8_194, &lines[2].clone()), Some("line 8195")),
            ];
            for (name, text, error) in cases.into_iter().take(if seed == 1 { 5 } else { 1 }) {
                let name = format!("{name}-{seed}");
                fs::write(dir.path().join(&name), text).unwrap();
                let one = converted(dir.path(), &name, 1);
                match error {
                    None => {
                        assert!(one.as_ref().is_ok_and(|files| files.len() == 4), "{:?}", one.as_ref().err())
                    }
                    Some(error) => {
                        assert!(one.as_ref().is_err_and(|it| it.contains(error)), "{:?}", one.as_ref().err())
                    }
                }
                for threads in [2, 3, 8] {
                    assert!(converted(dir.path(), &name, threads) == one, "{name} {threads}");
                }
            }
            let zst = format!("compressed-{seed}");
            let mut writer =
                ftk_record::ZstdWriter::new(fs::File::create(dir.path().join(&zst)).unwrap()).unwrap();
            std::io::Write::write_all(&mut writer, whole.as_bytes()).unwrap();
            writer.finish().unwrap();
            let one = converted(dir.path(), &format!("whole-{seed}"), 5);
            for threads in [1, 3, 8] {
                assert!(converted(dir.path(), &zst, threads) == one, "{zst} {threads}");
            }
        }
    }
}
