//! `ftk find --explain`: says which rules select a path or not.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, absolute};

use ftk_record::{quote, sanitize, write_path};
use ftk_select::{Explain, Explanation, Fate, Finding, Roots};
use ftk_walk::{Op, WalkError};
use rustix::io::Errno;

use super::search::Search;
use crate::console::Outcome;
use crate::scan::{walk_error, walker};
use crate::stdout::Stdout;

/// Explains every path. Returns `Error` if one of them cannot be explained.
pub(super) fn explain(paths: &[OsString], search: &Search<'_>, roots: &Roots<'_>, out: &Stdout) -> Outcome {
    let mut outcome = Outcome::Success;
    for path in paths {
        let Some((number, names)) = place(search.roots, Path::new(path)) else {
            let path = quote(path.as_bytes());
            search.console.error(format_args!("cannot explain {path}: it is not below a starting point"));
            outcome = Outcome::Error;
            continue;
        };
        let root = search.roots[number].clone();
        let walker = walker(&[root], search.follow, search.globals).threads(1);
        let selection = search.selection.numbered_from(number);
        let visitors = walker.run(|_| Explain::new(&selection, roots, names.clone()));
        let mut fate = None;
        for explanation in visitors.into_iter().map(Explain::into_explanation) {
            for error in &explanation.errors {
                walk_error(error, search.console);
                outcome = Outcome::Error;
            }
            if explanation.fate == Fate::Missing {
                continue;
            }
            out.write(&if search.globals.json { json(path, &explanation) } else { text(path, &explanation) });
            fate = Some(explanation.fate);
        }
        if fate.is_none() && outcome == Outcome::Success {
            let missing = io::Error::from(Errno::NOENT);
            walk_error(&WalkError::new(Op::Stat, path.as_bytes().to_vec(), missing), search.console);
            outcome = Outcome::Error;
        }
    }
    outcome
}

/// Returns the number of the starting point nearest to a path, and the names that lead from it to the path.
fn place(roots: &[CString], path: &Path) -> Option<(usize, Vec<Vec<u8>>)> {
    let below = |(number, root): (usize, &CString)| {
        let names = below(Path::new(OsStr::from_bytes(root.to_bytes())), path)?;
        Some((number, names))
    };
    roots.iter().enumerate().filter_map(below).min_by_key(|(_, names)| names.len())
}

/// Returns the names that lead from `root` to `path`. Links in the path are not resolved, unless it contains `..`.
fn below(root: &Path, path: &Path) -> Option<Vec<Vec<u8>>> {
    let has_parent = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let relative = if has_parent(root) || has_parent(path) {
        let parent = absolute(path).ok()?.parent()?.canonicalize().ok()?;
        parent.join(path.file_name()?).strip_prefix(root.canonicalize().ok()?).ok()?.to_owned()
    } else {
        absolute(path).ok()?.strip_prefix(absolute(root).ok()?).ok()?.to_owned()
    };
    Some(relative.iter().map(|name| name.as_bytes().to_vec()).collect())
}

/// The explanation for people: what becomes of the path, then a line for each rule.
fn text(path: &OsStr, explanation: &Explanation) -> Vec<u8> {
    let shown = sanitize(path.as_bytes());
    let mut text = match &explanation.fate {
        Fate::Selected => format!("selected: {shown}\n"),
        Fate::Skipped(at) => format!("not selected: {shown}   ({} is skipped)\n", sanitize(at)),
        Fate::NotEntered(at, why) => {
            format!("not selected: {shown}   ({} is not entered: {why})\n", sanitize(at))
        }
        Fate::Rejected | Fate::Missing => format!("not selected: {shown}\n"),
    };
    for finding in &explanation.findings {
        let Finding { path, rule, text: rule_text, source, passes, is_term } = finding;
        let result = match (is_term, passes) {
            (false, true) => "  pass ",
            (false, false) => "  fail ",
            (true, true) => "     true ",
            (true, false) => "     false",
        };
        let place = match source {
            Some((file, line)) => format!("  {}:{line}:", sanitize(file)),
            None => String::new(),
        };
        let rule_text = sanitize(rule_text);
        let rule = if *is_term && source.is_none() { "" } else { &format!(" {}  {rule}", sanitize(path)) };
        let space = if source.is_some() || *is_term { " " } else { "  " };
        text.push_str(format!("{result}{rule}{place}{space}{rule_text}").trim_end());
        text.push('\n');
    }
    text.into_bytes()
}

/// The explanation as one JSON object.
fn json(path: &OsStr, explanation: &Explanation) -> Vec<u8> {
    let mut out = b"{".to_vec();
    write_path(&mut out, "path", path.as_bytes());
    let (fate, at, why) = match &explanation.fate {
        Fate::Selected => ("selected", None, None),
        Fate::Rejected | Fate::Missing => ("rejected", None, None),
        Fate::Skipped(at) => ("skipped", Some(at), None),
        Fate::NotEntered(at, why) => ("not_entered", Some(at), Some(why)),
    };
    // Writing to a Vec cannot fail.
    let _ = write!(out, ",\"result\":\"{fate}\"");
    if let Some(at) = at {
        out.push(b',');
        write_path(&mut out, "directory", at);
    }
    if let Some(why) = why {
        out.push(b',');
        write_path(&mut out, "reason", why.as_bytes());
    }
    out.extend_from_slice(b",\"rules\":[");
    for (nth, finding) in explanation.findings.iter().enumerate() {
        out.extend_from_slice(if nth > 0 { b",{" } else { b"{" });
        write_path(&mut out, "path", &finding.path);
        let _ = write!(out, ",\"rule\":\"{}\",", finding.rule);
        write_path(&mut out, "text", &finding.text);
        if let Some((file, line)) = &finding.source {
            out.push(b',');
            write_path(&mut out, "file", file);
            let _ = write!(out, ",\"line\":{line}");
        }
        let _ = write!(out, ",\"is_term\":{},\"passes\":{}}}", finding.is_term, finding.passes);
    }
    out.extend_from_slice(b"]}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_starting_point_counts() {
        let names = |root: &[&str], path: &str| {
            let roots: Vec<_> = root.iter().map(|root| CString::new(*root).unwrap()).collect();
            let (root, names) = place(&roots, Path::new(path))?;
            let names: Vec<_> = names.into_iter().map(|name| String::from_utf8(name).unwrap()).collect();
            Some((roots[root].to_str().unwrap().to_owned(), names.join("|")))
        };
        let found = |root: &str, names: &str| Some((root.to_owned(), names.to_owned()));
        assert_eq!(names(&["."], "./a//b/"), found(".", "a|b"));
        assert_eq!(names(&["."], "a/./b"), found(".", "a|b"));
        assert_eq!(names(&[".", "a"], "a/b"), found("a", "b"));
        assert_eq!(names(&["a"], "a"), found("a", ""));
        assert_eq!(names(&["a"], "ab"), None);
        assert_eq!(names(&["/nowhere"], "a"), None);
    }
}
