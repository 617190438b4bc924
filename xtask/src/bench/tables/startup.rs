//! The cost of commands with almost no work.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::machine;
use crate::bench::record::Section;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tiny = bench.scratch.path("tiny");
    fs::write(&tiny, "abc")?;
    let case = |name: &str, words| Case::new(name, Format::Sums, Pipeline::new(words));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "hash", &tiny])];
    let peers: [(&str, Vec<OsString>); 2] = [("sha256sum", words![]), ("openssl", words!["dgst", "-sha256"])];
    for (name, options) in peers {
        if let Some(program) = bench.peers.get(name) {
            let mut words = words![program];
            words.extend(options);
            words.push((&tiny).into());
            cases.push(case(name, words));
        }
    }
    let one = bench.clock().group("one file of 3 bytes", 1, cases)?;
    let programs = [
        ("ftk", Some(&*bench.programs.ftk)),
        ("sha256sum", bench.peers.get("sha256sum")),
        ("fd", bench.peers.get("fd")),
    ];
    let version = |(name, program): (&str, Option<&Path>)| {
        Some(Case::new(name, Format::Status, Pipeline::new(words![program?, "--version"])))
    };
    let cases = programs.into_iter().filter_map(version).collect();
    let version = bench.clock().group("`--version`", 0, cases)?;
    Ok(vec![Section {
        title: "small work".into(),
        file_system: machine::file_system(&tiny),
        cache: Cache::Warm.to_string(),
        groups: vec![version, one],
    }])
}
