//! Making, verifying, updating and comparing manifests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Pipeline, words};
use crate::bench::commands::{Commands, Lines};
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::{Group, Section};
use crate::bench::shape;
use crate::bench::tree::Tree;

/// The format with which `find` prints what `update` needs to know of every file.
const FIELDS: &str = "%p %y %s %m %U %G %T@ %C@ %i %D %n\n";

/// Every tool makes its own manifest, with SHA-256.
const CREATE: &Lines<'_> = &[
    ("ftk", "ftk manifest create {tree}"),
    ("hashdeep", "hashdeep -c sha256 -j{jobs} -o f -r {tree}"),
    ("mtree", "mtree -c -p {tree} -k type,size,mode,uid,gid,time,link,sha256"),
];

/// The digests of aide have another form, so only the status is compared.
const CREATE_BESIDES_AIDE: &Lines<'_> =
    &[("ftk", "ftk manifest create {tree}"), ("aide", "aide -c {settings} --init")];

/// Every tool verifies the unchanged tree.
const VERIFY: &Lines<'_> = &[
    ("ftk", "ftk manifest verify {tree} {ftk}"),
    ("hashdeep", "hashdeep -a -k {hashdeep} -c sha256 -j{jobs} -o f -r {tree}"),
    ("mtree", "mtree -p {tree} -f {mtree}"),
    ("aide", "aide -c {settings} --check"),
];

/// Updates without changes. `find` prints the same fields for comparison, which takes the same work.
const UPDATE: &Lines<'_> =
    &[("ftk", "ftk manifest update {tree} {ftk}"), ("find -printf", "find {tree} -printf {fields}")];

const DIFF: &Lines<'_> = &[("ftk", "ftk manifest diff {old} {new}"), ("diff", "diff {old} {new}")];

const VERIFY_CHANGED: &Lines<'_> = &[("ftk", "ftk manifest verify {tree} {old}")];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let groups = whole(bench, &tree)?;
    let mut sections = vec![Section::new(&tree, Cache::Warm, groups)];

    let changing = bench.shape(&if bench.options.common.is_quick { shape::SMALL } else { shape::LARGE })?;
    println!(" {}", changing.title);
    sections.push(Section::new(&changing, Cache::Warm, changed(bench, &changing)?));
    Ok(sections)
}

/// Measures commands on an unchanged tree.
fn whole(bench: &Context, tree: &Tree) -> Result<Vec<Group>> {
    let path = |name: &str| bench.scratch.path(&format!("manifest-{name}"));
    let (database, top) = (path("aide.db"), &tree.path);
    let settings = format!(
        "database_in=file:{0}\ndatabase_out=file:{0}\ngzip_dbout=no\nreport_url=stdout\n{1} p+i+n+u+g+s+m+ftype+sha256\n",
        database.display(),
        top.display(),
    );
    fs::write(path("aide.conf"), settings)?;
    let mut commands = Commands::new(bench).with("tree", top).with("fields", FIELDS);
    for name in ["ftk", "hashdeep", "mtree"] {
        commands = commands.with(name, path(name));
    }
    commands = commands.with("settings", path("aide.conf"));
    let created = commands.clone().printing(Format::Digests).cases(CREATE);
    // The manifests are used by the next groups.
    for case in &created {
        fs::write(path(&case.tool), case.timed.output()?)?;
    }
    let group = |title: &str, cases| bench.clock().group(title, tree.files, cases);
    Ok(vec![
        group("create", created)?,
        group("create, status only", commands.cases(CREATE_BESIDES_AIDE))?,
        group("verify", commands.cases(VERIFY))?,
        group("update, nothing changed", commands.cases(UPDATE))?,
    ])
}

/// Compares two manifests, and verifies a tree, after the first byte of one file in a thousand has changed.
fn changed(bench: &Context, tree: &Tree) -> Result<Vec<Group>> {
    let [old, new] = ["manifest-old", "manifest-new"].map(|name| bench.scratch.path(name));
    let make = |list: &Path| -> Result<()> {
        let words =
            words![&bench.programs.ftk, "manifest", "create", "-q", "--force", "-o", list, &tree.path];
        Pipeline::new(words).output().map(drop)
    };
    make(&old)?;
    let altered: Vec<PathBuf> = derived::regular_files(&tree.path)?.into_iter().step_by(1_000).collect();
    ensure!(!altered.is_empty(), "the tree has no files");
    let alter = || altered.iter().try_for_each(|path| derived::alter(path, 0));
    alter()?;
    let groups = make(&new).and_then(|()| {
        let commands = Commands::new(bench).with("old", &old).with("new", &new).with("tree", &tree.path);
        let commands = commands.ending_with(1);
        let diff = bench.clock().group("difference of two manifests", tree.files, commands.cases(DIFF))?;
        let cases = commands.cases(VERIFY_CHANGED);
        let verify = bench.clock().group("verify, one file in 1,000 changed", tree.files, cases)?;
        Ok(vec![diff, verify])
    });
    alter()?; // restore the files, even after a failure
    groups
}
