//! `ftk du --interactive`: walks through the directories, and moves away or deletes what the user has marked.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ftk_apply::{ActError, Action, ActionOptions, Chosen, Engine, Freed, Journal, Seen};
use ftk_browse::{Browser, Plan, Row, Source, Total, Word};
use ftk_file::{FileType, Identity, LOOKUP, Sealer, Stat, Symlinks, descend};
use ftk_inventory::Budget;
use ftk_record::{quote, sanitize};
use ftk_sched::Stop;
use ftk_usage::{DirId, Item, Measure, Usage};
use indicatif::{DecimalBytes, HumanCount};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};

use super::DuArgs;
use super::source::{Counted, count};
use crate::browser::{DELETE, QUARANTINE, browse, quarantine_of_run, quarantine_word, require_terminal};
use crate::colour::Tone;
use crate::console::{Console, Outcome, cause, reason};
use crate::globals::Globals;
use crate::human;
use crate::journal;
use crate::size::Unit;
use crate::stdout::Stdout;
use crate::step_lines::{Done, StepLines, Weight};

/// Width of the path column, which most paths fit into.
const PATH_WIDTH: usize = 46;

pub(super) fn run(args: &DuArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    require_terminal(globals)?;
    let budget = Budget::new(globals.memory());
    let sealer = Sealer::default();
    // Opened first, so that everything is reached from the directories that were counted, or refused.
    let paths = args.selection.starts.read(&args.paths, &[c"."])?;
    let quarantine = args.output.quarantine.as_deref();
    let starts = paths.iter().map(|path| Start::open(path, quarantine)).collect();
    let counted = count(args, globals, &budget, Some(&sealer), console)?;
    let Counted { usage, outcome, .. } = counted;
    let unit = args.unit().unwrap_or(Unit::Decimal);
    let title = match &*paths {
        [path] => sanitize(path.to_bytes()).into_owned(),
        paths => format!("{} starting points", paths.len()),
    };
    let space = Space::new(usage, starts, sealer, args.measure(), unit);
    let browser = Browser::new(space, title).inside();
    let done = browse(browser, console, |space, word, stop| space.act(word, stop, console))?;
    Ok(outcome.max(done))
}

/// A starting point.
struct Start {
    path: Vec<u8>,
    /// The directory and its identity, if it could be opened.
    open: Option<(OwnedFd, Identity)>,
    /// The directory that entries are moved to.
    quarantine: PathBuf,
}

impl Start {
    fn open(path: &CString, quarantine: Option<&Path>) -> Self {
        let dir = openat(CWD, path, LOOKUP, Mode::empty()).ok();
        let open = dir.and_then(|dir| Identity::of(&dir).ok().map(|identity| (dir, identity)));
        let path = path.to_bytes().to_vec();
        Self { quarantine: quarantine_of_run(quarantine, &path), path, open }
    }
}

/// An entry that was listed. Its number is the index in a table.
struct Known {
    /// The directory that contains it; `None` for a starting point.
    above: Option<u64>,
    start: usize,
    name: Vec<u8>,
    /// The directory whose space was added up.
    dir: Option<DirId>,
    /// What was shown; `None` for a starting point, or if the entry cannot be acted on.
    stat: Option<Stat>,
    bytes: u128,
    /// The number of files in it; 1 for a file.
    files: u64,
}

/// The counted space, and the entries of the directories that were opened.
struct Space {
    usage: Usage,
    starts: Vec<Start>,
    sealer: Sealer,
    measure: Measure,
    unit: Unit,
    known: Vec<Known>,
    lists: HashMap<Option<u64>, Vec<Row>>,
    marked: BTreeSet<u64>,
}

impl Source for Space {
    fn rows(&mut self, of: Option<u64>) -> Result<Vec<Row>, String> {
        if !self.lists.contains_key(&of) {
            let rows = match of {
                None => self.start_rows(),
                Some(id) => self.list(id)?,
            };
            self.lists.insert(of, rows);
        }
        Ok(self.lists[&of].clone())
    }

