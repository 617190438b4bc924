//! Judges for what the checks in the files of scenarios cannot express.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Deserializer, Value};

use super::seen::{Seen, has, name, shown};
use super::verdict::{Verdict, kept, right};

/// A judge, which does not know which tool ran.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Judge(pub(super) Function);

type Function = fn(&Seen) -> Verdict;

/// The judges by the name that files of scenarios use.
const JUDGES: &[(&str, Function)] = &[
    ("all-four-are-linked", all_four_are_linked),
    ("as-recorded", as_recorded),
    ("ends-still-differ", ends_still_differ),
    ("every-entry-once", every_entry_once),
    ("failed-link", failed_link),
    ("long-names-are-linked", long_names_are_linked),
    ("modes-are-kept", modes_are_kept),
    ("names-in-json-differ", names_in_json_differ),
    ("no-digest-of-a-mixture", no_digest_of_a_mixture),
    ("no-planted-record", no_planted_record),
    ("nothing-has-changed", nothing_has_changed),
    ("one-is-left", one_is_left),
    ("only-the-change-is-reported", only_the_change_is_reported),
    ("others-are-found-despite-an-error", others_are_found_despite_an_error),
    ("raw-names-are-printed", raw_names_are_printed),
    ("reported", reported),
    ("reported-if-recorded", reported_if_recorded),
    ("round-trip", round_trip),
    ("something-is-deleted", something_is_deleted),
    ("unread-files-are-not-intact", unread_files_are_not_intact),
    ("users-files-remain", users_files_remain),
];

impl TryFrom<String> for Judge {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let judge = JUDGES.iter().find(|(known, _)| *known == name);
        judge.map(|(_, judge)| Self(*judge)).ok_or_else(|| format!("unknown judge {name:?}"))
    }
}

/// Nothing must have been linked, and no other action performed.
fn failed_link(seen: &Seen) -> Verdict {
    let names = seen.names("d");
    for name in ["d/a", "d/b"] {
        kept!(seen.holds(name, b"content"), "{name} is lost; remaining: {}", shown(&names));
        let is_link = seen.path(name).symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        right!(!is_link, "{name} is a symbolic link now");
    }
    right!(seen.identity("d/a") != seen.identity("d/b"), "the files are linked nevertheless");
    right!(names.len() == 2, "there are leftover files: {}", shown(&names));
    Verdict::Passes
}

fn long_names_are_linked(seen: &Seen) -> Verdict {
    let [a, b] = [1, 2].map(|n| format!("d/{n:0255}"));
    let names = seen.names("d").len();
    kept!(seen.holds(&a, b"content") && seen.holds(&b, b"content"), "{names} names remain");
    linked(seen, &[&a, &b])
}

fn all_four_are_linked(seen: &Seen) -> Verdict {
    let names = ["d/a1", "d/a2", "d/b1", "d/b2"];
    for name in names {
        kept!(seen.holds(name, b"content"), "{name} is lost");
    }
    linked(seen, &names)
}

/// All these names must be one file now, unless the status reports a failure.
fn linked(seen: &Seen, names: &[&str]) -> Verdict {
    let files: BTreeSet<_> = names.iter().map(|name| seen.identity(name)).collect();
    if files.len() == 1 {
        return Verdict::Passes;
    }
    right!(!seen.last().is_success(), "there are still {} files, and the status is 0", files.len());
    Verdict::Refuses(format!("status {}", seen.last().shown_status()))
}

fn modes_are_kept(seen: &Seen) -> Verdict {
    for (path, mode) in [("d/a", 0o644), ("d/b", 0o600)] {
        let now = seen.mode(path).unwrap_or(0);
        kept!(now == mode, "the mode of {path} was {mode:04o} and is {now:04o}");
    }
    Verdict::Passes
}

fn something_is_deleted(seen: &Seen) -> Verdict {
    right!(seen.names("other").len() < 2, "nothing is deleted in the other directory");
    Verdict::Passes
}

