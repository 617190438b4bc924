//! Finding duplicates, with a warm and a cold cache.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::measure::Meter;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// A peer, its options before the trees, and its option before each tree.
type Peer = (&'static str, &'static [&'static str], Option<&'static str>);

/// The options make all tools consider every file except empty ones, and store nothing for a later run.
const PEERS: &[Peer] = &[
    ("jdupes", &["-r", "-q"], None), // compares bytes, so its result is the reference
    ("fdupes", &["-r", "-q", "-n"], None),
    ("rdfind", &["-dryrun", "true", "-makeresultsfile", "true", "-outputname", "/dev/stdout"], None),
    ("rmlint", &["-T", "df", "--hidden", "-o", "fdupes:stdout"], None),
    ("yadf", &["--no-empty"], None),
    ("fclones", &["group", "--hidden", "--no-ignore", "-f", "fdupes"], None),
    ("czkawka_cli", &["dup", "-m", "1", "--disable-cache", "-W"], Some("-d")),
];

/// The peers for long runs.
const FAST: &[&str] = &["jdupes", "rdfind", "yadf", "fclones", "czkawka_cli"];

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let small = bench.options.common.is_quick;
    let tree = bench.any_tree()?;
    let mut sections = vec![of_copies(bench, bench.clock(), &tree, |_| true)?];
    let (families, bytes) = if small { (2, 1 << 20) } else { (8, 32 << 20) };
    let (contents, names) = if small { (20, 5) } else { (500, 40) };
    let alike = derived::alike(bench, families, bytes)?;
    let links = derived::links(bench, contents, names)?;
    for tree in [alike, links] {
        sections.push(section(bench, bench.clock(), &tree.title, &[&tree], |_| true)?);
    }
    if !small {
        let medium = bench.shape(&shape::MEDIUM)?;
        sections.push(section(
            bench,
            bench.clock(),
            &format!("no duplicates, {}", medium.title),
            &[&medium],
            |_| true,
        )?);
        let mixed = bench.shape(&shape::MIXED.within(bench.room()?))?;
        sections.push(section(bench, bench.clock(), &mixed.title, &[&mixed], |_| true)?);
    }
    sections.push(sizes(bench)?);
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = bench.cold_tree() else { return Ok(Vec::new()) };
    Ok(vec![of_copies(bench, bench.cold_clock(), tree, |peer| FAST.contains(&peer))?])
}

/// Measures the tree together with copies of some of its files.
fn of_copies(
    bench: &Context,
    meter: Meter<'_>,
    tree: &Tree,
    is_asked: impl Fn(&str) -> bool,
) -> Result<Section> {
    let copies = derived::copies(bench, tree)?;
    let title = format!("{}, and copies: every third file, one in ten altered", tree.title);
    section(bench, meter, &title, &[tree, &copies], is_asked)
}

/// Measures small to large numbers of files without duplicates, because small runs matter too.
fn sizes(bench: &Context) -> Result<Section> {
    let shape = if bench.options.common.is_quick { shape::SMALL } else { shape::LARGE };
    let tree = bench.shape(&shape)?;
    let dirs: Vec<PathBuf> = shape.dirs().iter().map(|dir| tree.path.join(dir)).collect();
    let a_dir = shape.files() / dirs.len() as u64;
    let mut groups = Vec::new();
    let mut count = 1;
    while count <= dirs.len() {
        let files = count as u64 * a_dir;
        let cases = cases(bench, &dirs[..count], |peer| FAST.contains(&peer));
        groups.push(bench.clock().group(&format!("{files} files"), files, cases)?);
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
    is_asked: impl Fn(&str) -> bool,
) -> Result<Section> {
    println!(" {title}");
    let paths: Vec<PathBuf> = trees.iter().map(|tree| tree.path.clone()).collect();
    let files = trees.iter().map(|tree| tree.files).sum();
    let group = meter.group("groups of equal files", files, cases(bench, &paths, is_asked))?;
    Ok(Section { title: title.to_owned(), ..Section::new(trees[0], meter.cache, vec![group]) })
}

/// Returns the commands that find duplicates below `paths`.
fn cases(bench: &Context, paths: &[PathBuf], is_asked: impl Fn(&str) -> bool) -> Vec<Case> {
    let paths_with = |option: Option<&str>| -> Vec<OsString> {
        paths.iter().flat_map(|path| option.map(OsString::from).into_iter().chain([path.into()])).collect()
    };
    let mut ftk = words![&bench.programs.ftk, "dup"];
    ftk.extend(paths_with(None));
    let mut cases = vec![Case::new("ftk", Format::Groups, Pipeline::new(ftk))];
    for (name, options, before_path) in PEERS.iter().filter(|(name, ..)| is_asked(name)) {
        let Some(program) = bench.peers.get(name) else { continue };
        let mut words = words![program];
        words.extend(options.iter().map(OsString::from));
        words.extend(paths_with(*before_path));
        cases.push(Case::new(name, Format::Groups, Pipeline::new(words)));
    }
    cases
}