    fn is_marked(&self, id: u64) -> bool {
        self.with_above(id).any(|id| self.marked.contains(&id))
    }

    fn mark(&mut self, id: u64) -> Result<(), String> {
        if self.marked.remove(&id) {
            return Ok(());
        }
        let Known { above, stat, .. } = &self.known[id as usize];
        if above.is_none() {
            return Err("a starting point cannot be marked".into());
        }
        if stat.is_none() {
            return Err("it was not counted, so it cannot be marked".into());
        }
        if self.is_marked(id) {
            return Err("it is in a marked directory".into());
        }
        // What is in it goes with it.
        let inside: Vec<_> = self
            .marked
            .iter()
            .copied()
            .filter(|other| self.with_above(*other).any(|above| above == id))
            .collect();
        inside.iter().for_each(|id| _ = self.marked.remove(id));
        self.marked.insert(id);
        Ok(())
    }

    fn marked(&self) -> Total {
        let bytes = self.marked.iter().map(|id| self.known[*id as usize].bytes).sum();
        Total { rows: self.marked.len() as u64, size: self.unit.format(bytes) }
    }

    fn plan(&mut self) -> Plan {
        let mut engine = match self.engine(Action::Delete) {
            Ok(engine) => engine,
            Err(error) => return Plan { lines: vec![format!("{error:#}")], words: Vec::new() },
        };
        let (mut lines, mut left) = (Vec::new(), 0_u64);
        for &id in &self.marked {
            let path = self.shown(id);
            match engine.check_chosen(&self.chosen(id), &self.sealer) {
                Ok(()) => {
                    left += 1;
                    lines.push(format!("{:>9}  {path}", self.unit.format(self.known[id as usize].bytes)));
                }
                Err(error) => lines.push(format!("   refuse  {path}  {}", reason(&error))),
            }
        }
        if left == 0 {
            return Plan { lines, words: Vec::new() };
        }
        Plan {
            lines,
            words: vec![
                quarantine_word(&self.destinations()),
                Word { word: DELETE, what: "deletes for good: this CANNOT BE UNDONE".into() },
            ],
        }
    }
}

impl Space {
    fn new(usage: Usage, starts: Vec<Start>, sealer: Sealer, measure: Measure, unit: Unit) -> Self {
        let (known, lists, marked) = Default::default();
        Self { usage, starts, sealer, measure, unit, known, lists, marked }
    }

    /// Returns the directories that the marked entries would be moved to.
    fn destinations(&self) -> String {
        let starts: BTreeSet<_> = self.marked.iter().map(|id| self.known[*id as usize].start).collect();
        let to = starts.iter().map(|start| self.starts[*start].quarantine.as_os_str().as_bytes());
        to.map(sanitize).collect::<Vec<_>>().join(", ")
    }

    fn start_rows(&mut self) -> Vec<Row> {
        let roots = self.usage.roots().to_vec();
        let row = |dir: DirId| {
            let name = self.usage.name(Item::Dir(dir)).to_vec();
            let start = self.starts.iter().position(|start| start.path == name)?;
            let is_open = self.usage.is_directory(Item::Dir(dir)) && self.starts[start].open.is_some();
            let sum = self.usage.sum(dir);
            let bytes = sum.bytes(self.measure);
            self.known.push(Known {
                above: None,
                start,
                name,
                dir: is_open.then_some(dir),
                stat: None,
                bytes,
                files: sum.files,
            });
            Some(self.row(self.known.len() as u64 - 1, FileType::Directory, files(sum.files)))
        };
        roots.into_iter().filter_map(row).collect()
    }

