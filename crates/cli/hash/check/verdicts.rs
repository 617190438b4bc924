//! Prints and counts the verdicts of a run, and derives the exit status.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_hash::{Algorithm, Digest};
use ftk_record::{End, quote};
use indicatif::HumanCount;

use crate::console::{Console, Outcome};
use crate::hash::assumed::matching;
use crate::hash::check::CheckArgs;
use crate::hash::check::elsewhere;
use crate::hash::check::files::{Files, Paths, Trouble};
use crate::hash::check::lists::{Line, Lines, List, confined};
use crate::hash::check::verdict::{CheckResult, Record};
use crate::hash::reading::{self, ReadList};
use crate::list;
use crate::run::Run;

/// How verdicts are printed.
pub(super) struct Manner<'a> {
    pub(super) args: &'a CheckArgs,
    /// Whether files that match are omitted.
    pub(super) is_quiet: bool,
    pub(super) json: bool,
    pub(super) end: End,
}

/// Prints verdicts, and counts them.
pub(super) struct Verdicts<'a> {
    manner: Manner<'a>,
    out: list::List<'a>,
    is_shown: bool,
    is_coloured: bool,
    console: &'a Console,
    counts: Counts,
    /// For each list that was found below a directory, a line of the summary.
    summaries: Vec<String>,
    /// Whether the lists have digests of several algorithms, so that the verdict on a line with one digest names it.
    has_several_algorithms: bool,
    /// The number of missing files, even if they are ignored.
    missing: u64,
    /// The smallest of the first files whose content differs.
    failed: Option<FailedFile>,
    outcome: Outcome,
}

/// The comparison of one digest of a list.
struct Compared<'l> {
    verdict: CheckResult,
    expected: (Algorithm, &'l [u8]),
    found: Option<&'l [u8]>,
    trouble: Option<Trouble>,
}

impl<'l> Compared<'l> {
    /// Compares a line with the file that it names. Removes its digest and size from the front of `expected`.
    fn of(line: Line, expected: &mut &'l [u8], paths: &Paths<'l>) -> Self {
        const PRESENT: &str = "a line has its digest, and its size if it says so";
        let digest = expected.split_off(..line.algorithm.digest_len()).expect(PRESENT);
        let size = line.has_size.then(|| {
            let (size, rest) = expected.split_first_chunk().expect(PRESENT);
            *expected = rest;
            u64::from_be_bytes(*size)
        });
        let (verdict, found, trouble) = match paths.digest(line) {
            Err(trouble) => (trouble.verdict, None, Some(trouble)),
            Ok(found) if found != digest => (CheckResult::Failed, Some(found), None),
            Ok(found) => match size.and_then(|listed| Some((listed, paths.size(line)?))) {
                Some((listed, size)) if listed != size => {
                    let cause = format!("its size is {size}, but the list says {listed}");
                    let trouble = Trouble { verdict: CheckResult::Failed, verb: "verify", cause };
                    (CheckResult::Failed, Some(found), Some(trouble))
                }
                _ => (CheckResult::Ok, Some(found), None),
            },
        };
        Self { verdict, expected: (line.algorithm, digest), found, trouble }
    }

    /// Compares all lines of a file, at least one. One difference decides; if there is none, the result is that of the
    /// first digest.
    fn worst(record: &[Line], expected: &mut &'l [u8], paths: &Paths<'l>) -> Self {
        let mut worst: Option<Self> = None;
        for &line in record {
            let compared = Self::of(line, expected, paths);
            if worst.as_ref().is_none_or(|worst| worst.verdict == CheckResult::Ok)
                && (worst.is_none() || compared.verdict != CheckResult::Ok)
            {
                worst = Some(compared);
            }
        }
        worst.expect("a record has a line")
    }
}

/// Number of files by verdict.
#[derive(Clone, Copy, Debug, Default)]
struct Counts([u64; CheckResult::ALL.len()]);

impl Counts {
    /// Whether no digest matched, and fewer than `most` did not.
    fn is_without_ok(&self, most: u64) -> bool {
        self.of(CheckResult::Ok) == 0 && self.of(CheckResult::Failed) < most
    }

    fn of(&self, verdict: CheckResult) -> u64 {
        self.0[verdict as usize]
    }

    /// Returns what was counted after `before`.
    fn since(&self, before: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] - before.0[at]))
    }
}

/// `12 ok, 1 failed`; nothing if nothing was counted.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = CheckResult::ALL.into_iter().filter(|it| self.of(*it) > 0);
        for (nth, it) in given.enumerate() {
            let comma = if nth > 0 { ", " } else { "" };
            write!(f, "{comma}{} {}", HumanCount(self.of(it)), it.word().replace('_', " "))?;
        }
        Ok(())
    }
}

impl<'a> Verdicts<'a> {
    pub(super) fn new(manner: Manner<'a>, out: list::List<'a>, console: &'a Console) -> Self {
        let is_shown = out.is_shown();
        // Records that end with NUL are for programs.
        let is_coloured = manner.end == End::Newline && out.is_coloured();
        Self {
            manner,
            out,
            is_shown,
            is_coloured,
            console,
            counts: Counts::default(),
            summaries: Vec::new(),
            has_several_algorithms: false,
            missing: 0,
            failed: None,
            outcome: Outcome::Success,
        }
    }

