//! Reading a journal, including one of a run that was killed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use ftk_record::{Object, quote, read_path};
use serde::Deserialize;

use crate::action::ActionKind;
use crate::intent::{Intent, IntentRecord, MadeRecord};

/// The longest line that is read, in bytes: two paths ten thousand levels deep, and the attributes of a file.
const MAX_LINE: u64 = 16 << 20;

/// The version of the format that is read.
const VERSION: u64 = 1;

/// Why a journal cannot be used at all.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal cannot be opened or read.
    Read(io::Error),
    /// The journal is a symbolic link.
    SymbolicLink,
    /// The journal is a directory, a pipe or a device.
    NotRegular,
    /// The journal belongs to this user, who is neither the caller nor root.
    Owner(u32),
    /// The journal has these permissions, which let other users write to it.
    Writable(u32),
    /// The journal is an empty file: the run was killed before it did anything.
    Empty,
    /// The first line is not the header of a journal.
    NotJournal,
    /// The journal has this version, which this ftk cannot read.
    Version(u64),
    /// This line, counted from 1, is not a record of a journal.
    Malformed(u64),
    /// The working directory of the run cannot be opened.
    WorkingDirectory(PathBuf, io::Error),
    /// The restored names cannot be synced to the disk.
    Sync(io::Error),
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(_) => f.write_str("cannot read the journal"),
            Self::SymbolicLink => f.write_str("it is a symbolic link: name the journal itself"),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::Owner(owner) => write!(
                f,
                "it belongs to user {owner}, and undo accepts only journals of the caller or of root: run undo as user {owner}, or check every line of the journal and undo a copy of it"
            ),
            Self::Writable(mode) => write!(
                f,
                "other users may write to it (mode {mode:04o}): check every line of the journal, then chmod go-w"
            ),
            Self::Empty => f.write_str("it is empty: nothing was done"),
            Self::NotJournal => f.write_str("it is not a journal of ftk"),
            Self::Version(version) => {
                write!(
                    f,
                    "its version is {version}, and this ftk reads version {VERSION}: use the ftk that wrote it"
                )
            }
            Self::Malformed(line) => {
                write!(f, "line {line} is not a record of a journal; nothing was undone")
            }
            Self::WorkingDirectory(path, _) => {
                let path = quote(path.as_os_str().as_bytes());
                write!(f, "cannot open {path}, the working directory of the run")
            }
            Self::Sync(_) => f.write_str("cannot sync the restored files"),
        }
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) | Self::WorkingDirectory(_, error) | Self::Sync(error) => Some(error),
            _ => None,
        }
    }
}

/// What a run did, by its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalSummary {
    /// The start of the run, in nanoseconds since the Unix epoch; `None` if the journal does not say it.
    pub started_ns: Option<i128>,
    /// The working directory of the run.
    pub directory: PathBuf,
    /// The number of steps of each kind that were performed, or may have been.
    pub steps: BTreeMap<ActionKind, u64>,
}

/// Reads a journal to its end and counts its steps. It does not find out which of them were undone later.
///
/// # Errors
/// If the journal cannot be read or is invalid.
pub fn summarize(journal: impl BufRead) -> Result<JournalSummary, JournalError> {
    let History { cwd, started_ns, steps } = History::read(journal)?;
    let mut counts = BTreeMap::new();
    steps.iter().for_each(|step| *counts.entry(step.kind).or_default() += 1);
    Ok(JournalSummary { started_ns, directory: cwd, steps: counts })
}

/// The content of a journal.
#[derive(Debug)]
pub(crate) struct History {
    /// The start of the run.
    pub(crate) started_ns: Option<i128>,
    /// The working directory of the run.
    pub(crate) cwd: PathBuf,
    /// The steps that were performed, or may have been, in order.
    pub(crate) steps: Vec<Intent>,
}