    /// Lists a directory that was counted.
    fn list(&mut self, id: u64) -> Result<Vec<Row>, String> {
        let Known { start, dir, .. } = self.known[id as usize];
        let dir = dir.ok_or("it was not counted")?;
        let failed = |error: std::io::Error| format!("cannot list {}: {}", self.shown(id), cause(&error));
        let opened = self.open(id).map_err(failed)?;
        let counted: HashMap<Vec<u8>, DirId> = self
            .usage
            .children(dir)
            .filter_map(|item| match item {
                Item::Dir(dir) => Some((self.usage.name(item).to_vec(), dir)),
                Item::File(_) => None,
            })
            .collect();
        let listing =
            openat(&opened, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let mut found = Vec::new();
        for entry in listing.and_then(Dir::new).map_err(|errno| failed(errno.into()))? {
            let entry = entry.map_err(|errno| failed(errno.into()))?;
            let name = entry.file_name();
            if !matches!(name.to_bytes(), b"." | b"..") {
                // What has just vanished is not there.
                found.extend(
                    Stat::at(&opened, name, Symlinks::NoFollow)
                        .ok()
                        .map(|stat| (name.to_bytes().to_vec(), stat)),
                );
            }
        }
        let mut rows = Vec::new();
        for (name, stat) in found {
            let is_directory = stat.file_type == FileType::Directory;
            let dir = counted.get(&name).copied().filter(|_| is_directory);
            let (bytes, note) = match dir {
                Some(dir) => (self.usage.sum(dir).bytes(self.measure), files(self.usage.sum(dir).files)),
                None if is_directory => (0, "not counted".into()),
                None if stat.nlink > 1 => {
                    (self.size(&stat), format!("{} hard links", HumanCount(stat.nlink)))
                }
                None => (self.size(&stat), String::new()),
            };
            let stat_of = Some(stat).filter(|_| !is_directory || dir.is_some());
            let files = match dir {
                Some(dir) => self.usage.sum(dir).files,
                None => u64::from(!is_directory),
            };
            self.known.push(Known { above: Some(id), start, name, dir, stat: stat_of, bytes, files });
            rows.push(self.row(self.known.len() as u64 - 1, stat.file_type, note));
        }
        Ok(rows)
    }

    fn size(&self, stat: &Stat) -> u128 {
        match self.measure {
            Measure::Allocated => stat.blocks.saturating_mul(512).into(),
            Measure::Apparent => stat.size.into(),
        }
    }

    fn row(&self, id: u64, file_type: FileType, note: String) -> Row {
        let Known { name, dir, bytes, .. } = &self.known[id as usize];
        let slash = if file_type == FileType::Directory && !name.ends_with(b"/") { "/" } else { "" };
        let (name, size) = (sanitize(name) + slash, self.unit.format(*bytes));
        Row { id, name: name.into_owned(), bytes: *bytes, size, note, opens: dir.is_some() }
    }

    /// Opens a directory below its starting point. Follows no links.
    fn open(&self, id: u64) -> std::io::Result<OwnedFd> {
        let start = &self.starts[self.known[id as usize].start];
        let (start, _) = start.open.as_ref().ok_or(std::io::ErrorKind::NotFound)?;
        let mut names = self.names(id);
        if names.is_empty() {
            return start.try_clone();
        }
        descend(start.as_fd(), names.drain(..), Symlinks::NoFollow, &mut Vec::new())
    }

    /// Returns an entry and the directories above it.
    fn with_above(&self, id: u64) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(id), |id| self.known[*id as usize].above)
    }

    /// Returns the names that lead from the starting point to an entry.
    fn names(&self, id: u64) -> Vec<&[u8]> {
        let above = self.with_above(id).filter(|id| self.known[*id as usize].above.is_some());
        let mut names: Vec<_> = above.map(|id| &*self.known[id as usize].name).collect();
        names.reverse();
        names
    }

    fn path(&self, id: u64) -> Vec<u8> {
        let mut path = self.starts[self.known[id as usize].start].path.clone();
        for name in self.names(id) {
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        path
    }

    fn shown(&self, id: u64) -> String {
        sanitize(&self.path(id)).into_owned()
    }

    fn chosen(&self, id: u64) -> Chosen {
        let Known { start, dir, stat, .. } = &self.known[id as usize];
        let stat = stat.expect("only an entry with a state is marked");
        let root_len = self.starts[*start].path.len();
        Chosen {
            seen: Seen { path: self.path(id), root_len, version: stat.version() },
            file_type: stat.file_type,
            below: dir.map(|dir| self.usage.seal(dir)).unwrap_or_default(),
        }
    }

    fn engine(&self, action: Action) -> anyhow::Result<Engine> {
        let shown = match &action {
            Action::Move(dir) => format!("cannot open or create {}", quote(dir.as_os_str().as_bytes())),
            _ => "cannot prepare to delete".into(),
        };
        let engine = Engine::new(action, ActionOptions::default()).context(shown)?;
        let starts = self.starts.iter().filter_map(|it| Some((&it.path, it.open.as_ref()?.1)));
        Ok(starts.fold(engine, |engine, (path, identity)| engine.expecting(path, identity)))
    }

    /// Carries out the plan, and prints a line for each entry.
    fn act(&mut self, word: &str, stop: &Stop, console: &Console) -> anyhow::Result<Outcome> {
        let to = self.destinations();
        let (mut journal, path) = journal::create("du", None)?;
        let path = quote(path.as_os_str().as_bytes());
        console.summary(format_args!("journal: {path}"));
        let out = Stdout::default();
        let mut lines = StepLines::new(&out, false, false, PATH_WIDTH);
        let verb = if word == QUARANTINE { "move" } else { "delete" };
        let (mut done, mut failed, mut freed) = (0, 0, 0);
        let ended = self.carry_out(word, &mut journal, stop, |chosen, outcome| {
            let is_directory = chosen.file_type == FileType::Directory;
            let path = &*chosen.seen.path;
            let line = |word, tone, weight| Done { word, tone: Some(tone), path, is_directory, weight };
            match outcome {
                Ok(Freed(bytes)) => {
                    (done, freed) = (done + 1, freed + bytes);
                    lines.say(line(verb, Tone::Notable, Weight::Plain), "");
                }
                Err(error) => {
                    failed += 1;
                    console.stats.error("act");
                    let (word, weight) = match error {
                        ActError::Refused(_) => ("refuse", Weight::Error),
                        ActError::Stopped => ("not done", Weight::Problem),
                        _ => ("fail", Weight::Error),
                    };
                    lines.say(line(word, Tone::Wrong, weight), &reason(error));
                }
            }
        });
        lines.flush();
        let has_steps = journal.has_steps();
        let ended = ended.and_then(|()| journal.finish().map_err(anyhow::Error::from));
        let failures = if failed > 0 { format!("; {failed} not done") } else { String::new() };
        let entries = human::entries(done);
        match word {
            QUARANTINE => {
                let to = if done > 0 { format!(" to {to}") } else { String::new() };
                console.summary(format_args!("moved {entries}{failures}{to}"));
                if done > 0 {
                    console.summary("this directory is in the list when you browse again");
                }
            }
            _ => {
                console.summary(format_args!("deleted {entries} and freed {}{failures}", DecimalBytes(freed)))
            }
        }
        if !has_steps {
            console.summary(journal::REMOVED);
        }
        if done > 0 && word == QUARANTINE {
            console.summary(format_args!("to undo this: ftk undo {path}"));
        }
        ended.with_context(|| {
            format!("the run ended early: cannot write the journal {path}, or sync the names")
        })?;
        out.finish()?;
        Ok(Outcome::error_if(failed > 0))
    }

    /// Carries out the plan, and calls `report` with each entry and its outcome.
    fn carry_out(
        &mut self,
        word: &str,
        journal: &mut Journal,
        stop: &Stop,
        mut report: impl FnMut(&Chosen, &Result<Freed, ActError>),
    ) -> anyhow::Result<()> {
        let mut of_start = BTreeMap::<_, Vec<_>>::new();
        for &id in &self.marked {
            of_start.entry(self.known[id as usize].start).or_default().push(id);
        }
        for (start, ids) in of_start {
            let mut engine = self.engine(match word {
                QUARANTINE => Action::Move(self.starts[start].quarantine.clone()),
                _ => Action::Delete,
            })?;
            for id in ids {
                let chosen = self.chosen(id);
                let outcome = engine.run_chosen(&chosen, &self.sealer, journal, stop)?;
                report(&chosen, &outcome);
                if outcome.is_ok() {
                    self.remove(id);
                }
            }
        }
        Ok(())
    }

    /// Removes an entry from the lists, and its size and files from the directories above it.
    fn remove(&mut self, id: u64) {
        self.marked.remove(&id);
        let Known { bytes, files: gone, .. } = self.known[id as usize];
        let above: Vec<_> = self.with_above(id).skip(1).collect();
        if let Some(rows) = above.first().and_then(|above| self.lists.get_mut(&Some(*above))) {
            rows.retain(|row| row.id != id);
        }
        for above in above {
            let known = &mut self.known[above as usize];
            known.bytes = known.bytes.saturating_sub(bytes);
            known.files = known.files.saturating_sub(gone);
            let (list, bytes, left) = (known.above, known.bytes, known.files);
            let rows = self.lists.get_mut(&list).into_iter().flatten();
            for row in rows.filter(|row| row.id == above) {
                (row.bytes, row.size, row.note) = (bytes, self.unit.format(bytes), files(left));
            }
        }
    }
}

