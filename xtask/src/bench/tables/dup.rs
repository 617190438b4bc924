//! Finding duplicates, with a warm and a cold cache.

use std::path::PathBuf;

use anyhow::Result;

use crate::bench::cache::Cache;
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::measure::Meter;
use crate::bench::record::{Group, Section};
use crate::bench::shape;
use crate::bench::tree::Tree;

/// The options make all tools consider every file except empty ones, and store nothing for a later run. jdupes compares
/// bytes, so its result is the reference.
const TEXT: &str = "
# {title} [groups]
ftk dup {trees}
jdupes -r -q {trees}
fdupes -r -q -n {trees}
rdfind -dryrun true -makeresultsfile true -outputname /dev/stdout {trees}
rmlint -T df --hidden -o fdupes:stdout {trees}
yadf --no-empty {trees}
fclones group --hidden --no-ignore -f fdupes {trees}
czkawka_cli dup -m 1 --disable-cache -W {options}
";

/// Peers that are too slow for long runs.
const SLOW: &[&str] = &["fdupes", "rmlint"];

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let is_quick = bench.options.common.quick;
    let tree = bench.any_tree()?;
    let section = |title: &str, trees: &[&Tree]| section(bench, bench.clock(), title, trees, &[]);
    let copies = derived::copies(bench, &tree)?;
    let mut sections = vec![section(&derived::title_with_copies(&tree), &[&tree, &copies])?];
    let (families, bytes) = if is_quick { (2, 1 << 20) } else { (8, 32 << 20) };
    let (contents, names) = if is_quick { (20, 5) } else { (500, 40) };
    let mut trees = vec![derived::alike(bench, families, bytes)?, derived::links(bench, contents, names)?];
    if !is_quick {
        let medium = bench.shape(&shape::MEDIUM)?;
        trees.push(Tree { title: format!("no duplicates, {}", medium.title), ..medium });
        trees.push(bench.shape(&shape::MIXED.within(bench.room()?))?);
    }
    for tree in &trees {
        sections.push(section(&tree.title, &[tree])?);
    }
    sections.push(sizes(bench)?);
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = bench.cold_tree() else { return Ok(Vec::new()) };
    let copies = derived::copies(bench, tree)?;
    let title = derived::title_with_copies(tree);
    Ok(vec![section(bench, bench.cold_clock(), &title, &[tree, &copies], SLOW)?])
}

/// Measures small to large numbers of files without duplicates, because small runs matter too.
fn sizes(bench: &Context) -> Result<Section> {
    let shape = bench.many();
    let tree = bench.shape(&shape)?;
    let dirs: Vec<PathBuf> = shape.dirs().iter().map(|dir| tree.path.join(dir)).collect();
    let mut groups = Vec::new();
    let mut count = 1;
    while count <= dirs.len() {
        let files = count as u64 * shape.files() / dirs.len() as u64;
        let title = format!("{files} files");
        groups.push(group(bench, bench.clock(), &title, files, &dirs[..count], SLOW)?);
        count *= 10;
    }
    let title = format!("directories of {}", tree.title);
    Ok(Section { title, ..Section::new(&tree, Cache::Warm, groups) })
}

fn section(
    bench: &Context,
    meter: Meter<'_>,
    title: &str,
    trees: &[&Tree],
    skipped: &[&str],
) -> Result<Section> {
    println!(" {title}");
    let paths: Vec<PathBuf> = trees.iter().map(|tree| tree.path.clone()).collect();
    let files = trees.iter().map(|tree| tree.files).sum();
    let group = group(bench, meter, "groups of equal files", files, &paths, skipped)?;
    Ok(Section { title: title.to_owned(), ..Section::new(trees[0], meter.cache, vec![group]) })
}

/// Measures the commands that find duplicates below `paths`, except those of `skipped` peers.
fn group(
    bench: &Context,
    meter: Meter<'_>,
    title: &str,
    files: u64,
    paths: &[PathBuf],
    skipped: &[&str],
) -> Result<Group> {
    let options = paths.iter().flat_map(|path| ["-d".into(), path.clone()]);
    let commands = Commands::new(bench).with_all("trees", paths).with_all("options", options);
    let (title, mut cases) = commands.with("title", title).group(TEXT);
    cases.retain(|case| !skipped.contains(&&*case.tool));
    meter.group(&title, files, cases)
}
