//! Lists and hashes the same tree many times, to find races that change the result.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};

use super::command::Soak;
use super::figures::{Digest, Figures};
use super::process::{first_word, usable};
use crate::bench::case::{Pipeline, words};
use crate::bench::interrupt;
use crate::bench::shape::{self, mix};

/// Number of runs of each command.
const RUNS: u64 = 100;
const QUICK_RUNS: u64 = 5;

const WORKERS: &[&str] = &["mono", "2", "3", "4", "8", "16", "auto"];
const READERS: &[&str] = &["auto", "sync", "uring"];
const KERNELS: &[&str] = &["portable", "neon", "avx2", "sha-ni", "avx512"];
/// Algorithms, each with a tool that prints the same lines as ftk.
const ALGORITHMS: &[(&str, &[&str])] = &[
    ("sha256", &["sha256sum"]),
    ("sha1", &["sha1sum"]),
    ("sha512", &["sha512sum"]),
    ("md5", &["md5sum"]),
    ("blake2b", &["b2sum"]),
    ("blake3", &["b3sum", "--num-threads", "1"]),
    ("xxh128", &["xxhsum", "-H2"]),
];

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let (shape, runs) =
        if soak.options.common.quick { (shape::SMALL, QUICK_RUNS) } else { (shape::LARGE, RUNS) };
    let tree = soak.scratch.tree(&shape)?;
    figures.count("files", shape.files());
    let answers = Answers::of_tools(&tree, figures)?;
    let file = ["hash", "Cargo.toml"];
    let kernels =
        usable(figures, KERNELS, |kernel| words![&format!("FTK_SIMD={kernel}"), &soak.ftk, file[0], file[1]]);
    let readers = usable(figures, READERS, |reader| words![&soak.ftk, "--io", reader, file[0], file[1]]);
    ensure!(!kernels.is_empty() && !readers.is_empty(), "ftk hash does not work at all");

    let begun = Instant::now();
    for nth in 0..runs {
        if soak.options.limit().is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        let dice = Dice(nth);
        let (algorithm, hash) = &answers.hashes[nth as usize % answers.hashes.len()];
        let (workers, kernel, reader) = (dice.of(1, WORKERS), dice.of(2, &kernels), dice.of(3, &readers));
        let mut check = |words: &[&str], expected: &str, is_ordered: bool| {
            let simd = format!("FTK_SIMD={kernel}");
            let mut run = words![&simd, &soak.ftk, "-j", workers];
            run.extend(words.iter().map(Into::into));
            let run = inside(&tree, run);
            let run = if is_ordered { run } else { run.pipe(words!["sort"]) };
            compare(
                figures,
                &format!("round {nth}: {simd} ftk -j {workers} {}", words.join(" ")),
                &run,
                expected,
            )
        };
        check(&["find", "."], &answers.find, false)?;
        check(&["find", "--sort", "."], &answers.find, true)?;
        check(&["hash", "-a", algorithm, "--io", reader, "."], hash, true)?;
        figures.count("rounds", 1);
        if (nth + 1).is_multiple_of(10) {
            println!("  {} rounds", nth + 1);
        }
    }
    Ok(())
}

/// Digests of the sorted output of other tools for the tree.
struct Answers {
    find: String,
    /// Pairs of algorithm and digest.
    hashes: Vec<(&'static str, String)>,
}

impl Answers {
    fn of_tools(tree: &Path, figures: &mut Figures) -> Result<Self> {
        let find = digest(&inside(tree, words!["find", "."]).pipe(words!["sort"]))?;
        figures.digests.push(Digest { of: "find".into(), sha256: find.clone() });
        let mut hashes = Vec::new();
        for (name, tool) in ALGORITHMS {
            if !is_there(tool[0]) {
                figures.skip(format!("{name}: no {}", tool[0]));
                continue;
            }
            let mut reader = words!["env", "-C", tree, "xargs", "-0"];
            reader.extend(tool.iter().map(Into::into));
            let files = inside(tree, words!["find", ".", "-type", "f", "-print0"]).pipe(words!["sort", "-z"]);
            let sha256 = digest(&files.pipe(reader))?;
            println!("  {} gives {sha256}", tool[0]);
            figures.digests.push(Digest { of: tool.join(" "), sha256: sha256.clone() });
            hashes.push((*name, sha256));
        }
        ensure!(!hashes.is_empty(), "no tool to compare with");
        Ok(Self { find, hashes })
    }
}

/// Runs the command in `dir`, so that names and digests of lists are the same on every machine.
fn inside(dir: &Path, command: Vec<OsString>) -> Pipeline {
    let mut words = words!["env", "-C", dir];
    words.extend(command);
    Pipeline::new(words)
}

/// Runs a command and compares the digest of its output.
fn compare(figures: &mut Figures, what: &str, pipeline: &Pipeline, expected: &str) -> Result<()> {
    let digest = digest(pipeline);
    interrupt::check()?; // checked first, because an interrupt may have made the command fail
    figures.count("runs", 1);
    match digest {
        Ok(digest) if digest == expected => {}
        Ok(digest) => figures.deviation(format!("{what} gave {digest}, not {expected}")),
        Err(error) => figures.deviation(format!("{what}: {error:#}")),
    }
    Ok(())
}

/// Pseudo-random choices that are the same in every run.
struct Dice(u64);

impl Dice {
    fn of<'t>(&self, salt: u64, all: &[&'t str]) -> &'t str {
        all[(mix(self.0 << 8 | salt) % all.len() as u64) as usize]
    }
}

/// Returns the SHA-256 of the output of a pipeline.
fn digest(pipeline: &Pipeline) -> Result<String> {
    first_word(pipeline.clone().pipe(words!["sha256sum"]).output()?)
}

fn is_there(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}