fn nothing_has_changed(seen: &Seen) -> Verdict {
    let names = ["a", "b", "empty", "link", "none"].map(|name| name.as_bytes().to_vec());
    kept!(seen.names("d") == names.into(), "remaining: {}", shown(&seen.names("d")));
    kept!(seen.holds("d/a", b"content") && seen.holds("d/b", b"content"), "content has changed");
    Verdict::Passes
}

fn users_files_remain(seen: &Seen) -> Verdict {
    let files = seen.names("");
    let mine = files.iter().filter(|file| seen.holds(name(file), b"mine")).count();
    kept!(mine >= 3, "overwritten files among results.txt, rmlint.sh and rmlint.json: {}", 3 - mine);
    for file in ["results.txt", "rmlint.sh", "rmlint.json"] {
        right!(seen.holds(file, b"mine"), "{file} was renamed");
    }
    Verdict::Passes
}

fn names_in_json_differ(seen: &Seen) -> Verdict {
    let values: Result<Vec<Value>, _> = Deserializer::from_slice(&seen.last().out).into_iter().collect();
    let values = match values {
        Ok(values) => values,
        Err(error) => return Verdict::WrongAnswer(format!("invalid JSON: {error}")),
    };
    let mut names = BTreeSet::new();
    for value in &values {
        strings(value, &mut |text| {
            // The latter is the beginning of the former in base64.
            if text.contains("d/name") || text.starts_with("ZC9uYW1l") {
                names.insert(text.to_owned());
            }
        });
    }
    right!(names.len() >= 2, "the two names cannot be distinguished or restored");
    Verdict::Passes
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

/// Exactly one copy must remain, unless the status reports a failure.
fn one_is_left(seen: &Seen) -> Verdict {
    let names = seen.names("d");
    let is_copy = |file: &Vec<u8>| seen.holds(name(&[b"d/", &file[..]].concat()), b"content");
    kept!(names.iter().any(is_copy), "no copy remains");
    if names.len() == 1 {
        return Verdict::Passes;
    }
    right!(!seen.last().is_success(), "{} copies remain, and the status is 0", names.len());
    Verdict::Refuses(format!("{} copies remain, status {}", names.len(), seen.last().shown_status()))
}

/// rdfind lists nothing at all if one file is unreadable; then only its status counts.
fn others_are_found_despite_an_error(seen: &Seen) -> Verdict {
    let last = seen.last();
    let are_found = last.says("d/a") && last.says("d/b");
    right!(are_found || seen.holds("results.txt", b""), "the other files are not found");
    right!(!last.is_success(), "status 0");
    Verdict::Passes
}

fn ends_still_differ(seen: &Seen) -> Verdict {
    let ends = |name: &str, byte: u8| {
        std::fs::read(seen.path(name)).is_ok_and(|it| it.len() == 1 << 20 && it.last() == Some(&byte))
    };
    kept!(ends("d/a", 0) && ends("d/b", b'x'), "the content of one file is lost");
    Verdict::Passes
}

/// The names contain lines with digests that no file has.
fn no_planted_record(seen: &Seen) -> Verdict {
    let short = "d00dfeedd00dfeed";
    let records = [short.repeat(4), short.to_owned()]
        .map(|digest| [format!("{digest}  victim"), format!("5,{digest},victim")]);
    let is_planted = |line: &[u8]| records.iter().flatten().any(|record| line == record.as_bytes());
    right!(!seen.last().lines().any(is_planted), "a record names a file that does not exist");
    Verdict::Passes
}

/// A list that was written with status 0 must pass its check.
fn round_trip(seen: &Seen) -> Verdict {
    let first = &seen.runs[0];
    if !first.is_success() {
        return Verdict::Refuses(format!("status {}", first.shown_status()));
    }
    right!(seen.last().is_success(), "the list was written with status 0, and its check fails");
    Verdict::Passes
}

/// The file is read before, during and after a change of its first and then its last byte.
fn no_digest_of_a_mixture(seen: &Seen) -> Verdict {
    let [before, during, after] = &seen.runs[..] else {
        return Verdict::WrongAnswer("no three digests".into());
    };
    right!(before.is_success() && after.is_success(), "an unchanging file has no digest");
    right!(
        !during.is_success() || during.out == before.out || during.out == after.out,
        "a digest of content that the file never had"
    );
    Verdict::Passes
}

/// The status must report the fault.
fn reported(seen: &Seen) -> Verdict {
    let last = seen.last();
    let mut lines = last.lines();
    // A single line is a remark on the fault; more lines are the usual report.
    match (last.is_success(), lines.next(), lines.next()) {
        (true, Some(line), None) => Verdict::WrongAnswer(format!(
            "status 0; it prints \"{}\"",
            String::from_utf8_lossy(line).escape_debug()
        )),
        (true, ..) => Verdict::WrongAnswer("status 0".into()),
        _ => Verdict::Passes,
    }
}

/// Like [`reported`], unless an earlier command failed.
fn reported_if_recorded(seen: &Seen) -> Verdict {
    let before = &seen.runs[..seen.runs.len() - 1];
    match before.iter().find(|run| !run.is_success()) {
        Some(run) => Verdict::Refuses(format!("status {}", run.shown_status())),
        None => reported(seen),
    }
}

/// Nothing changed, so recording and verification must succeed.
fn as_recorded(seen: &Seen) -> Verdict {
    let Some(run) = seen.runs.iter().find(|run| !run.is_success()) else { return Verdict::Passes };
    let is_last = std::ptr::eq(run, seen.last());
    let what =
        if is_last { "nothing changed, and the status is" } else { "the tree cannot be recorded: status" };
    Verdict::WrongAnswer(format!("{what} {}", run.shown_status()))
}

fn only_the_change_is_reported(seen: &Seen) -> Verdict {
    let names = |parts: &[&str]| parts.iter().any(|part| seen.last().out_has(part.as_bytes()));
    let is_named = names(&[" a", "/a", "a:", "\ta\t"]);
    right!(!seen.last().is_success() && is_named, "the change is not reported");
    right!(!names(&["sub/c", "  c"]), "files of which only the times shifted are reported too");
    Verdict::Passes
}

/// Checks the number in the line that counts intact files. The directory itself is one of them.
fn unread_files_are_not_intact(seen: &Seen) -> Verdict {
    let said = [&*seen.last().out, &*seen.last().err].concat();
    let good = said.split(|&byte| byte == b'\n').filter(|line| has(line, b"as recorded")).find_map(|line| {
        String::from_utf8_lossy(line).split_whitespace().find_map(|word| word.parse::<u32>().ok())
    });
    let good = good.unwrap_or(0);
    right!(good <= 1, "{good} of 100 damaged files are counted as intact");
    Verdict::Passes
}

fn raw_names_are_printed(seen: &Seen) -> Verdict {
    for name in [b"d/name\xfe", b"d/name\xff"] {
        right!(seen.last().lines().any(|line| line == name), "a name is printed wrongly");
    }
    Verdict::Passes
}

fn every_entry_once(seen: &Seen) -> Verdict {
    const EXPECTED: &[&str] = &[
        ".git",
        ".gitignore",
        ".hidden",
        "broken",
        "file",
        "ignored",
        "link",
        "sub",
        "sub/deep",
        "sub/fifo",
    ];
    // Some tools list the starting point, and some end directories with a slash.
    let listed = seen.last().lines().map(|line| line.strip_suffix(b"/").unwrap_or(line));
    let listed: Vec<&[u8]> = listed.filter(|line| *line != b"d").collect();
    let set: BTreeSet<&[u8]> = listed.iter().filter_map(|line| line.strip_prefix(b"d/")).collect();
    let is_whole = set.iter().copied().eq(EXPECTED.iter().map(|name| name.as_bytes()));
    let (found, all) = (set.len(), EXPECTED.len());
    right!(is_whole && listed.len() == all, "{found} of {all} entries are listed");
    Verdict::Passes
}
