//! `ftk hash --update LIST`: adds the files to a checksum list that it lacks, without reading files that are older
//! than it.

mod bag;
mod known;
mod target;

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{FileNo, Inventory, Keep, PathList};
use ftk_process::Rows;
use ftk_record::{BagFile, EditableList, Edits, End, quote, write_path};
use ftk_select::Roots;
use ftk_walk::Follow;
use indicatif::HumanCount;

use crate::colour::Tone;
use crate::console::{Console, Outcome, say_failed};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::check::lists::TOO_LARGE;
use crate::hash::update::bag::{BagFiles, tag_files};
use crate::hash::update::known::{Known, KnownFiles, Place, State};
use crate::hash::update::target::{Target, parse};
use crate::human::{self, shown};
use crate::list::List;
use crate::manifest::Limit;
use crate::run::{Hashed, Run};
use crate::scan::too_large;
use crate::stdout::Stdout;

/// Options that need `--update`.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --update")]
pub(super) struct UpdateArgs {
    /// Remove files from the list that do not exist
    ///
    /// Nothing is changed if more of the listed files are missing than --max-missing says. Names of directories and
    /// special files are removed, too.
    #[arg(long, requires = "update", hide_short_help = true)]
    prune: bool,

    /// Replace the digests of files whose content changed
    ///
    /// Only this accepts a file whose content is not as listed.
    #[arg(long, requires = "update", hide_short_help = true)]
    rehash: bool,

    /// With --prune: stop if more than P% or N of the files are missing
    ///
    /// An empty mount point looks like a tree from which everything was deleted. 100% removes the limit.
    #[arg(long, value_name = "P%|N", default_value = "50%", requires = "prune", hide_short_help = true)]
    max_missing: Limit,
}

impl UpdateArgs {
    /// Returns an option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        [(self.prune, "--prune"), (self.rehash, "--rehash")].iter().find(|it| it.0).map(|it| it.1)
    }
}

/// What was done with a file of the list, or should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Added,
    Removed,
    Rehashed,
    Missing,
    /// It was read, and is not as listed.
    Changed,
    /// It may have changed, and could not be read.
    Newer,
}

impl Change {
    const ALL: [Self; 6] =
        [Self::Added, Self::Removed, Self::Rehashed, Self::Missing, Self::Changed, Self::Newer];

    fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Rehashed => "rehashed",
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Newer => "newer",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Added | Self::Removed | Self::Rehashed => Tone::Notable,
            Self::Missing | Self::Changed | Self::Newer => Tone::Wrong,
        }
    }
}

/// A file that was read.
struct ReadFile {
    key: Vec<u8>,
    size: u64,
    digests: Vec<(Algorithm, Digest)>,
}

