//! The rule that no new file type is accepted by accident.
//!
//! [`FileType`](../../../crates/walk/src/metadata.rs) is `non_exhaustive`, so a `match` in another crate needs an arm for all
//! other types, and the compiler says nothing when a type is added. This rule does. It does not see comparisons and
//! `matches!`, and it accepts a `match` that names one type, which is a comparison too.

use super::sources::is_test;
use super::tree::{Finding, Tree};

/// Where the type is declared.
const DECLARATION: &str = "crates/walk/src/metadata.rs";

/// The only crate in which the compiler demands all types.
const OWN_CRATE: &str = "crates/walk/src/";

/// What a comment at the arm says if the arm is right for types that do not exist yet.
const MARK: &str = "future type";

/// A `match` that tells file types apart and has an arm for all others names every type, or a comment at this arm says that
/// it is right for any future type.
pub(crate) fn new_types_are_noticed(tree: &Tree) -> Vec<Finding> {
    let types = tree.get(DECLARATION).map(declared).unwrap_or_default();
    if types.is_empty() {
        return vec![Finding::file(DECLARATION, "does not declare `pub enum FileType`")];
    }
    let mut findings = Vec::new();
    let concerned =
        |path: &str| !path.starts_with(OWN_CRATE) && !path.starts_with("xtask/") && !is_test(path);
    for (path, text) in tree.ending(".rs").filter(|(path, _)| concerned(path)) {
        if !text.contains("FileType::") {
            continue;
        }
        let tables = text.lines().zip(1..).filter_map(|(line, number)| Some((len_of_table(line)?, number)));
        findings.extend(tables.filter(|(len, _)| *len != types.len()).map(|(len, number)| {
            Finding::line(path, number, format!("a table of {len} file types, but there are {}", types.len()))
        }));
        for arms in matches(&code(text)) {
            let is_named = |name: &str| arms.iter().any(|arm| names(arm.pattern, name));
            // The type of rustix has other names.
            if ["RegularFile", "BlockDevice", "CharacterDevice", "Unknown"].into_iter().any(is_named) {
                continue;
            }
            let missing: Vec<_> = types.iter().filter(|name| !is_named(name)).collect();
            let tells_apart = missing.len() + 1 < types.len();
            let other = arms.iter().find(|arm| is_for_all(arm.pattern));
            if let Some(Arm { line, .. }) = other
                && tells_apart
                && !missing.is_empty()
                && !is_marked(text, *line)
            {
                let what = format!(
                    "a new file type would get here: name {missing:?}, or say \"any {MARK}\" in a comment"
                );
                findings.push(Finding::line(path, *line, what));
            }
        }
    }
    findings
}

/// Returns the names of the types in the source that declares them.
fn declared(text: &str) -> Vec<String> {
    let body = text.split_once("pub enum FileType {").and_then(|(_, rest)| rest.split_once("\n}"));
    let lines = body.map_or("", |(body, _)| body).lines().map(str::trim);
    lines
        .filter(|line| !line.starts_with("//"))
        .filter_map(|line| line.strip_suffix(','))
        .map(str::to_owned)
        .collect()
}

/// Returns the length of the table of file types that the line declares.
fn len_of_table(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once(": [(FileType, ")?;
    rest.split_once("; ")?.1.split_once(']')?.0.parse().ok()
}

/// Whether the comment above this line or on it has the mark.
fn is_marked(text: &str, line: usize) -> bool {
    let lines = text.lines().skip(line.saturating_sub(2)).take(2);
    lines.filter_map(|line| line.split_once("//")).any(|(_, comment)| comment.contains(MARK))
}

fn names(pattern: &str, name: &str) -> bool {
    pattern
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .any(|path| path.strip_suffix(name).is_some_and(|rest| rest.ends_with("FileType::")))
}

/// Whether a pattern without a condition matches everything.
fn is_for_all(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    chars.next().is_some_and(|first| first == '_' || first.is_lowercase())
        && chars.all(|c| c.is_lowercase() || c.is_numeric() || c == '_')
}

/// An arm of a `match`.
struct Arm<'t> {
    pattern: &'t str,
    line: usize,
}

/// Returns the arms of every `match`.
fn matches(code: &str) -> Vec<Vec<Arm<'_>>> {
    let starts = code
        .match_indices("match ")
        .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    starts.map(|(at, _)| arms(code, at)).collect()
}

/// Returns the arms of the `match` at a position.
fn arms(code: &str, at: usize) -> Vec<Arm<'_>> {
    let mut arms = Vec::new();
    let Some(mut at) = end_of(code, at, &["{"]) else { return arms };
    while let Some(end) = end_of(code, at, &["=>"]) {
        let pattern = &code[at..end - 2];
        let start = at + (pattern.len() - pattern.trim_start().len());
        arms.push(Arm { pattern: pattern.trim(), line: code[..start].matches('\n').count() + 1 });
        let rest = code[end..].trim_start();
        let value = code.len() - rest.len();
        // A block ends an arm without a comma, unless it is a part of a larger expression.
        let is_block = rest.starts_with('{');
        let block_end = if is_block { end_of(code, value + 1, &["}"]) } else { None };
        let Some(next) = block_end.or_else(|| end_of(code, value, &[",", "}"])) else { break };
        at = next;
        if !is_block && code[..at].ends_with('}') {
            break;
        }
        let rest = code[at..].trim_start();
        at = code.len() - rest.strip_prefix(',').unwrap_or(rest).len();
    }
    arms
}

