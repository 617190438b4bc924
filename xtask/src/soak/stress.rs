//! The same tree listed and hashed over and over: no race may ever show in an answer.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::command::Soak;
use super::figures::{Digest, Figures};
use crate::bench::case::{Pipeline, words};
use crate::bench::interrupt;
use crate::bench::shape::{self, mix};

/// How often each command runs.
const RUNS: u64 = 100;
const QUICK_RUNS: u64 = 5;

const WORKERS: &[&str] = &["mono", "2", "3", "4", "8", "16", "auto"];
const READERS: &[&str] = &["auto", "sync", "uring"];
const KERNELS: &[&str] = &["portable", "avx2", "sha-ni", "avx512"];
/// Digests whose tools print them as `ftk` does, and these tools.
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
    let (shape, runs) = if soak.options.is_quick { (shape::SMALL, QUICK_RUNS) } else { (shape::LARGE, RUNS) };
    let tree = soak.scratch.tree(&shape)?;
    figures.count("files", shape.files());
    let find = digest(&Pipeline::new(words!["find", &tree]).pipe(words!["sort"]))?;
    figures.digests.push(Digest { of: "find | sort".into(), sha256: find.clone() });
    let mut hashes = Vec::new();
    for (name, tool) in ALGORITHMS {
        if !is_there(tool[0]) {
            figures.skip(format!("{name}: no {}", tool[0]));
            continue;
        }
        let mut reader = words!["xargs", "-0"];
        reader.extend(tool.iter().map(Into::into));
        let reference = Pipeline::new(words!["find", &tree, "-type", "f", "-print0"]);
        let sha256 = digest(&reference.pipe(words!["sort", "-z"]).pipe(reader))?;
        println!("  {name} by {}: {sha256}", tool[0]);
        figures.digests.push(Digest { of: format!("{name} by {}", tool[0]), sha256: sha256.clone() });
        hashes.push((*name, sha256));
    }
    ensure!(!hashes.is_empty(), "no tool to compare with");
    let some = ["hash", "Cargo.toml"];
    let kernels =
        usable(figures, KERNELS, |kernel| words![&format!("FTK_SIMD={kernel}"), &soak.ftk, some[0], some[1]]);
    let readers = usable(figures, READERS, |reader| words![&soak.ftk, "--io", reader, some[0], some[1]]);
    ensure!(!kernels.is_empty() && !readers.is_empty(), "ftk hash does not work at all");

    let begun = Instant::now();
    for nth in 0..runs {
        if soak.options.limit.is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        let dice = Dice(nth);
        let (algorithm, expected) = &hashes[nth as usize % hashes.len()];
        let (workers, kernel, reader) = (dice.of(1, WORKERS), dice.of(2, &kernels), dice.of(3, &readers));
        let list = Pipeline::new(words![&soak.ftk, "find", "-j", workers, &tree]).pipe(words!["sort"]);
        check(figures, nth, &format!("find -j {workers}"), &list, &find)?;
        let ordered = Pipeline::new(words![&soak.ftk, "find", "--sort", "-j", workers, &tree]);
        check(figures, nth, &format!("find --sort -j {workers}"), &ordered, &find)?;
        let simd = format!("FTK_SIMD={kernel}");
        let hash =
            words!["env", &simd, &soak.ftk, "hash", "-a", algorithm, "-j", workers, "--io", reader, &tree];
        let shown = format!("{simd} hash -a {algorithm} -j {workers} --io {reader}");
        check(figures, nth, &shown, &Pipeline::new(hash), expected)?;
        figures.count("rounds", 1);
        if (nth + 1) % 10 == 0 {
            println!("  {} rounds", nth + 1);
        }
    }
    Ok(())
}

/// Runs a command and compares the digest of what it prints.
fn check(figures: &mut Figures, nth: u64, shown: &str, pipeline: &Pipeline, expected: &str) -> Result<()> {
    let digest = digest(pipeline);
    interrupt::check()?; // first: it may be why the command failed
    figures.count("runs", 1);
    match digest {
        Ok(digest) if digest == expected => {}
        Ok(digest) => figures.deviation(format!("round {nth}: {shown} gave {digest}, not {expected}")),
        Err(error) => figures.deviation(format!("round {nth}: {shown}: {error:#}")),
    }
    Ok(())
}

/// Choices that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn of<'t>(&self, salt: u64, all: &[&'t str]) -> &'t str {
        all[(mix(self.0 << 8 | salt) % all.len() as u64) as usize]
    }
}

/// Those of `all` with which ftk works on this machine.
fn usable<'t>(
    figures: &mut Figures,
    all: &[&'t str],
    command: impl Fn(&str) -> Vec<OsString>,
) -> Vec<&'t str> {
    let (usable, others): (Vec<_>, Vec<_>) = all.iter().copied().partition(|it| {
        let output = Command::new("env").args(command(it)).stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success())
    });
    others.iter().for_each(|it| figures.skip(format!("{it}: not on this machine")));
    usable
}

/// The SHA-256 of what a pipeline prints.
fn digest(pipeline: &Pipeline) -> Result<String> {
    let said = pipeline.clone().pipe(words!["sha256sum"]).output()?;
    let said = String::from_utf8(said)?;
    Ok(said.split(' ').next().context("sha256sum prints a digest")?.to_owned())
}

fn is_there(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}