pub(super) fn run(
    path: &Path,
    args: &HashArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    ensure!(!(args.zero && globals.json), "--zero cannot be used with --json: each object is one line");
    ensure!(!args.paths.iter().any(|path| path == "-"), "--update needs files: standard input has no name");
    let run = Run::new(globals, console)?;
    let own = &args.update;
    let memory = globals.memory() / 8;
    let name = quote(path.as_os_str().as_bytes());
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stdout = Stdout::default();
    let out = List::create(None, &stdout)?;

    let bag_file = BagFile::of(path.file_name().unwrap_or_default().as_bytes());
    let bag_file = bag_file.filter(|_| dir.join("bagit.txt").is_file());
    if bag_file.as_ref().is_some_and(|file| file.is_tag) {
        bail!("{name} is a tag manifest, which changes with the payload manifests: name one of them");
    }
    let is_bag = bag_file.is_some();
    let bag_files = if is_bag { BagFiles::find(dir)? } else { BagFiles::default() };
    let paths = if is_bag { bag_files.payload.clone() } else { vec![path.to_owned()] };
    let open = |path| Target::open(path, memory, &stdout, console);
    let mut targets = paths.iter().map(|path| open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut tags = bag_files.tags().map(|path| open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let end = if args.zero { End::Nul } else { End::Newline };
    let lists: Vec<EditableList> = targets
        .iter()
        .map(|target| parse(target, end, &args.algorithms(), memory))
        .collect::<anyhow::Result<_>>()?;
    let start = targets.iter().map(|target| target.start).min().expect("at least one list");
    let written = targets.iter().map(Target::modified).collect::<Result<Vec<_>, _>>()?;
    let written = written.into_iter().min().expect("at least one list");

    let place = Place::of(&lists, dir, is_bag);
    let known = KnownFiles::examine(&lists, &place, written, &name)?;
    if own.prune {
        ensure!(
            !own.max_missing.is_exceeded(known.missing(), known.len()),
            "{name}: {} of {} listed files are missing: is the file system mounted? \
             (if they were deleted or moved, raise --max-missing, which is {})",
            HumanCount(known.missing()),
            HumanCount(known.len()),
            own.max_missing
        );
    } else if known.missing() == known.len() {
        bail!(
            "no file that {name} names exists in {}: names in the list must be relative to its directory, or absolute \
             (--prune removes missing files)",
            quote(place.dir.as_os_str().as_bytes())
        );
    }
    if let [list] = &*lists {
        known.check_assumed(list, &run, &place).with_context(|| name.clone())?;
    }

    let mut algorithms: Vec<_> = lists.iter().flat_map(EditableList::algorithms).collect();
    algorithms.sort();
    algorithms.dedup();
    let mut identities: Vec<_> = targets.iter().flat_map(Target::own).collect();
    identities.extend(tags.iter().flat_map(Target::own));
    let Found { files: new, mut outcome, bytes: new_bytes } =
        find_new(args, &run, &place, &known, lists.len(), &algorithms, &identities)?;
    let (newer, old_bytes, failed) = read_newer(&known, &lists, &place, &run)?;
    if failed {
        outcome = Outcome::Error;
    }

    let mut round = Round::new(&lists, &known, start, outcome);
    for file in &new {
        round.add(file, &known, &place, console);
    }
    for (key, file) in known.iter() {
        round.keep(file, newer.get(key), own, console);
    }
    round.changes.sort();

    // If all files that were read again are as listed, they are not newer than a list that is written again. A killed
    // run may have left tag manifests that do not fit the others.
    let all_are_as_listed = !newer.is_empty() && round.modified == start;
    if round.is_edited() || all_are_as_listed || (is_bag && own.rehash) {
        let mut new = Vec::with_capacity(lists.len());
        for (list, edits) in lists.iter().zip(&round.edits) {
            new.push(list.edit(edits).with_context(|| name.clone())?);
        }
        if is_bag {
            let manifests: Vec<_> = targets.iter().zip(new.iter().cloned()).collect();
            let bytes = tag_files(&tags, &manifests, round.payload, own.rehash, memory, console)?;
            for (tag, bytes) in tags.iter_mut().zip(&bytes) {
                tag.write(bytes, start)?;
            }
        }
        for (target, bytes) in targets.iter_mut().zip(&new) {
            target.write(bytes, round.modified)?;
        }
        // A tag manifest comes last: it has the digests of the others.
        for target in targets.into_iter().chain(tags) {
            target.replace()?;
        }
    }
    let Round { changes, outcome, .. } = round;
    print(out, &changes, globals.json)?;
    say(&changes, outcome, console);
    if !new.is_empty() || !newer.is_empty() {
        let read = human::count((new.len() + newer.len()) as u64, "file");
        run.say_done(&format!("{read} read"), new_bytes + old_bytes, &algorithms);
    }
    Ok(outcome)
}

/// What happens to the files and the lists.
struct Round<'l> {
    lists: &'l [EditableList],
    /// The algorithms of each list.
    algorithms: Vec<Vec<Algorithm>>,
    /// What happens to each file, by its name.
    changes: Vec<(Vec<u8>, Change)>,
    /// The edits of each list.
    edits: Vec<Edits>,
    /// Bytes and number of the files that exist.
    payload: (u64, u64),
    /// The time of the new lists.
    modified: SystemTime,
    outcome: Outcome,
}

impl<'l> Round<'l> {
    /// Begins a round at `start`, with the outcome of what was read before.
    fn new(lists: &'l [EditableList], known: &KnownFiles, start: SystemTime, outcome: Outcome) -> Self {
        Self {
            lists,
            algorithms: lists.iter().map(EditableList::algorithms).collect(),
            changes: Vec::new(),
            edits: lists.iter().map(|_| Edits::default()).collect(),
            payload: (known.bytes(), known.present()),
            modified: start,
            outcome,
        }
    }

    /// Adds a file to each list that lacks it.
    fn add(&mut self, file: &ReadFile, known: &KnownFiles, place: &Place, console: &Console) {
        let name = place.name(&file.key);
        let line = |(nth, list): (usize, &EditableList)| {
            let wanted = self.algorithms[nth]
                .iter()
                .filter_map(|it| file.digests.iter().find(|(algorithm, _)| algorithm == it));
            Ok((nth, list.line(&name, file.size, &wanted.copied().collect::<Vec<_>>())?))
        };
        let lacking = self.lists.iter().enumerate().filter(|(nth, _)| !known.has(&file.key, *nth));
        let lines: Vec<_> = match lacking.map(line).collect::<Result<_, String>>() {
            Ok(lines) => lines,
            Err(why) => {
                console.error(format_args!("cannot list {}: {why}", quote(&name)));
                self.outcome = Outcome::Error;
                return;
            }
        };
        for (nth, line) in lines {
            self.edits[nth].added.push((name.clone(), line));
        }
        if !known.is_listed(&file.key) {
            self.payload = (self.payload.0 + file.size, self.payload.1 + 1);
        }
        self.changes.push((name, Change::Added));
    }

    /// Decides about a listed file. `read`: what was read of it now, if it changed and is to be read.
    fn keep(&mut self, file: &Known, read: Option<&ReadFile>, own: &UpdateArgs, console: &Console) {
        let change = match (&file.state, read) {
            (State::Same(_), _) => return,
            (State::Failed(why), _) => {
                console.path_error("examine", &file.name, why);
                self.outcome = Outcome::Error;
                return;
            }
            (State::Missing | State::NotAFile, _) if own.prune => {
                file.lines.iter().for_each(|(nth, line)| _ = self.edits[*nth].removed.insert(*line));
                Change::Removed
            }
            (State::Missing, _) => Change::Missing,
            (State::NotAFile, _) => {
                let why = "it is not a regular file (--prune removes it from the list)";
                console.path_error("examine", &file.name, why);
                self.outcome = Outcome::Error;
                return;
            }
            (State::Changed(seen), read) => {
                let size = read.map_or(seen.size, |read| read.size);
                self.payload.0 = self.payload.0 - seen.size + size;
                let change = match read.map(|read| self.replace(file, read, own.rehash)) {
                    Some(false) => return,
                    Some(true) if own.rehash => Change::Rehashed,
                    Some(true) => Change::Changed,
                    None => Change::Newer,
                };
                if change != Change::Rehashed {
                    // A list that does not have the digest of a changed file stays older than it, so that the next run
                    // finds the file again.
                    self.modified = self.modified.min(seen.modified - Duration::from_nanos(1));
                }
                change
            }
        };
        if matches!(change, Change::Missing | Change::Changed | Change::Newer) {
            self.outcome = self.outcome.max(Outcome::Negative);
        }
        self.changes.push((file.name.clone(), change));
    }

    /// Compares the digests of a file that was read again, and replaces them if the new ones are accepted. Returns
    /// whether a line differs.
    fn replace(&mut self, file: &Known, read: &ReadFile, accepts: bool) -> bool {
        let mut differs = false;
        for (nth, line) in &file.lines {
            let old = &self.lists[*nth].lines()[*line];
            let digest = |it: &(Algorithm, Digest)| {
                let found = read.digests.iter().find(|(algorithm, _)| *algorithm == it.0);
                *found.expect("it was hashed by all algorithms of the lists")
            };
            let digests: Vec<_> = old.digests.iter().map(digest).collect();
            if digests != old.digests || old.size.is_some_and(|size| size != read.size) {
                differs = true;
                if !accepts {
                    continue;
                }
                self.edits[*nth].replaced.insert(*line, (read.size, digests));
            }
        }
        differs
    }

    /// Whether a list changes.
    fn is_edited(&self) -> bool {
        let is_empty = |it: &Edits| it.added.is_empty() && it.removed.is_empty() && it.replaced.is_empty();
        !self.edits.iter().all(is_empty)
    }
}

/// Files that a list lacks.
struct Found {
    files: Vec<ReadFile>,
    outcome: Outcome,
    /// The number of bytes that were read.
    bytes: u64,
}

/// Walks the starting points, and reads the files that are not in each of the `lists` lists.
fn find_new(
    args: &HashArgs,
    run: &Run<'_>,
    place: &Place,
    known: &KnownFiles,
    lists: usize,
    algorithms: &[Algorithm],
    own: &[(u64, u64)],
) -> anyhow::Result<Found> {
    let top = CString::new(place.top().as_os_str().as_bytes())?;
    let mut starts = args.selection.starts.read(&args.paths, &[&top])?;
    let (mut prefixes, mut refused) = (Vec::with_capacity(starts.len()), Outcome::Success);
    starts.retain(|start| match place.below(Path::new(OsStr::from_bytes(start.to_bytes()))) {
        Ok(prefix) => {
            prefixes.push((start.to_bytes().to_vec(), prefix));
            true
        }
        // The others are added.
        Err(error) => {
            refused = run.console.fatal(&error);
            false
        }
    });
    if starts.is_empty() {
        return Ok(Found { files: Vec::new(), outcome: refused, bytes: 0 });
    }
    // Of nested starting points, the inner one is the longer one.
    prefixes.sort_by_key(|(start, _)| std::cmp::Reverse(start.len()));
    let selection = args.selection.compile(&Roots::new(&starts), own, run.console)?;
    let follow = args.selection.follow(Follow::Roots);
    let scanned = run.walk(starts, follow, &selection, Keep::Files, "")?;
    scanned.rules.say(run.console);
    scanned.say_filtered(run.console);
    let mut wanted = Vec::new();
    let mut order = scanned.inventory.in_path_order();
    while let Some(item) = order.next() {
        let file = item.file.context("internal error: a file without a number")?;
        let below = prefixes.iter().find_map(|(start, prefix)| {
            let rest = item.path.strip_prefix(&**start)?;
            let is_below = rest.is_empty() || rest.starts_with(b"/") || start.ends_with(b"/");
            let rest = &rest[rest.iter().take_while(|byte| **byte == b'/').count()..];
            is_below.then(|| {
                [&**prefix, rest].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(&b'/')
            })
        });
        let key = below.context("internal error: a file outside the starting points")?;
        if !(0..lists).all(|list| known.has(&key, list)) {
            wanted.push((file, key));
        }
    }
    drop(order);
    wanted.sort();
    let only: Vec<FileNo> = wanted.iter().map(|(file, _)| *file).collect();
    if only.is_empty() {
        return Ok(Found { files: Vec::new(), outcome: scanned.outcome.max(refused), bytes: 0 });
    }
    let work = run.whole(&scanned.inventory, Some(&only), algorithms);
    let rows = run.rows(&work, true).with_context(|| too_large(&run.budget))?;
    let Hashed { rows, done, failed } = run.read(&work, rows)?;
    say_failed(&scanned.inventory, &failed, "not added", run.console);
    let mut files = Vec::with_capacity(wanted.len());
    for (row, (_, key)) in wanted.into_iter().enumerate() {
        files.extend(read_file(&rows, row as u32, key, algorithms));
    }
    let outcome = scanned.outcome.max(refused).max(Outcome::error_if(!failed.is_empty()));
    Ok(Found { files, outcome, bytes: done.bytes })
}

/// Returns what was read of a file; `None` if it could not be read.
fn read_file(rows: &Rows, row: u32, key: Vec<u8>, algorithms: &[Algorithm]) -> Option<ReadFile> {
    let digests = algorithms.iter().copied().zip(rows.digests(row)?.map(Digest::from_bytes)).collect();
    Some(ReadFile { key, size: rows.stat(row)?.size, digests })
}

/// Reads the listed files that may have changed. Returns those that could be read, the number of bytes, and whether any
/// could not be read.
fn read_newer(
    known: &KnownFiles,
    lists: &[EditableList],
    place: &Place,
    run: &Run<'_>,
) -> anyhow::Result<(BTreeMap<Vec<u8>, ReadFile>, u64, bool)> {
    let changed: Vec<_> = known.iter().filter(|(_, file)| matches!(file.state, State::Changed(_))).collect();
    if changed.is_empty() {
        return Ok(Default::default());
    }
    let mut algorithms: Vec<_> =
        lists.iter().flat_map(EditableList::lines).flat_map(|line| &line.digests).map(|it| it.0).collect();
    algorithms.sort();
    algorithms.dedup();
    // In a bag, no link leads to a file of the payload.
    let mut paths = match place.is_bag {
        true => PathList::confined(CString::new(place.dir.as_os_str().as_bytes())?),
        false => PathList::new(),
    }
    .within(&run.budget);
    for (key, file) in &changed {
        let path = if place.is_bag {
            key.to_vec()
        } else {
            place.path(&file.name).into_os_string().into_encoded_bytes()
        };
        paths.push(&path).context(TOO_LARGE)?;
    }
    let (inventory, numbers) = Inventory::from_list(paths).context(TOO_LARGE)?;
    let work = run.whole(&inventory, None, &algorithms);
    let rows = run.rows(&work, true).with_context(|| too_large(&run.budget))?;
    let Hashed { rows, done, failed } = run.read(&work, rows)?;
    say_failed(&inventory, &failed, "its digest is kept", run.console);
    let files = changed.iter().zip(numbers).filter_map(|((key, _), FileNo(row))| {
        read_file(&rows, row, key.to_vec(), &algorithms).map(|file| (key.to_vec(), file))
    });
    Ok((files.collect(), done.bytes, !failed.is_empty()))
}

/// Prints a line for each change.
fn print(mut out: List<'_>, changes: &[(Vec<u8>, Change)], json: bool) -> anyhow::Result<()> {
    let is_coloured = out.is_coloured();
    for (path, change) in changes {
        out.line(|line| {
            let word = change.word();
            // Writing to a Vec cannot fail.
            if json {
                let _ = write!(line, "{{\"change\":\"{word}\",");
                write_path(line, "path", path);
                line.extend_from_slice(b"}\n");
                return;
            }
            let style = change.tone().style(is_coloured);
            let _ = writeln!(line, "{style}{word:<8}{style:#} {}", shown(path));
        });
    }
    out.finish()
}

/// Prints `  2 files added, 1 missing   (status 1)`.
fn say(changes: &[(Vec<u8>, Change)], outcome: Outcome, console: &Console) {
    let counts = Change::ALL.into_iter().filter_map(|change| {
        let n = changes.iter().filter(|(_, it)| *it == change).count();
        (n > 0).then(|| format!("{} {}", HumanCount(n as u64), change.word()))
    });
    let counts: Vec<_> = counts.collect();
    let said = if counts.is_empty() { "nothing to add".to_owned() } else { counts.join(", ") };
    console.summary(match outcome {
        Outcome::Success => said,
        outcome => format!("{said}   (status {})", outcome.status()),
    });
}
