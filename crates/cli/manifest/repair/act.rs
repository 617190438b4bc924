//! Prints the repairs, or carries them out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use ftk_apply::{
    ActError, Action, ActionOptions, Engine, Journal, NearestDirectory, PutBack, RecordedMetadata, Refusal,
    Restore, RestoreName, Restored, Restorer, Seen, Side, Step,
};
use ftk_file::{File, FileType, Stat, Version, sees_trusted};
use ftk_hash::Platform;
use ftk_manifest::{
    Damage, Field, Found, Header, Joined, LinkTo, OtherMetadata, Recorded, Wanted, has_content,
};
use ftk_record::quote;
use ftk_sched::Stop;

use crate::console::{Console, Outcome, cause, reason};
use crate::human;
use crate::journal;
use crate::manifest::create::join;
use crate::manifest::repair::printer::{From, Printer, Word};
use crate::manifest::repair::{RepairArgs, Source, is_device_error};
use crate::manifest::root::Root;
use crate::manifest::space::Demand;
use crate::progress::{FileCounters, WorkCounters};
use crate::signals::DeferredSignals;

/// The wanted contents, and where they come from.
pub(super) struct Repairs<'r> {
    pub(super) args: &'r RepairArgs,
    pub(super) root: &'r Root,
    pub(super) damage: &'r Damage,
    pub(super) sources: &'r [Option<Source<'r>>],
    pub(super) header: &'r Header,
}

/// A content that can be restored.
type Item<'r> = (&'r Wanted, Source<'r>);

impl<'r> Repairs<'r> {
    /// Returns the contents that can be restored: those from copies, and those of names that become hard links.
    fn items(&self) -> [Vec<Item<'r>>; 2] {
        let pairs = self.damage.wanted.iter().zip(self.sources);
        let all = pairs.filter_map(|(wanted, source)| Some((wanted, (*source)?)));
        let (copies, links) = all.partition(|(_, source)| source.file().is_some());
        [copies, links]
    }

    /// Returns the entries whose metadata is put back: files to which names are linked, the others, and directories.
    fn metadata(&self) -> [Vec<&'r OtherMetadata>; 3] {
        let Damage { wanted, joins, metadata, .. } = self.damage;
        let linked = wanted.iter().filter_map(|it| it.link_to.as_ref()).chain(joins.iter().map(|it| &it.to));
        let linked: HashSet<_> = linked.filter_map(|to| Some(to.version?.identity())).collect();
        let is_directory = |it: &&OtherMetadata| it.now.file_type == FileType::Directory;
        let (directories, files): (Vec<_>, Vec<_>) = metadata.iter().partition(is_directory);
        let (first, others) = files.into_iter().partition(|it| linked.contains(&it.now.identity()));
        [first, others, directories]
    }

    fn path(&self, below: &[u8]) -> Vec<u8> {
        join(self.args.root.as_bytes(), below)
    }

    /// Returns the directory for the damaged content, next to the journal.
    fn saved(journal: &Path) -> PathBuf {
        journal.with_extension("damaged")
    }

    /// Returns the directory of the journal, where computed contents are kept until all files are restored.
    pub(super) fn state_directory(&self) -> anyhow::Result<PathBuf> {
        match &self.args.journal {
            Some(journal) => {
                let parent = journal.parent().filter(|parent| !parent.as_os_str().is_empty());
                Ok(parent.unwrap_or(Path::new(".")).to_owned())
            }
            None => journal::directory().context("there is no directory for the journal: add --journal FILE"),
        }
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
        for (wanted, source) in self.items().into_iter().flatten() {
            let path = self.path(&wanted.names[0].path);
            let path = Path::new(OsStr::from_bytes(&path));
            let directory = path.parent().unwrap_or(path);
            match source {
                Source::Link(_) => {}
                Source::Copy(found) | Source::Computed(found, _) if wanted.names[0].damaged.is_none() => {
                    demand.add(directory, found.allocated);
                }
                Source::Copy(found) | Source::Computed(found, _) => {
                    demand.add_briefly(directory, found.allocated);
                }
            }
            if let (Some(journal), Source::Computed(found, _)) = (&journal, source) {
                demand.add(journal, found.allocated);
            }
            if let (Some(journal), Some(old)) = (&journal, wanted.names[0].damaged)
                && !self.args.discard
            {
                // The saved content keeps holes.
                demand.add(journal, wanted.allocated.min(old.size));
            }
        }
        demand.check(
            "nothing was changed (--journal FILE keeps the damaged content elsewhere, --discard does not keep it)",
        )
    }

