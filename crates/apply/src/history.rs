//! Reading a journal, including one of a run that was killed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use ftk_file::{FileType, Identity, IdentityDifference, Inode};
use ftk_record::{Object, quote, read_path};
use serde::Deserialize;

use crate::action::ActionKind;
use crate::identity_record::IdentityRecord;
use crate::intent::{
    CopiesRecord, Intent, IntentRecord, MadeRecord, Making, MakingRecord, RemadeRecord, StartRecord, To,
    UndoneRecord,
};
use crate::journal::VERSION;

/// The longest line that is read, in bytes: two paths ten thousand levels deep, and the attributes of a file.
const MAX_LINE: u64 = 16 << 20;

/// An undo needs at most this many times the length of its journal as memory. Measured.
const MEMORY_OF_JOURNAL: u64 = 4;

/// The oldest version of the format that is read. It has no identities and no digests.
const OLDEST: u64 = 1;

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
    /// Another user can replace files in the directory of the journal, in one above it or in one that holds a symbolic link
    /// of its path, or can change such a link.
    Exposed {
        /// The path of this directory or link.
        directory: Vec<u8>,
        /// Its permission bits.
        mode: u32,
        /// Its owner.
        owner: u32,
    },
    /// The journal is an empty file: the run was killed before it did anything.
    Empty,
    /// The first line is not the header of a journal.
    NotJournal,
    /// The journal has this version, which this ftk cannot read.
    Version(u64),
    /// This line, counted from 1, is not a record of a journal.
    Malformed(u64),
    /// The steps need more memory than allowed.
    Memory,
    /// The working directory of the run cannot be opened.
    WorkingDirectory(PathBuf, io::Error),
    /// The path of the working directory leads to another directory now.
    OtherDirectory(PathBuf, IdentityDifference),
    /// Undo cannot record in the journal what it has done.
    Write(io::Error),
    /// Another process uses the journal.
    Busy,
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
            Self::Exposed { directory, mode, owner } => write!(
                f,
                "another user could have put it there: {} has owner {owner} and mode {mode:04o}; check every line of the journal, and undo a copy in a directory of your own",
                quote(directory)
            ),
            Self::Empty => f.write_str("it is empty: nothing was done"),
            Self::NotJournal => f.write_str("it is not a journal of ftk"),
            Self::Version(version) => {
                write!(
                    f,
                    "its version is {version}, and this ftk reads versions {OLDEST} to {VERSION}: use the ftk that wrote it"
                )
            }
            Self::Malformed(line) => {
                write!(f, "line {line} is not a record of a journal; nothing was undone")
            }
            Self::Memory => {
                f.write_str("its steps need more memory than allowed (raise --memory); nothing was undone")
            }
            Self::WorkingDirectory(path, _) => {
                let path = quote(path.as_os_str().as_bytes());
                write!(f, "cannot open {path}, the working directory of the run")
            }
            Self::OtherDirectory(path, difference) => {
                let path = quote(path.as_os_str().as_bytes());
                write!(f, "{path} is not the working directory of the run: {difference}")
            }
            Self::Write(_) => f.write_str("cannot record in the journal what is undone"),
            Self::Busy => f.write_str("another ftk is using it: wait until that has ended"),
            Self::Sync(_) => f.write_str("cannot sync the restored files"),
        }
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) | Self::Write(error) | Self::WorkingDirectory(_, error) | Self::Sync(error) => {
                Some(error)
            }
            _ => None,
        }
    }
}

/// What a run did, by its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalSummary {
    /// The start of the run, in nanoseconds since the Unix epoch; `None` if the journal does not say it.
    pub start_ns: Option<i128>,
    /// The working directory of the run.
    pub directory: PathBuf,
    /// The number of steps of each kind that were performed, or may have been.
    pub steps: BTreeMap<ActionKind, u64>,
    /// How many of these steps are undone.
    pub undone: BTreeMap<ActionKind, u64>,
    /// How many steps undo can still do something about. Reflinks need no undo, and a journal of version 1 has no digests
    /// of what would have to be copied back.
    pub left: u64,
    /// The files and directories that undo has made again.
    pub remade: Vec<Remade>,
}

