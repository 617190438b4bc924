//! Commands of ftk and its peers, written as one would type them.
//!
//! A text has groups, separated by blank lines. The first line of a group is `# TITLE`, and may end with options in
//! brackets: the [format](Format) of the output, `differ` if the exit status must be 1, `shell` for commands that a
//! shell starts. Every other line is a row: `TOOL ARGUMENTS`, or `[NAME] TOOL ARGUMENTS` if the name of the row is not
//! that of the tool. `A|B ARGUMENTS` is a row for A and one for B. A word with blanks is put between single quotes.
//!
//! `{name}` stands for the value of this name, which is never split into words; if it has several values, the word is
//! repeated for each. The first word of a command, and any word that begins with `@`, is the name of a program. A row
//! with a peer that is missing is not measured.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::answer::Format;
use super::case::{Case, Pipeline};
use super::context::Context;
use super::measure::Meter;
use super::peers;
use super::record::Group;
use super::tree::Tree;

/// Makes the cases of groups from a text.
#[derive(Clone)]
pub(crate) struct Commands<'b> {
    bench: &'b Context,
    values: Vec<(&'static str, Vec<String>)>,
}

impl<'b> Commands<'b> {
    /// `{jobs}` is the number of threads, `{scratch}` the folder of generated trees, with a slash.
    pub(crate) fn new(bench: &'b Context) -> Self {
        let commands = Self { bench, values: Vec::new() };
        commands.with("jobs", bench.jobs.to_string()).with("scratch", bench.scratch.path(""))
    }

    /// Adds the path of a tree, two of its extensions, and a size that some files exceed.
    pub(crate) fn on(bench: &'b Context, tree: &Tree) -> Self {
        let extension = |nth: usize| tree.extensions.get(nth).map_or("txt", String::as_str);
        let commands = Self::new(bench).with("tree", &tree.path);
        let commands = commands.with("first", extension(0)).with("second", extension(1));
        commands.with("size", tree.threshold.to_string()).with("above", (tree.threshold + 1).to_string())
    }

    /// Adds a value, which replaces an earlier one of this name.
    pub(crate) fn with(self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.with_all(name, [value])
    }

    /// Adds a name with several values, or none.
    pub(crate) fn with_all(
        mut self,
        name: &'static str,
        all: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Self {
        let all = all.into_iter().map(|value| value.as_ref().display().to_string());
        self.values.push((name, all.collect()));
        self
    }

    /// Measures every group of a text that is about this number of files.
    pub(crate) fn measure(&self, meter: Meter<'_>, files: u64, text: &str) -> Result<Vec<Group>> {
        let groups = self.groups(text).into_iter();
        groups.map(|(title, cases)| meter.group(&title, files, cases)).collect()
    }

    /// Returns the title and the cases of every group of a text.
    pub(crate) fn groups(&self, text: &str) -> Vec<(String, Vec<Case>)> {
        blocks(text).map(|(heading, rows)| self.block(heading, rows)).collect()
    }

    /// Returns the title and the cases of a text with one group.
    pub(crate) fn group(&self, text: &str) -> (String, Vec<Case>) {
        self.groups(text).swap_remove(0)
    }

    fn block(&self, heading: &str, rows: &str) -> (String, Vec<Case>) {
        let options =
            heading.rsplit_once(" [").and_then(|(title, rest)| Some((title, rest.strip_suffix(']')?)));
        let (title, options) = options.unwrap_or((heading, ""));
        let (mut format, mut status, mut is_forked) = (Format::Status, 0, false);
        for option in options.split(", ").filter(|option| !option.is_empty()) {
            match option {
                "differ" => status = 1,
                "shell" => is_forked = true,
                _ => format = Format::named(option),
            }
        }
        let cases = rows.lines().flat_map(alternatives).filter_map(|line| self.case(&line, format, status));
        let cases = cases.map(|case| if is_forked { case.forked() } else { case }).collect();
        (self.filled(title).join(" "), cases)
    }

    /// Returns the case of a row; `None` if a program is missing.
    fn case(&self, line: &str, format: Format, status: i32) -> Option<Case> {
        let (name, command) = labelled(line);
        let mut stages = vec![Vec::new()];
        for word in words(command) {
            let stage = stages.last_mut().expect("there is a stage");
            if word == "|" {
                stages.push(Vec::new());
            } else if stage.is_empty() || word.starts_with('@') {
                stage.push(self.program(word.trim_start_matches('@'))?.into());
            } else {
                stage.extend(self.filled(word).into_iter().map(Into::into));
            }
        }
        Some(Case::new(&self.filled(name).join(" "), format, Pipeline { stages, status }))
    }

    /// Returns the path of ftk, of this program, or of a peer that was found; other programs are not looked for.
    fn program(&self, name: &str) -> Option<PathBuf> {
        match name {
            "ftk" => Some(self.bench.programs.ftk.clone()),
            "ftk-query" => self.bench.programs.query.clone(),
            "xtask" => Some(self.bench.programs.helper.clone()),
            _ if peers::ALL.iter().all(|peer| peer.name != name) => Some(name.into()),
            _ => self.bench.peers.get(name).map(Path::to_owned),
        }
    }

    fn filled(&self, word: &str) -> Vec<String> {
        filled(word, &self.values)
    }
}

/// Returns the heading and the rows of each group of a text.
pub(crate) fn blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let blocks = text.split("\n\n").filter_map(|block| block.trim().strip_prefix("# "));
    blocks.map(|block| block.split_once('\n').unwrap_or((block, "")))
}

