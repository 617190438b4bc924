//! Listing what an expression is true for, and listing in order. bfs has the arguments of GNU find.

use anyhow::Result;

use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, words};
use crate::bench::commands::{Commands, Lines};
use crate::bench::context::Context;
use crate::bench::record::{Group, Section};
use crate::bench::shape;
use crate::bench::tree::Tree;

/// An expression. `{first}` and `{second}` stand for extensions in the tree, `{size}` for a size that some files exceed.
struct Scenario {
    title: &'static str,
    /// The value of `--where`.
    keeps: &'static str,
    /// The value of `--exclude-where`.
    skips: Option<&'static str>,
    /// Options of ftk that mean the same.
    options: Option<&'static str>,
    /// The same for GNU find.
    find: &'static str,
}

const fn scenario(title: &'static str, keeps: &'static str, find: &'static str) -> Scenario {
    Scenario { title, keeps, skips: None, options: None, find }
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        options: Some("-n *.{first} -n *.{second}"),
        ..scenario(
            "two names",
            r#"name = "*.{first}" or name = "*.{second}""#,
            "-name *.{first} -o -name *.{second}",
        )
    },
    scenario(
        "none of two names",
        r#"type = f and name not in ("*.{first}", "*.{second}")"#,
        "-type f ! -name *.{first} ! -name *.{second}",
    ),
    scenario(
        "size, and a name",
        r#"type = f and size > {size} and name = "*.{first}""#,
        "-type f -size +{size}c -name *.{first}",
    ),
    scenario(
        "size or owner",
        "type = f and (size > {size} or not user = 0)",
        "-type f ( -size +{size}c -o ! -user 0 )",
    ),
    scenario(
        "permissions",
        "type = f and perm = -444 and not perm = /111",
        "-type f -perm -444 ! -perm /111",
    ),
    scenario(
        "time, and no link",
        "mtime >= 2020-01-01T00:00:01Z and not type = l",
        "-newermt 2020-01-01T00:00:00Z ! -type l",
    ),
    scenario(
        "regular expression",
        r#"name ~ "e.*1""#,
        "-regextype posix-extended -regex .*/[^/]*e[^/]*1[^/]*",
    ),
    Scenario {
        skips: Some(r#"type = d and name = "*1*""#),
        ..scenario(
            "directories that are not entered",
            r#"name = "*.{first}""#,
            "-mindepth 1 ( -type d -name *1* -prune -o -name *.{first} -print )",
        )
    },
];

/// Listing in the order of paths. `-s` of bfs sorts each directory.
const SORTED: &Lines<'_> = &[
    ("ftk", "ftk find --sort {tree}"),
    ("bfs", "bfs -s {tree}"),
    ("ftk without sorting", "ftk find {tree}"),
];

/// The largest files; a search that examines the same files without sorting them shows the cost of sorting.
const LARGEST: &Lines<'_> = &[
    ("ftk", "ftk find -t f --sort=size --reverse --max-results 10 {tree}"),
    ("ftk without sorting", "ftk find -t f -S +0 {tree}"),
];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let trees = bench.trees(&[shape::LARGE, shape::MIXED])?;
    trees.iter().map(|tree| section(bench, tree)).collect()
}

fn section(bench: &Context, tree: &Tree) -> Result<Section> {
    println!(" {}", tree.title);
    let clock = bench.clock();
    let commands = Commands::new(bench).with("tree", &tree.path).printing(Format::Lines);
    let mut groups: Vec<Group> = Vec::new();
    for scenario in SCENARIOS {
        groups.push(clock.group(scenario.title, tree.files, cases(scenario, tree, &commands))?);
    }
    groups.push(clock.group("sorted by path", tree.files, commands.cases(SORTED))?);
    groups.push(clock.group("the 10 largest files", tree.files, largest(commands))?);
    Ok(Section::new(tree, Cache::Warm, groups))
}

fn cases(scenario: &Scenario, tree: &Tree, commands: &Commands<'_>) -> Vec<Case> {
    let fill = |text: &str| {
        let extension = |nth: usize| tree.extensions.get(nth).map_or("txt", String::as_str);
        text.replace("{first}", extension(0))
            .replace("{second}", extension(1))
            .replace("{size}", &tree.threshold.to_string())
    };
    let mut lines = vec![("ftk", "ftk find --where {keeps} {tree}".to_owned())];
    let mut commands = commands.clone().with("keeps", fill(scenario.keeps));
    if let Some(skips) = scenario.skips {
        commands = commands.with("skips", fill(skips));
        lines[0].1 += " --exclude-where {skips}";
    }
    lines.extend(
        scenario.options.map(|options| ("ftk with options", format!("ftk find {} {{tree}}", fill(options)))),
    );
    lines.extend(["find", "bfs"].map(|tool| (tool, format!("{tool} {{tree}} {}", fill(scenario.find)))));
    let lines: Vec<_> = lines.iter().map(|(row, line)| (*row, &**line)).collect();
    commands.cases(&lines)
}

/// Returns the cases for the largest files. `tail` reads to the end; `head` would end `sort` with a signal. Which of several
/// files of one size are listed differs between tools.
fn largest(commands: Commands<'_>) -> Vec<Case> {
    let commands = commands.printing(Format::Status);
    let mut cases = commands.cases(LARGEST);
    let listed = commands.cases(&[("find, sort, tail", r"find {tree} -type f -printf %s\t%p\n")]);
    let sorted = |case: Case| case.piped(words!["sort", "-n"]).piped(words!["tail"]);
    cases.extend(listed.into_iter().map(sorted));
    cases
}
