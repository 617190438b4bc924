//! The largest resident set of a command.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::machine;
use crate::bench::measure::{Meter, Quantity};
use crate::bench::record::Section;
use crate::bench::shape;

/// Memory hardly varies from run to run.
const RUNS: usize = 3;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let empty = bench.scratch.path("empty");
    fs::create_dir_all(&empty)?;
    let tree = bench.shape(if bench.options.is_quick { &shape::SMALL } else { &shape::LARGE })?;
    let quantity = Quantity::Memory { helper: &bench.programs.helper };
    let meter = Meter { quantity, runs: RUNS, ..bench.clock() };
    let mut groups = Vec::new();
    for (what, top, files) in [("no file", &empty, 0), ("all files", &tree.path, tree.files)] {
        groups.push(meter.group(&format!("find, {what}"), files, find(bench, top, files == 0))?);
        groups.push(meter.group(&format!("hash, {what}"), files, hash(bench, top))?);
    }
    Ok(vec![Section {
        title: tree.title.clone(),
        file_system: machine::file_system(&empty),
        cache: "warm".into(),
        groups,
    }])
}

fn find(bench: &Context, top: &Path, is_empty: bool) -> Vec<Case> {
    let case = |name: &str, words| Case::new(name, Format::Lines, Pipeline::new(words));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "find", "-t", "f", top])];
    let peers: [(&str, Vec<OsString>); 4] = [
        ("find", words![top, "-type", "f"]),
        ("bfs", words![top, "-type", "f"]),
        ("fd", words!["--no-ignore", "--hidden", "--type", "f", ".", top]),
        ("rg", words!["--no-config", "--files", "--no-ignore", "--hidden", top]),
    ];
    for (name, options) in peers {
        // ripgrep calls it a failure if there is no file.
        if let Some(program) = bench.peers.get(name).filter(|_| name != "rg" || !is_empty) {
            cases.push(case(name, [words![program], options].concat()));
        }
    }
    cases
}

/// hashdeep is the one peer that walks by itself; the others are given a part of the tree at a time.
fn hash(bench: &Context, top: &Path) -> Vec<Case> {
    let case = |name: &str, words| Case::new(name, Format::Sums, Pipeline::new(words));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "hash", top])];
    if let Some(program) = bench.peers.get("hashdeep") {
        let jobs = format!("-j{}", bench.jobs);
        cases.push(case("hashdeep", words![program, "-c", "sha256", &jobs, "-r", top]));
    }
    cases
}
