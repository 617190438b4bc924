//! A tree in which a failure can happen, the commands of the tools, and what must be true afterwards.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use toml::{Table, Value};

use super::check::Check;
use super::place::Place;
use super::seen::Seen;
use super::verdict::Verdict;

/// One row of a table.
pub struct Scenario {
    /// The number of its entry. Several scenarios may share an entry.
    pub number: u8,
    /// How the scenario differs from others of the entry, short enough for a table.
    pub title: String,
    /// A shell script that makes the tree; it runs in an empty directory.
    pub setup: String,
    /// Tools, each with the commands that a user would type, one a line. A tool that is not listed has no such
    /// function.
    pub tools: Vec<(String, String)>,
    /// What must be true, checked in order.
    checks: Vec<Check>,
}

/// The scenarios for tools of one kind, which form a table.
pub struct Family {
    /// The name of the file.
    pub name: &'static str,
    /// The heading of the table.
    pub title: String,
    /// Peers, in the order of the columns; ftk comes before them.
    pub peers: Vec<String>,
    /// A command that root runs in each tree before the commands of the tool. If it fails, the scenario is not run.
    pub mount: Option<String>,
    /// In the order of the table.
    pub scenarios: Vec<Scenario>,
}

/// Reads the file of scenarios of this name.
macro_rules! family {
    ($name:literal) => {
        Family::parse($name, include_str!(concat!("../", $name, ".toml"))).expect($name)
    };
}

/// All tables, in the order of the page. A static, because reports identify scenarios by their address. A test reads
/// the files, so they are correct.
pub static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    vec![
        family!("duplicates"),
        family!("views"),
        family!("sums"),
        family!("manifests"),
        family!("compare"),
        family!("find"),
    ]
});

/// A file of scenarios. `README.md` describes the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    peers: Vec<String>,
    mount: Option<String>,
    #[serde(default)]
    words: Words,
    commands: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    judges: BTreeMap<String, Vec<Check>>,
    scenario: Vec<Table>,
}

/// Pieces of text by name.
type Words = BTreeMap<String, Word>;

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    /// A text for each tool that can do this.
    Each(BTreeMap<String, String>),
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
    with: Words,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    tools: BTreeMap<String, String>,
    #[serde(default)]
    checks: Vec<Check>,
    judge: Option<String>,
}

/// The place of a tool's commands in `around`.
const RUN: &str = "{run}";

/// The name of commands that apply to each tool.
const EACH: &str = "each";

fn unchanged() -> String {
    RUN.to_owned()
}

impl Family {
    /// Reads the text of a file of scenarios.
    ///
    /// # Errors
    /// If a field or a check is unknown, or a scenario names commands, tools or judges that the file lacks.
    fn parse(name: &'static str, text: &str) -> Result<Self> {
        let mut file: File = toml::from_str(text)?;
        let mut scenarios = Vec::new();
        for row in std::mem::take(&mut file.scenario).into_iter().flat_map(cases) {
            let row: Row = row.try_into()?;
            let title = row.title.clone();
            scenarios.push(row.complete(&file).with_context(|| title)?);
        }
        // Scenarios of one entry keep the order of the file.
        scenarios.sort_by_key(|scenario: &Scenario| scenario.number);
        let File { title, peers, mount, .. } = file;
        Ok(Self { name, title, peers, mount, scenarios })
    }

    /// Runs one tool in a scenario. Returns `None` if the required file system cannot be mounted here.
    ///
    /// # Errors
    /// If the setup fails, or a program that the commands need is missing.
    pub fn run(&self, scenario: &Scenario, place: &Place, lines: &str) -> Result<Option<(Verdict, Seen)>> {
        place.set_up(&scenario.setup)?;
        if let Some(mount) = &self.mount
            && !place.mount(mount)?
        {
            return Ok(None);
        }
        let seen = place.run(lines)?;
        let verdict = seen.hang_or_crash().or_else(|| scenario.judge(&seen));
        Ok(Some((verdict.unwrap_or(Verdict::Passes), seen)))
    }
}

/// Returns a scenario for each of the cases, which have the fields of the scenario and their own, or else only itself.
fn cases(mut scenario: Table) -> Vec<Table> {
    let Some(Value::Array(cases)) = scenario.remove("cases") else { return vec![scenario] };
    let complete = |case: Value| {
        let mut whole = scenario.clone();
        for (name, value) in case.as_table().into_iter().flatten() {
            match (whole.get_mut(name), value) {
                (Some(Value::Table(old)), Value::Table(new)) => old.extend(new.clone()),
                _ => _ = whole.insert(name.clone(), value.clone()),
            }
        }
        whole
    };
    cases.into_iter().map(complete).collect()
}