/// A file or directory that a run has removed or replaced, and the one that the undo of the run has made in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remade {
    /// The old one.
    pub removed: Identity,
    /// The new one.
    pub made: Identity,
}

impl Remade {
    /// Returns the device and inode number of the old one.
    pub(crate) fn removed_numbers(&self) -> (u64, u64) {
        (self.removed.dev, self.removed.ino)
    }
}

/// Reads a journal to its end and counts its steps. `memory`: how many bytes of memory they may need.
///
/// # Errors
/// If the journal cannot be read or is invalid, or the memory does not suffice.
pub fn summarize(journal: impl BufRead, memory: u64) -> Result<JournalSummary, JournalError> {
    let History { cwd, start_ns, steps, undone, remade, .. } = History::read(journal, memory)?;
    let (mut of_kind, mut undone_of_kind, mut left) = (BTreeMap::new(), BTreeMap::new(), 0);
    for step in &steps {
        *of_kind.entry(step.kind).or_default() += 1;
        if undone.contains_key(&step.step) {
            *undone_of_kind.entry(step.kind).or_default() += 1;
        } else if step.can_be_undone() {
            left += 1;
        }
    }
    let of_step = |step: &Intent| {
        Some(Remade { removed: step.proof.as_ref()?.victim?, made: *remade.get(&step.step)? })
    };
    let remade = steps.iter().filter_map(of_step).collect();
    Ok(JournalSummary { start_ns, directory: cwd, steps: of_kind, undone: undone_of_kind, left, remade })
}

/// Returns the start of the run, in nanoseconds since the Unix epoch, if the first line of the journal says it. The rest of
/// it need not be valid.
pub fn started(mut journal: impl BufRead) -> Option<i128> {
    let mut line = Vec::new();
    next_line(&mut journal, &mut line, &mut 0).ok().filter(|is_whole| *is_whole)?;
    let Object(header): Object<HeaderRecord> = serde_json::from_slice(&line).ok()?;
    header.start_ns.filter(|_| header.ftk == "journal")?.as_i64().map(i128::from)
}

/// The content of a journal.
#[derive(Debug)]
pub(crate) struct History {
    /// The start of the run.
    pub(crate) start_ns: Option<i128>,
    /// The working directory of the run.
    pub(crate) cwd: PathBuf,
    /// The identity of the working directory. `None` in a journal of version 1.
    pub(crate) cwd_identity: Option<Identity>,
    /// The identities of the starting points, by their paths.
    pub(crate) starts: BTreeMap<Vec<u8>, Identity>,
    /// The steps that were performed, or may have been, in order.
    pub(crate) steps: Vec<Intent>,
    /// The lists of copies from which deleted files can be restored, by their numbers.
    pub(crate) copies: BTreeMap<u64, Vec<To>>,
    /// The directories that a restore has made, or was about to make.
    pub(crate) making: Vec<Making>,
    /// The files and directories that an undo has made, by the number of the step that removed or replaced the old one.
    pub(crate) remade: BTreeMap<u64, Identity>,
    /// The numbers of the steps that are undone, and whether the restored file lacks rights.
    pub(crate) undone: BTreeMap<u64, bool>,
    /// The length of the journal without an incomplete line at its end.
    pub(crate) len: u64,
}

