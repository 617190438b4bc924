//! The counts and findings of a long test.

use serde::{Deserialize, Serialize};

use crate::bench::roles::Roles;

/// Further findings are only counted, because one defect often shows in every run.
const SHOWN: usize = 20;

/// The results of one part, as kept in the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) counts: Vec<Count>,
    /// The expected digests, which all runs must print.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) digests: Vec<Digest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) peaks: Vec<Peak>,
    /// Skipped cases, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<String>,
    /// Number of deviations.
    pub(super) deviations: u64,
    /// Descriptions of the first deviations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<String>,
}

/// The number of times that something happened.
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
    /// Adds to a count. Creates the count even if `n` is 0.
    pub(super) fn count(&mut self, what: &str, n: u64) {
        match self.counts.iter_mut().find(|count| count.what == what) {
            Some(count) => count.n += n,
            None => self.counts.push(Count { what: what.to_owned(), n }),
        }
    }

    /// Records a deviation.
    pub(super) fn deviation(&mut self, what: String) {
        println!("  DEVIATION: {what}");
        self.deviations += 1;
        if self.findings.len() < SHOWN {
            self.findings.push(what);
        }
    }

    /// Replaces paths of this machine by symbolic names.
    pub(super) fn hide(&mut self, roles: &Roles) {
        for text in self.findings.iter_mut().chain(&mut self.skipped) {
            *text = roles.hide(text);
        }
    }

    /// Records a skipped case.
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
    fn counts_add_up_in_order_of_first_use() {
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
    fn all_deviations_are_counted_and_the_first_are_kept() {
        let mut figures = Figures::default();
        (0..=SHOWN).for_each(|nth| figures.deviation(nth.to_string()));
        assert_eq!((figures.deviations, figures.findings.len()), (SHOWN as u64 + 1, SHOWN));
    }
}