impl Row {
    /// Replaces the words, and gives every tool its commands, in the order of the columns.
    fn complete(self, file: &File) -> Result<Scenario> {
        let known: Vec<&str> = ["ftk"].into_iter().chain(file.peers.iter().map(String::as_str)).collect();
        let none = BTreeMap::new();
        let shared = self.commands.as_ref().map_or(Some(&none), |name| file.commands.get(name));
        let shared = shared.with_context(|| format!("no commands {:?}", self.commands))?;
        let mut words = file.words.clone();
        for (name, word) in self.with {
            match (words.get_mut(&name), word) {
                (Some(Word::Each(old)), Word::Each(new)) => old.extend(new),
                (_, word) => _ = words.insert(name, word),
            }
        }
        let strangers = self.tools.keys().chain(shared.keys()).chain(&self.without);
        let strangers: Vec<_> =
            strangers.filter(|name| *name != EACH && !known.contains(&name.as_str())).collect();
        ensure!(strangers.is_empty(), "unknown tools {strangers:?}");

        let mut tools = Vec::new();
        for name in known.iter().filter(|name| !self.without.iter().any(|other| other == *name)) {
            let of =
                |commands: &BTreeMap<String, String>| commands.get(*name).or(commands.get(EACH)).cloned();
            let lines = of(&self.tools).or_else(|| Some(self.around.replace(RUN, &of(shared)?)));
            let lines = lines.and_then(|lines| filled(&lines, &words, name));
            tools.extend(lines.map(|lines| ((*name).to_owned(), lines)));
        }
        let setup = filled(&self.setup, &words, "").context("the setup has a word of a tool")?;
        let judge =
            self.judge.as_ref().map_or(Some(&[][..]), |name| file.judges.get(name).map(Vec::as_slice));
        let judge = judge.with_context(|| format!("no judge {:?}", self.judge))?;
        let checks = [&self.checks, judge].concat();
        checks.iter().try_for_each(Check::validate)?;
        Ok(Scenario { number: self.number, title: self.title, setup, tools, checks })
    }
}

/// Replaces `{name}` by the word of this name, which may contain other words. Braces around anything else belong to the
/// shell. Returns `None` if a word has no text for the tool.
fn filled(text: &str, words: &Words, tool: &str) -> Option<String> {
    let mut text = text.to_owned();
    loop {
        let old = text.clone();
        for (name, word) in words {
            let name = format!("{{{name}}}");
            if text.contains(&name) {
                let word = match word {
                    Word::Text(word) => word,
                    Word::Each(texts) => texts.get(tool)?,
                };
                text = text.replace(&name, word);
            }
        }
        if text == old {
            return Some(text);
        }
    }
}

impl Scenario {
    /// Returns the commands for this tool, if the scenario applies to it.
    pub fn lines(&self, tool: &str) -> Option<&str> {
        self.tools.iter().find(|(name, _)| *name == tool).map(|(_, lines)| &**lines)
    }

    /// Judges the result without knowing which tool ran. Hangs and crashes need no check.
    fn judge(&self, seen: &Seen) -> Option<Verdict> {
        self.checks.iter().find_map(|check| check.verdict(seen))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const FILE: &str = r#"
title = "Listing"
peers = ["find", "fd"]
[words]
top = "d"
place = "{top}/e"
short = { ftk = "-s", find = "-S" }
[commands.list]
ftk = "ftk {place}"
each = "all {short} {place}"
[judges]
fair = [{ succeeds = true, wrong = "" }]
[[scenario]]
number = 1
title = "x"
setup = "mkdir {top}; echo ${top}"
commands = "list"
around = "time {run}"
with = { top = "f" }
tools = { fd = "fd {place}" }
cases = [{ title = "y", with = { place = "g" } }, { title = "z", without = ["fd"] }]
judge = "fair"
"#;

    fn error(from: &str, to: &str) -> String {
        assert!(FILE.contains(from));
        format!("{:#}", Family::parse("x", &FILE.replace(from, to)).err().unwrap())
    }

    #[test]
    fn words_cases_and_shared_commands_are_filled_in() {
        let [y, z] = &Family::parse("x", FILE).unwrap().scenarios[..] else { panic!() };
        let tools =
            |of: &Scenario| format!("{:?}", of.tools.iter().map(|(_, lines)| lines).collect::<Vec<_>>());
        assert_eq!(tools(y), r#"["time ftk g", "time all -S g", "fd g"]"#);
        assert_eq!(tools(z), r#"["time ftk f/e", "time all -S f/e"]"#);
        assert_eq!((&*z.title, &*z.setup, z.checks.len()), ("z", "mkdir f; echo $f", 1));
        assert_eq!((z.lines("fd"), z.lines("ftk")), (None, Some("time ftk f/e")));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("fd =", "rg =").contains("y: unknown tools [\"rg\"]"));
        assert!(error("\"list\"", "\"lists\"").contains("no commands"));
        assert!(error("around", "arround").contains("unknown field"));
        assert!(error("\"fair\"", "\"none\"").contains("no judge"));
        assert!(error("number", "checks = [{ succeeds = true }]\nnumber").contains("no outcome"));
    }

    #[test]
    fn every_entry_has_a_scenario_or_a_reason() {
        let scenarios = || FAMILIES.iter().flat_map(|family| &family.scenarios);
        let mut run: BTreeSet<u8> = scenarios().map(|scenario| scenario.number).collect();
        for entry in &*crate::ENTRIES {
            assert_ne!(run.remove(&entry.number), entry.not_run.is_some(), "{}", entry.number);
        }
        assert!(run.is_empty(), "scenarios without an entry: {run:?}");
        assert!(
            scenarios().all(|it| !it.tools.is_empty() && it.tools.iter().all(|(_, lines)| !lines.is_empty()))
        );
    }
}
