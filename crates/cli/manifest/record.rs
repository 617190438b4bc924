//! Prints findings, one line per entry, and their summary.

use ftk_hash::Algorithm;
use ftk_manifest::{Entry, Finding, Shift, Summary, Verdict};
use ftk_record::{write_path, write_string};
use indicatif::HumanCount;

use crate::colour::Tone;
use crate::console::{Console, Outcome};
use crate::human::{self, ARROW, describe_respelled, describe_split_links, forms, shown};
use crate::list::List;
use crate::manifest::corrupted::CorruptedArgs;
use crate::manifest::fields::change;
use crate::manifest::shift::{describe, push_json};

/// How findings are printed.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    /// The name of the JSON member for the verdict.
    pub(super) member: &'static str,
    /// The word for a verdict.
    pub(super) word: fn(Verdict) -> &'static str,
    pub(super) json: bool,
    /// Whether entries without differences are printed too.
    pub(super) all: bool,
    /// Whether the sizes of files that only one side has are printed.
    pub(super) has_sizes: bool,
    /// Whether nothing is printed, because the changes are printed by directory.
    pub(super) is_silent: bool,
}

/// Prints findings.
pub(super) struct Findings<'a> {
    manner: Manner,
    /// The algorithms of the old and the new digests.
    algorithms: [&'a [Algorithm]; 2],
    list: List<'a>,
    is_shown: bool,
    is_coloured: bool,
}