impl History {
    /// Reads all of a journal. An incomplete line at the end, which a killed run has left, is ignored. If it
    /// is an intent, its step was not performed, since a step is performed only after its whole intent is on
    /// the disk.
    pub(crate) fn read(mut journal: impl BufRead) -> Result<Self, JournalError> {
        let mut line = Vec::new();
        let mut number = 0;
        if !next_line(&mut journal, &mut line, &mut number)? {
            return Err(if line.is_empty() { JournalError::Empty } else { JournalError::NotJournal });
        }
        let Object(header): Object<HeaderRecord> =
            serde_json::from_slice(&line).map_err(|_| JournalError::NotJournal)?;
        if header.ftk != "journal" {
            return Err(JournalError::NotJournal);
        }
        if header.version != VERSION {
            return Err(JournalError::Version(header.version));
        }
        let cwd = read_path(header.cwd.as_deref(), header.cwd_b64.as_deref());
        let cwd = OsString::from_vec(cwd.map_err(|_| JournalError::Malformed(1))?.into_owned()).into();
        let mut steps: Vec<Option<Intent>> = Vec::new();
        while next_line(&mut journal, &mut line, &mut number)? {
            let malformed = || JournalError::Malformed(number);
            if let Ok(Object(record)) = serde_json::from_slice::<Object<IntentRecord>>(&line) {
                let intent = record.into_intent().ok_or_else(malformed)?;
                if intent.step != steps.len() as u64 {
                    return Err(malformed());
                }
                steps.push(Some(intent));
            } else if let Ok(Object(record)) = serde_json::from_slice::<Object<MadeRecord>>(&line) {
                let step = usize::try_from(record.step).ok().and_then(|step| steps.get_mut(step));
                let intent = step.and_then(Option::as_mut).ok_or_else(malformed)?;
                if !intent.kind.makes_a_file() {
                    return Err(malformed());
                }
                intent.made = Some(record.version());
            } else {
                let Object(record): Object<OutcomeRecord> =
                    serde_json::from_slice(&line).map_err(|_| malformed())?;
                let step = usize::try_from(record.step).ok().and_then(|step| steps.get_mut(step));
                let step = step.ok_or_else(malformed)?;
                match &*record.outcome {
                    "refused" | "stopped" => *step = None,
                    // A failed step may have left a file, so undo looks at it.
                    "done" | "failed" => {}
                    _ => return Err(malformed()),
                }
            }
        }
        let started_ns = header.started_ns.and_then(|it| it.as_i64()).map(i128::from);
        Ok(Self { cwd, started_ns, steps: steps.into_iter().flatten().collect() })
    }
}

