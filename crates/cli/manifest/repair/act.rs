//! Prints the repairs, or carries them out.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use ftk_apply::{
    ActError, NearestDirectory, PutBack, RecordedMetadata, Refusal, Restore, RestoreName, Restored, Restorer,
    Seen, Side,
};
use ftk_file::{File, Stat};
use ftk_hash::{Algorithm, Platform};
use ftk_manifest::{Damage, Field, Found, OtherMetadata, Recorded, Wanted, has_content};
use ftk_record::quote;

use crate::console::{Console, Outcome, cause, reason};
use crate::human;
use crate::journal;
use crate::manifest::create::join;
use crate::manifest::repair::printer::{Printer, Word};
use crate::manifest::repair::space::Demand;
use crate::manifest::repair::{RepairArgs, is_device_error};
use crate::manifest::root::Root;
use crate::progress::{FileCounters, WorkCounters};
use crate::signals::DeferredSignals;

/// The wanted contents, and the files that have them.
pub(super) struct Repairs<'r> {
    pub(super) args: &'r RepairArgs,
    pub(super) root: &'r Root,
    pub(super) damage: &'r Damage,
    pub(super) found: &'r [Option<Found>],
    pub(super) algorithms: &'r [Algorithm],
}

impl<'r> Repairs<'r> {
    /// Returns the contents that can be restored.
    fn all(&self) -> impl Iterator<Item = (&'r Wanted, &'r Found)> {
        let pairs = self.damage.wanted.iter().zip(self.found);
        pairs.filter_map(|(wanted, found)| Some((wanted, found.as_ref()?)))
    }

    fn path(&self, below: &[u8]) -> Vec<u8> {
        join(self.args.root.as_bytes(), below)
    }

    /// Returns the directory for the damaged content, next to the journal.
    fn saved(journal: &Path) -> PathBuf {
        journal.with_extension("damaged")
    }

    /// Checks that the file systems have enough space.
    ///
    /// # Errors
    /// If one has too little.
    pub(super) fn check_space(&self) -> anyhow::Result<()> {
        let mut demand = Demand::default();
        let journal = match &self.args.journal {
            Some(journal) => Some(Self::saved(journal)),
            None => journal::directory(),
        };
        for (wanted, found) in self.all() {
            let path = self.path(&wanted.names[0].path);
            let path = Path::new(OsStr::from_bytes(&path));
            let directory = path.parent().unwrap_or(path);
            if wanted.names[0].damaged.is_none() {
                demand.add(directory, found.allocated);
                continue;
            }
            demand.add_briefly(directory, found.allocated);
            if let (Some(journal), Some(old)) = (&journal, wanted.names[0].damaged)
                && !self.args.discard
            {
                demand.add(journal, if wanted.is_modified { old.size } else { found.allocated });
            }
        }
        demand.check()
    }

    /// Prints what would be done.
    pub(super) fn print(&self, printer: &mut Printer<'_>, console: &Console) {
        for (wanted, found) in self.all() {
            self.say_other_links(wanted, printer, console);
            for nth in 0..wanted.names.len() {
                print_name(wanted, found, nth, printer);
            }
        }
        self.metadata().for_each(|other| printer.metadata(other));
    }