fn files(n: u64) -> String {
    human::count(n, "file")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    use ftk_apply::{open_journal_to_undo, undo};
    use ftk_browse::{Key, Request};
    use ftk_usage::{Count, Keep};
    use ftk_walk::Walker;
    use proptest::prelude::*;

    use super::*;

    /// The entries below a directory: their paths with their contents, and `None` for a directory.
    type Tree = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn tree(top: &Path) -> Tree {
        let (mut entries, mut waiting) = (Tree::new(), vec![top.to_owned()]);
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let content = if path.is_dir() { None } else { Some(fs::read(&path).unwrap()) };
                entries
                    .insert(path.strip_prefix(top).unwrap().as_os_str().as_bytes().to_vec(), content.clone());
                waiting.extend(content.is_none().then_some(path));
            }
        }
        entries
    }

    fn space(top: &Path, quarantine: &Path) -> Space {
        let budget = Budget::new(1 << 24);
        let sealer = Sealer::default();
        let visitor = |worker| Count::new(worker, &Keep::default(), &budget, false).sealing(&sealer);
        let parts = Walker::new([top]).threads(2).run(visitor).into_iter().map(|it| it.part).collect();
        let start = CString::new(top.as_os_str().as_bytes()).unwrap();
        let starts = vec![Start::open(&start, Some(quarantine))];
        Space::new(Usage::merge(parts).unwrap(), starts, sealer, Measure::Apparent, Unit::Decimal)
    }

    const NAMES: [&[u8]; 5] = [b"a", b"b ", b"\x1b[31m", b"\xff", "\u{202e}c".as_bytes()];

    fn is_below(path: &[u8], above: &[u8]) -> bool {
        path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    fn keys() -> impl Strategy<Value = Vec<Key>> {
        let typed = |word: &'static str| word.chars().map(Key::Char).chain([Key::Enter]).collect::<Vec<_>>();
        let one = prop::sample::select(vec![
            Key::Up,
            Key::Down,
            Key::Down,
            Key::Left,
            Key::Right,
            Key::Enter,
            Key::Escape,
            Key::Home,
            Key::End,
            Key::Backspace,
            Key::Char(' '),
            Key::Char(' '),
            Key::Char('d'),
            Key::Char('n'),
            Key::Char('s'),
        ]);
        let words = ["dquarantine", "ddelete", "delete", "ddelet", "d", " dquarantine"].map(typed).to_vec();
        let some = prop_oneof![6 => one.prop_map(|key| vec![key]), 1 => prop::sample::select(words)];
        prop::collection::vec(some, 0..60).prop_map(|keys| keys.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        /// Whatever is typed, only the marked entries go, only after the word, and what was moved away comes back.
        #[test]
        fn random_keys_lose_nothing(
            files in prop::collection::vec((prop::collection::vec(0..NAMES.len(), 1..4), 0_u8..9), 1..10),
            keys in keys(),
        ) {
            let temp = tempfile::tempdir().unwrap();
            let (top, quarantine) = (temp.path().join("top"), temp.path().join("q"));
            for (names, content) in files {
                let names: PathBuf = names.iter().map(|nth| std::ffi::OsStr::from_bytes(NAMES[*nth])).collect();
                let path = top.join(names);
                // A name that is a file already has nothing below it.
                if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.exists() {
                    fs::write(path, vec![content; content.into()]).unwrap();
                }
            }
            let original = tree(&top);
            let mut expected = original.clone();
            let mut browser = Browser::new(space(&top, &quarantine), "top".into()).inside();
            let (mut marked, mut typed, mut journals) = (BTreeSet::<Vec<u8>>::new(), String::new(), Vec::new());
            let below = |path: Vec<u8>| path[top.as_os_str().len() + 1..].to_vec();
            for key in keys {
                let is_list = !browser.is_asking();
                let current = browser.current().map(|row| row.id);
                let request = browser.press(key);
                if let (Key::Char(' '), true, Some(id)) = (key, is_list, current)
                    && browser.source().known[id as usize].above.is_some()
                {
                    let path = below(browser.source().path(id));
                    if !marked.remove(&path) && !marked.iter().any(|above| is_below(&path, above)) {
                        marked.retain(|other| !is_below(other, &path));
                        marked.insert(path);
                    }
                }
                let shown: BTreeSet<_> = browser.source().marked.clone();
                let shown: BTreeSet<_> = shown.into_iter().map(|id| below(browser.source().path(id))).collect();
                prop_assert_eq!(&shown, &marked);
                match key {
                    Key::Char(letter) if letter != ' ' => typed.push(letter),
                    Key::Backspace => _ = typed.pop(),
                    Key::Enter if request == Request::Nothing => typed.clear(),
                    _ => {}
                }
                let Request::Act(word) = request else {
                    prop_assert_eq!(tree(&top), expected.clone());
                    continue;
                };
                prop_assert!(typed.ends_with(word), "{typed}");
                typed.clear();
                let path = temp.path().join(format!("journal{}", journals.len()));
                let mut journal = Journal::create(&path).unwrap();
                let before = expected.clone();
                let mut refused = BTreeSet::new();
                browser.source().carry_out(word, &mut journal, &Stop::new(), |chosen, outcome| {
                    if outcome.is_err() {
                        refused.insert(below(chosen.seen.path.clone()));
                    }
                }).unwrap();
                journal.finish().unwrap();
                journals.push((path, word));
                // Only a directory from which something went before differs from what was shown.
                let has_lost = |path: &Vec<u8>| original.keys().any(|it| is_below(it, path) && !before.contains_key(it));
                prop_assert!(refused.iter().all(has_lost), "{refused:?}");
                let went = marked.difference(&refused).cloned().collect::<Vec<_>>();
                expected.retain(|path, _| !went.iter().any(|above| is_below(path, above)));
                prop_assert_eq!(tree(&top), expected.clone());
                if word == QUARANTINE {
                    let moved = tree(&quarantine).into_iter().filter(|(path, _)| !path.ends_with(b"FTK-QUARANTINE.TAG"));
                    let moved: BTreeSet<_> = moved.map(|(_, content)| content).collect();
                    for (path, content) in before.iter().filter(|(path, _)| !expected.contains_key(*path)) {
                        prop_assert!(moved.contains(content), "{path:?} is lost");
                    }
                }
                marked = refused;
                browser.refresh();
            }
            // The last run is undone first. What was deleted stays away, with what was in it.
            let mut deleted = original.clone();
            for (path, word) in journals.iter().rev() {
                let Ok(journal) = open_journal_to_undo(path) else { continue };
                let mut outcomes = Vec::new();
                undo(journal, &Stop::new(), |_, outcome| outcomes.push(outcome.is_ok())).unwrap();
                prop_assert!(outcomes.iter().all(|is_ok| *is_ok == (*word == QUARANTINE)));
            }
            let now = tree(&top);
            deleted.retain(|path, _| !now.contains_key(path));
            prop_assert!(now.iter().all(|(path, content)| original.get(path) == Some(content)));
            if journals.iter().all(|(_, word)| *word == QUARANTINE) {
                prop_assert!(deleted.is_empty());
            }
        }
    }
}
