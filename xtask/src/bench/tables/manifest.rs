//! Making, verifying, updating and comparing manifests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::bench::cache::Cache;
use crate::bench::case::{Pipeline, words};
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::{Group, Section};
use crate::bench::tree::Tree;

/// Every tool makes its own manifest, with SHA-256. The digests of aide have another form, so only the status is
/// compared. Every tool verifies the unchanged tree. `find` prints the same fields as an update needs to know of every
/// file, which takes the same work.
const WHOLE: &str = "
# create [digests]
ftk manifest create {tree}
hashdeep -c sha256 -j{jobs} -o f -r {tree}
mtree -c -p {tree} -k type,size,mode,uid,gid,time,link,sha256

# create, status only
ftk manifest create {tree}
aide -c {settings} --init

# verify
ftk manifest verify {tree} {made}ftk
hashdeep -a -k {made}hashdeep -c sha256 -j{jobs} -o f -r {tree}
mtree -p {tree} -f {made}mtree
aide -c {settings} --check

# update, nothing changed
ftk manifest update {tree} {made}ftk
[find -printf] find {tree} -printf {fields}
";

const FIELDS: &str = "%p %y %s %m %U %G %T@ %C@ %i %D %n\n";

/// The first byte of one file in a thousand has changed.
const CHANGED: &str = "
# difference of two manifests [differ]
ftk manifest diff {old} {new}
diff {old} {new}

# verify, one file in 1,000 changed [differ]
ftk manifest verify {tree} {old}
";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let mut sections = vec![Section::new(&tree, Cache::Warm, whole(bench, &tree)?)];
    let changing = bench.shape(&bench.many())?;
    println!(" {}", changing.title);
    sections.push(Section::new(&changing, Cache::Warm, changed(bench, &changing)?));
    Ok(sections)
}

/// Measures commands on an unchanged tree.
fn whole(bench: &Context, tree: &Tree) -> Result<Vec<Group>> {
    let path = |name: &str| bench.scratch.path(&format!("manifest-{name}"));
    let (database, top, settings) = (path("aide.db"), &tree.path, path("aide.conf"));
    let text = format!(
        "database_in=file:{0}\ndatabase_out=file:{0}\ngzip_dbout=no\nreport_url=stdout\n{1} p+i+n+u+g+s+m+ftype+sha256\n",
        database.display(),
        top.display(),
    );
    fs::write(&settings, text)?;
    let commands = Commands::new(bench).with("tree", top).with("settings", settings);
    let mut groups = Vec::new();
    for (title, cases) in commands.with("made", path("")).with("fields", FIELDS).groups(WHOLE) {
        // The other groups use the manifests of the first one.
        if title == "create" {
            for case in &cases {
                fs::write(path(&case.tool), case.timed.output()?)?;
            }
        }
        groups.push(bench.clock().group(&title, tree.files, cases)?);
    }
    Ok(groups)
}

/// Compares two manifests, and verifies a tree.
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
    let commands = Commands::new(bench).with("old", &old).with("new", &new).with("tree", &tree.path);
    let groups = make(&new).and_then(|()| commands.measure(bench.clock(), tree.files, CHANGED));
    alter()?; // restore the files, even after a failure
    groups
}
