//! What must be true after a command, as the files of scenarios state it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use memchr::memmem::find;
use serde::Deserialize;
use serde_json::{Deserializer, Value};

use super::seen::{Run, Seen};
use super::verdict::Verdict;

/// A fact, and the verdict if it is not true. In the messages `{status}` is the exit status of the command, and
/// `{found}` is what the fact found instead.
#[derive(Clone, Deserialize)]
pub(super) struct Check {
    #[serde(flatten)]
    fact: Fact,
    /// The fact is about the first command before the last that failed, or else about the first.
    #[serde(default)]
    earlier: bool,
    /// The message of [`Verdict::LosesData`].
    lost: Option<String>,
    /// The message of [`Verdict::WrongAnswer`].
    wrong: Option<String>,
    /// The message of [`Verdict::Refuses`], which applies if the status is not 0, and goes before the others.
    refuses: Option<String>,
}

/// Facts about the tree, and about the output and the status of a command, by default of the last.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fact {
    /// Every file has this content. Found: the names in the directory of the first.
    Holds(BTreeMap<String, String>),
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
    /// Standard output is JSON with at least two strings that contain this name, or begin with it in Base64. Found: what
    /// is wrong.
    NamesInJson(String),
    /// This script succeeds in the tree. Its arguments are the statuses of the commands; `../1.out` and `../1.err` hold
    /// what the first one printed. Found: what the script prints, without the last newline.
    Script(String),
}

/// The number of lines with a property; without one, of all lines.
#[derive(Clone, Deserialize)]
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
        let run = if self.earlier { seen.earlier() } else { seen.last() };
        let (holds, found) = self.fact.look(seen, run);
        if holds {
            return None;
        }
        // A check never sees a command that did not end.
        let status = run.status.unwrap_or(-1).to_string();
        let fill = |text: &String| text.replace("{status}", &status).replace("{found}", &found);
        let refuses = self.refuses.as_ref().filter(|_| !run.is_success());
        Some(match (refuses, &self.lost) {
            (Some(why), _) => Verdict::Refuses(fill(why)),
            (None, Some(why)) => Verdict::LosesData(fill(why)),
            (None, None) => Verdict::WrongAnswer(self.wrong.as_ref().map(fill).unwrap_or_default()),
        })
    }
}

impl Fact {
    /// Whether the fact is true, and what was found.
    fn look(&self, seen: &Seen, run: &Run) -> (bool, String) {
        let holds = match self {
            Self::Holds(files) => {
                let are_held = files.iter().all(|(path, content)| seen.holds(path, content));
                return (are_held, names(seen, files));
            }
            Self::Succeeds(expected) => run.is_success() == *expected,
            Self::Status(expected) => run.status == Some(*expected),
            Self::StatusNot(other) => run.status != Some(*other),
            Self::Says(parts) => parts.iter().all(|part| run.says(part)),
            Self::SaysNot(part) => !run.says(part),
            Self::Prints(part) => run.prints(part),
            Self::PrintsNot(part) => !run.prints(part),
            Self::Output(expected) => {
                let is_equal = run.lines().eq(expected.iter().map(String::as_bytes));
                return (is_equal, run.lines().count().to_string());
            }
            Self::Lines(lines) => {
                let found = run.lines().filter(|line| lines.counts(line)).count();
                return ((lines.least..=lines.most).contains(&found), found.to_string());
            }
            Self::SameDigests(expected) => {
                let digests: Vec<_> = digests(run).collect();
                let different: BTreeSet<_> = digests.iter().collect();
                return (digests.len() == *expected && different.len() == 1, digests.len().to_string());
            }
            Self::NamesInJson(name) => return names_in_json(&run.out, name),
            Self::Script(script) => return succeeds(script, seen),
        };
        (holds, String::new())
    }
}

impl Lines {
    fn counts(&self, line: &[u8]) -> bool {
        let is = |text: &Option<String>, holds: &dyn Fn(&[u8]) -> bool| {
            text.as_ref().is_none_or(|text| holds(text.as_bytes()))
        };
        is(&self.equal, &|text| line == text)
            && is(&self.ending, &|text| unquoted(line).ends_with(text))
            && is(&self.with, &|text| find(line, text).is_some())
    }
}