#[derive(Debug, Deserialize)]
struct HeaderRecord {
    ftk: String,
    version: u64,
    cwd: Option<String>,
    cwd_b64: Option<String>,
    /// For people, so any value is accepted.
    started_ns: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct OutcomeRecord {
    step: u64,
    outcome: String,
}

/// Reads the next line without its newline. Returns `false` at the end of the journal, and for a last line
/// without a newline.
fn next_line(journal: &mut impl BufRead, line: &mut Vec<u8>, number: &mut u64) -> Result<bool, JournalError> {
    line.clear();
    *number += 1;
    journal.take(MAX_LINE).read_until(b'\n', line).map_err(JournalError::Read)?;
    match line.pop() {
        Some(b'\n') => Ok(true),
        Some(_) if line.len() as u64 + 1 == MAX_LINE => Err(JournalError::Malformed(*number)),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const JOURNAL: &str = r#"{"ftk":"journal","version":1,"cwd":"/","started_ns":0}
{"step":0,"action":"symlink","temp":".ftk-0123456789abcdef","victim":{"path":"a","root_len":0,"dev":1,"ino":2,"size_bytes":3,"mtime_ns":4,"ctime_ns":5},"keeper":{"path_b64":"/w==","root_len":0,"dev":1,"ino":9,"size_bytes":3,"mtime_ns":4,"ctime_ns":5},"metadata":{"mode":"0644","uid":0,"gid":0,"atime_ns":0,"xattrs":[{"name":"user.x","value_b64":"AA=="}]},"target":"/x"}
{"step":0,"outcome":"done","freed_bytes":4096}
"#;

    #[test]
    fn refused_steps_are_not_in_the_history() {
        assert_eq!(History::read(JOURNAL.as_bytes()).unwrap().steps.len(), 1);
        for (outcome, n) in [("failed", 1), ("refused", 0), ("stopped", 0)] {
            let journal =
                JOURNAL.replace("\"done\",\"freed_bytes\":4096", &format!("\"{outcome}\",\"why\":\"\""));
            assert_eq!(History::read(journal.as_bytes()).unwrap().steps.len(), n, "{outcome}");
        }
    }

    #[test]
    fn a_summary_counts_the_steps_that_may_have_been_performed() {
        let summary = summarize(JOURNAL.as_bytes()).unwrap();
        assert_eq!((summary.started_ns, summary.directory), (Some(0), "/".into()));
        assert_eq!(summary.steps, BTreeMap::from([(ActionKind::Symlink, 1)]));
        let refused = JOURNAL.replace("\"done\",\"freed_bytes\":4096", "\"refused\",\"why\":\"\"");
        assert!(summarize(refused.as_bytes()).unwrap().steps.is_empty());
    }

    #[test]
    fn malformed_records_are_refused() {
        for (from, to) in [
            (
                "{\"ftk\":\"journal\",\"version\":1,\"cwd\":\"/\",\"started_ns\":0}",
                "[\"journal\",1,\"/\",null]",
            ),
            (
                "{\"path\":\"a\",\"root_len\":0,\"dev\":1,\"ino\":2,\"size_bytes\":3,\"mtime_ns\":4,\"ctime_ns\":5}",
                "[\"a\",null,0,1,2,3,4,5]",
            ),
            ("{\"name\":\"user.x\",\"value_b64\":\"AA==\"}", "[\"user.x\",null,\"AA==\"]"),
            ("{\"step\":0,\"outcome\":\"done\",\"freed_bytes\":4096}", "[0,\"done\"]"),
            ("\"done\"", "\"undone\""),
            ("\"AA==\"", "\"AA==AA==\""),
            ("\"0644\"", "\"+644\""),
        ] {
            assert!(JOURNAL.contains(from), "{from}");
            assert!(History::read(JOURNAL.replace(from, to).as_bytes()).is_err(), "{to}");
        }
    }

    #[test]
    fn new_files_belong_to_restores() {
        let made = r#"{"step":0,"made":{"dev":1,"ino":7,"size_bytes":3,"mtime_ns":4,"ctime_ns":6}}"#;
        let restore = JOURNAL.replace("\"symlink\"", "\"replace\"").replace(",\"target\":\"/x\"", "");
        let with_made = |journal: &str| {
            journal.replacen("{\"step\":0,\"outcome\"", &format!("{made}\n{{\"step\":0,\"outcome\""), 1)
        };
        let steps = History::read(with_made(&restore).as_bytes()).unwrap().steps;
        assert_eq!(steps[0].made.map(|made| made.identity()), Some((1, 7)));
        assert_eq!(History::read(restore.as_bytes()).unwrap().steps[0].made, None);
        assert!(History::read(with_made(JOURNAL).as_bytes()).is_err(), "a link makes no file");
        let other = with_made(&restore).replace("{\"step\":0,\"made\"", "{\"step\":1,\"made\"");
        assert!(History::read(other.as_bytes()).is_err(), "there is no such step");
    }

    proptest! {
        #[test]
        fn no_journal_makes_the_reader_panic(
            at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(), noise: Vec<u8>
        ) {
            let mut journal = JOURNAL.as_bytes().to_vec();
            let at = at.index(journal.len());
            journal[at] = byte;
            _ = History::read(&journal[..]);
            _ = History::read(&journal[..cut.index(journal.len())]);
            _ = History::read(&noise[..]);
        }
    }
}