impl History {
    /// Reads all of a journal. An incomplete line at the end, which a killed run has left, is ignored. If it
    /// is an intent, its step was not performed, since a step is performed only after its whole intent is on
    /// the disk.
    pub(crate) fn read(mut journal: impl BufRead, memory: u64) -> Result<Self, JournalError> {
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
        if !(OLDEST..=VERSION).contains(&header.version) {
            return Err(JournalError::Version(header.version));
        }
        let cwd_identity = match &header.cwd_identity {
            Some(Object(record)) => Some(record.identity().ok_or(JournalError::Malformed(1))?),
            None => None,
        };
        if (header.version > OLDEST) != cwd_identity.is_some() {
            return Err(JournalError::Malformed(1));
        }
        let cwd = read_path(header.cwd.as_deref(), header.cwd_b64.as_deref());
        let cwd = OsString::from_vec(cwd.map_err(|_| JournalError::Malformed(1))?.into_owned()).into();
        let mut steps: Vec<Option<Intent>> = Vec::new();
        let (mut starts, mut copies) = (BTreeMap::new(), BTreeMap::new());
        let (mut making, mut remade, mut undone) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut len = line.len() as u64 + 1;
        while next_line(&mut journal, &mut line, &mut number)? {
            let malformed = || JournalError::Malformed(number);
            len += line.len() as u64 + 1;
            if len * MEMORY_OF_JOURNAL > memory {
                return Err(JournalError::Memory);
            }
            let is_step = |step: u64, steps: &[Option<Intent>]| step < steps.len() as u64;
            if let Ok(Object(record)) = serde_json::from_slice::<Object<IntentRecord>>(&line) {
                let intent = record.into_intent().ok_or_else(malformed)?;
                if intent.step != steps.len() as u64 || intent.proof.is_some() != (header.version > OLDEST) {
                    return Err(malformed());
                }
                steps.push(Some(intent));
            } else if let Ok(Object(record)) = serde_json::from_slice::<Object<MadeRecord>>(&line) {
                let step = usize::try_from(record.step).ok().and_then(|step| steps.get_mut(step));
                let intent = step.and_then(Option::as_mut).ok_or_else(malformed)?;
                if !intent.kind.makes_a_file() {
                    return Err(malformed());
                }
                intent.made = Some(record.made().ok_or_else(malformed)?);
                let digest = record.digest().ok_or_else(malformed)?;
                if let (Some(proof), Some(digest)) = (&mut intent.proof, digest) {
                    proof.digest = Some(digest);
                }
            } else if let Ok(Object(record)) = serde_json::from_slice::<Object<StartRecord>>(&line) {
                let (path, identity) = record.start().ok_or_else(malformed)?;
                starts.entry(path).or_insert(identity);
            } else if let Ok(Object(record)) = serde_json::from_slice::<Object<MakingRecord>>(&line) {
                making.push(record.making().ok_or_else(malformed)?);
            } else if let Ok(Object(record)) = serde_json::from_slice::<Object<CopiesRecord>>(&line) {
                copies.insert(record.copies, record.files().ok_or_else(malformed)?);
            } else if let Ok(Object(record)) = serde_json::from_slice::<Object<RemadeRecord>>(&line) {
                let identity = record.identity().filter(|_| is_step(record.step, &steps));
                remade.insert(record.step, identity.ok_or_else(malformed)?);
            } else if let Ok(Object(record)) = serde_json::from_slice::<Object<UndoneRecord>>(&line) {
                if !record.undone || !is_step(record.step, &steps) {
                    return Err(malformed());
                }
                undone.insert(record.step, record.lacks_rights);
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
        let start_ns = header.start_ns.and_then(|it| it.as_i64()).map(i128::from);
        let steps = steps.into_iter().flatten().collect();
        Ok(Self { start_ns, cwd, cwd_identity, starts, steps, copies, making, remade, undone, len })
    }
}

impl History {
    /// Replaces the identities of directories that later runs have removed by those of the directories that undo has made in
    /// their place. These have the owner that the removed ones had.
    pub(crate) fn replace_directories(&mut self, remade: &[Remade]) {
        // Undo knows which ones belong to this journal, and whether they are finished.
        let own: HashSet<_> = self.remade.values().map(inode).collect();
        let directories = remade.iter().filter(|it| it.removed.file_type == FileType::Directory);
        let others = directories.filter(|it| !own.contains(&inode(&it.made)));
        let made: HashMap<_, _> = others.map(|it| (inode(&it.removed), it.made)).collect();
        let replace = |identity: &mut Identity| {
            // A directory may have been removed and made again several times.
            for _ in 0..made.len() {
                let Some(made) = made.get(&inode(identity)) else { break };
                *identity = Identity { uid: identity.uid, ..*made };
            }
        };
        self.starts.values_mut().chain(&mut self.cwd_identity).for_each(replace);
        let proofs = self.steps.iter_mut().filter_map(|step| step.proof.as_mut());
        proofs.for_each(|proof| replace(&mut proof.directory));
    }
}

/// Returns the identity of the directory that a step removed.
pub(crate) fn removed(step: &Intent) -> Option<Identity> {
    step.proof.as_ref()?.victim.filter(|_| step.kind == ActionKind::RemoveDirectory)
}

/// Returns the key of a directory in a table.
pub(crate) fn inode(identity: &Identity) -> Inode {
    Inode::new(identity.fs, Some(identity.dev), Some(identity.ino)).expect("the inode number is known")
}

#[derive(Debug, Deserialize)]
struct HeaderRecord {
    ftk: String,
    version: u64,
    cwd: Option<String>,
    cwd_b64: Option<String>,
    cwd_identity: Option<Object<IdentityRecord>>,
    /// For people, so any value is accepted. Its first name was `started_ns`.
    #[serde(alias = "started_ns")]
    start_ns: Option<serde_json::Value>,
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

    /// A journal of version 2, with the records of an undo.
    const NEW: &str = r#"{"ftk":"journal","version":2,"cwd":"/","cwd_identity":{"dev":1,"ino":2,"type":"directory","uid":0},"start_ns":0}
{"start":{"path":"a","identity":{"fs":"000102030405060708090a0b0c0d0e0f","dev":1,"ino":3,"birth_ns":4,"type":"directory","uid":5}}}
{"step":0,"action":"remove-directory","temp":".ftk-0123456789abcdef","victim":{"path":"a/b","root_len":1,"dev":1,"ino":2,"size_bytes":0,"mtime_ns":4,"ctime_ns":5},"keeper":{"path":"a/c","root_len":1,"dev":1,"ino":9,"size_bytes":0,"mtime_ns":4,"ctime_ns":5},"metadata":{"mode":"0755","uid":0,"gid":0,"atime_ns":0},"directory":{"dev":1,"ino":3,"type":"directory","uid":5},"identity":{"dev":1,"ino":2,"type":"directory","uid":0},"nlink":2,"keeper_mode":"0000"}
{"step":0,"outcome":"done","freed_bytes":0}
{"step":0,"remade":{"dev":1,"ino":12,"type":"directory","uid":0}}
{"step":0,"undone":true}
"#;

    #[test]
    fn the_records_of_an_undo_are_read() {
        let history = History::read(NEW.as_bytes(), u64::MAX).unwrap();
        let starts: Vec<_> = history.starts.iter().map(|(path, it)| (&path[..], it.ino, it.uid)).collect();
        assert_eq!(starts, [(&b"a"[..], 3, 5)]);
        assert_eq!(history.cwd_identity.map(|it| it.ino), Some(2));
        assert_eq!(history.remade.iter().map(|(step, it)| (*step, it.ino)).collect::<Vec<_>>(), [(0, 12)]);
        assert_eq!(Vec::from_iter(history.undone), [(0, false)]);
        assert_eq!(history.len, NEW.len() as u64);
        let proof = history.steps[0].proof.as_ref().unwrap();
        assert_eq!((proof.directory.ino, proof.victim.unwrap().ino, proof.nlink), (3, 2, 2));
        let cut = &NEW[..NEW.len() - 5];
        let history = History::read(cut.as_bytes(), u64::MAX).unwrap();
        assert!(history.undone.is_empty());
        assert_eq!(history.len, NEW.len() as u64 - "{\"step\":0,\"undone\":true}\n".len() as u64);
        let summary = summarize(NEW.as_bytes(), u64::MAX).unwrap();
        assert_eq!(
            (summary.steps.clone(), summary.steps),
            (summary.undone, BTreeMap::from([(ActionKind::RemoveDirectory, 1)]))
        );
    }

    #[test]
    fn records_of_another_version_are_refused() {
        for (from, to) in [
            ("\"version\":2", "\"version\":1"),
            (",\"cwd_identity\":{\"dev\":1,\"ino\":2,\"type\":\"directory\",\"uid\":0}", ""),
            (",\"nlink\":2,\"keeper_mode\":\"0000\"", ""),
            ("\"directory\":{", "\"directories\":{"),
            ("{\"step\":0,\"remade\"", "{\"step\":1,\"remade\""),
            ("{\"step\":0,\"undone\"", "{\"step\":1,\"undone\""),
            ("\"undone\":true", "\"undone\":false"),
            ("\"fs\":\"00", "\"fs\":\"0"),
        ] {
            assert!(NEW.contains(from), "{from}");
            assert!(History::read(NEW.replacen(from, to, 1).as_bytes(), u64::MAX).is_err(), "{to}");
        }
    }

    #[test]
    fn refused_steps_are_not_in_the_history() {
        assert_eq!(History::read(JOURNAL.as_bytes(), u64::MAX).unwrap().steps.len(), 1);
        for (outcome, n) in [("failed", 1), ("refused", 0), ("stopped", 0)] {
            let journal =
                JOURNAL.replace("\"done\",\"freed_bytes\":4096", &format!("\"{outcome}\",\"why\":\"\""));
            assert_eq!(History::read(journal.as_bytes(), u64::MAX).unwrap().steps.len(), n, "{outcome}");
        }
    }

    #[test]
    fn a_summary_counts_the_steps_that_may_have_been_performed() {
        let summary = summarize(JOURNAL.as_bytes(), u64::MAX).unwrap();
        assert_eq!((summary.start_ns, summary.directory), (Some(0), "/".into()));
        let cut = JOURNAL.replace("\"victim\"", "victim");
        assert!(summarize(cut.as_bytes(), u64::MAX).is_err());
        assert_eq!(started(cut.as_bytes()), Some(0));
        assert_eq!(started(&b"{}\n"[..]), None);
        assert_eq!(summary.steps, BTreeMap::from([(ActionKind::Symlink, 1)]));
        let refused = JOURNAL.replace("\"done\",\"freed_bytes\":4096", "\"refused\",\"why\":\"\"");
        assert!(summarize(refused.as_bytes(), u64::MAX).unwrap().steps.is_empty());
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
            assert!(History::read(JOURNAL.replace(from, to).as_bytes(), u64::MAX).is_err(), "{to}");
        }
    }

    #[test]
    fn new_files_belong_to_restores() {
        let made = r#"{"step":0,"made":{"dev":1,"ino":7,"size_bytes":3,"mtime_ns":4,"ctime_ns":6}}"#;
        let restore = JOURNAL.replace("\"symlink\"", "\"replace\"").replace(",\"target\":\"/x\"", "");
        let with_made = |journal: &str| {
            journal.replacen("{\"step\":0,\"outcome\"", &format!("{made}\n{{\"step\":0,\"outcome\""), 1)
        };
        let steps = History::read(with_made(&restore).as_bytes(), u64::MAX).unwrap().steps;
        assert_eq!(steps[0].made.as_ref().map(|made| made.version.identity()), Some((1, 7)));
        assert_eq!(History::read(restore.as_bytes(), u64::MAX).unwrap().steps[0].made, None);
        assert!(History::read(with_made(JOURNAL).as_bytes(), u64::MAX).is_err(), "a link makes no file");
        let other = with_made(&restore).replace("{\"step\":0,\"made\"", "{\"step\":1,\"made\"");
        assert!(History::read(other.as_bytes(), u64::MAX).is_err(), "there is no such step");
    }

    proptest! {
        #[test]
        fn no_journal_makes_the_reader_panic(
            at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(), noise: Vec<u8>
        ) {
            let mut journal = JOURNAL.as_bytes().to_vec();
            let at = at.index(journal.len());
            journal[at] = byte;
            _ = History::read(&journal[..], u64::MAX);
            _ = History::read(&journal[..cut.index(journal.len())], u64::MAX);
            _ = History::read(&noise[..], u64::MAX);
        }
    }
}
