//! A rule for `docs/guarantees.md`: every promise names the tests that check it.

use std::collections::BTreeSet;

use super::tree::{Finding, Tree};

/// The page with the promises, which are items of lists.
const PROMISES: &str = "docs/guarantees.md";

/// The beginning of headings of sections that list limits.
const LIMITS: &str = "What";

/// The text before the names of the tests of an item.
const TESTED_BY: &str = "Tested by `";

/// Every item ends with names of tests, except in sections that list limits, and every named test exists.
pub(crate) fn name_their_tests(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.get(PROMISES) else { return vec![Finding::file(PROMISES, "is missing")] };
    let known = tests(tree);
    let mut findings = Vec::new();
    let mut is_limit = false;
    for (number, block) in blocks(text) {
        if let Some(heading) = block.strip_prefix('#') {
            is_limit = heading.trim_start_matches('#').trim_start().starts_with(LIMITS);
            continue;
        }
        let names = block.rsplit_once(TESTED_BY).map(|(_, names)| names);
        if block.starts_with("- ") && !is_limit && names.is_none() {
            findings.push(Finding::line(PROMISES, number, "the promise names no test"));
        }
        for name in names.into_iter().flat_map(|names| names.trim_end_matches("`.").split("`, `")) {
            if !known.contains(name) {
                findings.push(Finding::line(PROMISES, number, format!("there is no test {name:?}")));
            }
        }
    }
    findings
}

/// Splits the page into headings, list items and paragraphs, each joined to one line, with its first line number.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (line, number) in text.lines().zip(1..) {
        if line.is_empty() {
            goes_on = false;
        } else if goes_on && !line.starts_with("- ") {
            let (_, block) = blocks.last_mut().expect("a continued block has a beginning");
            block.push(' ');
            block.push_str(line.trim_start());
        } else {
            blocks.push((number, line.to_owned()));
            goes_on = !line.starts_with('#');
        }
    }
    blocks
}

/// Returns the names of all test functions.
fn tests(tree: &Tree) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (_, text) in tree.ending(".rs") {
        for (at, attribute) in text.match_indices("#[test]") {
            // More attributes may follow, none of which contains this text.
            let rest = &text[at + attribute.len()..];
            let name = rest.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
            names.extend(name.map(|(name, _)| name));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(promises: &str) -> Vec<Finding> {
        let source = "#[test]\nfn one() {}\n\n#[test]\n#[ignore = \"long\"]\nfn two() {}\n\nfn three() {}\n";
        name_their_tests(&Tree::of(&[(PROMISES, promises), ("tests/a.rs", source)]))
    }

    #[test]
    fn promises_with_tests_are_accepted() {
        assert_eq!(
            found("# All\n\n- One. Tested by `one`.\n- Two\n  lines. Tested by\n  `one`, `two`.\n"),
            []
        );
        assert_eq!(found("# All\n\nWords.\n\n### What remains open\n\n- A limit.\n"), []);
    }

    #[test]
    fn promises_without_tests_are_found() {
        let expected = [Finding::line(PROMISES, 3, "the promise names no test")];
        assert_eq!(found("# All\n\n- One.\n- Two. Tested by `two`.\n"), expected);
        assert_eq!(found("## What not\n\n## All\n- One.\n").len(), 1);
    }

    #[test]
    fn unknown_tests_are_found() {
        let expected = [Finding::line(PROMISES, 3, "there is no test \"three\"")];
        assert_eq!(found("# All\n\n- One. Tested by `one`, `three`.\n"), expected);
        assert_eq!(found("# What not\n\n- A limit. Tested by `four`.\n").len(), 1);
        assert_eq!(name_their_tests(&Tree::default()).len(), 1);
    }
}