    /// Prints what would be done.
    pub(super) fn print(&self, printer: &mut Printer<'_>, console: &Console) {
        let [copies, links] = self.items();
        let [linked, others, directories] = self.metadata();
        let print = |items: &[Item<'_>], printer: &mut Printer<'_>| {
            for &(wanted, source) in items {
                say_other_links(wanted, printer, console);
                for nth in 0..wanted.names.len() {
                    print_name(wanted, source, nth, printer);
                }
                if wanted.loses_rights {
                    let why = "loses its set-ID bits and capabilities";
                    printer.say(Word::LacksRights, &wanted.names[0].path, why);
                }
            }
        };
        let put_back = |others: &[&OtherMetadata], printer: &mut Printer<'_>| {
            others.iter().filter(|other| !other.changed.is_empty()).for_each(|other| printer.metadata(other));
        };
        print(&copies, printer);
        put_back(&linked, printer);
        print(&links, printer);
        put_back(&others, printer);
        self.damage.joins.iter().for_each(|it| printer.link(Word::Join, &it.path, &it.to.path));
        put_back(&directories, printer);
    }

    /// Carries out the repairs, and adds the marked files that were repaired to `repaired`. A signal stops the run
    /// between two files, and the process ends by that signal after the manifest is written.
    pub(super) fn act(
        &self,
        printer: &mut Printer<'_>,
        repaired: &mut BTreeMap<Vec<u8>, Option<Stat>>,
        console: &Console,
    ) -> anyhow::Result<Acted> {
        let [copies, links] = self.items();
        let Damage { metadata, joins, .. } = self.damage;
        if copies.is_empty() && links.is_empty() && metadata.is_empty() && joins.is_empty() {
            return Ok(Acted { outcome: Outcome::Success, hints: Vec::new(), signals: None });
        }
        let (mut journal, path) = journal::create("repair", self.args.journal.as_deref())?;
        let shown = quote(path.as_os_str().as_bytes());
        console.summary(format_args!("journal: {shown}"));
        let signals = DeferredSignals::begin().context("cannot install a signal handler")?;
        let saved = Self::saved(&path);
        let directories = self.damage.directories.iter();
        let directories = directories
            .map(|(path, recorded)| {
                let sets = |field| field != Field::Xattrs || self.args.metadata;
                (self.path(path), self.recorded(recorded, sets))
            })
            .collect();
        let restorer = Restorer::new((!self.args.discard).then_some(&*saved), directories)
            .expecting(self.args.root.as_bytes(), self.root.identity().identity);

        let counters = FileCounters::default();
        let done = WorkCounters::Files(&counters);
        let total = copies.len() + links.len();
        let begun = Instant::now();
        let mut run = Running {
            repairs: self,
            restorer,
            journal: &mut journal,
            stop: &signals.stop,
            counters: &counters,
            printer,
            repaired,
            console,
            latest: HashMap::new(),
            restored: HashMap::new(),
            failed: HashSet::new(),
            has_saved: false,
            has_done: false,
            outcome: Outcome::Success,
        };
        let ended = console
            .progress
            .between_lines()
            .counted("repair", total as u64, false, done, || run.run(&copies, &links));
        let Running { has_saved, has_done, mut outcome, .. } = run;
        let has_steps = journal.has_steps();
        let ended = ended.and_then(|()| journal.finish());
        console.stats.phase(printer.phase(begun.elapsed()));
        let mut hints = Vec::new();
        match has_steps {
            true => printer.journal = journal::member(&path),
            false => hints.push(journal::REMOVED.into()),
        }
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

    /// Returns the work for the engine. `seen`: the file that has the content.
    fn restore(&self, wanted: &Wanted, seen: Seen, links: bool) -> Restore {
        let root_len = self.args.root.as_bytes().len();
        let name = |name: &ftk_manifest::Name| RestoreName {
            path: self.path(&name.path),
            root_len,
            damaged: name.damaged,
            directory: name.directory.map(|it| self.nearest(name, it)),
        };
        let recorded = self.recorded(&wanted.recorded, |_| true);
        // A damaged file has the recorded time, apart from a shift of all times.
        let changes = self.recorded(&wanted.recorded, |field| match field {
            Field::Mtime => wanted.is_modified,
            _ => self.args.metadata || links,
        });
        Restore { source: seen, links, names: wanted.names.iter().map(name).collect(), recorded, changes }
    }

    /// Returns an entry whose metadata is put back, for the engine.
    fn put_back(&self, other: &OtherMetadata) -> PutBack {
        let root = self.args.root.as_bytes();
        let path = if other.path == b"." { [root, b"/."].concat() } else { self.path(&other.path) };
        let entry = Seen { path, root_len: root.len(), version: other.version() };
        let recorded = self.recorded(&other.recorded, |field| other.sets(field));
        PutBack { entry, file_type: other.now.file_type, recorded }
    }

    /// Converts the recorded metadata that is to be set. Members that are absent are not restored.
    fn recorded(&self, recorded: &Recorded, sets: impl Fn(Field) -> bool) -> RecordedMetadata {
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
            keeps_trusted: !(self.header.trusted_xattrs && sees_trusted()),
        }
    }
}

