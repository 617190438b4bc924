//! The files that rules check.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The text of every file, by its path from the top of the repository.
#[derive(Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the files that git tracks, and untracked files that it does not ignore.
    pub(crate) fn of_repository() -> Result<Self> {
        let listed = Command::new("git")
            .args(["-c", "safe.directory=*"]) // CI may run as a different user than the one who cloned
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .output()
            .context("git is needed to list the files")?;
        ensure!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
        let mut files = BTreeMap::new();
        for path in String::from_utf8(listed.stdout)?.split_terminator('\0') {
            // A file may have been deleted without staging, and a symbolic link may point to a directory.
            if let Ok(bytes) = fs::read(path) {
                files.insert(path.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        ensure!(!files.is_empty(), "git lists no file");
        Ok(Self { files })
    }

    /// Makes a tree for a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there are files in the directory.
    pub(crate) fn has_directory(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        self.files.keys().any(|file| file.starts_with(&inside))
    }

    /// Returns paths and texts of the files whose path ends with `end`.
    pub(crate) fn ending<'t>(&'t self, end: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.files.iter().filter(move |(path, _)| path.ends_with(end)).map(|(path, text)| (&**path, &**text))
    }
}

/// Returns the path from the top of the repository that a relative path in the file `from` leads to.
pub(super) fn joined(from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// Counted from 1; 0 for the file as a whole.
    line: usize,
    what: String,
}

impl Finding {
    pub(crate) fn file(path: &str, what: impl Into<String>) -> Self {
        Self::line(path, 0, what)
    }

    pub(crate) fn line(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.what)
    }
}
