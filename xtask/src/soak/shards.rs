//! Records trees of extreme shapes in shards, merges them, and compares the result with a single run.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::command::Soak;
use super::figures::Figures;
use super::shapes::{self, Extreme};
use crate::bench::scratch;

/// The number of shards of each tree.
const SHARDS: u32 = 8;

pub(super) fn run(soak: &Soak, figures: &mut Figures) -> Result<()> {
    let trees = if soak.options.common.quick { shapes::QUICK } else { shapes::ALL };
    let place = soak.scratch.path("shards");
    for tree in trees {
        let top = place.join("tree");
        if tree.roots(&top).len() > 1 {
            continue;
        }
        let disk = rustix::fs::statvfs(soak.scratch.path(""))?;
        if disk.f_files > 0 && disk.f_favail < tree.entries() * 11 / 10 {
            figures.skip(format!("{}: the file system has {} inodes left", tree.name, disk.f_favail));
            continue;
        }
        println!("  {}", tree.name);
        let outcome = tree.make(&top).and_then(|()| compared(soak, tree, &place, figures));
        scratch::remove(&top)?;
        outcome?;
        fs::remove_dir_all(&place).context("cannot remove the parts")?;
    }
    Ok(())
}

/// Compares all ways to divide a tree with a single run.
fn compared(soak: &Soak, tree: &Extreme, place: &Path, figures: &mut Figures) -> Result<()> {
    let ftk = |args: &[&str]| -> Result<()> {
        let ended = soak.ftk(place, args)?;
        ensure!(ended.code == 0, "ftk {}: {}", args.join(" "), ended.in_words());
        Ok(())
    };
    ftk(&["manifest", "create", "tree", "-o", "one.jsonl"])?;
    let of = SHARDS.to_string();
    for plan in [&["--by", "entries", "one.jsonl"][..], &["--by", "cost", "tree"], &[]] {
        let mut merge = vec!["manifest".to_owned(), "merge".into(), "-o".into(), "merged.jsonl".into()];
        if !plan.is_empty() {
            ftk(&[&["manifest", "plan", "--shards", &of, "-o", "plan", "--force"], plan].concat())?;
        }
        for number in 1..=SHARDS {
            let (shard, part) = (format!("{number}/{SHARDS}"), format!("part-{number}.jsonl"));
            let mut create = vec!["manifest", "create", "--shard", &shard, "tree", "-o", &part, "--force"];
            if !plan.is_empty() {
                create.extend(["--plan", "plan"]);
            }
            ftk(&create)?;
            merge.push(part);
        }
        merge.push("--force".into());
        ftk(&merge.iter().map(String::as_str).collect::<Vec<_>>())?;
        figures.count("merged trees", 1);
        let [one, merged] = ["one.jsonl", "merged.jsonl"].map(|name| place.join(name));
        match difference(&one, &merged)? {
            None => figures.count("equal entries", tree.entries()),
            Some(line) => figures.deviation(format!("{}: {plan:?}: line {line} differs", tree.name)),
        }
    }
    Ok(())
}

/// Returns the number of the first entry's line that differs between two manifests.
fn difference(one: &Path, other: &Path) -> Result<Option<u64>> {
    let [mut a, mut b] = [BufReader::new(File::open(one)?), BufReader::new(File::open(other)?)];
    let (mut from_a, mut from_b) = (Vec::new(), Vec::new());
    for number in 1.. {
        from_a.clear();
        from_b.clear();
        a.read_until(b'\n', &mut from_a)?;
        b.read_until(b'\n', &mut from_b)?;
        // The header has the time of the run, and the footer covers it.
        let is_footer = |line: &[u8]| line.starts_with(b"{\"footer\":");
        if is_footer(&from_a) && is_footer(&from_b) {
            break;
        }
        if number > 1 && from_a != from_b || from_a.is_empty() {
            return Ok(Some(number));
        }
    }
    Ok(None)
}