impl<'a> Findings<'a> {
    pub(super) fn new(manner: Manner, algorithms: [&'a [Algorithm]; 2], list: List<'a>) -> Self {
        let is_shown = list.is_shown();
        let is_coloured = list.is_coloured();
        Self { manner, algorithms, list, is_shown, is_coloured }
    }

    /// Prints a finding. An entry without differences is printed only if `all` is set. `why`: the reason why
    /// the file could not be read.
    pub(super) fn give(&mut self, finding: &Finding<'_>, why: Option<&str>) {
        if finding.verdict == Verdict::Ok && !self.manner.all {
            return;
        }
        let Self { manner, algorithms, is_shown, is_coloured, .. } = *self;
        let size = size_of_lone_file(finding).filter(|_| manner.has_sizes);
        let record = Record { word: (manner.word)(finding.verdict), finding, size, why, algorithms };
        self.line(|out| match manner.json {
            true => record.push_json(out, manner.member),
            false => record.push_text(out, is_shown, is_coloured),
        });
    }

    /// Prints the object that `push` appends, which is not about an entry.
    pub(super) fn object(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.line(push);
    }

    fn line(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        if !self.manner.is_silent {
            self.list.line(push);
        }
    }

    /// Prints a shift of nearly all times, in one line for the whole tree. `names` are the words for the old and the
    /// new times. Returns the outcome.
    pub(super) fn shift(&mut self, shift: Option<&Shift>, names: [&str; 2]) -> Outcome {
        let Some(shift) = shift else { return Outcome::Success };
        let Self { manner, is_shown, .. } = *self;
        let text = || describe(shift, names);
        self.line(|out| match (manner.json, is_shown) {
            (true, _) => push_json(out, manner.member, shift),
            (false, true) => {
                out.extend_from_slice(format!("  {:<10} {:<24}   {}\n", "shifted", ".", text()).as_bytes());
            }
            (false, false) => out.extend_from_slice(format!("shifted\t.\t{}\n", text()).as_bytes()),
        });
        Outcome::Negative
    }

    /// Prints, in one line for the whole tree, that none of the recorded hard links are left.
    pub(super) fn split_links(&mut self, groups: u64) {
        let Self { manner, is_shown, .. } = *self;
        self.line(|out| {
            let what = describe_split_links(groups);
            let line = match (manner.json, is_shown) {
                (true, _) => {
                    format!(
                        "{{\"{}\":\"unlinked\",\"path\":\".\",\"link_groups\":{groups}}}\n",
                        manner.member
                    )
                }
                (false, true) => format!("  {:<10} {:<24}   {what}\n", "unlinked", "."),
                (false, false) => format!("unlinked\t.\t{what}\n"),
            };
            out.extend_from_slice(line.as_bytes());
        });
    }

    /// Prints a JSON object for attributes that were not compared. This is not a difference.
    pub(super) fn uncompared(&mut self, uncompared: &Uncompared) {
        let Manner { json: true, member, .. } = self.manner else { return };
        let Uncompared { unrecorded, hidden } = *uncompared;
        let why = |why: String| {
            format!("{{\"{member}\":\"not_compared\",\"path\":\".\",\"field\":\"xattrs\",{why}}}\n")
        };
        let lines = [
            unrecorded.map(|_| why("\"reason\":\"not_recorded\"".into())),
            (hidden > 0).then(|| why(format!("\"reason\":\"hidden\",\"entries\":{hidden}"))),
        ];
        for line in lines.into_iter().flatten() {
            self.line(|out| out.extend_from_slice(line.as_bytes()));
        }
    }

    /// Prints the findings so far, so that they do not wait for the end of a long run.
    pub(super) fn flush(&mut self) {
        self.list.flush();
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.list.finish()
    }
}

/// Extended attributes that were not compared, although they were to be.
pub(super) struct Uncompared {
    /// Which manifests have none, as the end of a sentence.
    pub(super) unrecorded: Option<&'static str>,
    /// The number of entries with attributes that only root sees, and that one side does not know.
    pub(super) hidden: u64,
}

impl Uncompared {
    /// Prints them in the summary.
    pub(super) fn say(&self, console: &Console) {
        if let Some(end) = self.unrecorded {
            console.summary(format_args!("attributes were not recorded{end}"));
        }
        if self.hidden > 0 {
            let entries = human::entries(self.hidden);
            console.summary(format_args!(
                "{entries} with attributes that only root sees (trusted.*): these were not compared"
            ));
        }
    }
}

/// Prints `  418,113 of 418,118 as recorded; 1 corrupted, 4 new   (status 1)`. Returns the outcome, which is
/// at least `outcome`. `good` are the words for entries without differences. A file whose content was not
/// compared does not count as such an entry.
pub(super) fn say_counts(
    summary: &Summary,
    good: &str,
    word: fn(Verdict) -> &'static str,
    outcome: Outcome,
    corrupted: &CorruptedArgs,
    console: &Console,
) -> Outcome {
    // Files that were not read may differ.
    let known = summary.count(Verdict::Ok) - summary.unread;
    console.stats.result(word(Verdict::Ok), known);
    console.stats.result("unread", summary.unread);
    SAID.into_iter().for_each(|verdict| console.stats.result(word(verdict), summary.count(verdict)));
    let mut said: Vec<_> = Some(counts(summary, word)).filter(|it| !it.is_empty()).into_iter().collect();
    if summary.split_links > 0 {
        console.stats.result("unlinked", summary.split_links);
        said.push(describe_split_links(summary.split_links));
    }
    let found = match () {
        () if summary.count(Verdict::Unreadable) + summary.count(Verdict::Unknown) > 0 => Outcome::Error,
        () if summary.count(Verdict::Corrupted) + summary.undecided + summary.untimed > 0 => {
            corrupted.outcome()
        }
        () if said.is_empty() => Outcome::Success,
        () => Outcome::Negative,
    };
    let outcome = outcome.max(found);
    let same = format!("{} of {} {good}", HumanCount(known), HumanCount(summary.total()));
    let unread = match summary.unread {
        0 => String::new(),
        n => format!(", {} not read", human::count(n, "file")),
    };
    let gap = if said.is_empty() { "" } else { "; " };
    console.summary(match outcome {
        Outcome::Success => format!("{same}{unread}"),
        _ => format!("{same}{unread}{gap}{}   (status {})", said.join(", "), outcome.status()),
    });
    if summary.undecided > 0 {
        let files = human::count(summary.undecided, "modified file");
        console
            .summary(format_args!("{files} perhaps corrupted: the record shows neither an edit nor damage"));
    }
    if summary.respelled > 0 {
        console.summary(describe_respelled(summary.respelled));
    }
    outcome
}

/// Verdicts in the order of the summary, the worst first.
const SAID: [Verdict; 9] = [
    Verdict::Unreadable,
    Verdict::Unknown,
    Verdict::Corrupted,
    Verdict::Modified,
    Verdict::Respelled,
    Verdict::Metadata,
    Verdict::Moved,
    Verdict::New,
    Verdict::Missing,
];

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Ok => Tone::Good,
        Verdict::Moved | Verdict::Respelled | Verdict::New | Verdict::Missing => Tone::Notable,
        Verdict::Metadata => Tone::Minor,
        _ => Tone::Wrong,
    }
}

/// Returns the size of a file that only one side has, if it is known.
fn size_of_lone_file(finding: &Finding<'_>) -> Option<u64> {
    let is_lone = matches!(finding.verdict, Verdict::Missing | Verdict::New);
    let entry = finding.old.or(finding.new).filter(|entry| is_lone && entry.stat.is_regular())?;
    entry.size()
}

/// Returns the normal forms of the name, if they differ.
fn forms_of(finding: &Finding<'_>) -> Option<[&'static str; 2]> {
    let new_path = finding.new_path.filter(|_| finding.is_respelled)?;
    Some(forms([finding.path, new_path]))
}

/// Returns `name NFC → NFD` if the name is in another normal form.
pub(super) fn respelling(finding: &Finding<'_>) -> Option<String> {
    forms_of(finding).map(|[old, new]| format!("name {old} {ARROW} {new}"))
}

