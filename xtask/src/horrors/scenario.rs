//! A tree in which a failure can happen, the commands of the tools, and the judge.

use super::place::Place;
use super::seen::Seen;
use super::verdict::Verdict;

/// One row of a table.
pub(crate) struct Scenario {
    /// The number of its entry. Several scenarios may share an entry.
    pub(crate) number: u8,
    /// How the scenario differs from others of the entry, short enough for a table.
    pub(crate) title: &'static str,
    /// A shell script that makes the tree; it runs in an empty directory.
    pub(crate) setup: &'static str,
    /// Tools, each with the commands that a user would type, one a line. A tool that is not listed has no such
    /// function.
    pub(crate) tools: &'static [(&'static str, &'static str)],
    /// Judges the result without knowing which tool ran. It is not called if a command hangs or crashes.
    pub(crate) judge: fn(&Seen) -> Verdict,
}

/// The scenarios for tools of one kind, which form a table.
pub(crate) struct Family {
    pub(crate) title: &'static str,
    /// Peers, in the order of the columns; ftk comes before them.
    pub(crate) peers: &'static [&'static str],
    /// A command that root runs in each tree before the commands of the tool. If it fails, the scenario is not run.
    pub(crate) mount: Option<&'static str>,
    pub(crate) scenarios: &'static [Scenario],
}

impl Family {
    /// Runs one tool in a scenario. Returns `None` if the required file system cannot be mounted here.
    ///
    /// # Errors
    /// If the setup fails, or for the reasons of [`Scenario::run`].
    pub(crate) fn run(
        &self,
        scenario: &Scenario,
        place: &Place,
        lines: &str,
    ) -> anyhow::Result<Option<(Verdict, Seen)>> {
        place.set_up(scenario.setup)?;
        match self.mount {
            Some(mount) if !place.mount(mount)? => Ok(None),
            _ => scenario.run(place, lines).map(Some),
        }
    }
}

impl Scenario {
    /// Returns the commands for this tool, if the scenario applies to it.
    pub(crate) fn lines(&self, tool: &str) -> Option<&'static str> {
        self.tools.iter().find(|(name, _)| *name == tool).map(|(_, lines)| *lines)
    }

    /// Runs one tool in a tree that is already set up.
    ///
    /// # Errors
    /// If a program that the commands need is missing.
    fn run(&self, place: &Place, lines: &str) -> anyhow::Result<(Verdict, Seen)> {
        let seen = place.run(lines)?;
        let verdict = seen.hang_or_crash().unwrap_or_else(|| (self.judge)(&seen));
        Ok((verdict, seen))
    }
}
