//! Making, verifying, updating and comparing manifests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::{Group, Section};
use crate::bench::shape;
use crate::bench::tree::Tree;

/// The format with which `find` prints what `update` needs to know of every file.
const FIELDS: &str = "%p %y %s %m %U %G %T@ %C@ %i %D %n\n";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = match &bench.tree {
        Some(tree) => tree.clone(),
        None => bench.shape(&shape::MIXED_SMALL)?,
    };
    println!(" {}", tree.title);
    let lists = Lists::new(bench, &tree)?;
    let whole = vec![create(&lists)?, create_beside_aide(&lists)?, verify(&lists)?, update(&lists)?];
    let mut sections = vec![Section::new(&tree, Cache::Warm, whole)];

    let changing = bench.shape(&if bench.options.is_quick { shape::SMALL } else { shape::LARGE })?;
    println!(" {}", changing.title);
    sections.push(Section::new(&changing, Cache::Warm, changed(bench, &changing)?));
    Ok(sections)
}

/// A tree, and the files in which the tools recorded it.
struct Lists<'b> {
    bench: &'b Context,
    tree: &'b Tree,
    ftk: PathBuf,
    hashdeep: PathBuf,
    mtree: PathBuf,
    aide: PathBuf,
}

impl<'b> Lists<'b> {
    fn new(bench: &'b Context, tree: &'b Tree) -> Result<Self> {
        let [ftk, hashdeep, mtree, aide] =
            ["manifest-ftk", "manifest-hashdeep", "manifest-mtree", "manifest-aide.conf"]
                .map(|name| bench.scratch.path(name));
        let database = bench.scratch.path("manifest-aide.db");
        fs::write(
            &aide,
            format!(
                "database_in=file:{0}\ndatabase_out=file:{0}\ngzip_dbout=no\nreport_url=stdout\n{1} p+i+n+u+g+s+m+ftype+sha256\n",
                database.display(),
                tree.path.display(),
            ),
        )?;
        Ok(Self { bench, tree, ftk, hashdeep, mtree, aide })
    }

    fn threads(&self) -> String {
        format!("-j{}", self.bench.jobs)
    }
}

/// Every tool makes its own manifest, with SHA-256.
fn create(lists: &Lists<'_>) -> Result<Group> {
    let Lists { bench, tree, .. } = lists;
    let path = &tree.path;
    let case = |tool: &str, words| Case::new(tool, Format::Digests, Pipeline::new(words));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "manifest", "create", path])];
    if let Some(program) = bench.peers.get("hashdeep") {
        let threads = lists.threads();
        cases.push(case("hashdeep", words![program, "-c", "sha256", &threads, "-o", "f", "-r", path]));
    }
    if let Some(program) = bench.peers.get("mtree") {
        cases.push(case(
            "mtree",
            words![program, "-c", "-p", path, "-k", "type,size,mode,uid,gid,time,link,sha256"],
        ));
    }
    // The manifests are used by the next groups.
    for (case, list) in cases.iter().zip([&lists.ftk, &lists.hashdeep, &lists.mtree]) {
        fs::write(list, case.timed.output()?)?;
    }
    bench.clock().group("create", tree.files, cases)
}

/// Makes manifests with ftk and with aide, whose digests have another form, so only the status is compared.
fn create_beside_aide(lists: &Lists<'_>) -> Result<Group> {
    let Lists { bench, tree, .. } = lists;
    let case = |tool: &str, words| Case::new(tool, Format::Status, Pipeline::new(words));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "manifest", "create", &tree.path])];
    if let Some(program) = bench.peers.get("aide") {
        cases.push(case("aide", words![program, "-c", &lists.aide, "--init"]));
    }
    bench.clock().group("create, status only", tree.files, cases)
}

/// Every tool verifies the unchanged tree.
fn verify(lists: &Lists<'_>) -> Result<Group> {
    let Lists { bench, tree, .. } = lists;
    let path = &tree.path;
    let case = |tool: &str, words| Case::new(tool, Format::Status, Pipeline::new(words));
    let mut cases = vec![case("ftk", words![&bench.programs.ftk, "manifest", "verify", path, &lists.ftk])];
    if let Some(program) = bench.peers.get("hashdeep") {
        let threads = lists.threads();
        let words =
            words![program, "-a", "-k", &lists.hashdeep, "-c", "sha256", &threads, "-o", "f", "-r", path];
        cases.push(case("hashdeep", words));
    }
    if let Some(program) = bench.peers.get("mtree") {
        cases.push(case("mtree", words![program, "-p", path, "-f", &lists.mtree]));
    }
    if let Some(program) = bench.peers.get("aide") {
        cases.push(case("aide", words![program, "-c", &lists.aide, "--check"]));
    }
    bench.clock().group("verify", tree.files, cases)
}

/// Updates without changes. `find` prints the same fields for comparison, which takes the same work.
fn update(lists: &Lists<'_>) -> Result<Group> {
    let Lists { bench, tree, .. } = lists;
    let case = |tool: &str, words| Case::new(tool, Format::Status, Pipeline::new(words));
    let ftk = &bench.programs.ftk;
    let mut cases = vec![case("ftk", words![ftk, "manifest", "update", &tree.path, &lists.ftk])];
    if let Some(program) = bench.peers.get("find") {
        cases.push(case("find -printf", words![program, &tree.path, "-printf", FIELDS]));
    }
    bench.clock().group("update, nothing changed", tree.files, cases)
}

/// Compares two manifests, and verifies a tree, after the first byte of one file in a thousand has changed.
fn changed(bench: &Context, tree: &Tree) -> Result<Vec<Group>> {
    let [old, new] = ["manifest-old", "manifest-new"].map(|name| bench.scratch.path(name));
    let make = |list: &Path| -> Result<()> {
        let words = words![&bench.programs.ftk, "manifest", "create", "-q", "-o", list, &tree.path];
        Pipeline::new(words).output().map(drop)
    };
    make(&old)?;
    let altered: Vec<PathBuf> = derived::regular_files(&tree.path)?.into_iter().step_by(1_000).collect();
    ensure!(!altered.is_empty(), "the tree has no files");
    let alter = || altered.iter().try_for_each(|path| derived::alter(path, 0));
    alter()?;
    let groups = make(&new).and_then(|()| {
        let case = |tool: &str, words| Case::new(tool, Format::Status, Pipeline::new(words).ending_with(1));
        let mut cases = vec![case("ftk", words![&bench.programs.ftk, "manifest", "diff", &old, &new])];
        if let Some(program) = bench.peers.get("diff") {
            cases.push(case("diff", words![program, &old, &new]));
        }
        let diff = bench.clock().group("difference of two manifests", tree.files, cases)?;
        let cases = vec![case("ftk", words![&bench.programs.ftk, "manifest", "verify", &tree.path, &old])];
        let verify = bench.clock().group("verify, one file in 1,000 changed", tree.files, cases)?;
        Ok(vec![diff, verify])
    });
    alter()?; // restore the files, even after a failure
    groups
}
