//! What commands take of the memory on trees of extreme shapes, and that the answer is whole there.

use std::ffi::OsString;
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

/// Commands of ftk, and whether what they may take is promised.
const COMMANDS: &[(&str, bool)] = &[
    ("find", false),
    ("find --sort", true),
    ("hash", true),
    ("dup --summary", true),
    ("manifest create", false),
];

/// Bytes a file that `find --sort`, `hash` and `dup` may take beside its name.
const BYTES_A_FILE: u64 = 96;
/// What every run may take beside its tables: program, libraries, stacks and buffers.
const BASE_BYTES: u64 = 32 << 20;

/// A `--memory` with which tables of this many files, or more, do not fit.
const TOO_LITTLE: (&str, u64, u64) = ("16M", 16 << 20, 1_000_000);

/// Peers whose memory is measured beside: they only list.
const PEERS: &[(&str, &[&str])] = &[("find", &[]), ("bfs", &[]), ("fd", &["-u", "--search-path"])];

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let trees = if soak.options.is_quick { shapes::QUICK } else { shapes::ALL };
    let top = soak.scratch.path("extreme");
    for tree in trees {
        let disk = rustix::fs::statvfs(soak.scratch.path(""))?;
        if disk.f_files > 0 && disk.f_favail < tree.entries() * 11 / 10 {
            figures.skip(format!("{}: the file system has {} inodes left", tree.name, disk.f_favail));
            continue;
        }
        println!("  {}", tree.name);
        let outcome = tree.make(&top).and_then(|()| measured(soak, tree, &top, figures));
        shapes::remove(&top)?;
        outcome?;
    }
    Ok(())
}

fn measured(soak: &Soak, tree: &Extreme, top: &Path, figures: &mut Figures) -> Result<()> {
    let roots = tree.roots(top);
    let stats = soak.scratch.path("stats.json");
    for (command, is_promised) in COMMANDS {
        if command.starts_with("manifest") && roots.len() != 1 {
            continue;
        }
        let args: Vec<OsString> =
            command.split(' ').map(Into::into).chain(roots.iter().map(Into::into)).collect();
        let mut words = words![&soak.ftk, "--stats", &stats];
        words.extend(args);
        let Some(peak) = peak(soak, tree, command, Pipeline::new(words), figures)? else { continue };
        if let Err(error) = is_whole(tree, command, &stats) {
            figures.deviation(format!("{}: {command}: {error:#}", tree.name));
        }
        let most = tree.files() * (BYTES_A_FILE + tree.name_bytes()) + BASE_BYTES;
        if *is_promised && peak * 1024 > most {
            figures.deviation(format!("{}: {command} takes {peak} KiB, more than {}", tree.name, most >> 10));
        }
        let (option, bytes, files) = TOO_LITTLE;
        if *is_promised && tree.files() >= files {
            let mut words = words![&soak.ftk, "--memory", option];
            words.extend(command.split(' ').map(Into::into).chain(roots.iter().map(Into::into)));
            let shown = format!("{command} --memory {option}");
            let pipeline = Pipeline::new(words).ending_with(2);
            let peak = self::peak(soak, tree, &shown, pipeline, figures)?;
            if peak.is_some_and(|peak| peak * 1024 > bytes + BASE_BYTES) {
                figures.deviation(format!("{}: {shown} takes {} KiB", tree.name, peak.unwrap_or_default()));
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

/// Runs a command and notes its peak in KiB. If it fails, that is a deviation where it is ours.
fn peak(
    soak: &Soak,
    tree: &Extreme,
    command: &str,
    pipeline: Pipeline,
    figures: &mut Figures,
) -> Result<Option<u64>> {
    let is_ours = pipeline.stages[0][0] == soak.ftk;
    let run = once::measure(&soak.helper, &pipeline);
    interrupt::check()?; // first: it may be why the command failed
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

/// Whether the run that wrote these statistics saw all of the tree and failed nowhere.
fn is_whole(tree: &Extreme, command: &str, stats: &Path) -> Result<()> {
    let stats: Value = serde_json::from_str(&fs::read_to_string(stats)?)?;
    let phases = stats["phases"].as_array().context("no phases")?;
    let walked: u64 = phases.iter().filter_map(|phase| phase["entries"].as_u64()).sum();
    let expected = tree.entries();
    ensure!(walked == expected, "it saw {walked} of {expected} entries");
    let failed: u64 = phases.iter().filter_map(|phase| phase["failed"].as_u64()).sum();
    ensure!(failed == 0, "it failed with {failed} files");
    if command == "hash" {
        let hashed: u64 = phases.iter().filter_map(|phase| phase["files"].as_u64()).sum();
        ensure!(hashed == tree.files(), "it hashed {hashed} of {} files", tree.files());
    }
    Ok(())
}
