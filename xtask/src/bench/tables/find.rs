//! Listing a tree: every tool with the options that make it see every file, hidden and ignored ones too.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::{Context, Tree};
use crate::bench::record::Section;
use crate::bench::shape;

/// What is looked for: regular files, and of these the ones that pass the tests that are set.
struct Scenario {
    title: String,
    /// One of these extensions, in either case.
    extensions: Vec<String>,
    /// A name that matches this.
    glob: Option<&'static str>,
    /// Only how many there are.
    is_count: bool,
}

/// Matches a part of the names in every tree.
const GLOB: &str = "*e*1*";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    if let Some(tree) = &bench.tree {
        sections.push(section(bench, tree)?);
    }
    let shapes: &[_] = if bench.options.is_quick {
        &[shape::SMALL, shape::DEEP]
    } else {
        &[shape::SMALL, shape::MEDIUM, shape::LARGE, shape::DEEP, shape::WIDE]
    };
    for shape in shapes {
        sections.push(section(bench, &bench.shape(shape)?)?);
    }
    Ok(sections)
}

fn section(bench: &Context, tree: &Tree) -> Result<Section> {
    println!(" {}", tree.title);
    let scenarios = scenarios(tree);
    let groups = scenarios
        .iter()
        .map(|scenario| bench.clock().group(&scenario.title, tree.files, cases(bench, scenario, &tree.path)));
    Ok(Section {
        title: tree.title.clone(),
        file_system: tree.file_system.clone(),
        cache: "warm".into(),
        groups: groups.collect::<Result<_>>()?,
    })
}

fn scenarios(tree: &Tree) -> Vec<Scenario> {
    let plain =
        |title: &str| Scenario { title: title.into(), extensions: vec![], glob: None, is_count: false };
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
    scenarios
}

/// GNU find comes first of the peers, as its answer is the reference.
fn cases(bench: &Context, scenario: &Scenario, top: &Path) -> Vec<Case> {
    let case = |name: &str, words| {
        let pipeline = Pipeline::new(words);
        Case::new(name, Format::Lines, if scenario.is_count { counted(pipeline) } else { pipeline })
    };
    let ftk = Pipeline::new(ftk(&bench.programs.ftk, scenario, top));
    let mut cases = vec![Case::new("ftk", Format::Lines, ftk)];
    type Asked = fn(&Path, &Scenario, &Path) -> Vec<OsString>;
    for (name, words) in [("find", find as Asked), ("bfs", find), ("fd", fd), ("rg", rg)] {
        if let Some(program) = bench.peers.get(name) {
            cases.push(case(name, words(program, scenario, top)));
        }
    }
    if scenario.extensions.is_empty() && scenario.glob.is_none() {
        let mut words = words![&bench.programs.helper, "bench", "floor", top, &bench.jobs.to_string()];
        words.extend(scenario.is_count.then(|| "--count".into()));
        cases.push(Case::new("getdents64 loop", Format::Lines, Pipeline::new(words)));
    }
    cases
}

/// Counts the lines for a tool that cannot count.
fn counted(pipeline: Pipeline) -> Pipeline {
    pipeline.pipe(words!["wc", "-l"])
}

fn ftk(program: &Path, scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words![program, "find", "--type", "f"];
    for extension in &scenario.extensions {
        words.extend(words!["--extension", extension]);
    }
    if let Some(glob) = scenario.glob {
        words.extend(words!["--name", glob]);
    }
    words.extend(scenario.is_count.then(|| "--count".into()));
    words.push(top.into());
    words
}

/// The common language of GNU find and bfs.
fn find(program: &Path, scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words![program, top, "-type", "f"];
    for (nth, extension) in scenario.extensions.iter().enumerate() {
        words.extend(words![if nth == 0 { "(" } else { "-o" }, "-iname", &format!("*.{extension}")]);
    }
    words.extend((!scenario.extensions.is_empty()).then(|| ")".into()));
    if let Some(glob) = scenario.glob {
        words.extend(words!["-name", glob]);
    }
    words
}

fn fd(program: &Path, scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words![program, "--no-ignore", "--hidden", "--case-sensitive", "--type", "f"];
    for extension in &scenario.extensions {
        words.extend(words!["--extension", extension]);
    }
    match scenario.glob {
        Some(glob) => words.extend(words!["--glob", glob]),
        None => words.push(".".into()),
    }
    words.push(top.into());
    words
}

fn rg(program: &Path, scenario: &Scenario, top: &Path) -> Vec<OsString> {
    let mut words = words![program, "--no-config", "--files", "--no-ignore", "--hidden"];
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

    fn scenario(extensions: &[&str], glob: Option<&'static str>, is_count: bool) -> Scenario {
        let extensions = extensions.iter().map(|name| (*name).to_owned()).collect();
        Scenario { title: "x".into(), extensions, glob, is_count }
    }

    fn text(words: &[OsString]) -> String {
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn extensions_are_alternatives() {
        let (program, top) = (Path::new("x"), Path::new("t"));
        let several = scenario(&["c", "h"], None, false);
        assert_eq!(text(&find(program, &several, top)), "x t -type f ( -iname *.c -o -iname *.h )");
        assert_eq!(text(&ftk(program, &several, top)), "x find --type f --extension c --extension h t");
        assert!(text(&fd(program, &several, top)).ends_with("--extension c --extension h . t"));
        assert!(text(&rg(program, &several, top)).ends_with("--iglob *.c --iglob *.h t"));
    }

    #[test]
    fn globs_and_counts() {
        let (program, top) = (Path::new("x"), Path::new("t"));
        let glob = scenario(&[], Some("*a"), false);
        assert_eq!(text(&find(program, &glob, top)), "x t -type f -name *a");
        assert!(text(&fd(program, &glob, top)).ends_with("--type f --glob *a t"));
        assert_eq!(text(&ftk(program, &scenario(&[], None, true), top)), "x find --type f --count t");
    }

    #[test]
    fn a_tree_of_one_extension_has_fewer_scenarios() {
        let mut tree = Tree {
            title: "x".into(),
            path: "t".into(),
            files: 1,
            file_system: "ext4".into(),
            extensions: vec!["c".into(), "h".into(), "rs".into()],
        };
        let titles = |tree: &Tree| scenarios(tree).into_iter().map(|s| s.title).collect::<Vec<_>>();
        assert_eq!(titles(&tree), ["all files", "`.c`", "`.c` `.h` `.rs`", "named `*e*1*`", "count only"]);
        tree.extensions.truncate(1);
        assert_eq!(titles(&tree), ["all files", "named `*e*1*`", "count only"]);
    }
}
