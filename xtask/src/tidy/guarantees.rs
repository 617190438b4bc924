//! Every promise names the tests that hold it.

use std::collections::BTreeSet;

use super::tree::{Finding, Tree};

/// Where the promises stand, as items of lists.
const PROMISES: &str = "docs/guarantees.md";

/// How headings of what is not promised begin.
const LIMITS: &str = "What";

/// What stands before the names of the tests of an item.
const TESTED_BY: &str = "Tested by `";

/// Every item of the list of promises, but what stands under the headings of limits, ends with the names of tests;
/// and all of these, wherever they stand, are there.
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
            findings.push(Finding::line(PROMISES, number, "a promise that names no test"));
        }
        for name in names.into_iter().flat_map(|names| names.trim_end_matches("`.").split("`, `")) {
            if !known.contains(name) {
                findings.push(Finding::line(PROMISES, number, format!("no test has the name {name:?}")));
            }
        }
    }
    findings
}

/// Headings, items of lists and paragraphs, each in one line and with the number of its first.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (line, number) in text.lines().zip(1..) {
        if line.is_empty() {
            goes_on = false;
        } else if goes_on && !line.starts_with("- ") {
            let (_, block) = blocks.last_mut().expect("a block that goes on has begun");
            block.push(' ');
            block.push_str(line.trim_start());
        } else {
            blocks.push((number, line.to_owned()));
            goes_on = !line.starts_with('#');
        }
    }
    blocks
}

/// The names of all functions that are tests.
fn tests(tree: &Tree) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (_, text) in tree.ending(".rs") {
        for (at, attribute) in text.match_indices("#[test]") {
            // Further attributes may come between, none of which holds these words.
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
    fn promises_with_tests_are_fine() {
        assert_eq!(
            found("# All\n\n- One. Tested by `one`.\n- Two\n  lines. Tested by\n  `one`, `two`.\n"),
            []
        );
        assert_eq!(found("# All\n\nWords.\n\n### What remains open\n\n- A limit.\n"), []);
    }

    #[test]
    fn promises_without_tests_are_found() {
        let expected = [Finding::line(PROMISES, 3, "a promise that names no test")];
        assert_eq!(found("# All\n\n- One.\n- Two. Tested by `two`.\n"), expected);
        assert_eq!(found("## What not\n\n## All\n- One.\n").len(), 1);
    }

    #[test]
    fn tests_that_are_not_there_are_found() {
        let expected = [Finding::line(PROMISES, 3, "no test has the name \"three\"")];
        assert_eq!(found("# All\n\n- One. Tested by `one`, `three`.\n"), expected);
        assert_eq!(found("# What not\n\n- A limit. Tested by `four`.\n").len(), 1);
        assert_eq!(name_their_tests(&Tree::default()).len(), 1);
    }
}
