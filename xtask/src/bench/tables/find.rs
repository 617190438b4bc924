//! Listing a tree. Every tool has the options that include hidden and ignored files.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// A search for regular files that pass all tests that are set.
pub(super) struct Scenario {
    title: String,
    /// One of these extensions, ignoring case.
    extensions: Vec<String>,
    /// A glob that the name must match.
    glob: Option<&'static str>,
    /// The file must have more bytes than this.
    larger: Option<u64>,
    /// Print only the number of files.
    is_count: bool,
    /// Start every tool from a shell that forks.
    is_forked: bool,
}

/// A glob that matches some of the names in every tree.
const GLOB: &str = "*e*1*";

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    if let Some(tree) = &bench.tree {
        sections.push(section(bench, tree)?);
    }
    let shapes: &[_] = if bench.options.is_quick {
        &[shape::SMALL, shape::DEEP, shape::MIXED_SMALL]
    } else {
        &[shape::SMALL, shape::MEDIUM, shape::LARGE, shape::DEEP, shape::WIDE]
    };
    for shape in shapes {
        sections.push(section(bench, &bench.shape(shape)?)?);
    }
    Ok(sections)
}

pub(crate) fn cold(bench: &Context) -> Result<Vec<Section>> {
    let Some(tree) = bench.cold_tree() else { return Ok(Vec::new()) };
    println!(" {}", tree.title);
    let scenario = Scenario::plain("all files");
    let group =
        bench.cold_clock().group(&scenario.title, tree.files, cases(bench, &scenario, &tree.path, None))?;
    Ok(vec![Section::new(tree, Cache::Cold, vec![group])])
}

fn section(bench: &Context, tree: &Tree) -> Result<Section> {
    println!(" {}", tree.title);
    let groups = scenarios(tree).into_iter().map(|scenario| {
        let cases = cases(bench, &scenario, &tree.path, None);
        bench.clock().group(&scenario.title, tree.files, cases)
    });
    Ok(Section::new(tree, Cache::Warm, groups.collect::<Result<_>>()?))
}

fn scenarios(tree: &Tree) -> Vec<Scenario> {
    let plain = Scenario::plain;
    let by_extension = |extensions: &[String]| Scenario {
        extensions: extensions.to_vec(),
        ..plain(&extensions.iter().map(|name| format!("`.{name}`")).collect::<Vec<_>>().join(" "))
    };
    let mut scenarios = vec![plain("all files")];
    if let [first, _, ..] = &tree.extensions[..] {
        scenarios.push(by_extension(std::slice::from_ref(first)));
        scenarios.push(by_extension(&tree.extensions));
    }
    scenarios.push(Scenario { glob: Some(GLOB), ..plain(&format!("named `{GLOB}`")) });
    scenarios.push(Scenario { is_count: true, ..plain("count only") });
    scenarios.push(Scenario { is_forked: true, ..plain("all files, started by a shell") });
    let larger = Some(tree.threshold);
    scenarios.push(Scenario { larger, ..plain(&format!("over {} bytes", tree.threshold)) });
    scenarios
}

impl Scenario {
    /// Makes a search for all regular files.
    pub(super) fn plain(title: &str) -> Self {
        Self {
            title: title.into(),
            extensions: vec![],
            glob: None,
            larger: None,
            is_count: false,
            is_forked: false,
        }
    }
}

/// Returns the commands. GNU find is the first of the peers, because its result is the reference. It has one thread;
/// the others have `threads`, or their default.
pub(super) fn cases(bench: &Context, scenario: &Scenario, top: &Path, threads: Option<&str>) -> Vec<Case> {
    // All but GNU find support `-j4`.
    let with = |program: &Path| {
        let mut words = words![program];
        words.extend(threads.map(|threads| format!("-j{threads}").into()));
        words
    };
    let case = |name: &str, words| {
        let pipeline = Pipeline::new(words);
        Case::new(name, Format::Lines, if scenario.is_count { counted(bench, pipeline) } else { pipeline })
    };
    let words = [with(&bench.programs.ftk), ftk(scenario, top)].concat();
    let mut cases = vec![Case::new("ftk", Format::Lines, Pipeline::new(words))];
    if let Some(program) = bench.peers.get("find") {
        cases.push(case("find", [words![program], find(scenario, top)].concat()));
    }
    type Arguments = fn(&Scenario, &Path) -> Vec<OsString>;
    let peers: [(&str, Arguments); 3] = [("bfs", find), ("fd", fd), ("rg", rg)];
    for (name, words) in peers {
        // ripgrep has no filter by size.
        if let Some(program) = bench.peers.get(name).filter(|_| name != "rg" || scenario.larger.is_none()) {
            cases.push(case(name, [with(program), words(scenario, top)].concat()));
        }
    }
    if scenario.extensions.is_empty() && scenario.glob.is_none() && scenario.larger.is_none() {
        let jobs = threads.map_or_else(|| bench.jobs.to_string(), str::to_owned);
        let mut words = words![&bench.programs.helper, "bench", "floor", top, &jobs];
        words.extend(scenario.is_count.then(|| "--count".into()));
        cases.push(Case::new("getdents64 loop", Format::Lines, Pipeline::new(words)));
    }
    if scenario.is_forked { cases.into_iter().map(Case::forked).collect() } else { cases }
}