/// The state of a run.
struct Running<'r, 'p, 'o> {
    repairs: &'r Repairs<'r>,
    restorer: Restorer,
    journal: &'p mut Journal,
    stop: &'p Stop,
    counters: &'p FileCounters,
    printer: &'p mut Printer<'o>,
    repaired: &'p mut BTreeMap<Vec<u8>, Option<Stat>>,
    console: &'p Console,
    /// The state of files that this run has changed, by device and inode number.
    latest: HashMap<(u64, u64), Version>,
    /// The files of the names that are restored.
    restored: HashMap<Vec<u8>, Version>,
    /// The files whose recorded metadata could not be put back, by device and inode number.
    failed: HashSet<(u64, u64)>,
    has_saved: bool,
    has_done: bool,
    outcome: Outcome,
}

impl Running<'_, '_, '_> {
    fn run(&mut self, copies: &[Item<'_>], links: &[Item<'_>]) -> io::Result<()> {
        let [linked, others, directories] = self.repairs.metadata();
        // Undo brings back the metadata that the files of replaced names had before, so most others come after these.
        let restored = self.restore(copies).and_then(|()| self.set_metadata(&linked));
        let restored = restored.and_then(|()| self.restore(links)).and_then(|()| self.set_metadata(&others));
        let restored = restored.and_then(|()| self.join());
        let finished = self.restorer.finish_directories();
        restored.and(finished)?;
        self.set_metadata(&directories)
    }

    /// Returns the file that names are to be linked to. `None` if its content or metadata could not be restored.
    fn linked(&self, LinkTo { path, version }: &LinkTo) -> Option<Seen> {
        let version = version.as_ref().or_else(|| self.restored.get(path))?;
        if self.failed.contains(&version.identity()) {
            return None;
        }
        let version = *self.latest.get(&version.identity()).unwrap_or(version);
        let version = self.restorer.current(version);
        let root_len = self.repairs.args.root.as_bytes().len();
        Some(Seen { path: self.repairs.path(path), root_len, version })
    }

    fn restore(&mut self, items: &[Item<'_>]) -> io::Result<()> {
        let (mut restores, mut ready) = (Vec::new(), Vec::new());
        for &(wanted, source) in items {
            let seen = match source {
                Source::Copy(found) | Source::Computed(found, _) => {
                    let Found { path, root_len, version, .. } = found;
                    Some(Seen { path: path.clone(), root_len: *root_len, version: *version })
                }
                Source::Link(to) => self.linked(to),
            };
            match seen {
                Some(seen) => {
                    let links = matches!(source, Source::Link(_));
                    restores.push(self.repairs.restore(wanted, seen, links));
                    ready.push((wanted, source));
                }
                None => wanted.names.iter().for_each(|name| self.say_without_other(&name.path)),
            }
        }
        let (algorithms, platform) = (&self.repairs.header.algorithms, Platform::detect());
        let mut check =
            |nth: usize, file: &File| has_content(file, algorithms, &ready[nth].0.digests, platform);
        let Self { restorer, journal, stop, counters, printer, repaired, console, latest, restored, .. } =
            self;
        let (has_done, has_saved, outcome) = (&mut self.has_done, &mut self.has_saved, &mut self.outcome);
        let mut at = 0;
        restorer.run(restores, journal, stop, &mut check, |restore, nth, result| {
            let (wanted, source) = ready[at];
            if nth == 0 {
                say_other_links(wanted, printer, console);
            }
            let name = &wanted.names[nth];
            if let Ok(Restored { stat, lacks_rights }) = &result {
                *has_done = true;
                *has_saved |= name.damaged.is_some();
                if name.is_marked {
                    repaired.insert(name.path.clone(), *stat);
                }
                if let Some(stat) = stat {
                    latest.insert(stat.identity(), stat.version());
                    restored.insert(name.path.clone(), stat.version());
                }
                if *lacks_rights && nth == 0 {
                    let path = quote(&name.path);
                    console.error_of(
                        "rights",
                        format_args!(
                            "{path} is repaired without its set-ID bits and capabilities: set them yourself"
                        ),
                    );
                    *outcome = Outcome::Error;
                }
            }
            print_result(wanted, source, nth, result, printer, console);
            if nth + 1 == restore.names.len() {
                at += 1;
                counters.add(wanted.recorded.stat.size);
            }
        })
    }

    /// Prints a name that cannot be linked to the file that it belongs to.
    fn say_without_other(&mut self, path: &[u8]) {
        print_error(path, &Refusal::OtherName.into(), "", self.printer, self.console);
    }

    fn set_metadata(&mut self, others: &[&OtherMetadata]) -> io::Result<()> {
        let entries: Vec<_> = others.iter().map(|other| self.repairs.put_back(other)).collect();
        let Self { restorer, journal, stop, printer, console, latest, failed, .. } = self;
        let (has_done, outcome) = (&mut self.has_done, &mut self.outcome);
        restorer.set_metadata(&entries, journal, stop, |nth, result| {
            let other = others[nth];
            match &result {
                Ok(Some(version)) => _ = latest.insert(version.identity(), *version),
                Ok(None) | Err(_) => _ = failed.insert(other.now.identity()),
            }
            *has_done |= result.is_ok();
            *outcome = (*outcome).max(print_metadata(other, result.map(drop), printer, console));
        })
    }

    /// Makes names hard links again. Their files are compared with the ones that stay.
    fn join(&mut self) -> io::Result<()> {
        let Repairs { args, root, damage, .. } = self.repairs;
        let root_len = args.root.as_bytes().len();
        let (mut steps, mut ready) = (Vec::new(), Vec::new());
        for joined in &damage.joins {
            let Some(keeper) = self.linked(&joined.to) else {
                self.say_without_other(&joined.path);
                continue;
            };
            let version = self.restorer.current(joined.version);
            let victim = Seen { path: self.repairs.path(&joined.path), root_len, version };
            steps.push(Step::new(victim, keeper));
            ready.push(joined);
        }
        if steps.is_empty() {
            return Ok(());
        }
        // The victim's recorded metadata is that of the file that stays.
        let options = ActionOptions { metadata_may_differ: true, ..ActionOptions::default() };
        let engine = Engine::new(Action::Hardlink, options).map_err(io::Error::other)?;
        let mut engine = engine.expecting(args.root.as_bytes(), root.identity().identity);
        let Self { journal, stop, printer, console, has_done, .. } = self;
        let mut ready = ready.into_iter();
        engine.run(steps, journal, stop, |_, result| {
            let Joined { path, to, .. } = ready.next().expect("each step is reported once, in order");
            match result {
                Ok(_) => {
                    *has_done = true;
                    printer.link(Word::Join, path, &to.path);
                }
                Err(error) => print_error(path, &error, "", printer, console),
            }
        })
    }
}

