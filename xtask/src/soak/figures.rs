//! What a long run counts, and what it finds.

use serde::{Deserialize, Serialize};

use crate::bench::roles::Roles;

/// After so many findings the rest is only counted: one defect often shows in every run.
const SHOWN: usize = 20;

/// What is known of one part; kept in the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) counts: Vec<Count>,
    /// Digests that all runs had in common.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) digests: Vec<Digest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) peaks: Vec<Peak>,
    /// What was not tried, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<String>,
    /// How much was not as it must be.
    pub(super) deviations: u64,
    /// The first of it, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<String>,
}

/// How often something happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Count {
    pub(super) what: String,
    pub(super) n: u64,
}

/// The SHA-256 of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Digest {
    pub(super) of: String,
    pub(super) sha256: String,
}

/// The largest resident set of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Peak {
    pub(super) tree: String,
    pub(super) files: u64,
    pub(super) command: String,
    pub(super) memory_kib: u64,
    pub(super) seconds: f64,
}

impl Figures {
    /// Adds to a count, which is there from then on even if it stays 0.
    pub(super) fn count(&mut self, what: &str, n: u64) {
        match self.counts.iter_mut().find(|count| count.what == what) {
            Some(count) => count.n += n,
            None => self.counts.push(Count { what: what.to_owned(), n }),
        }
    }

    /// Something is not as it must be.
    pub(super) fn deviation(&mut self, what: String) {
        println!("  DEVIATION: {what}");
        self.deviations += 1;
        if self.findings.len() < SHOWN {
            self.findings.push(what);
        }
    }

    /// Shows paths of this machine by the part they play.
    pub(super) fn hide(&mut self, roles: &Roles) {
        for text in self.findings.iter_mut().chain(&mut self.skipped) {
            *text = roles.hide(text);
        }
    }

    /// Something is not tried.
    pub(super) fn skip(&mut self, what: String) {
        println!("  skipped: {what}");
        self.skipped.push(what);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn counts_add_up_in_the_order_in_which_they_came() {
        let mut figures = Figures::default();
        for (what, n) in [("runs", 0), ("swaps", 7), ("runs", 1), ("runs", 1)] {
            figures.count(what, n);
        }
        let counts: Vec<_> = figures.counts.iter().map(|count| (&*count.what, count.n)).collect();
        assert_eq!(counts, [("runs", 2), ("swaps", 7)]);
    }

    #[test]
    fn paths_of_the_machine_are_hidden() {
        let mut roles = Roles::default();
        roles.add(Path::new("/m/x/"), "$SCRATCH/");
        let mut figures = Figures::default();
        figures.deviation("/m/x/a was changed".into());
        figures.skip("no /m/x/b".into());
        figures.hide(&roles);
        assert_eq!(
            (&*figures.findings[0], &*figures.skipped[0]),
            ("$SCRATCH/a was changed", "no $SCRATCH/b")
        );
    }

    #[test]
    fn all_deviations_are_counted_and_the_first_are_told() {
        let mut figures = Figures::default();
        (0..=SHOWN).for_each(|nth| figures.deviation(nth.to_string()));
        assert_eq!((figures.deviations, figures.findings.len()), (SHOWN as u64 + 1, SHOWN));
    }
}
