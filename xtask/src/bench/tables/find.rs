//! Listing a tree. Every tool has the options that include hidden and ignored files.

use std::path::Path;

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::commands::{Commands, Lines};
use crate::bench::context::Context;
use crate::bench::record::Section;
use crate::bench::shape;
use crate::bench::tree::Tree;

/// A search for regular files.
pub(super) struct Scenario {
    title: String,
    filter: Filter,
    /// Print only the number of files.
    is_count: bool,
    /// Start every tool from a shell that forks.
    is_forked: bool,
}

/// The files to print.
enum Filter {
    All,
    /// Those with one of these extensions, ignoring case.
    Extensions(Vec<String>),
    /// Those whose name matches this glob.
    Glob(&'static str),
    /// Those with more bytes than this.
    Larger(u64),
}

/// The commands. GNU find is the first of the peers, because its result is the reference. It has one thread; the others
/// support `-j4`.
const COMMANDS: &Lines<'_> = &[
    ("ftk", "ftk {threads} find --type f {filter} {count} {top}"),
    ("find", "find {top} -type f {filter}"),
    ("bfs", "bfs {threads} {top} -type f {filter}"),
    ("fd", "fd {threads} --no-ignore --hidden --case-sensitive --type f {filter} {top}"),
    ("rg", "rg {threads} --no-config --files --no-ignore --hidden {filter} {top}"),
];

/// A glob that matches some of the names in every tree.
const GLOB: &str = "*e*1*";

