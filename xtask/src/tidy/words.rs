//! The vocabulary of comments, documents, messages and names.

use super::tree::{Finding, Tree};

/// Words and phrases that readers stumbled over, and what to say instead. Case does not matter, and `_` separates
/// words, so names of functions and tests are covered too.
const REPLACED: &[(&str, &str)] = &[
    ("behind", "after, below or past"),
    ("beside", "besides, next to or together with"),
    ("forest", "the standard term"),
    ("grove", "the standard term"),
    ("is none", "a positive statement"),
    ("is such", "a positive statement"),
    ("its kin", "the names of the others"),
    ("leave out", "skip or omit"),
    ("leaves out", "skips or omits"),
    ("leaving out", "skipping or omitting"),
    ("left out", "skipped or omitted"),
    ("lenient", "what is accepted"),
    ("nobody", "no one by role: no process, no user, no caller"),
    ("purse", "reservation"),
    ("somebody", "the role: a user, a process, a caller"),
    ("stretch", "range"),
    ("teller", "the standard term"),
    ("the answer is no", "what was found or not found"),
    ("to no avail", "without success"),
    ("whoever", "the role: a user, a process, a caller"),
];

/// Phrases that contain one of these and are plain.
const PLAIN: &[&str] = &["there is none", "is such a", "is such an"];

/// Where a word may stay: the beginning of the path, the word, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("benches/README.md", "behind", "the name of a case in a record"),
    ("benches/records/", "", "records stay as they were written"),
    ("xtask/src/tidy/words.rs", "", "the list itself"),
];

/// The files with text that people read. Everything else is data.
const READ_BY_PEOPLE: &[&str] =
    &[".rs", ".md", ".toml", ".sh", ".snap", ".1", ".fish", "_ftk", "/ftk", ".ci/run"];

/// No text uses a word that the glossary replaces.
pub(crate) fn plain_words(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in
        tree.ending("").filter(|(path, _)| READ_BY_PEOPLE.iter().any(|end| path.ends_with(end)))
    {
        let replaced: Vec<_> = REPLACED.iter().filter(|(word, _)| !is_excepted(path, word)).collect();
        let lines: Vec<String> = text.lines().map(normalize).collect();
        for (line, number) in lines.iter().zip(1..) {
            // A phrase may continue on the next line.
            let mut both = format!("{line}{}", lines.get(number).map_or("", |next| next.trim_start()));
            for plain in PLAIN {
                both = both.replace(&format!(" {plain} "), &" ".repeat(plain.len() + 2));
            }
            for (word, instead) in &replaced {
                if position(&both, word).is_some_and(|at| at + 1 < line.len()) {
                    findings.push(Finding::line(path, number, format!("{word:?}: say {instead}")));
                }
            }
        }
    }
    findings
}

fn is_excepted(path: &str, word: &str) -> bool {
    EXCEPTIONS.iter().any(|(start, excepted, _)| path.starts_with(start) && [word, ""].contains(excepted))
}

/// Returns where a word or phrase begins in a normalized line. `_` separates words, but not the words of a phrase, so
/// that the method `is_none` is not found as the phrase "is none".
fn position(line: &str, word: &str) -> Option<usize> {
    let ends = |c: char| c == ' ' || (c == '_' && !word.contains(' '));
    line.match_indices(word)
        .map(|(at, _)| at)
        .find(|at| line[..*at].ends_with(ends) && line[at + word.len()..].starts_with(ends))
}

/// Returns the line in lower case, without a comment marker at its start, with spaces around each punctuation mark, and
/// with a space at either end.
fn normalize(line: &str) -> String {
    let mut normalized = String::from(" ");
    for c in line.trim_start().trim_start_matches(['/', '!', '#']).trim().chars() {
        if c.is_alphanumeric() || "_ ".contains(c) {
            normalized.extend(c.to_lowercase());
        } else {
            normalized.extend([' ', c, ' ']);
        }
    }
    normalized.push(' ');
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        plain_words(&Tree::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn replaced_words_are_found_in_any_case_and_in_names() {
        for text in ["// Somebody", "fn somebody_else() {}", "of somebody.", "\"somebody's\"", "for_somebody"]
        {
            assert_eq!(found("a.rs", text).len(), 1, "{text}");
        }
        assert_eq!(found("a.md", "x\nleft\nout"), ["a.md:2: \"left out\": say skipped or omitted"]);
        assert_eq!(
            found("a.rs", "/// which is\n/// none"),
            ["a.rs:1: \"is none\": say a positive statement"]
        );
    }

    #[test]
    fn other_words_and_data_are_fine() {
        for text in [
            "besides",
            "Option::is_none()",
            "left, out",
            "nonexistent",
            "if there is none.",
            "is such an error",
            "left_outer",
            "// is\nfn none() {}",
        ] {
            assert_eq!(found("a.rs", text), [""; 0], "{text}");
        }
        assert_eq!(found("a.bin", "nobody"), [""; 0]);
        assert_eq!(found("benches/records/a.md", "nobody"), [""; 0]);
    }

    #[test]
    fn every_exception_says_why() {
        assert!(EXCEPTIONS.iter().all(|(start, _, why)| !start.is_empty() && !why.is_empty()));
    }
}
