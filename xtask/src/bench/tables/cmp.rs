//! Comparing two files, and two trees.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::machine;
use crate::bench::record::{Group, Section};
use crate::bench::shape::{self, in_words};

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = vec![files(bench)?];
    let tree = match &bench.tree {
        Some(tree) => tree.clone(),
        None => bench.shape(&shape::MIXED_SMALL)?,
    };
    println!(" {}", tree.title);
    let copy = derived::copy(bench, &tree)?;
    let same = trees(bench, "a tree and its copy", &tree.path, &copy.path, tree.files, 0)?;
    // One byte in one file differs. A tool that reports it has read the files.
    let files = derived::regular_files(&copy.path)?;
    let altered = files.iter().rfind(|path| path.metadata().is_ok_and(|metadata| metadata.len() > 0));
    let altered = altered.context("the tree has no file to alter")?;
    derived::alter(altered, -1)?;
    let differing = trees(bench, "one byte differs", &tree.path, &copy.path, tree.files, 1);
    derived::alter(altered, -1)?;
    sections.push(Section::new(&tree, Cache::Warm, vec![same, differing?]));
    Ok(sections)
}

/// Measures pairs of files from a few KiB to the size that fits into memory.
fn files(bench: &Context) -> Result<Section> {
    let is_quick = bench.options.is_quick;
    let large: u64 = if is_quick { 1_000_000 } else { 640_000_000 };
    let huge = if is_quick { 4 << 20 } else { (2_u64 << 30).min(bench.room()? / 2) };
    let scattered: Vec<u64> = (0..8).map(|nth| large / 9 * (nth + 1)).collect();
    let pairs: [(&str, &str, u64, &[u64]); 8] = [
        ("4k", "the same", 4 << 10, &[]),
        ("1m", "the same", 1 << 20, &[]),
        ("same", "the same", large, &[]),
        ("start", "the first byte differs", large, &[0]),
        ("middle", "a byte in the middle", large, &[large / 2]),
        ("end", "the last byte", large, &[large - 1]),
        ("scattered", "8 bytes scattered", large, &scattered),
        ("huge", "the same", huge, &[]),
    ];
    let mut groups = Vec::new();
    let mut file_system = String::new();
    for (name, title, bytes, places) in pairs {
        let [a, b] = derived::pair(bench, name, bytes, places)?;
        file_system = machine::file_system(&a);
        let title = format!("{}, {title}", in_words(bytes));
        groups.push(pair(bench, &title, &a, &b, places)?);
        if name == "huge" {
            // Both files are streamed, as with little memory.
            groups.push(streamed(bench, &format!("{title}, streamed"), &a, &b)?);
        }
        if !bench.options.keep {
            std::fs::remove_file(&a)?;
            std::fs::remove_file(&b)?;
        }
    }
    Ok(Section { title: "two files".into(), file_system, cache: Cache::Warm.to_string(), groups })
}

fn pair(bench: &Context, title: &str, a: &Path, b: &Path, places: &[u64]) -> Result<Group> {
    let status = i32::from(!places.is_empty());
    let case = |tool: &str, words: Vec<OsString>, format| {
        Case::new(tool, format, Pipeline::new(words).ending_with(status))
    };
    // With several differences the result is all positions; otherwise whether the files differ.
    let (option, format) = if places.len() > 1 { ("-l", Format::Lines) } else { ("-s", Format::Status) };
    let ours = if places.len() > 1 { "-l" } else { "-q" };
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "cmp", ours, a, b], format)];
    if let Some(program) = bench.peers.get("cmp") {
        cases.push(case("cmp", words![program, option, a, b], format));
    }
    if let Some(program) = bench.peers.get("diff").filter(|_| places.len() < 2) {
        cases.push(case("diff -q", words![program, "-q", a, b], Format::Status));
    }
    if let Some(program) = bench.peers.get("b3sum").filter(|_| places.is_empty()) {
        cases.push(case("b3sum of both", words![program, a, b], Format::Status));
    }
    bench.clock().group(title, 2, cases)
}

fn streamed(bench: &Context, title: &str, a: &Path, b: &Path) -> Result<Group> {
    let case = |tool: &str, words| Case::new(tool, Format::Status, Pipeline::new(words));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "cmp", "--method", "stream", "-q", a, b])];
    if let Some(program) = bench.peers.get("cmp") {
        cases.push(case("cmp", words![program, "-s", a, b]));
    }
    bench.clock().group(title, 2, cases)
}

fn trees(bench: &Context, title: &str, a: &Path, b: &Path, files: u64, status: i32) -> Result<Group> {
    let case = |tool: &str, words| Case::new(tool, Format::Status, Pipeline::new(words).ending_with(status));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "cmp", a, b])];
    if let Some(program) = bench.peers.get("diff") {
        cases.push(case("diff -rq", words![program, "-rq", "--no-dereference", a, b]));
    }
    bench.clock().group(title, files, cases)
}
