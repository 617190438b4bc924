//! A tree in which a failure can happen, the commands of the tools, and what must be true afterwards.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::check::Check;
use super::judges::Judge;
use super::place::Place;
use super::seen::Seen;
use super::verdict::Verdict;

/// One row of a table.
pub(crate) struct Scenario {
    /// The number of its entry. Several scenarios may share an entry.
    pub(crate) number: u8,
    /// How the scenario differs from others of the entry, short enough for a table.
    pub(crate) title: String,
    /// A shell script that makes the tree; it runs in an empty directory.
    pub(crate) setup: String,
    /// Tools, each with the commands that a user would type, one a line. A tool that is not listed has no such
    /// function.
    pub(crate) tools: Vec<(String, String)>,
    /// What must be true, checked in order.
    checks: Vec<Check>,
    /// Judges what the checks cannot express, after them.
    judge: Option<Judge>,
}

/// The scenarios for tools of one kind, which form a table.
pub(crate) struct Family {
    pub(crate) title: String,
    /// Peers, in the order of the columns; ftk comes before them.
    pub(crate) peers: Vec<String>,
    /// A command that root runs in each tree before the commands of the tool. If it fails, the scenario is not run.
    pub(crate) mount: Option<String>,
    pub(crate) scenarios: Vec<Scenario>,
}

/// Reads the file of scenarios of this name.
macro_rules! family {
    ($name:literal) => {
        Family::parse(include_str!(concat!("../../horrors/", $name, ".toml"))).expect($name)
    };
}

/// All tables, in the order of the page. A static, because reports identify scenarios by their address. A test reads
/// the files, so they are correct.
pub(crate) static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    vec![
        family!("duplicates"),
        family!("views"),
        family!("sums"),
        family!("manifests"),
        family!("compare"),
        family!("find"),
    ]
});

/// A file of scenarios. `xtask/horrors/README.md` describes the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    peers: Vec<String>,
    mount: Option<String>,
    #[serde(default)]
    words: BTreeMap<String, String>,
    commands: BTreeMap<String, BTreeMap<String, String>>,
    scenario: Vec<Row>,
}

/// A scenario as it is written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    number: u8,
    title: String,
    setup: String,
    commands: Option<String>,
    #[serde(default = "unchanged")]
    around: String,
    #[serde(default)]
    with: BTreeMap<String, String>,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    tools: BTreeMap<String, String>,
    #[serde(default)]
    checks: Vec<Check>,
    judge: Option<Judge>,
}

/// The place of a tool's commands in `around`.
const RUN: &str = "{run}";

fn unchanged() -> String {
    RUN.to_owned()
}

impl Family {
    /// Reads the text of a file of scenarios.
    ///
    /// # Errors
    /// If a field, a check or a judge is unknown, or a scenario names commands or tools that the file lacks.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let File { title, peers, mount, words, mut commands, scenario } = toml::from_str(text)?;
        let known: Vec<&str> = ["ftk"].into_iter().chain(peers.iter().map(String::as_str)).collect();
        commands.insert(String::new(), BTreeMap::new());
        let scenarios = scenario.into_iter().map(|row| {
            let title = row.title.clone();
            row.complete(&known, &words, &commands).with_context(|| title)
        });
        let scenarios = scenarios.collect::<Result<_>>()?;
        Ok(Self { title, peers, mount, scenarios })
    }

    /// Runs one tool in a scenario. Returns `None` if the required file system cannot be mounted here.
    ///
    /// # Errors
    /// If the setup fails, or for the reasons of [`Scenario::run`].
    pub(crate) fn run(
        &self,
        scenario: &Scenario,
        place: &Place,
        lines: &str,
    ) -> Result<Option<(Verdict, Seen)>> {
        place.set_up(&scenario.setup)?;
        match &self.mount {
            Some(mount) if !place.mount(mount)? => Ok(None),
            _ => scenario.run(place, lines).map(Some),
        }
    }
}

