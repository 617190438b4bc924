//! Commands of ftk and its peers, written as one would type them.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::answer::Format;
use super::case::{Case, Pipeline};
use super::context::Context;

/// Rows of a table: the name of each row, and its command. The first word of a command is the name of a tool, and
/// `{name}` stands for the value of this name.
pub(crate) type Lines<'l> = [(&'l str, &'l str)];

/// Makes the cases of a group from its commands.
#[derive(Clone)]
pub(crate) struct Commands<'b> {
    bench: &'b Context,
    values: Vec<(&'static str, OsString)>,
    format: Format,
    status: i32,
}

impl<'b> Commands<'b> {
    /// Commands of which only the exit status counts, which must be 0. `{jobs}` is the number of threads.
    pub(crate) fn new(bench: &'b Context) -> Self {
        Self {
            bench,
            values: vec![("jobs", bench.jobs.to_string().into())],
            format: Format::Status,
            status: 0,
        }
    }

    /// Adds a value, which is never split into words.
    pub(crate) fn with(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.values.push((name, value.as_ref().to_owned()));
        self
    }

    /// Compares the output in this format.
    pub(crate) fn printing(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// Expects this exit status.
    pub(crate) fn ending_with(self, status: i32) -> Self {
        Self { status, ..self }
    }

    /// Returns a case for each line whose tool exists.
    pub(crate) fn cases(&self, lines: &Lines<'_>) -> Vec<Case> {
        let case = |(row, line): &(&str, &str)| {
            let pipeline = Pipeline::new(self.words(line)?).ending_with(self.status);
            Some(Case::new(row, self.format, pipeline))
        };
        lines.iter().filter_map(case).collect()
    }

    fn words(&self, line: &str) -> Option<Vec<OsString>> {
        let (tool, rest) = line.split_once(' ')?;
        let program: &Path =
            if tool == "ftk" { &self.bench.programs.ftk } else { self.bench.peers.get(tool)? };
        let words = rest.split_whitespace().map(|word| filled(word, &self.values));
        Some([program.into()].into_iter().chain(words).collect())
    }
}

/// Replaces the first value that the word contains.
fn filled(word: &str, values: &[(&str, OsString)]) -> OsString {
    for (name, value) in values {
        if let Some((before, after)) = word.split_once(&format!("{{{name}}}")) {
            return [OsStr::new(before), value, OsStr::new(after)].into_iter().collect();
        }
    }
    word.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_replace_their_names() {
        let values = [("jobs", "4".into()), ("tree", "/a b".into())];
        assert_eq!(filled("-j{jobs}", &values), "-j4");
        assert_eq!(filled("{tree}", &values), "/a b");
        assert_eq!(filled("{}", &values), "{}");
    }
}
