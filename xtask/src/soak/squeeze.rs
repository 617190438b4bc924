//! Every command with few descriptors and with little address space: the right answer, or an error that is told.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::command::Soak;
use super::figures::Figures;
use super::process::Ended;
use crate::bench::shape;

/// Options of `ulimit`: descriptors, and KiB of address space. Where the program is not even started, nothing is
/// learnt.
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

/// The commands, run beside the trees `a` and `b`, which are equal. Their answers are the same in every run.
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
    let place = soak.scratch.path("squeezed");
    make(soak, &place)?;
    let (step, workers) = if soak.options.is_quick { (4, &WORKERS[2..]) } else { (1, WORKERS) };
    let mut limits = Vec::new();
    for limit in LIMITS.iter().step_by(step) {
        if soak.ftk_under(limit, &place, &["--version"])?.code == 0 {
            limits.push(limit);
        } else {
            figures.skip(format!("ulimit {limit}: the program is not even loaded"));
        }
    }
    figures.count("right answers", 0);
    figures.count("errors that were told", 0);
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
                let squeezed = soak.ftk_under(limit, &place, &args)?;
                if squeezed.code == free.code && lasting(&squeezed) == lasting(&free) {
                    figures.count("right answers", 1);
                } else if squeezed.code == 2 && squeezed.is_orderly() {
                    figures.count("errors that were told", 1);
                } else {
                    let ended = squeezed.in_words();
                    figures.deviation(format!("ulimit {limit}: {command} -j {workers}: {ended}"));
                }
            }
        }
    }
    Ok(())
}

/// What does not depend on the time of the run: all but the first line of a manifest, and the last, which is a
/// digest of it too.
fn lasting(ended: &Ended) -> Vec<&[u8]> {
    let lines = ended.out.split(|&byte| byte == b'\n');
    lines.filter(|line| !line.starts_with(b"{\"ftk\":") && !line.starts_with(b"{\"footer\":")).collect()
}

/// Two equal trees, and lists and manifests of them.
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
