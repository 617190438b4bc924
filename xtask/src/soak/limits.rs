//! Runs every command with few descriptors and little address space: the result is right, or an error is reported.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::command::Soak;
use super::figures::Figures;
use super::process::Ended;
use crate::bench::shape;

/// Options of `ulimit`: descriptors, and KiB of address space. A limit under which the program cannot start is
/// skipped.
const LIMITS: &[&str] = &[
    "-n 16",
    "-n 24",
    "-n 32",
    "-n 64",
    "-v 12000",
    "-v 14000",
    "-v 16000",
    "-v 20000",
    "-v 26000",
    "-v 32000",
    "-v 40000",
    "-v 50000",
    "-v 64000",
    "-v 80000",
    "-v 100000",
    "-v 140000",
    "-v 200000",
    "-v 400000",
];

/// The commands, run in the parent of the identical trees `a` and `b`. Their results are the same in every run.
const COMMANDS: &[&str] = &[
    "find --sort a",
    "find -c a b",
    "find --sort -S +4K a",
    "hash a",
    "hash --io uring a",
    "hash --io sync -a blake3 a",
    "hash --check a.sums",
    "hash --check --root . a.sums",
    "hash --diff a.sums b.sums",
    "dup a b",
    "dup --io uring --verify a b",
    "dup prune --action hardlink a b",
    "manifest create a",
    "manifest verify b a.manifest",
    "manifest diff a.manifest b.manifest",
    "manifest unique a.manifest b.manifest",
    "cmp a b",
    "cmp a.sums b.sums",
];

const WORKERS: &[&str] = &["mono", "2", "8"];

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let place = soak.scratch.path("limits");
    make(soak, &place)?;
    let (step, workers) = if soak.options.common.quick { (4, &WORKERS[2..]) } else { (1, WORKERS) };
    let mut limits = Vec::new();
    for limit in LIMITS.iter().step_by(step) {
        if soak.ftk_under(limit, &place, &["--version"])?.code == 0 {
            limits.push(limit);
        } else {
            figures.skip(format!("ulimit {limit}: the program cannot start"));
        }
    }
    figures.count("right results", 0);
    figures.count("reported errors", 0);
    for command in COMMANDS {
        for workers in workers {
            let args: Vec<&str> = command.split(' ').chain(["-j", workers]).collect();
            let free = soak.ftk(&place, &args)?;
            if free.code == 2 && command.contains("uring") {
                figures.skip(format!("{command}: {}", free.err.lines().next().unwrap_or_default()));
                break;
            }
            ensure!(matches!(free.code, 0 | 1), "{command}: {}", free.in_words());
            for limit in &limits {
                let limited = soak.ftk_under(limit, &place, &args)?;
                if limited.code == free.code && stable(&limited) == stable(&free) {
                    figures.count("right results", 1);
                } else if limited.code == 2 && limited.is_orderly() {
                    figures.count("reported errors", 1);
                } else {
                    let ended = limited.in_words();
                    figures.deviation(format!("ulimit {limit}: {command} -j {workers}: {ended}"));
                }
            }
        }
    }
    Ok(())
}

/// Returns the lines that do not depend on the time of the run: all except the header of a manifest, and its footer,
/// which contains a digest of the header.
fn stable(ended: &Ended) -> Vec<&[u8]> {
    let lines = ended.out.split(|&byte| byte == b'\n');
    lines.filter(|line| !line.starts_with(b"{\"ftk\":") && !line.starts_with(b"{\"footer\":")).collect()
}

/// Makes two identical trees, and lists and manifests of them.
fn make(soak: &Soak, place: &Path) -> Result<()> {
    fs::create_dir_all(place)?;
    for name in ["a", "b"] {
        let top = place.join(name);
        fs::create_dir(&top)?;
        shape::MIXED_SMALL.make(&top)?;
        fs::create_dir(top.join("deep"))?;
        shape::DEEP.make(&top.join("deep"))?;
        let run = |args: &[OsString]| -> Result<Vec<u8>> {
            let ended = soak.ftk(place, args)?;
            ensure!(ended.code == 0, "{args:?}: {}", ended.in_words());
            Ok(ended.out)
        };
        let of = |words: &str| words.split(' ').map(OsString::from).chain([name.into()]).collect::<Vec<_>>();
        fs::write(place.join(format!("{name}.sums")), run(&of("hash"))?)?;
        fs::write(place.join(format!("{name}.manifest")), run(&of("manifest create"))?)?;
    }
    Ok(())
}