    /// Prints the verdict on every line of every list, in their order. `arguments` are the lists, as they were given.
    pub(super) fn of_lines(&mut self, lines: &Lines, files: &Files, arguments: &[OsString]) {
        self.has_several_algorithms = files.algorithms().len() > 1;
        let mut paths = files.paths(lines);
        let mut expected = &*lines.expected;
        for list in &lines.lists {
            let all_before = self.counts;
            for (path, verdict) in &list.generations {
                self.without_digest(*verdict, [&**path]);
            }
            let (before, missing) = (self.counts, self.missing);
            let part = &lines.lines[list.lines.clone()];
            self.of_part(part, &mut expected, &mut paths);
            self.of_list(list, self.counts.since(before).of(CheckResult::Ok) > 0);
            if list.is_found {
                // The error about a list without checksums has been printed.
                if list.read.usable > 0 {
                    let what = self.counts.since(all_before).to_string();
                    let what = if what.is_empty() { "no file checked" } else { &what };
                    self.summaries.push(format!("{}: {what}", list.read.name));
                }
                continue;
            }
            let files = part.iter().filter(|line| !line.is_more).count() as u64;
            if files > 0 && self.missing - missing == files && !self.manner.args.status {
                let names = part.iter().map(|line| paths.of(*line).to_vec());
                if let Some(hint) = elsewhere::hint(list, self.manner.args.root.as_deref(), arguments, names)
                {
                    self.console.summary(hint);
                }
            }
        }
    }

    /// Prints the verdict on every file, whichever list it is from. `links` are the last ones: the name of each, which
    /// is printed instead of the path where it leads, and the number of its first line.
    pub(super) fn of_files(&mut self, lines: &Lines, files: &Files, links: &[(Vec<u8>, usize)]) {
        let (mut paths, mut expected) = (files.paths(lines), &*lines.expected);
        let end = links.first().map_or(lines.lines.len(), |(_, first)| *first);
        self.of_part(&lines.lines[..end], &mut expected, &mut paths);
        for (record, (name, _)) in lines.lines[end..].chunk_by(|_, next| next.is_more).zip(links) {
            let compared = Compared::worst(record, &mut expected, &paths);
            self.of_file(name, compared, false);
        }
    }

    /// Prints a verdict on each file. `expected` are the digests and sizes from the first line on.
    fn of_part<'l>(&mut self, part: &[Line], expected: &mut &'l [u8], paths: &mut Paths<'l>) {
        for record in part.chunk_by(|_, next| next.is_more) {
            let compared = Compared::worst(record, expected, paths);
            let names_algorithm = self.has_several_algorithms && record.len() == 1;
            self.of_file(paths.of(record[0]), compared, names_algorithm);
        }
    }

    fn of_file(&mut self, path: &[u8], compared: Compared<'_>, names_algorithm: bool) {
        let Compared { verdict, expected, found, trouble } = compared;
        self.missing += u64::from(verdict == CheckResult::Missing);
        if verdict == CheckResult::Missing && self.manner.args.ignore_missing {
            return;
        }
        // The verdict of a missing file says enough; a message on standard error would only repeat it.
        if let Some(Trouble { verb, cause, .. }) = &trouble
            && verdict != CheckResult::Missing
            && !self.manner.args.status
        {
            self.console.path_error(verb, path, cause);
        }
        // Only as long as no digest shows that the algorithm is right.
        if found.is_some() && verdict == CheckResult::Failed && self.counts.is_without_ok(SAMPLE) {
            let file = FailedFile::of(path, expected, self.manner.args.root.as_deref());
            let best = self.failed.take().into_iter().chain(file);
            self.failed = best.min_by_key(|file| file.size);
        }
        let error = trouble.as_ref().map(|trouble| &*trouble.cause);
        let expected = Some(expected);
        self.give(&Record { path, verdict, expected, names_algorithm, found, error });
    }

    /// Prints a verdict for which no digest was compared: `New` or `NotListed`.
    pub(super) fn without_digest<'p>(
        &mut self,
        verdict: CheckResult,
        paths: impl IntoIterator<Item = &'p [u8]>,
    ) {
        for path in paths {
            let record =
                Record { path, verdict, expected: None, names_algorithm: false, found: None, error: None };
            self.give(&record);
        }
    }

    fn give(&mut self, record: &Record<'_>) {
        self.counts.0[record.verdict as usize] += 1;
        self.outcome = self.outcome.max(record.verdict.outcome());
        if self.manner.args.status || (self.manner.is_quiet && record.verdict == CheckResult::Ok) {
            return;
        }
        let Manner { json, end, .. } = self.manner;
        let (is_shown, is_coloured) = (self.is_shown, self.is_coloured);
        let line = |out: &mut Vec<u8>| match json {
            true => record.push_json(out),
            false => record.push_text(out, end, is_shown, is_coloured),
        };
        self.out.line(line);
    }

    /// Reports problems of a list as a whole. `is_ok`: at least one of its files matches.
    fn of_list(&mut self, list: &List, is_ok: bool) {
        let ReadList { name, malformed, unusable, lacks_asked, is_unended, is_cut_off, .. } = &list.read;
        let CheckArgs { ignore_missing, status, strict, .. } = *self.manner.args;
        if list.read.usable == 0 && *unusable == 0 {
            let why = list.read.why_empty();
            self.fail(Outcome::Error, format!("{name}: no properly formatted checksum lines found{why}"));
            return;
        }
        if *is_cut_off {
            self.fail(Outcome::Error, format!("{name} is incomplete: its last line is cut off"));
        }
        if *unusable > 0 || *lacks_asked || (strict && (*malformed > 0 || *is_unended)) {
            self.outcome = Outcome::Error;
        }
        if ignore_missing && !is_ok && !list.lines.is_empty() {
            self.outcome = self.outcome.max(Outcome::Negative);
            if !status {
                self.console.error(format_args!("{name}: no file was verified"));
            }
        }
    }

    /// Reports a bad list. This is printed even with `--status`, since the exit status alone would not
    /// explain it.
    fn fail(&mut self, outcome: Outcome, message: String) {
        self.outcome = self.outcome.max(outcome);
        self.console.error(message);
    }

    /// Flushes the output, prints the summary, and returns the outcome.
    pub(super) fn finish(self, lines: &Lines, files: &Files, run: &Run<'_>) -> anyhow::Result<Outcome> {
        let Self { manner, out, console, counts, summaries, failed, outcome, .. } = self;
        out.finish()?;
        CheckResult::ALL.into_iter().for_each(|it| console.stats.result(it.word(), counts.of(it)));
        if !manner.args.status {
            warn(lines, counts, console);
            if let Some(failed) = failed.filter(|_| counts.of(CheckResult::Ok) == 0) {
                failed.say_other_algorithm(lines, manner.args.root.as_deref(), run)?;
            }
            lines.lists.iter().for_each(|list| list.read.say_notes(console));
            summaries.iter().for_each(|line| console.summary(line));
            let given = counts.to_string();
            if !given.is_empty() {
                run.say_done(&given, files.bytes(), &files.algorithms());
            }
        }
        Ok(outcome)
    }
}

