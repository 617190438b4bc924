//! Parity files: creating them, finding damage, and computing what is damaged or lost.

use anyhow::{Context as _, Result};

use crate::bench::cache::Cache;
use crate::bench::case::{Pipeline, words};
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::Section;
use crate::bench::shape;

/// The redundancy and the number of blocks are the defaults of par2.
const INTACT: &str = "
# create, 5 %
ftk manifest protect -q {tree} {manifest} -o {made}parity
par2 create -q -q -r5 -b2000 -R -B {tree} {made}par2 {tree}

# find damage, if there is none
ftk manifest repair -q {tree} {manifest} --from {made}parity
par2 verify -q -q -B {tree} {made}par2
";

/// par2 does not restore times, so ftk is told to undo edits.
const DAMAGED: &str = "
# one sector is damaged
[ftk] env XDG_STATE_HOME={made}state @ftk manifest repair -q --yes --modified {tree} {manifest} --from {made}parity
par2 repair -q -q -B {tree} {made}par2

# one file is lost
[ftk] env XDG_STATE_HOME={made}state @ftk manifest repair -q --yes --modified --missing {tree} {manifest} --from {made}parity
par2 repair -q -q -B {tree} {made}par2
";

/// What happens to the file `$1` before each run of these groups. par2 keeps damaged files under other names.
const BEFORE: [&str; 2] = [
    r#"rm -f "$1".[0-9]*; dd status=none if=/dev/zero of="$1" bs=4096 count=1 conv=notrunc"#,
    r#"rm -f "$1".[0-9]* "$1""#,
];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.shape(if bench.options.common.quick { &shape::FLAT_SMALL } else { &shape::FLAT })?;
    println!(" {}", tree.title);
    let (manifest, made) = (bench.scratch.path("parity-manifest"), bench.scratch.path("parity-"));
    let ftk = &bench.programs.ftk;
    let create = words![ftk, "manifest", "create", "-q", "--force", "-o", &manifest, &tree.path];
    Pipeline::new(create).output()?;
    let commands =
        Commands::new(bench).with("tree", &tree.path).with("manifest", manifest).with("made", &made);
    let file = derived::regular_files(&tree.path)?.pop().context("the tree has no files")?;

    let mut groups = Vec::new();
    let remove =
        |pattern: &str| Pipeline::new(words!["sh", "-c", &format!(r#"rm -f "$1"{pattern}"#), "sh", &made]);
    for (nth, (title, mut cases)) in commands.groups(INTACT).into_iter().enumerate() {
        for case in cases.iter_mut().filter(|_| nth == 0) {
            case.before = Some(remove(if case.is_ftk() { "parity" } else { "par2*" }));
        }
        groups.push(bench.clock().group(&title, tree.files, cases)?);
    }
    for ((title, mut cases), before) in commands.groups(DAMAGED).into_iter().zip(BEFORE) {
        for case in &mut cases {
            case.before = Some(Pipeline::new(words!["sh", "-c", before, "sh", &file]));
        }
        groups.push(bench.clock().group(&title, tree.files, cases)?);
    }
    Ok(vec![Section::new(&tree, Cache::Warm, groups)])
}
