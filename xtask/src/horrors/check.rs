//! What must be true after a command, as the files of scenarios state it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::seen::{Run, Seen, has, shown};
use super::verdict::Verdict;

/// A fact, and the verdict if it is not true. In the messages `{status}` is the exit status of the last command, and
/// `{found}` is what the fact found instead.
#[derive(Deserialize)]
pub(super) struct Check {
    #[serde(flatten)]
    fact: Fact,
    /// The message of [`Verdict::LosesData`].
    lost: Option<String>,
    /// The message of [`Verdict::WrongAnswer`].
    wrong: Option<String>,
    /// The message of [`Verdict::Refuses`], which applies if the status is not 0, and goes before the others.
    refuses: Option<String>,
}

/// Facts about the tree, and about the output and the status of the last command.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fact {
    /// Every file has this content. Found: the names in the directory of the first.
    Holds(BTreeMap<String, String>),
    /// At least one of the files has this content. Found: as for `Holds`.
    HoldsAny(BTreeMap<String, String>),
    /// Every name exists.
    Exists(Vec<String>),
    /// No name exists.
    Absent(Vec<String>),
    Succeeds(bool),
    Status(i32),
    StatusNot(i32),
    /// Standard output or standard error contains all parts.
    Says(Vec<String>),
    SaysNot(String),
    /// Standard output contains the part.
    Prints(String),
    PrintsNot(String),
    /// Standard output has exactly these lines. Found: their number.
    Output(Vec<String>),
    /// Standard output has a number of lines. Found: the number.
    Lines(Lines),
    /// Standard output has this number of digests, all equal.
    SameDigests(usize),
}

/// The number of lines with a property; without one, of all lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    equal: Option<String>,
    /// A quotation mark at the end of the line does not count.
    ending: Option<String>,
    with: Option<String>,
    #[serde(default)]
    least: usize,
    #[serde(default = "unlimited")]
    most: usize,
}

fn unlimited() -> usize {
    usize::MAX
}

impl Check {
    /// # Errors
    /// If the check has no message.
    pub(super) fn validate(&self) -> Result<()> {
        ensure!(
            [&self.lost, &self.wrong, &self.refuses].iter().any(|it| it.is_some()),
            "a check has no outcome"
        );
        Ok(())
    }

    /// Returns the verdict unless the fact is true.
    pub(super) fn verdict(&self, seen: &Seen) -> Option<Verdict> {
        let (holds, found) = self.fact.look(seen);
        if holds {
            return None;
        }
        let status = seen.last().shown_status();
        let fill = |text: &String| text.replace("{status}", &status).replace("{found}", &found);
        let refuses = self.refuses.as_ref().filter(|_| !seen.last().is_success());
        Some(match (refuses, &self.lost) {
            (Some(why), _) => Verdict::Refuses(fill(why)),
            (None, Some(why)) => Verdict::LosesData(fill(why)),
            (None, None) => Verdict::WrongAnswer(self.wrong.as_ref().map(fill).unwrap_or_default()),
        })
    }
}

impl Fact {
    /// Whether the fact is true, and what was found.
    fn look(&self, seen: &Seen) -> (bool, String) {
        let last = seen.last();
        let is_held = |(path, content): (&String, &String)| seen.holds(path, content.as_bytes());
        match self {
            Self::Holds(files) => (files.iter().all(is_held), names(seen, files)),
            Self::HoldsAny(files) => (files.iter().any(is_held), names(seen, files)),
            Self::Exists(paths) => (paths.iter().all(|path| seen.exists(path)), String::new()),
            Self::Absent(paths) => (!paths.iter().any(|path| seen.exists(path)), String::new()),
            Self::Succeeds(expected) => (last.is_success() == *expected, String::new()),
            Self::Status(expected) => (last.status == Some(*expected), String::new()),
            Self::StatusNot(other) => (last.status != Some(*other), String::new()),
            Self::Says(parts) => (parts.iter().all(|part| last.says(part)), String::new()),
            Self::SaysNot(part) => (!last.says(part), String::new()),
            Self::Prints(part) => (last.out_has(part.as_bytes()), String::new()),
            Self::PrintsNot(part) => (!last.out_has(part.as_bytes()), String::new()),
            Self::Output(expected) => {
                let is_equal = last.lines().eq(expected.iter().map(String::as_bytes));
                (is_equal, last.lines().count().to_string())
            }
            Self::Lines(lines) => {
                let found = last.lines().filter(|line| lines.counts(line)).count();
                ((lines.least..=lines.most).contains(&found), found.to_string())
            }
            Self::SameDigests(expected) => {
                let digests: Vec<_> = digests(last).collect();
                let different: BTreeSet<_> = digests.iter().collect();
                (digests.len() == *expected && different.len() == 1, digests.len().to_string())
            }
        }
    }
}

