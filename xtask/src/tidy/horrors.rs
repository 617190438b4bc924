//! Rules for the tests of failures that file tools have had.

use horrors::{ENTRIES, Entry};

use super::tree::{Finding, Tree};

/// The page that lists the entries.
const PAGE: &str = "docs/horrors.md";

/// Every entry has a test that bears its number, such as `h08_a_stale_result`, unless a reason is given.
pub(crate) fn every_horror_is_tested(tree: &Tree) -> Vec<Finding> {
    let tested: Vec<u8> = tree
        .ending(".rs")
        .filter(|(path, _)| path.starts_with("tests/") || path.starts_with("crates/"))
        .flat_map(|(_, text)| tests(text).flat_map(numbers))
        .collect();
    let unknown = tested.iter().filter(|n| !ENTRIES.iter().any(|entry| entry.number == **n));
    let mut findings: Vec<_> = unknown
        .map(|n| Finding::file("tests/horrors", format!("there is a test for h{n:02}, but no such entry")))
        .collect();
    for entry in &*ENTRIES {
        let has_test = tested.contains(&entry.number);
        match entry.waits {
            Some(_) if has_test => findings.push(about(entry, "is tested but marked as untested")),
            None if !has_test => findings.push(about(entry, "has no test")),
            _ => {}
        }
    }
    findings
}

/// The page lists every untested case with its reason.
pub(crate) fn gaps_are_published(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.get(PAGE).map(words) else { return Vec::new() };
    let mut findings = Vec::new();
    for entry in &*ENTRIES {
        if !gaps(entry).all(|text| page.contains(&words(text))) {
            let Entry { number, title, .. } = entry;
            findings
                .push(Finding::file(PAGE, format!("does not list the untested cases of {number}: {title}")));
        }
    }
    findings
}

/// Returns the untested cases of an entry, and the reasons.
fn gaps(entry: &Entry) -> impl Iterator<Item = &str> {
    let parts = entry.untested.iter().flat_map(|part| [&*part.what, &*part.why]);
    parts.chain(entry.waits.as_deref())
}

fn about(entry: &Entry, what: &str) -> Finding {
    let Entry { number, title, .. } = entry;
    Finding::file("tests/horrors", format!("h{number:02} ({title}) {what}"))
}

/// Returns the names of functions that begin like a test of an entry.
fn tests(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix("fn "))
        .filter(|name| numbers(name).next().is_some())
}

/// Returns the numbers at the beginning of a name such as `h25_h35_a_name`.
fn numbers(name: &str) -> impl Iterator<Item = u8> {
    let is_number = |number: &&str| number.len() == 2 || number.len() == 3 && !number.starts_with('0');
    name.split('_').map_while(move |part| {
        part.strip_prefix('h').filter(is_number).and_then(|number| number.parse().ok())
    })
}

/// Replaces runs of white space by one blank, so that line breaks do not matter.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns source text with a test for each of the numbers.
    fn sources(numbers: impl Iterator<Item = u8>) -> String {
        numbers.map(|number| format!("    #[test]\n    fn h{number:02}_x() {{}}\n")).collect()
    }

    fn is_tested(entry: &Entry) -> bool {
        entry.waits.is_none()
    }

    #[test]
    fn the_entries_are_numbered_from_one() {
        assert!(ENTRIES.iter().zip(1..).all(|(entry, nth)| entry.number == nth));
    }

    #[test]
    fn a_missing_test_is_found() {
        let needed = || ENTRIES.iter().filter(|entry| is_tested(entry)).map(|entry| entry.number);
        let found = |text: &str, path: &str| {
            let found = every_horror_is_tested(&Tree::of(&[(path, text)]));
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(found(&sources(needed()), "tests/horrors/a.rs"), [""; 0]);
        assert_eq!(found(&sources(needed()), "xtask/src/a.rs").len(), needed().count());
        for missing in needed() {
            let rest = sources(needed().filter(|number| *number != missing));
            let of_it = found(&rest, "crates/a/tests/a.rs");
            assert!(of_it.len() == 1 && of_it[0].contains(&format!("h{missing:02} ")), "{of_it:?}");
            assert_eq!(found(&format!("{rest}fn h07_h{missing:02}_both() {{}}"), "tests/a.rs"), [""; 0]);
        }
        assert!(found(&(sources(needed()) + "fn h250_x() {}"), "tests/a.rs")[0].contains("no such entry"));
        if let Some(waiting) = ENTRIES.iter().find(|entry| !is_tested(entry)) {
            let all = sources(needed().chain([waiting.number]));
            assert!(found(&all, "tests/a.rs")[0].contains("marked as untested"));
        }
    }

    #[test]
    fn an_unlisted_gap_is_found() {
        let with_gaps = ENTRIES.iter().filter(|entry| gaps(entry).next().is_some()).count();
        assert_eq!(gaps_are_published(&Tree::of(&[(PAGE, "nothing")])).len(), with_gaps);
        let text: String = ENTRIES.iter().flat_map(gaps).flat_map(|text| [text, "\n"]).collect();
        assert_eq!(gaps_are_published(&Tree::of(&[(PAGE, &text)])), []);
        assert_eq!(gaps_are_published(&Tree::default()), []);
    }
}