/// Counts the lines of output of a tool that cannot count.
fn counted(bench: &Context, pipeline: Pipeline) -> Pipeline {
    pipeline.pipe(words![bench.peers.get("wc").unwrap_or(Path::new("wc")), "-l"])
}

fn ftk(scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words!["find", "--type", "f"];
    for extension in &scenario.extensions {
        words.extend(words!["--extension", extension]);
    }
    if let Some(glob) = scenario.glob {
        words.extend(words!["--name", glob]);
    }
    if let Some(bytes) = scenario.larger {
        words.extend(words!["--size", &format!("+{bytes}")]);
    }
    words.extend(scenario.is_count.then(|| "--count".into()));
    words.push(top.into());
    words
}

/// Returns the arguments of GNU find and bfs.
fn find(scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words![top, "-type", "f"];
    for (nth, extension) in scenario.extensions.iter().enumerate() {
        words.extend(words![if nth == 0 { "(" } else { "-o" }, "-iname", &format!("*.{extension}")]);
    }
    words.extend((!scenario.extensions.is_empty()).then(|| ")".into()));
    if let Some(glob) = scenario.glob {
        words.extend(words!["-name", glob]);
    }
    if let Some(bytes) = scenario.larger {
        words.extend(words!["-size", &format!("+{bytes}c")]);
    }
    words
}

fn fd(scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words!["--no-ignore", "--hidden", "--case-sensitive", "--type", "f"];
    for extension in &scenario.extensions {
        words.extend(words!["--extension", extension]);
    }
    if let Some(bytes) = scenario.larger {
        words.extend(words!["--size", &format!("+{}b", bytes + 1)]); // in fd + means "at least"
    }
    match scenario.glob {
        Some(glob) => words.extend(words!["--glob", glob]),
        None => words.push(".".into()),
    }
    words.push(top.into());
    words
}

fn rg(scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words!["--no-config", "--files", "--no-ignore", "--hidden"];
    for extension in &scenario.extensions {
        words.extend(words!["--iglob", &format!("*.{extension}")]);
    }
    if let Some(glob) = scenario.glob {
        words.extend(words!["--glob", glob]);
    }
    words.push(top.into());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tree::tests::example;

    fn text(words: fn(&Scenario, &Path) -> Vec<OsString>, scenario: &Scenario) -> String {
        let words = words(scenario, Path::new("t"));
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn extensions_are_alternatives() {
        let several = Scenario { extensions: vec!["c".into(), "h".into()], ..Scenario::plain("x") };
        assert_eq!(text(find, &several), "t -type f ( -iname *.c -o -iname *.h )");
        assert_eq!(text(ftk, &several), "find --type f --extension c --extension h t");
        assert!(text(fd, &several).ends_with("--extension c --extension h . t"));
        assert!(text(rg, &several).ends_with("--iglob *.c --iglob *.h t"));
    }

    #[test]
    fn globs_counts_and_sizes() {
        let glob = Scenario { glob: Some("*a"), ..Scenario::plain("x") };
        assert_eq!(text(find, &glob), "t -type f -name *a");
        assert!(text(fd, &glob).ends_with("--type f --glob *a t"));
        let count = Scenario { is_count: true, ..Scenario::plain("x") };
        assert_eq!(text(ftk, &count), "find --type f --count t");
        let larger = Scenario { larger: Some(4096), ..Scenario::plain("x") };
        assert_eq!(text(ftk, &larger), "find --type f --size +4096 t");
        assert_eq!(text(find, &larger), "t -type f -size +4096c");
        assert!(text(fd, &larger).ends_with("--size +4097b . t"));
    }

    #[test]
    fn a_tree_of_one_extension_has_fewer_scenarios() {
        let titles = |tree: &Tree| scenarios(tree).into_iter().map(|s| s.title).collect::<Vec<_>>();
        let mut tree = example();
        assert_eq!(
            titles(&tree),
            [
                "all files",
                "`.jpg`",
                "`.jpg` `.txt` `.py`",
                "named `*e*1*`",
                "count only",
                "all files, started by a shell",
                "over 50 bytes"
            ]
        );
        tree.extensions.truncate(1);
        let by_a_shell = "all files, started by a shell";
        assert_eq!(titles(&tree), ["all files", "named `*e*1*`", "count only", by_a_shell, "over 50 bytes"]);
    }
}
