//! The tree of tests.

use ftk_walk::{Entry, Fields, WalkError};

use super::check::Test;
use super::{Needs, Seen, Verdict};

/// A tree of tests. The parts of `All` and `Any` are sorted by their cost.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    All(Box<[Node]>),
    Any(Box<[Node]>),
    Not(Box<Node>),
    Test(Test),
}

impl Node {
    /// Returns whether an entry matches. `reads` are fields that will be needed anyway if it does.
    ///
    /// # Errors
    /// If the metadata that decides cannot be read.
    pub(crate) fn matches(
        &self,
        seen: &Seen<'_>,
        entry: &mut Entry<'_>,
        reads: Fields,
    ) -> Result<bool, WalkError> {
        match self.decide(seen) {
            Verdict::Yes => Ok(true),
            Verdict::No => Ok(false),
            Verdict::Needs(needs) => self.matches_with_calls(seen, needs, entry, reads),
        }
    }

    /// Calls `visit` with the number of each alternative that matches, if this is a single test on names or paths.
    pub(crate) fn each_match(&self, seen: &Seen<'_>, visit: &mut dyn FnMut(usize)) {
        if let Self::Test(test) = self {
            test.each_match(seen, visit);
        }
    }

    fn matches_with_calls(
        &self,
        seen: &Seen<'_>,
        needs: Needs,
        entry: &mut Entry<'_>,
        reads: Fields,
    ) -> Result<bool, WalkError> {
        if needs.fields.is_empty() {
            return self.settle(seen, entry);
        }
        let metadata = *entry.metadata_with(needs.fields | reads)?;
        self.settle(&seen.with(&metadata), entry)
    }

    /// Decides without a system call, if that is possible.
    pub(crate) fn decide(&self, seen: &Seen<'_>) -> Verdict {
        match self {
            Self::Test(test) => test.decide(seen),
            Self::All(parts) => decide_each(parts, Verdict::No, seen),
            Self::Any(parts) => decide_each(parts, Verdict::Yes, seen),
            Self::Not(part) => match part.decide(seen) {
                Verdict::Yes => Verdict::No,
                Verdict::No => Verdict::Yes,
                needs => needs,
            },
        }
    }

    /// Decides with the system calls that are left to be made.
    fn settle(&self, seen: &Seen<'_>, entry: &Entry<'_>) -> Result<bool, WalkError> {
        // Parts that need no call may decide, wherever they are.
        match self.decide(seen) {
            Verdict::Yes => return Ok(true),
            Verdict::No => return Ok(false),
            Verdict::Needs(_) => {}
        }
        match self {
            Self::Test(test) => test.call(seen, entry),
            Self::Not(part) => part.settle(seen, entry).map(|matches| !matches),
            Self::All(parts) => {
                for part in parts {
                    if !part.settle(seen, entry)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(parts) => {
                for part in parts {
                    if part.settle(seen, entry)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// Combines the verdicts of several parts, each of which decides alone if it gives `decisive`.
fn decide_each(parts: &[Node], decisive: Verdict, seen: &Seen<'_>) -> Verdict {
    let mut needs = None;
    for part in parts {
        match part.decide(seen) {
            Verdict::Needs(more) => *needs.get_or_insert(more) |= more,
            verdict if verdict == decisive => return decisive,
            _ => {}
        }
    }
    match (needs, decisive) {
        (Some(needs), _) => Verdict::Needs(needs),
        (None, Verdict::No) => Verdict::Yes,
        (None, _) => Verdict::No,
    }
}
