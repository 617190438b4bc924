//! The page with the results.

use std::fmt::Write;
use std::ptr;

use horrors::{ENTRIES, Entry, FAMILIES, Family, Scenario, Verdict};

use crate::bench::machine::Machine;

/// The results of a run.
pub(crate) struct Report {
    machine: Machine,
    results: Vec<(&'static Scenario, &'static str, Verdict)>,
}

impl Report {
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, results: Vec::new() }
    }

    pub(crate) fn add(&mut self, scenario: &'static Scenario, tool: &'static str, verdict: Verdict) {
        self.results.push((scenario, tool, verdict));
    }

    /// All results of one tool.
    pub(crate) fn of(&self, tool: &str) -> impl Iterator<Item = (&'static Scenario, &Verdict)> {
        self.results
            .iter()
            .filter(move |(_, name, _)| *name == tool)
            .map(|(scenario, _, verdict)| (*scenario, verdict))
    }

    fn get(&self, scenario: &Scenario, tool: &str) -> Option<&Verdict> {
        self.of(tool).find(|(of, _)| ptr::eq(*of, scenario)).map(|(_, verdict)| verdict)
    }

    /// Whether the tool was run.
    fn has(&self, tool: &str) -> bool {
        self.of(tool).next().is_some()
    }
}

/// Returns the text between the markers of the page.
pub(crate) fn page(report: &Report) -> String {
    [versions(report), tables(report), not_run(), details(report)]
        .map(|part| part.trim_end().to_owned())
        .join("\n\n")
}

/// Returns the date, the machine and the versions of the tools.
fn versions(report: &Report) -> String {
    let Machine { date, kernel, ftk, tools, .. } = &report.machine;
    let mut text = format!("Run on {date}, {kernel}.\n\n- ftk: {ftk}\n");
    for tool in tools.iter().filter(|tool| report.has(&tool.name)) {
        let _ = writeln!(text, "- {}: {}", tool.name, tool.version.as_deref().unwrap_or("unknown"));
    }
    text
}

/// Returns a table for each kind of tool, with a row for each scenario and a column for each tool.
pub(crate) fn tables(report: &Report) -> String {
    let mut text = String::new();
    for family in &*FAMILIES {
        let Family { title, peers, scenarios, .. } = family;
        let ran = |scenario: &&Scenario| {
            report.get(scenario, "ftk").is_some()
                || peers.iter().any(|peer| report.get(scenario, peer).is_some())
        };
        let scenarios: Vec<_> = scenarios.iter().filter(ran).collect();
        if scenarios.is_empty() {
            continue;
        }
        let tools = ["ftk"].into_iter().chain(peers.iter().map(String::as_str));
        let tools: Vec<_> = tools.filter(|tool| report.has(tool)).collect();
        let (heads, line) = (tools.join(" | "), "---|".repeat(tools.len()));
        let _ = writeln!(text, "## {title}\n\n| | failure: scenario | {heads} |\n|---:|---|{line}");
        for scenario in scenarios {
            let words: Vec<_> = tools
                .iter()
                .map(|tool| match (report.get(scenario, tool), scenario.lines(tool)) {
                    (Some(verdict), _) => verdict.words().0,
                    (None, Some(_)) => "not run",
                    (None, None) => "n/a",
                })
                .collect();
            let _ = writeln!(text, "| {} | {} | {} |", scenario.number, about(scenario), words.join(" | "));
        }
        text.push('\n');
    }
    text
}

/// Returns the titles of the entry and of the scenario.
fn about(scenario: &Scenario) -> String {
    let entry = ENTRIES.iter().find(|entry| entry.number == scenario.number);
    format!("{}: {}", entry.map_or("unknown", |entry| &entry.title), scenario.title)
}

/// Lists the entries without a scenario, and the untested cases.
fn not_run() -> String {
    let mut text = "## Not run here\n\n".to_owned();
    for Entry { number, title, not_run, .. } in &*ENTRIES {
        if let Some(why) = not_run {
            let _ = writeln!(text, "- {number}, {title}: {why}");
        }
    }
    text.push_str("\nTested neither here nor in ftk's own tests:\n\n");
    for Entry { number, title, untested, waits, .. } in &*ENTRIES {
        let cases = untested.iter().map(|part| (&part.what, &part.why));
        for (what, why) in cases.chain(waits.iter().map(|why| (title, why))) {
            let _ = writeln!(text, "- {number}, {what}: {why}");
        }
    }
    text
}

/// Returns the commands and the result of each scenario and tool.
fn details(report: &Report) -> String {
    let mut text = "## How to reproduce the results\n".to_owned();
    for family in &*FAMILIES {
        let _ = writeln!(text, "\n### {}", family.title);
        for scenario in &family.scenarios {
            let _ = writeln!(text, "\n**{}. {}**\n\n```sh", scenario.number, scenario.title);
            let _ = writeln!(text, "{}", scenario.setup);
            if let Some(mount) = &family.mount {
                let _ = writeln!(text, "{mount} # as root");
            }
            for (tool, lines) in &scenario.tools {
                let result = report.get(scenario, tool).map_or("not run".to_owned(), |verdict| {
                    let (word, why) = verdict.words();
                    [word.trim_matches('*'), why].join(": ").trim_end_matches(": ").to_owned()
                });
                let _ = writeln!(text, "# {tool}: {result}\n{lines}");
            }
            text.push_str("```\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::machine;

    fn example() -> Report {
        let mut report = Report::new(machine::tests::example());
        let scenario = &FAMILIES[0].scenarios[0];
        report.add(scenario, "ftk", Verdict::Passes);
        report.add(scenario, "fdupes", Verdict::LosesData("all of it".into()));
        report.add(&FAMILIES[0].scenarios[1], "ftk", Verdict::Passes);
        report.add(&FAMILIES[0].scenarios[1], "yadf", Verdict::Passes);
        report
    }

    #[test]
    fn cells_hold_the_verdicts_of_the_run() {
        let text = tables(&example());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[2], "| | failure: scenario | ftk | fdupes | yadf |");
        assert!(lines[4].starts_with("| 1 | a symbolic link counts as the copy to keep: "), "{text}");
        assert!(lines[4].ends_with(" | passes | **loses data** | n/a |"), "{text}");
        assert!(lines[5].ends_with(" | passes | not run | passes |"), "{text}");
        assert_eq!(lines.len(), 7, "{text}");
    }

    #[test]
    fn details_hold_commands_and_results() {
        let text = details(&example());
        let scenario = &FAMILIES[0].scenarios[0];
        assert!(text.contains(&scenario.setup));
        let lines = scenario.lines("fdupes").unwrap();
        assert!(text.contains(&format!("\n# fdupes: loses data: all of it\n{lines}\n")), "{text}");
        assert!(text.contains("\n# jdupes: not run\n"), "{text}");
    }

    #[test]
    fn untested_entries_are_listed() {
        let text = not_run();
        assert!(text.contains("- 31, a stale or poisoned cache is trusted: "), "{text}");
    }
}