/// Prints the warnings of the coreutils, and one for new files.
fn warn(lines: &Lines, counts: Counts, console: &Console) {
    // A list without any usable line has been reported as an error, so there is no warning about its
    // malformed lines.
    let usable = lines.lists.iter().filter(|list| list.read.usable > 0);
    reading::warn_of_text(usable.map(|list| &list.read), console);
    let unread = counts.of(CheckResult::Unreadable) + counts.of(CheckResult::Changed);
    for (n, one, many) in [
        (counts.of(CheckResult::Missing), "listed file is missing", "listed files are missing"),
        (unread, "listed file could not be read", "listed files could not be read"),
        (
            counts.of(CheckResult::Failed),
            "computed checksum did NOT match",
            "computed checksums did NOT match",
        ),
        (
            counts.of(CheckResult::New) + counts.of(CheckResult::NotListed),
            "file is not in any list",
            "files are not in any list",
        ),
    ] {
        if n > 0 {
            console.warning(format_args!("WARNING: {n} {}", if n == 1 { one } else { many }));
        }
    }
}

/// The most files with other content of which the smallest is read again.
const SAMPLE: u64 = 16;

/// A file with other content than listed.
struct FailedFile {
    path: Vec<u8>,
    /// The algorithm of its line, and the listed digest.
    expected: (Algorithm, Digest),
    size: u64,
}

impl FailedFile {
    /// Returns `None` if it has no size by now.
    fn of(path: &[u8], (algorithm, digest): (Algorithm, &[u8]), root: Option<&Path>) -> Option<Self> {
        let size = root.unwrap_or(Path::new("")).join(OsStr::from_bytes(path)).metadata().ok()?.len();
        Some(Self { path: path.to_vec(), expected: (algorithm, Digest::from_bytes(digest)), size })
    }

    /// Says by which algorithm the list is, if another one than assumed shows that the file is intact. Without this
    /// proof the file has changed, and no other reason is given for its verdict.
    fn say_other_algorithm(&self, lines: &Lines, root: Option<&Path>, run: &Run<'_>) -> anyhow::Result<()> {
        let (assumed, listed) = self.expected;
        if !lines.lists.iter().any(|list| list.read.assumed.contains(&assumed)) {
            return Ok(());
        }
        let mut paths = confined(root)?;
        if paths.push(&self.path).is_err() {
            return Ok(());
        }
        if let Some(other) = matching(paths, &[listed], run)?.first() {
            run.console.summary(format_args!(
                "{} has the listed digest by {other}, but not by {assumed}, which its length suggests: add -a {other}",
                quote(&self.path)
            ));
        }
        Ok(())
    }
}