impl Lines {
    fn counts(&self, line: &[u8]) -> bool {
        let is = |text: &Option<String>, holds: &dyn Fn(&[u8]) -> bool| {
            text.as_ref().is_none_or(|text| holds(text.as_bytes()))
        };
        is(&self.equal, &|text| line == text)
            && is(&self.ending, &|text| unquoted(line).ends_with(text))
            && is(&self.with, &|text| has(line, text))
    }
}

/// Returns the names in the directory of the first file.
fn names(seen: &Seen, files: &BTreeMap<String, String>) -> String {
    let first = files.keys().next().and_then(|path| Path::new(path).parent());
    shown(&seen.names(first.unwrap_or(Path::new(""))))
}

/// Removes the quotation mark at the end of a line.
fn unquoted(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"'").or_else(|| line.strip_suffix(b"\"")).unwrap_or(line)
}

/// Returns the first word of each line that looks like a digest.
fn digests(run: &Run) -> impl Iterator<Item = &[u8]> {
    run.lines()
        .filter(|line| !has(line, b"#") && !has(line, b"%"))
        .filter_map(|line| line.split(|byte| !byte.is_ascii_hexdigit()).find(|word| word.len() >= 16))
}

#[cfg(test)]
mod tests {
    use super::super::seen::tests::ended;
    use super::*;

    fn verdict(check: &str, seen: &Seen) -> Option<Verdict> {
        let table: BTreeMap<String, Check> = toml::from_str(&format!("check = {check}")).unwrap();
        table["check"].verdict(seen)
    }

    #[test]
    fn outputs_and_statuses_are_checked() {
        let seen = ended(Some(2), "a\n'd/b'\n0123456789abcdef  x\n0123456789abcdef  y\n", "no room");
        for good in [
            "succeeds = false",
            "status = 2",
            "status-not = 1",
            "says = ['room', 'b']",
            "says-not = 'rooms'",
            "prints = 'd/b'",
            "prints-not = 'room'",
            "lines = { ending = '/b', least = 1, most = 1 }",
            "lines = { equal = 'b', most = 0 }",
            "lines = { with = 'd', least = 3 }",
            "lines = { least = 4, most = 4 }",
            "same-digests = 2",
        ] {
            assert_eq!(verdict(&format!("{{ {good}, wrong = '' }}"), &seen), None, "{good}");
        }
        for (bad, found) in [
            ("succeeds = true", ""),
            ("status = 1", ""),
            ("status-not = 2", ""),
            ("says = ['room', 'k']", ""),
            ("says-not = 'room'", ""),
            ("prints = 'room'", ""),
            ("prints-not = 'd/b'", ""),
            ("output = ['a', 'b']", "4"),
            ("lines = { ending = '/b', least = 2 }", "1"),
            ("lines = { equal = 'a', most = 0 }", "1"),
            ("same-digests = 3", "2"),
        ] {
            let said = verdict(&format!("{{ {bad}, wrong = '{{found}}, {{status}}' }}"), &seen);
            assert_eq!(said, Some(Verdict::WrongAnswer(format!("{found}, 2"))), "{bad}");
        }
        let seen = ended(Some(0), "a\n0123456789abcdef x\n0123456789abcdee y\n", "");
        assert!(verdict("{ same-digests = 2, wrong = '' }", &seen).is_some());
        assert_eq!(verdict("{ output = ['a'], wrong = '' }", &ended(Some(0), "a\n", "")), None);
    }

    #[test]
    fn trees_are_checked() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("a"), "one").unwrap();
        std::fs::write(tree.path().join("b"), "two").unwrap();
        let seen = Seen { tree: tree.path().to_owned(), ..ended(Some(0), "", "") };
        for good in [
            "holds = { a = 'one', b = 'two' }",
            "holds-any = { a = 'x', b = 'two' }",
            "exists = ['a']",
            "absent = ['c']",
        ] {
            assert_eq!(verdict(&format!("{{ {good}, lost = '' }}"), &seen), None, "{good}");
        }
        let lost = Some(Verdict::LosesData("a, b".into()));
        assert_eq!(verdict("{ holds = { a = 'one', b = 'x' }, lost = '{found}' }", &seen), lost);
        assert_eq!(verdict("{ holds-any = { a = 'x' }, lost = '{found}' }", &seen), lost);
        assert!(verdict("{ exists = ['a', 'c'], lost = '' }", &seen).is_some());
        assert!(verdict("{ absent = ['a', 'c'], lost = '' }", &seen).is_some());
    }

    #[test]
    fn only_a_failure_is_a_refusal() {
        let check = "{ prints = 'a', wrong = 'silent', refuses = 'status {status}' }";
        assert_eq!(verdict(check, &ended(Some(3), "", "")), Some(Verdict::Refuses("status 3".into())));
        assert_eq!(verdict(check, &ended(Some(0), "", "")), Some(Verdict::WrongAnswer("silent".into())));
        assert_eq!(verdict(check, &ended(Some(3), "a", "")), None);
    }
}