/// Returns how a damaged file differs from its record.
pub(super) fn corruption(old: &Entry<'_>, new: &Entry<'_>) -> &'static str {
    match old.stat.mtime_ns == new.stat.mtime_ns {
        true => "content changed, size and mtime did not",
        false => "content changed, size did not, and mtime shifted",
    }
}

/// Returns a finding as a line of text: `modified letters/a.txt size 3 → 4`.
pub(super) fn text(finding: &Finding<'_>, word: &'static str, algorithms: &[Algorithm]) -> String {
    let record = Record { word, finding, size: None, why: None, algorithms: [algorithms; 2] };
    [word, &shown(finding.path), &record.details()].join(" ").trim_end().to_owned()
}

/// Returns `1 corrupted, 4 new`: the counts that are not zero, the worst first.
pub(super) fn counts(summary: &Summary, word: fn(Verdict) -> &'static str) -> String {
    let given = SAID.into_iter().filter(|verdict| summary.count(*verdict) > 0);
    let said = given.map(|it| format!("{} {}", HumanCount(summary.count(it)), word(it)));
    said.collect::<Vec<_>>().join(", ")
}

/// A finding to print.
struct Record<'r> {
    word: &'static str,
    finding: &'r Finding<'r>,
    size: Option<u64>,
    why: Option<&'r str>,
    algorithms: [&'r [Algorithm]; 2],
}

impl Record<'_> {
    /// Appends a line with three columns, separated by tabs, or aligned with spaces for a terminal.
    fn push_text(&self, out: &mut Vec<u8>, is_shown: bool, is_coloured: bool) {
        let style = tone(self.finding.verdict).style(is_coloured);
        let (word, path, details) = (self.word, shown(self.finding.path), self.details());
        let line = match (is_shown, details.is_empty()) {
            (true, true) => format!("  {style}{word:<10}{style:#} {path}\n"),
            (true, false) => format!("  {style}{word:<10}{style:#} {path:<24}   {details}\n"),
            (false, true) => format!("{style}{word}{style:#}\t{path}\n"),
            (false, false) => format!("{style}{word}{style:#}\t{path}\t{details}\n"),
        };
        out.extend_from_slice(line.as_bytes());
    }

    /// Returns the third column: error, new path, size and changed fields.
    fn details(&self) -> String {
        let Finding { verdict, new_path, changed, .. } = *self.finding;
        let mut parts: Vec<String> = self.why.into_iter().map(Into::into).collect();
        parts.extend(
            new_path.filter(|_| verdict == Verdict::Moved).map(|path| format!("{ARROW} {}", shown(path))),
        );
        parts.extend(self.size.map(|size| format!("size {size}")));
        parts.extend(respelling(self.finding));
        if let (Some(old), Some(new)) = (&self.finding.old, &self.finding.new) {
            if verdict == Verdict::Corrupted {
                parts.push(corruption(old, new).into());
            }
            parts.extend(changed.iter().map(|field| change(*field, [old, new], self.algorithms)));
        }
        parts.join(", ")
    }

    /// Appends `{"verdict":"metadata","path":"a","changes":[{"field":"mode","old":"0644","new":"0600"}]}`.
    fn push_json(&self, out: &mut Vec<u8>, member: &str) {
        let Finding { path, new_path, changed, .. } = *self.finding;
        out.extend_from_slice(format!("{{\"{member}\":\"{}\",", self.word).as_bytes());
        write_path(out, "path", path);
        if let Some(path) = new_path {
            out.push(b',');
            write_path(out, "new_path", path);
        }
        if let Some([old, new]) = forms_of(self.finding) {
            out.extend_from_slice(format!(",\"old_form\":\"{old}\",\"new_form\":\"{new}\"").as_bytes());
        }
        if let Some(size) = self.size {
            out.extend_from_slice(format!(",\"size_bytes\":{size}").as_bytes());
        }
        if let Some(why) = self.why {
            out.extend_from_slice(b",\"error\":");
            write_string(out, why);
        }
        if let (Some(old), Some(new), false) = (&self.finding.old, &self.finding.new, changed.is_empty()) {
            out.extend_from_slice(b",\"changes\":[");
            for (nth, &field) in changed.iter().enumerate() {
                let gap = if nth == 0 { "" } else { "," };
                out.extend_from_slice(format!("{gap}{{\"field\":\"{field}\",").as_bytes());
                field.write_member(out, "old", old, self.algorithms[0]);
                out.push(b',');
                field.write_member(out, "new", new, self.algorithms[1]);
                out.push(b'}');
            }
            out.push(b']');
        }
        out.extend_from_slice(b"}\n");
    }
}