/// Reports hard links that keep the damaged content.
fn say_other_links(wanted: &Wanted, printer: &mut Printer<'_>, console: &Console) {
    if wanted.other_links > 0 {
        let (path, links) = (quote(&wanted.names[0].path), human::count(wanted.other_links, "hard link"));
        console.warning(format_args!(
            "{path} has {links} that the walk of ROOT did not find: they keep the present content"
        ));
        printer.note_other_links();
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

/// Prints a name that is or would be restored.
fn print_name(wanted: &Wanted, source: Source<'_>, nth: usize, printer: &mut Printer<'_>) {
    let name = &wanted.names[nth];
    let word = match name.damaged {
        Some(_) if wanted.is_modified => Word::Replace,
        Some(_) => Word::Repair,
        None => Word::Restore,
    };
    let from = match source {
        Source::Copy(found) => From::Copy(&found.path),
        Source::Computed(_, parity) => From::Copy(parity.as_bytes()),
        Source::Link(to) => From::Link(&to.path),
    };
    match (nth, name.damaged, source) {
        (0, Some(now), _) if wanted.is_modified => {
            printer.modified(&name.path, from, &now, &wanted.recorded);
        }
        (_, _, Source::Link(to)) => printer.link(word, &name.path, &to.path),
        (0, _, Source::Copy(found)) => printer.file(word, &name.path, &found.path, found.version.size),
        (0, _, Source::Computed(found, parity)) => {
            printer.file(word, &name.path, parity.as_bytes(), found.version.size);
        }
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
    source: Source<'_>,
    nth: usize,
    result: Result<Restored, ActError>,
    printer: &mut Printer<'_>,
    console: &Console,
) {
    let path = &wanted.names[nth].path;
    match result {
        Ok(_) => print_name(wanted, source, nth, printer),
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
