//! Making, verifying, updating and comparing manifests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

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

/// The paths of a hundred changes are known, or Btrfs tells what changed.
const SINCE: &str = "
# update, 100 files changed
ftk manifest update {now} {old}
[ftk --changed] ftk manifest update {now} {old} --changed {list}
[ftk --since] ftk manifest update {now} {old} --since {then}
";

/// The size of the file system for snapshots; the file of it has holes.
const IMAGE_BYTES: u64 = 16 << 30;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let mut sections = vec![Section::new(&tree, Cache::Warm, whole(bench, &tree)?)];
    let changing = bench.shape(&bench.many())?;
    println!(" {}", changing.title);
    sections.push(Section::new(&changing, Cache::Warm, changed(bench, &changing)?));
    match Snapshots::new(bench, &changing) {
        Ok(snapshots) => {
            let groups = snapshots.commands(bench).measure(bench.clock(), changing.files, SINCE)?;
            let title = format!("two snapshots on Btrfs of {}", changing.title);
            sections.push(Section { title, ..Section::new(&changing, Cache::Warm, groups) });
        }
        Err(error) => println!(" not measured: snapshots: {error:#}"),
    }
    Ok(sections)
}

/// A Btrfs file system with two snapshots of a tree, between which a hundred files changed.
struct Snapshots {
    top: PathBuf,
}

impl Snapshots {
    fn new(bench: &Context, tree: &Tree) -> Result<Self> {
        let (image, top) = (bench.scratch.path("snapshots.btrfs"), bench.scratch.path("snapshots"));
        fs::create_dir_all(&top)?;
        File::create(&image)?.set_len(IMAGE_BYTES)?;
        let run = |words| Pipeline::new(words).output().map(drop);
        run(words!["mkfs.btrfs", "-q", "-f", &image])?;
        run(words!["mount", "-o", "loop", &image, &top])?;
        let snapshots = Self { top };
        let subvolume = snapshots.top.join("tree");
        let snapshot = |name: &str| {
            run(words!["btrfs", "-q", "subvolume", "snapshot", "-r", &subvolume, &snapshots.top.join(name)])
        };
        run(words!["btrfs", "-q", "subvolume", "create", &subvolume])?;
        run(words!["cp", "-a", &tree.path.join("."), &subvolume])?;
        snapshot("then")?;
        let (then, old) = (snapshots.top.join("then"), snapshots.top.join("old"));
        run(words![&bench.programs.ftk, "manifest", "create", "-q", &then, "-o", &old])?;
        age(&old)?;
        let files = derived::regular_files(&subvolume)?;
        let mut list = String::new();
        for path in files.iter().step_by((files.len() / 100).max(1)) {
            derived::alter(path, 0)?;
            list += &format!("{}\n", path.strip_prefix(&subvolume)?.display());
        }
        fs::write(snapshots.top.join("list"), list)?;
        snapshot("now")?;
        Ok(snapshots)
    }

    fn commands<'b>(&self, bench: &'b Context) -> Commands<'b> {
        let names = ["then", "now", "old", "list"];
        names.into_iter().fold(Commands::new(bench), |all, name| all.with(name, self.top.join(name)))
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        _ = Pipeline::new(words!["umount", &self.top]).output();
    }
}

/// Makes a manifest one of a snapshot that was made more than an hour after the last change of its files. All files were just
/// copied, and an update would read them again.
fn age(manifest: &Path) -> Result<()> {
    const MEMBER: &str = ",\"settled_ns\":";
    let mut text = fs::read_to_string(manifest)?;
    let at = text.find(MEMBER).context("a snapshot has a time")?;
    let digits =
        text[at + MEMBER.len()..].find(|it: char| !it.is_ascii_digit()).context("the header ends")?;
    text.replace_range(at..at + MEMBER.len() + digits, "");
    text.truncate(text.trim_end().rfind('\n').context("there is a footer")? + 1);
    fs::write(manifest, &text)?;
    let said = String::from_utf8(Pipeline::new(words!["sha256sum", manifest]).output()?)?;
    let sha256 = said.split(' ').next().context("sha256sum prints a digest")?;
    let records = text.lines().count();
    text += &format!("{{\"footer\":{{\"records\":{records},\"sha256\":\"{sha256}\"}}}}\n");
    Ok(fs::write(manifest, text)?)
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