pub(crate) fn warm(bench: &Context) -> Result<Vec<Section>> {
    let mut sections = Vec::new();
    if let Some(tree) = &bench.tree {
        sections.push(section(bench, tree)?);
    }
    let shapes: &[_] = if bench.options.common.is_quick {
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
    let filtered = |title: &str, filter| Scenario { filter, ..plain(title) };
    let by_extension = |extensions: &[String]| {
        let title: Vec<_> = extensions.iter().map(|name| format!("`.{name}`")).collect();
        filtered(&title.join(" "), Filter::Extensions(extensions.to_vec()))
    };
    let mut scenarios = vec![plain("all files")];
    if let [first, _, ..] = &tree.extensions[..] {
        scenarios.push(by_extension(std::slice::from_ref(first)));
        scenarios.push(by_extension(&tree.extensions));
    }
    scenarios.push(filtered(&format!("named `{GLOB}`"), Filter::Glob(GLOB)));
    scenarios.push(Scenario { is_count: true, ..plain("count only") });
    scenarios.push(Scenario { is_forked: true, ..plain("all files, started by a shell") });
    let larger = format!("over {} bytes", tree.threshold);
    scenarios.push(filtered(&larger, Filter::Larger(tree.threshold)));
    scenarios
}

impl Scenario {
    /// Makes a search for all regular files.
    pub(super) fn plain(title: &str) -> Self {
        Self { title: title.into(), filter: Filter::All, is_count: false, is_forked: false }
    }

    /// Returns the command of a tool; `None` if it has no such filter.
    fn line(&self, tool: &str, line: &str, threads: &str) -> Option<String> {
        let count = if self.is_count { "--count" } else { "" };
        let line = line.replace("{filter}", &self.filter.arguments(tool)?).replace("{count}", count);
        Some(line.replace("{threads}", threads))
    }
}

impl Filter {
    /// Returns the arguments for a tool; `None` if it has no such filter. fd needs a pattern in any case, and bfs has
    /// the arguments of GNU find.
    fn arguments(&self, tool: &str) -> Option<String> {
        let each = |option: &str, names: &[String]| {
            names.iter().map(|name| format!("{option}{name}")).collect::<Vec<_>>().join(" ")
        };
        Some(match (tool, self) {
            ("fd", Self::All) => ".".into(),
            (_, Self::All) => String::new(),
            ("ftk", Self::Extensions(names)) => each("--extension ", names),
            ("fd", Self::Extensions(names)) => each("--extension ", names) + " .",
            ("rg", Self::Extensions(names)) => each("--iglob *.", names),
            (_, Self::Extensions(names)) => format!("( -iname *.{} )", names.join(" -o -iname *.")),
            ("ftk", Self::Glob(glob)) => format!("--name {glob}"),
            ("fd" | "rg", Self::Glob(glob)) => format!("--glob {glob}"),
            (_, Self::Glob(glob)) => format!("-name {glob}"),
            ("ftk", Self::Larger(bytes)) => format!("--size +{bytes}"),
            ("fd", Self::Larger(bytes)) => format!("--size +{}b .", bytes + 1), // here + means "at least"
            ("rg", Self::Larger(_)) => return None,
            (_, Self::Larger(bytes)) => format!("-size +{bytes}c"),
        })
    }
}

/// Returns the commands with this number of threads, or by default the tools' own.
pub(super) fn cases(bench: &Context, scenario: &Scenario, top: &Path, threads: Option<&str>) -> Vec<Case> {
    let option = threads.map(|threads| format!("-j{threads}")).unwrap_or_default();
    let lines = COMMANDS.iter().filter_map(|(tool, line)| Some((*tool, scenario.line(tool, line, &option)?)));
    let lines: Vec<_> = lines.collect();
    let lines: Vec<_> = lines.iter().map(|(tool, line)| (*tool, &**line)).collect();
    let mut cases = Commands::new(bench).with("top", top).printing(Format::Lines).cases(&lines);
    if scenario.is_count {
        let wc = bench.peers.get("wc").unwrap_or(Path::new("wc"));
        let count = |case: Case| if case.is_ftk() { case } else { case.piped(words![wc, "-l"]) };
        cases = cases.into_iter().map(count).collect();
    }
    if let Filter::All = scenario.filter {
        let jobs = threads.map_or_else(|| bench.jobs.to_string(), str::to_owned);
        let mut words = words![&bench.programs.helper, "bench", "floor", top, &jobs];
        words.extend(scenario.is_count.then(|| "--count".into()));
        cases.push(Case::new("getdents64 loop", Format::Lines, Pipeline::new(words)));
    }
    if scenario.is_forked { cases.into_iter().map(Case::forked).collect() } else { cases }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tree::tests::example;

    /// Returns the command of a tool for this filter.
    fn text(tool: &str, filter: Filter) -> String {
        let (_, line) = COMMANDS.iter().find(|(name, _)| *name == tool).unwrap();
        let line = Scenario { filter, ..Scenario::plain("x") }.line(tool, line, "").unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn extensions_are_alternatives() {
        let several = || Filter::Extensions(vec!["c".into(), "h".into()]);
        assert_eq!(text("find", several()), "find {top} -type f ( -iname *.c -o -iname *.h )");
        assert_eq!(text("ftk", several()), "ftk find --type f --extension c --extension h {top}");
        assert!(text("fd", several()).ends_with("--extension c --extension h . {top}"));
        assert!(text("rg", several()).ends_with("--iglob *.c --iglob *.h {top}"));
    }

    #[test]
    fn globs_counts_and_sizes() {
        assert_eq!(text("find", Filter::Glob("*a")), "find {top} -type f -name *a");
        assert!(text("fd", Filter::Glob("*a")).ends_with("--type f --glob *a {top}"));
        let count = Scenario { is_count: true, ..Scenario::plain("x") };
        let line = count.line("ftk", "ftk {threads} find {count} {top}", "-j4");
        assert_eq!(line.unwrap(), "ftk -j4 find --count {top}");
        assert_eq!(text("ftk", Filter::Larger(4096)), "ftk find --type f --size +4096 {top}");
        assert_eq!(text("bfs", Filter::Larger(4096)), "bfs {top} -type f -size +4096c");
        assert!(text("fd", Filter::Larger(4096)).ends_with("--size +4097b . {top}"));
        assert_eq!(Filter::Larger(4096).arguments("rg"), None);
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