/// Returns the names in the directory of the first file.
fn names(seen: &Seen, files: &BTreeMap<String, String>) -> String {
    let first = files.keys().next().and_then(|path| Path::new(path).parent());
    let entries = seen.tree.join(first.unwrap_or(Path::new(""))).read_dir();
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names: BTreeSet<_> = names.map(|name| name.as_encoded_bytes().escape_ascii().to_string()).collect();
    if names.is_empty() { "nothing".into() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
}

/// Removes the quotation mark at the end of a line.
fn unquoted(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"'").or_else(|| line.strip_suffix(b"\"")).unwrap_or(line)
}

/// Returns the first word of each line that looks like a digest.
fn digests(run: &Run) -> impl Iterator<Item = &[u8]> {
    run.lines()
        .filter(|line| !line.iter().any(|byte| b"#%".contains(byte)))
        .filter_map(|line| line.split(|byte| !byte.is_ascii_hexdigit()).find(|word| word.len() >= 16))
}

/// Runs a script in the tree, with the rights of the caller.
fn succeeds(script: &str, seen: &Seen) -> (bool, String) {
    let statuses = seen.runs.iter().map(|run| run.status.unwrap_or(-1).to_string());
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "sh"]).args(statuses).current_dir(&seen.tree).env("LC_ALL", "C");
    let output = shell.output().expect("a system has a shell");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}

fn names_in_json(out: &[u8], name: &str) -> (bool, String) {
    let values: Result<Vec<Value>, _> = Deserializer::from_slice(out).into_iter().collect();
    let values = match values {
        Ok(values) => values,
        Err(error) => return (false, format!("invalid JSON: {error}")),
    };
    // Without the last characters, which depend on what follows.
    let base64 = &data_encoding::BASE64_NOPAD.encode(name.as_bytes())[..name.len() / 3 * 4];
    let mut names = BTreeSet::new();
    for value in &values {
        strings(value, &mut |text| {
            if text.contains(name) || text.starts_with(base64) {
                names.insert(text.to_owned());
            }
        });
    }
    (names.len() >= 2, "the two names cannot be distinguished or restored".into())
}

/// Calls `each` with every string in a JSON value.
fn strings(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, each)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            each(name);
            strings(value, each);
        }),
        _ => {}
    }
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
            "script = '[ $# = 2 ] && [ $1 = 0 ] && [ $2 = 2 ]'",
            "earlier = true, succeeds = true",
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
            ("names-in-json = 'a'", "invalid JSON: expected value at line 1 column 1"),
            ("script = 'echo found; false'", "found"),
        ] {
            let said = verdict(&format!("{{ {bad}, wrong = '{{found}}, {{status}}' }}"), &seen);
            assert_eq!(said, Some(Verdict::WrongAnswer(format!("{found}, 2"))), "{bad}");
        }
        let seen = ended(Some(0), "a\n0123456789abcdef x\n0123456789abcdee y\n", "");
        assert!(verdict("{ same-digests = 2, wrong = '' }", &seen).is_some());
        assert_eq!(verdict("{ output = ['a'], wrong = '' }", &ended(Some(0), "a\n", "")), None);
        let json = |text| verdict("{ names-in-json = 'd/name', wrong = '' }", &ended(Some(0), text, ""));
        // The latter has the beginning of the former in Base64.
        assert_eq!(json("[{\"d/namex\": 1}, \"ZC9uYW1l/w==\"]"), None);
        assert!(json("[\"d/name\", \"d/name\"]").is_some());
    }

    #[test]
    fn trees_are_checked() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("a"), "one").unwrap();
        std::fs::write(tree.path().join("b"), "two").unwrap();
        let seen = Seen { tree: tree.path().to_owned(), ..ended(Some(0), "", "") };
        for good in ["holds = { a = 'one', b = 'two' }", "script = 'cmp -s a a'"] {
            assert_eq!(verdict(&format!("{{ {good}, lost = '' }}"), &seen), None, "{good}");
        }
        let lost = Some(Verdict::LosesData("a, b".into()));
        for bad in ["holds = { a = 'one', b = 'x' }", "script = 'ls -m; cmp -s a b'"] {
            assert_eq!(verdict(&format!("{{ {bad}, lost = '{{found}}' }}"), &seen), lost, "{bad}");
        }
    }

    #[test]
    fn only_a_failure_is_a_refusal() {
        let check = "{ prints = 'a', wrong = 'silent', refuses = 'status {status}' }";
        assert_eq!(verdict(check, &ended(Some(3), "", "")), Some(Verdict::Refuses("status 3".into())));
        assert_eq!(verdict(check, &ended(Some(0), "", "")), Some(Verdict::WrongAnswer("silent".into())));
        assert_eq!(verdict(check, &ended(Some(3), "a", "")), None);
    }
}