/// Returns the end of the first of these texts that is not in parentheses, brackets or braces.
fn end_of(code: &str, from: usize, texts: &[&str]) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code[from..].char_indices() {
        let at = from + at;
        if let Some(text) = texts.iter().find(|text| depth == 0 && code[at..].starts_with(**text)) {
            return Some(at + text.len());
        }
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return None,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the text with blanks for comments and for what is in quotes.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = skipped(rest);
        if len == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..len].chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = &rest[len..];
        }
    }
    code
}

/// Returns the length of the comment, string or character at the beginning of `text`, or 0.
fn skipped(text: &str) -> usize {
    let until = |from: usize, end: &str| {
        let found = text.get(from..).and_then(|rest| rest.find(end));
        found.map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return until(0, "\n").min(text.len());
    }
    if text.starts_with("r\"") || text.starts_with("r#") {
        let hashes = text[1..].len() - text[1..].trim_start_matches('#').len();
        let is_string = text[1 + hashes..].starts_with('"');
        return if is_string { until(hashes + 2, &format!("\"{}", "#".repeat(hashes))) } else { 0 };
    }
    let quote = match text.chars().next() {
        Some('"') => '"',
        // Otherwise it is a lifetime.
        Some('\'') if text[1..].starts_with('\\') || text[1..].chars().nth(1) == Some('\'') => '\'',
        _ => return 0,
    };
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &str = "#[non_exhaustive]\npub enum FileType {\n    /// A file.\n    Regular,\n    Directory,\n    Fifo,\n}\n";

    fn found(source: &str) -> Vec<String> {
        let tree = Tree::of(&[(DECLARATION, DECLARED), ("crates/a/src/lib.rs", source)]);
        new_types_are_noticed(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_arm_that_accepts_new_types_is_found() {
        let what = "a new file type would get here: name [\"Fifo\"], or say \"any future type\" in a comment";
        for source in [
            "match x {\n    FileType::Regular => 1,\n    FileType::Directory => 2,\n_ => 3,\n}",
            "match x {\n    FileType::Regular |\n FileType::Directory => { f('{') }\n_ => 3,\n}",
            "match f(|| { x }) {\n    FileType::Regular if y => g(\"}\"),\n    ftk_walk::FileType::Directory => \"_ =>\",\n    other => 3,\n}",
            "match (a, x) { // }\n    (1, FileType::Regular) => { match y { _ => 2 } }\n    (_, FileType::Directory) => 2,\n    _ => 3 }",
            "match a {\n    1 => match x { FileType::Regular => 1, FileType::Directory => r#\"\"}\"#,\n\n_ => 3 },\n    _ => 3 }",
        ] {
            assert_eq!(found(source), [format!("crates/a/src/lib.rs:4: {what}")], "{source}");
        }
    }

    #[test]
    fn all_types_a_comment_and_other_types_are_well() {
        for source in [
            "match x {\n FileType::Regular => 1,\n FileType::Directory | FileType::Fifo => 2,\n _ => 3,\n}",
            "match x {\n FileType::Regular => 1,\n FileType::Fifo => 2,\n // Any future type.\n _ => 3,\n}",
            "match x {\n FileType::Regular => 1,\n FileType::Fifo => 2,\n _ => 3, // any future type\n}",
            "match x {\n FileType::Regular => 1,\n FileType::Directory => 2,\n FileType::Fifo => 2,\n}",
            "match x {\n FileType::Unknown => 1,\n FileType::Directory => 2,\n FileType::Fifo => 2,\n _ => 3\n}",
            "match x {\n FileType::Directory => 2,\n _ => 3\n}",
            "match x {\n None => FileType::Regular,\n _ => FileType::Fifo,\n}",
            "// match x { FileType::Regular => 1, _ => 2 }",
        ] {
            assert_eq!(found(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn a_table_without_a_type_is_found() {
        assert_eq!(found("const A: [(FileType, &str); 3] = [FileType::Fifo];"), [""; 0]);
        let what = "crates/a/src/lib.rs:2: a table of 2 file types, but there are 3";
        assert_eq!(found("\nconst A: [(FileType, &str); 2] = [FileType::Fifo];"), [what]);
    }

    #[test]
    fn a_new_type_is_found_where_all_were_named() {
        let declared = DECLARED.replace("    Fifo,\n", "    Fifo,\n    Door,\n");
        let source = "match x { FileType::Regular | FileType::Directory | FileType::Fifo => 1, _ => 2 }";
        let tree = Tree::of(&[(DECLARATION, &declared), ("crates/cli/a.rs", source)]);
        assert!(new_types_are_noticed(&tree)[0].to_string().contains("[\"Door\"]"));
        assert_eq!(new_types_are_noticed(&Tree::of(&[("crates/cli/a.rs", source)])).len(), 1);
    }
}