    /// Returns the entries whose metadata differs before the run.
    fn metadata(&self) -> impl Iterator<Item = &'r OtherMetadata> {
        self.damage.metadata.iter().filter(|other| !other.changed.is_empty())
    }

    /// Reports hard links that keep the damaged content.
    fn say_other_links(&self, wanted: &Wanted, printer: &mut Printer<'_>, console: &Console) {
        if wanted.other_links > 0 {
            let (path, links) = (quote(&wanted.names[0].path), human::count(wanted.other_links, "hard link"));
            console.warning(format_args!(
                "{path} has {links} that the walk of ROOT did not find: they keep the present content"
            ));
            printer.note_other_links();
        }
    }

    /// Carries out the repairs, and adds the repaired files and new directories to `repaired`. A signal stops the run
    /// between two files, and the process ends by that signal after the manifest is written.
    pub(super) fn act(
        &self,
        printer: &mut Printer<'_>,
        repaired: &mut BTreeMap<Vec<u8>, Option<Stat>>,
        console: &Console,
    ) -> anyhow::Result<Acted> {
        let all: Vec<_> = self.all().collect();
        if all.is_empty() && self.damage.metadata.is_empty() {
            return Ok(Acted { outcome: Outcome::Success, hints: Vec::new(), signals: None });
        }
        let (mut journal, path) = journal::create("repair", self.args.journal.as_deref())?;
        let shown = quote(path.as_os_str().as_bytes());
        console.summary(format_args!("journal: {shown}"));
        let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
        let saved = Self::saved(&path);
        let directories = self.damage.directories.iter();
        let directories =
            directories.map(|(path, recorded)| (self.path(path), metadata(recorded, |_| true))).collect();
        let mut restorer = Restorer::new((!self.args.discard).then_some(&*saved), directories)
            .expecting(self.args.root.as_bytes(), self.root.identity().identity);
        let restores: Vec<_> = all.iter().map(|(wanted, found)| self.restore(wanted, found)).collect();

        let platform = Platform::detect();
        let mut check =
            |nth: usize, file: &File| has_content(file, self.algorithms, &all[nth].0.digests, platform);
        let counters = FileCounters::default();
        let done = WorkCounters::Files(&counters);
        let (mut at, mut has_saved, mut has_done) = (0, false, false);
        let mut outcome = Outcome::Success;
        let begun = Instant::now();
        let run = console.progress.between_lines().counted("repair", all.len() as u64, false, done, || {
            restorer.run(restores, &mut journal, &signals.stop, &mut check, |restore, nth, result| {
                let (wanted, found) = all[at];
                if nth == 0 {
                    self.say_other_links(wanted, printer, console);
                }
                let name = &wanted.names[nth];
                if let Ok(Restored { stat, lacks_rights }) = &result {
                    has_done = true;
                    has_saved |= name.damaged.is_some();
                    if name.is_recorded {
                        repaired.insert(name.path.clone(), *stat);
                    }
                    if *lacks_rights && nth == 0 {
                        let path = quote(&name.path);
                        console.error_of("rights", format_args!(
                            "{path} is repaired without its set-ID bits and capabilities: set them yourself"
                        ));
                        outcome = Outcome::Error;
                    }
                }
                print_result(wanted, found, nth, result, printer, console);
                if nth + 1 == restore.names.len() {
                    at += 1;
                    counters.add(found.version.size);
                }
            })
        });
        let ended = run.and_then(|()| {
            let others = &self.damage.metadata;
            let entries: Vec<_> = others.iter().map(|other| self.put_back(other)).collect();
            restorer.set_metadata(&entries, &mut journal, &signals.stop, |nth, result| {
                has_done |= result.is_ok();
                outcome = outcome.max(print_metadata(&others[nth], result, printer, console));
            })
        });
        let ended = ended.and_then(|()| journal.finish());
        for (path, stat) in restorer.directories() {
            repaired.insert(self.root.below(path).to_vec(), Some(stat));
        }
        console.stats.phase(printer.phase(begun.elapsed()));
        let mut hints = Vec::new();
        if has_done {
            hints.push(format!("to undo this: ftk undo {shown}"));
        }
        if has_saved && !self.args.discard {
            let saved = quote(saved.as_os_str().as_bytes());
            hints.push(format!("the damaged content is kept in {saved}"));
        }
        if let Err(error) = ended {
            console.error(format_args!(
                "the run ended early: cannot write the journal {shown}, or sync the file system: {}",
                cause(&error)
            ));
            outcome = Outcome::Error;
        }
        Ok(Acted { outcome, hints, signals: Some(signals) })
    }

    /// Returns the directory nearest to a missing name for the engine.
    fn nearest(&self, name: &ftk_manifest::Name, found: ftk_manifest::NearestDirectory) -> NearestDirectory {
        let below: &[u8] = if found.len == 0 { b"." } else { &name.path[..found.len] };
        NearestDirectory { len: self.path(below).len(), identity: found.identity }
    }

    /// Returns the work for the engine.
    fn restore(&self, wanted: &Wanted, found: &Found) -> Restore {
        let root_len = self.args.root.as_bytes().len();
        let name = |name: &ftk_manifest::Name| RestoreName {
            path: self.path(&name.path),
            root_len,
            damaged: name.damaged,
            directory: name.directory.map(|it| self.nearest(name, it)),
        };
        let source = Seen { path: found.path.clone(), root_len: found.root_len, version: found.version };
        let recorded = metadata(&wanted.recorded, |_| true);
        // A damaged file has the recorded time, apart from a shift of all times.
        let changes = metadata(&wanted.recorded, |field| match field {
            Field::Mtime => wanted.is_modified,
            _ => self.args.metadata,
        });
        Restore { source, names: wanted.names.iter().map(name).collect(), recorded, changes }
    }
}