impl Row {
    /// Replaces the words, and gives every tool its commands, in the order of `known`.
    fn complete(
        self,
        known: &[&str],
        words: &BTreeMap<String, String>,
        commands: &BTreeMap<String, BTreeMap<String, String>>,
    ) -> Result<Scenario> {
        let shared = commands.get(self.commands.as_deref().unwrap_or_default());
        let shared = shared.with_context(|| format!("no commands {:?}", self.commands))?;
        let strangers = self.tools.keys().chain(shared.keys()).chain(&self.without);
        let strangers: Vec<_> = strangers.filter(|name| !known.contains(&name.as_str())).collect();
        ensure!(strangers.is_empty(), "unknown tools {strangers:?}");
        let mut words = words.clone();
        words.extend(self.with);
        let fill = |text: &str| filled(text, &words);
        let mut tools = Vec::new();
        for name in known.iter().filter(|name| !self.without.iter().any(|other| other == *name)) {
            let own = self.tools.get(*name).cloned();
            let lines = own.or_else(|| Some(self.around.replace(RUN, shared.get(*name)?)));
            tools.extend(lines.map(|lines| ((*name).to_owned(), fill(&lines))));
        }
        let setup = fill(&self.setup);
        self.checks.iter().try_for_each(Check::validate)?;
        let Self { number, title, checks, judge, .. } = self;
        Ok(Scenario { number, title, setup, tools, checks, judge })
    }
}

/// Replaces `{name}` by the word of this name, which may contain other words. Braces around anything else belong to the
/// shell.
fn filled(text: &str, words: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    loop {
        let old = text.clone();
        for (name, word) in words {
            text = text.replace(&format!("{{{name}}}"), word);
        }
        if text == old {
            return text;
        }
    }
}

impl Scenario {
    /// Returns the commands for this tool, if the scenario applies to it.
    pub(crate) fn lines(&self, tool: &str) -> Option<&str> {
        self.tools.iter().find(|(name, _)| *name == tool).map(|(_, lines)| &**lines)
    }

    /// Runs one tool in a tree that is already set up.
    ///
    /// # Errors
    /// If a program that the commands need is missing.
    fn run(&self, place: &Place, lines: &str) -> Result<(Verdict, Seen)> {
        let seen = place.run(lines)?;
        let verdict = seen.hang_or_crash().unwrap_or_else(|| self.judge(&seen));
        Ok((verdict, seen))
    }

    /// Judges the result without knowing which tool ran. Hangs and crashes need no judge.
    fn judge(&self, seen: &Seen) -> Verdict {
        let verdict = self.checks.iter().find_map(|check| check.verdict(seen));
        verdict.or_else(|| self.judge.map(|judge| (judge.0)(seen))).unwrap_or(Verdict::Passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
title = "Listing"
peers = ["find", "fd"]
[words]
top = "d"
place = "{top}/e"
[commands.list]
ftk = "ftk {place}"
find = "find {place}"
[[scenario]]
number = 1
title = "x"
setup = "mkdir {top}; echo ${top}"
commands = "list"
around = "time {run}"
with = { top = "f" }
tools = { fd = "fd {place}" }
"#;

    fn error(from: &str, to: &str) -> String {
        assert!(FILE.contains(from));
        format!("{:#}", Family::parse(&FILE.replace(from, to)).err().unwrap())
    }

    #[test]
    fn words_and_shared_commands_are_filled_in() {
        let family = Family::parse(FILE).unwrap();
        let scenario = &family.scenarios[0];
        let tools: Vec<_> = scenario.tools.iter().map(|(tool, lines)| (&**tool, &**lines)).collect();
        assert_eq!(tools, [("ftk", "time ftk f/e"), ("find", "time find f/e"), ("fd", "fd f/e")]);
        assert_eq!(scenario.setup, "mkdir f; echo $f");
        let less = FILE.replace("with =", "without = [\"find\"]\nwith =");
        assert_eq!(Family::parse(&less).unwrap().scenarios[0].lines("find"), None);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("fd =", "rg =").contains("x: unknown tools [\"rg\"]"));
        assert!(error("\"list\"", "\"lists\"").contains("no commands"));
        assert!(error("around", "arround").contains("unknown field"));
        assert!(error("number", "judge = \"none\"\nnumber").contains("unknown judge"));
        assert!(error("number", "checks = [{ succeeds = true }]\nnumber").contains("no outcome"));
    }
}
