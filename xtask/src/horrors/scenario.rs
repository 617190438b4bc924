//! A failure made ready to happen, and what tools are asked to do with it.

use super::place::Place;
use super::seen::Seen;
use super::verdict::Verdict;

/// One line of a table.
pub(crate) struct Scenario {
    /// That of its entry. Several scenarios may have the same.
    pub(crate) number: u8,
    /// What is special here, short enough for a table.
    pub(crate) title: &'static str,
    /// Makes the tree; a shell script that runs in an empty directory.
    pub(crate) setup: &'static str,
    /// Tools, and for each the lines that a user would type one after the other. A tool that is not among them has
    /// nothing of the kind.
    pub(crate) tools: &'static [(&'static str, &'static str)],
    /// Looks at what is there afterwards. It is not told whose work it is, and is not asked if a line hangs or
    /// crashes.
    pub(crate) judge: fn(&Seen) -> Verdict,
}

/// Scenarios for tools of one kind: a table.
pub(crate) struct Family {
    pub(crate) title: &'static str,
    /// Peers, in the order of the columns; ftk comes before them.
    pub(crate) peers: &'static [&'static str],
    /// A command that root runs in each tree before the lines. Where it fails, no scenario is run.
    pub(crate) mount: Option<&'static str>,
    pub(crate) scenarios: &'static [Scenario],
}

impl Family {
    /// Lets one tool meet a scenario. `None` if the mount that it needs is impossible here.
    ///
    /// # Errors
    /// As those of [`Scenario::meet`].
    pub(crate) fn meet(
        &self,
        scenario: &Scenario,
        place: &Place,
        lines: &str,
    ) -> anyhow::Result<Option<(Verdict, Seen)>> {
        place.set_up(scenario.setup)?;
        match self.mount {
            Some(mount) if !place.mount(mount)? => Ok(None),
            _ => scenario.meet(place, lines).map(Some),
        }
    }
}

impl Scenario {
    /// The lines for this tool, if it has to do with it.
    pub(crate) fn lines(&self, tool: &str) -> Option<&'static str> {
        self.tools.iter().find(|(name, _)| *name == tool).map(|(_, lines)| *lines)
    }

    /// Lets one tool meet it, in a tree that is made.
    ///
    /// # Errors
    /// If a program that the lines need is missing.
    fn meet(&self, place: &Place, lines: &str) -> anyhow::Result<(Verdict, Seen)> {
        let seen = place.run(lines)?;
        let verdict = seen.misfortune().unwrap_or_else(|| (self.judge)(&seen));
        Ok((verdict, seen))
    }
}
