//! The lines of commands that change files, of a plan and of a run: a word, a path and a reason.

use std::fmt::Display;

use ftk_record::{RecordWriter, quote, sanitize, write_record};
use serde::Serialize;

use crate::colour::{self, Tone};
use crate::console::Console;
use crate::stdout::{Lines, Stdout};

/// What the summary of a plan says at its end.
pub(crate) const NOTHING_CHANGED: &str = ". Nothing was changed: add --yes to do it.";

/// Prints a line for each step: `link    backup/IMG_2041.CR2    frees 48.20 MB`, or an object of JSON.
#[derive(Debug)]
pub(crate) struct StepLines<'o> {
    lines: Lines<'o>,
    json: bool,
    is_coloured: bool,
    /// Width of the path column, which most paths fit into.
    width: usize,
    /// Whether only problems are printed.
    is_quiet: bool,
}

/// What a line is about, and what is done with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done<'a> {
    pub(crate) word: &'a str,
    pub(crate) tone: Option<Tone>,
    pub(crate) path: &'a [u8],
    /// Whether the path ends with a slash, in the text.
    pub(crate) is_directory: bool,
    pub(crate) weight: Weight,
}

/// What a line means for those who look only at problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Omitted with `--quiet`.
    Plain,
    /// The step was not done, or not completely.
    Problem,
    /// The exit status is 2 because of it. In text, this is a message on standard error instead of a line.
    Error,
}

impl<'o> StepLines<'o> {
    /// `omits`: in text, only problems are printed.
    pub(crate) fn new(out: &'o Stdout, json: bool, omits: bool, width: usize) -> Self {
        let is_quiet = omits && !json;
        Self { lines: Lines::new(out), json, is_coloured: colour::wanted(), width, is_quiet }
    }

    /// Prints a line that ends with `why`. `add` adds members to the object of JSON.
    pub(crate) fn print(
        &mut self,
        Done { word, tone, path, is_directory, weight }: Done<'_>,
        why: impl Display,
        add: impl FnOnce(&mut RecordWriter<'_, '_>),
    ) {
        let Self { json, is_coloured, width, is_quiet, .. } = *self;
        if is_quiet && weight == Weight::Plain {
            return;
        }
        self.lines.line(|out| {
            if json {
                return write_record(out, |record| {
                    add(record.member("action", action(word)).path("path", path))
                });
            }
            let slash = if is_directory && !path.ends_with(b"/") { "/" } else { "" };
            let path = sanitize(path) + slash;
            let style = tone.map(|tone| tone.style(is_coloured)).unwrap_or_default();
            let line = format!("  {style}{word:<8}{style:#} {path:<width$} {why}");
            out.extend_from_slice(line.trim_end().as_bytes());
            out.push(b'\n');
        });
    }

    /// Prints a line that ends with `why`, in JSON as a member. An error is a message, and with JSON also an object.
    pub(crate) fn say(&mut self, done: Done<'_>, why: &str) {
        if done.weight == Weight::Error {
            // What was done before comes first, also in a log of both streams.
            self.lines.flush();
            done.complain(why);
            if !self.json {
                return;
            }
        }
        self.print(done, why, |record| {
            if !why.is_empty() {
                record.member("why", why);
            }
        });
    }

    pub(crate) fn flush(&mut self) {
        self.lines.flush();
    }

    /// Ends the list; in JSON, its last object is `summary`.
    pub(crate) fn finish(&mut self, summary: impl Serialize) {
        self.object(|out| write_record(out, |record| _ = record.member("summary", summary)));
        self.lines.flush();
    }

    /// Prints the object that `push` appends, which is not about a step; nothing if the format is text.
    pub(crate) fn object(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        if self.json {
            self.lines.line(push);
        }
    }
}

impl Done<'_> {
    /// Prints the message of an error: `ftk: 'a/b': refused: content differs`
    pub(crate) fn complain(&self, why: &str) {
        let slash: &[u8] = if self.is_directory && !self.path.ends_with(b"/") { b"/" } else { b"" };
        let path = quote(&[self.path, slash].concat());
        let what = match self.word {
            "refuse" => "refused: ",
            "restore" => "restored, but it is ",
            _ => "",
        };
        Console::complain(format_args!("{path}: {what}{why}"));
    }
}

/// Returns `; 3 refused; 1 failed`: the counts that are not zero, each with its text.
pub(crate) fn rest<T: Display>(counts: impl IntoIterator<Item = (u64, T)>) -> String {
    counts.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| format!("; {text}")).collect()
}

/// Returns the name in JSON, where an action has the same name as in journals.
fn action(word: &str) -> &str {
    match word {
        "link" => "hardlink",
        "clone" => "reflink",
        word => word,
    }
}