/// Splits a row into its name and its command.
pub(crate) fn labelled(line: &str) -> (&str, &str) {
    let labelled = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    labelled.unwrap_or_else(|| (line.split(' ').next().unwrap_or_default(), line))
}

/// Returns a row for each of the tools that share one.
fn alternatives(line: &str) -> Vec<String> {
    let (tools, rest) = line.split_once(' ').unwrap_or((line, ""));
    tools.split('|').map(|tool| format!("{tool} {rest}")).collect()
}

/// Splits a command at blanks, except between single quotes.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(nth, part)| {
            if nth % 2 == 1 { vec![part] } else { part.split(' ').filter(|it| !it.is_empty()).collect() }
        })
        .collect()
}

/// Replaces names by their values. A word with a name of several values becomes several words.
fn filled(word: &str, values: &[(&str, Vec<String>)]) -> Vec<String> {
    for (name, all) in values.iter().rev() {
        let name = format!("{{{name}}}");
        if word.contains(&name) {
            return all.iter().flat_map(|value| filled(&word.replace(&name, value), values)).collect();
        }
    }
    vec![word.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_replace_their_names() {
        let values = [
            ("jobs", vec!["8".to_owned()]),
            ("jobs", vec!["4".to_owned()]),
            ("tree", vec!["/a b".to_owned()]),
            ("each", vec!["-d".to_owned(), "x".to_owned()]),
            ("none", vec![]),
        ];
        assert_eq!(filled("-j{jobs}", &values), ["-j4"]);
        assert_eq!(filled("{tree}/{jobs}", &values), ["/a b/4"]);
        assert_eq!(filled("{each}", &values), ["-d", "x"]);
        assert_eq!(filled("{none}", &values), [""; 0]);
        assert_eq!(filled("{}", &values), ["{}"]);
    }

    #[test]
    fn rows_have_names_and_words() {
        assert_eq!(labelled("fd -x {a}"), ("fd", "fd -x {a}"));
        assert_eq!(labelled("[diff -q] diff -q"), ("diff -q", "diff -q"));
        assert_eq!(alternatives("find|bfs {tree} | wc -l"), ["find {tree} | wc -l", "bfs {tree} | wc -l"]);
        assert_eq!(words("a  'b c' -d 'e > 1'"), ["a", "b c", "-d", "e > 1"]);
    }

    #[test]
    fn groups_are_separated_by_blank_lines() {
        let text = "\n# one [lines]\na b\nc\n\n# two\nd\n\n# none\n";
        let expected = [("one [lines]", "a b\nc"), ("two", "d"), ("none", "")];
        assert_eq!(blocks(text).collect::<Vec<_>>(), expected);
    }
}