impl Repairs<'_> {
    /// Returns an entry whose metadata is put back, for the engine.
    fn put_back(&self, other: &OtherMetadata) -> PutBack {
        let root = self.args.root.as_bytes();
        let path = if other.path == b"." { [root, b"/."].concat() } else { self.path(&other.path) };
        let entry = Seen { path, root_len: root.len(), version: other.version() };
        let recorded = metadata(&other.recorded, |field| other.sets(field));
        PutBack { entry, file_type: other.now.file_type, recorded }
    }
}

/// The end of a run.
pub(super) struct Acted {
    pub(super) outcome: Outcome,
    /// Lines about undo, to be printed after the summary.
    pub(super) hints: Vec<String>,
    /// The signals that were caught. They must be raised again when the manifest is written.
    pub(super) signals: Option<std::sync::Arc<DeferredSignals>>,
}

/// Converts the recorded metadata that is to be set. Members that are absent are not restored.
fn metadata(recorded: &Recorded, sets: impl Fn(Field) -> bool) -> RecordedMetadata {
    let stat = &recorded.stat;
    let known = |field| recorded.knows(field) && sets(field);
    RecordedMetadata {
        mode: known(Field::Mode).then_some(stat.mode),
        uid: known(Field::Uid).then_some(stat.uid),
        gid: known(Field::Gid).then_some(stat.gid),
        mtime_ns: known(Field::Mtime).then_some(stat.mtime_ns),
        attributes: recorded
            .xattrs
            .as_ref()
            .filter(|_| sets(Field::Xattrs))
            .map(|all| all.iter().map(|it| (it.name.clone(), it.value.clone())).collect()),
    }
}

/// Prints a name that is or would be restored.
fn print_name(wanted: &Wanted, found: &Found, nth: usize, printer: &mut Printer<'_>) {
    let name = &wanted.names[nth];
    let word = match name.damaged {
        Some(_) if wanted.is_modified => Word::Replace,
        Some(_) => Word::Repair,
        None => Word::Restore,
    };
    match (nth, name.damaged) {
        (0, Some(now)) if wanted.is_modified => {
            printer.modified(&name.path, &found.path, &now, &wanted.recorded);
        }
        (0, _) => printer.file(word, &name.path, &found.path, found.version.size),
        _ => printer.link(word, &name.path, &wanted.names[0].path),
    }
}

/// Prints an entry whose metadata was to be put back.
fn print_metadata(
    other: &OtherMetadata,
    result: Result<(), ActError>,
    printer: &mut Printer<'_>,
    console: &Console,
) -> Outcome {
    match result {
        // Only the time of a directory in which files were restored.
        Ok(()) if other.changed.is_empty() => Outcome::Success,
        Ok(()) => {
            printer.metadata(other);
            if !other.lacks_rights {
                return Outcome::Success;
            }
            let path = quote(&other.path);
            let what = "has its recorded metadata without set-ID bits and capabilities: set them yourself";
            console.error_of("rights", format_args!("{path} {what}"));
            Outcome::Error
        }
        Err(error) => {
            print_error(&other.path, &error, "", printer, console);
            Outcome::Success
        }
    }
}

/// Returns whether the content of a damaged file cannot be saved, because it cannot be read.
fn is_unreadable(error: &ActError) -> bool {
    let ActError::Refused(Refusal::Unreadable { side: Side::Target, op: "read", source }) = error else {
        return false;
    };
    is_device_error(source)
}

fn print_result(
    wanted: &Wanted,
    found: &Found,
    nth: usize,
    result: Result<Restored, ActError>,
    printer: &mut Printer<'_>,
    console: &Console,
) {
    let path = &wanted.names[nth].path;
    match result {
        Ok(_) => print_name(wanted, found, nth, printer),
        Err(error) => {
            let is_unreadable = is_unreadable(&error);
            let hint = if is_unreadable { " (--discard repairs it without keeping its content)" } else { "" };
            print_error(path, &error, hint, printer, console);
        }
    }
}

/// Prints an entry that was not restored.
fn print_error(path: &[u8], error: &ActError, hint: &str, printer: &mut Printer<'_>, console: &Console) {
    match error {
        ActError::Refused(_) => {
            console.stats.error("refused");
            printer.say(Word::Refuse, path, reason(error) + hint);
        }
        ActError::Stopped => printer.say(Word::NotDone, path, ""),
        error => {
            console.stats.error("repair");
            printer.say(Word::Fail, path, reason(error));
        }
    }
}
