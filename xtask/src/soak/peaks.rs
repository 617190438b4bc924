//! Measures the memory of commands on trees of extreme shapes, and checks that their results are complete.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::command::Soak;
use super::figures::{Figures, Peak};
use super::shapes::{self, Extreme};
use crate::bench::case::{Pipeline, words};
use crate::bench::interrupt;
use crate::bench::once;
use crate::bench::scratch;

/// A command of ftk with its promise: at most so many bytes per file besides its name.
struct Case {
    command: &'static str,
    /// If few files have copies.
    bytes_a_file: Option<u64>,
    /// If all files have copies.
    bytes_a_copy: Option<u64>,
}

const fn case(command: &'static str, bytes_a_file: Option<u64>, bytes_a_copy: Option<u64>) -> Case {
    Case { command, bytes_a_file, bytes_a_copy }
}

const CASES: &[Case] = &[
    case("find", None, None),
    case("find --sort", Some(96), Some(96)),
    case("hash", Some(96), Some(96)),
    case("hash -a xxh128", Some(96), Some(96)),
    case("dup --summary", Some(90), Some(120)),
    case("dup --json", Some(90), Some(120)),
    case("dup --dirs --summary", Some(100), Some(130)),
    case("manifest create", None, None),
];

/// Memory that every run may use besides its tables: program, libraries, stacks and buffers.
const BASE_BYTES: u64 = 32 << 20;

/// A `--memory` limit, in bytes too, that is too small for the tables of this many files or more.
const TOO_LITTLE: (&str, u64, u64) = ("16M", 16 << 20, 1_000_000);

/// Peers whose memory is measured too. They only list files.
const PEERS: &[(&str, &[&str])] = &[("find", &[]), ("bfs", &[]), ("fd", &["-u", "--search-path"])];

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let trees = if soak.options.common.quick { shapes::QUICK } else { shapes::ALL };
    let top = soak.scratch.path("extreme");
    for tree in trees {
        let disk = rustix::fs::statvfs(soak.scratch.path(""))?;
        if disk.f_files > 0 && disk.f_favail < tree.entries() * 11 / 10 {
            figures.skip(format!("{}: the file system has {} inodes left", tree.name, disk.f_favail));
            continue;
        }
        println!("  {}", tree.name);
        let outcome = tree.make(&top).and_then(|()| measured(soak, tree, &top, figures));
        scratch::remove(&top)?;
        outcome?;
    }
    Ok(())
}

fn measured(soak: &Soak, tree: &Extreme, top: &Path, figures: &mut Figures) -> Result<()> {
    let roots = tree.roots(top);
    let stats = soak.scratch.path("stats.json");
    for case in CASES {
        let command = case.command;
        if command.starts_with("manifest") && roots.len() != 1 {
            continue;
        }
        let with = |option: &str, value: &Path| {
            let mut words = words![&soak.ftk, option, value];
            words.extend(command.split(' ').map(Into::into).chain(roots.iter().map(Into::into)));
            Pipeline::new(words)
        };
        let Some(used) = peak(soak, tree, command, with("--stats", &stats), figures)? else { continue };
        if let Err(error) = is_whole(tree, command, &stats) {
            figures.deviation(format!("{}: {command}: {error:#}", tree.name));
        }
        let promised = if tree.is_all_copies() { case.bytes_a_copy } else { case.bytes_a_file };
        let Some(bytes_a_file) = promised else { continue };
        let most = tree.files() * (bytes_a_file + tree.name_bytes()) + BASE_BYTES;
        if used * 1024 > most {
            figures.deviation(format!("{}: {command} uses {used} KiB, more than {}", tree.name, most >> 10));
        }
        let (size, bytes, files) = TOO_LITTLE;
        if tree.files() >= files {
            let (shown, too_little) =
                (format!("{command} --memory {size}"), with("--memory", Path::new(size)));
            let used = peak(soak, tree, &shown, too_little.ending_with(2), figures)?.unwrap_or_default();
            if used * 1024 > bytes + BASE_BYTES {
                figures.deviation(format!("{}: {shown} uses {used} KiB", tree.name));
            }
        }
    }
    for (name, options) in PEERS {
        if let Some(path) = soak.peers.get(name) {
            let mut words = words![path];
            words.extend(options.iter().map(Into::into));
            words.extend(roots.iter().map(Into::into));
            peak(soak, tree, name, Pipeline::new(words), figures)?;
        }
    }
    Ok(())
}

/// Runs a command and records its peak in KiB. A failure of ftk is a deviation; a peer that fails is skipped.
fn peak(
    soak: &Soak,
    tree: &Extreme,
    command: &str,
    pipeline: Pipeline,
    figures: &mut Figures,
) -> Result<Option<u64>> {
    let is_ours = pipeline.stages[0][0] == soak.ftk;
    let run = once::measure(&soak.helper, &pipeline);
    interrupt::check()?; // checked first, because an interrupt may have made the command fail
    figures.count("runs", 1);
    match run {
        Ok(run) => {
            let (memory_kib, seconds) = (run.memory_kib, (run.milliseconds / 10.0).round() / 100.0);
            let command = if is_ours { format!("ftk {command}") } else { command.to_owned() };
            println!("    {command}: {memory_kib} KiB, {seconds} s");
            figures.peaks.push(Peak {
                tree: tree.name.into(),
                files: tree.files(),
                command,
                memory_kib,
                seconds,
            });
            Ok(Some(memory_kib))
        }
        Err(error) if is_ours => {
            figures.deviation(format!("{}: {command}: {error:#}", tree.name));
            Ok(None)
        }
        Err(error) => {
            figures.skip(format!("{}: {command}: {error:#}", tree.name));
            Ok(None)
        }
    }
}

/// Checks in its statistics that a run saw the whole tree and that no file failed.
fn is_whole(tree: &Extreme, command: &str, stats: &Path) -> Result<()> {
    let stats: Value = serde_json::from_str(&fs::read_to_string(stats)?)?;
    let phases = stats["phases"].as_array().context("no phases")?;
    let walked: u64 = phases.iter().filter_map(|phase| phase["entries"].as_u64()).sum();
    let expected = tree.entries();
    ensure!(walked == expected, "it found {walked} of {expected} entries");
    let failed: u64 = phases.iter().filter_map(|phase| phase["failed"].as_u64()).sum();
    ensure!(failed == 0, "{failed} files failed");
    if command.starts_with("hash") {
        let hashed: u64 = phases.iter().filter_map(|phase| phase["files"].as_u64()).sum();
        ensure!(hashed == tree.files(), "it hashed {hashed} of {} files", tree.files());
    }
    Ok(())
}
