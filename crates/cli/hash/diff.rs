//! `ftk hash --diff OLD NEW`: compares two checksum lists without reading the files they name.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;

use anyhow::bail;
use ftk_hash::Algorithm;
use ftk_record::{Change, End, changes, quote, write_path};
use indicatif::HumanCount;

use crate::colour::Tone;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::reading::warn_of_text;
use crate::hash::table::{ListOptions, Table};
use crate::human::{self, ARROW, shown};
use crate::input;

use crate::list::{List, named};
use crate::stdout::Stdout;

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let [old, new] = &*args.paths else { bail!("--diff compares two lists: name OLD and NEW") };
    if old == "-" && new == "-" {
        bail!("standard input can be read only once");
    }
    let stdout = Stdout::default();
    let list = List::create(named(args.output.as_deref()), &stdout)?;

    let reading = ListOptions {
        end: if args.zero { End::Nul } else { End::Newline },
        algorithms: &args.algorithms(),
        memory: globals.memory() / 2,
    };
    let tables = both([old, new], globals, |path| reading.read(path))?;
    let list = (!args.check.status).then_some(list);
    let compared = Compared::of(&tables, list, globals.json, console)?;
    Ok(if args.check.status { compared.outcome } else { compared.finish(console) })
}

/// The result of a comparison.
pub(crate) struct Compared {
    same: u64,
    counts: [u64; WORDS.len()],
    outcome: Outcome,
}

impl Compared {
    /// Finds the differences between two lists, and writes them to `list`.
    pub(crate) fn of(
        [old, new]: &[Table; 2],
        mut list: Option<List<'_>>,
        json: bool,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let mut outcome = Outcome::Success;
        for complaint in old.complaints.iter().chain(&new.complaints) {
            console.error(complaint);
            outcome = Outcome::Error;
        }
        let lists = [&old.list, &new.list];
        warn_of_text(lists.into_iter(), console);
        lists.into_iter().for_each(|list| list.say_notes(console));
        refuse_without_common(old, new)?;
        // Names in the output are like those in the lists.
        let prefix: &[u8] = if old.has_dot && new.has_dot { b"./" } else { b"" };

        let (changes, same) = changes(&old.sums, &new.sums, identifies_file);
        let mut counts = [0_u64; WORDS.len()];
        let is_coloured = list.as_ref().is_some_and(List::is_coloured);
        for change in &changes {
            if let Some(nth) = kind(change) {
                counts[nth] += 1;
                let Some(list) = &mut list else { continue };
                list.line(|out| push(out, nth, change, prefix, json, is_coloured));
            }
        }
        list.map_or(Ok(()), List::finish)?;
        for change in &changes {
            if let Change::Unknown(path) = change {
                let path = quote(&[prefix, path].concat());
                console.error(format_args!(
                    "cannot compare {path}: the lists have no algorithm in common for it"
                ));
                outcome = Outcome::Error;
            }
        }
        if counts.iter().any(|n| *n > 0) {
            outcome = outcome.max(Outcome::Negative);
        }
        Ok(Self { same, counts, outcome })
    }

    /// Prints `  999,993 files the same; 3 added, 4 moved   (status 1)` and returns the outcome.
    pub(crate) fn finish(self, console: &Console) -> Outcome {
        let counts = self.counts.iter().zip(WORDS).filter(|(n, _)| **n > 0);
        let counts: Vec<_> = counts.map(|(n, word)| format!("{} {word}", HumanCount(*n))).collect();
        let (gap, counts) = (if counts.is_empty() { "" } else { "; " }, counts.join(", "));
        let same = human::count(self.same, "file");
        console.summary(match self.outcome {
            Outcome::Success => format!("{same} the same"),
            outcome => format!("{same} the same{gap}{counts}   (status {})", outcome.status()),
        });
        self.outcome
    }
}

/// Calls `read` for both paths, in parallel if more than one thread is allowed.
pub(crate) fn both<T: Send>(
    paths: [&OsString; 2],
    globals: &Globals,
    read: impl Fn(&OsStr) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<[T; 2]> {
    let made = input::all(&paths, globals, read)?;
    Ok(made.try_into().ok().expect("one for each path"))
}

/// Returns whether a file with this digest is found under another name. Lists have no sizes, but many files are empty.
fn identifies_file(algorithm: Algorithm, digest: &[u8]) -> bool {
    algorithm.identifies_content() && algorithm.hash_one(b"").as_bytes() != digest
}

/// Refuses lists without a common algorithm, since no file could be compared.
fn refuse_without_common(old: &Table, new: &Table) -> anyhow::Result<()> {
    let (ours, theirs) = (old.sums.algorithms(), new.sums.algorithms());
    if ours.iter().any(|algorithm| theirs.contains(algorithm)) {
        return Ok(());
    }
    let assumed = if old.list.assumed.is_empty() && new.list.assumed.is_empty() {
        ""
    } else {
        " (where a list does not name it, the length of the digests decides: -a names another)"
    };
    let names = |all: &[Algorithm]| match all {
        [] => "none".to_owned(),
        all => all.iter().map(|it| it.name()).collect::<Vec<_>>().join(", "),
    };
    bail!("the lists have no algorithm in common: {} and {}{assumed}", names(&ours), names(&theirs));
}

/// The words for changes.
const WORDS: [&str; 4] = ["added", "removed", "modified", "moved"];

/// Returns the index into [`WORDS`], or `None` for a file that cannot be compared.
fn kind(change: &Change<'_>) -> Option<usize> {
    match change {
        Change::Added(_) => Some(0),
        Change::Removed(_) => Some(1),
        Change::Modified(_) => Some(2),
        Change::Moved { .. } => Some(3),
        Change::Unknown(_) => None,
    }
}

fn push(out: &mut Vec<u8>, kind: usize, change: &Change<'_>, prefix: &[u8], json: bool, is_coloured: bool) {
    let word = WORDS[kind];
    let path = [prefix, change.path()].concat();
    let new = if let Change::Moved { new, .. } = change { Some([prefix, new].concat()) } else { None };
    if json {
        let _ = write!(out, "{{\"change\":\"{word}\",");
        write_path(out, "path", &path);
        if let Some(new) = new {
            out.push(b',');
            write_path(out, "new_path", &new);
        }
        out.extend_from_slice(b"}\n");
        return;
    }
    let tone = if let Change::Modified(_) = change { Tone::Wrong } else { Tone::Notable };
    let style = tone.style(is_coloured);
    let _ = write!(out, "{style}{word:<8}{style:#} {}", shown(&path));
    if let Some(new) = new {
        let _ = write!(out, " {ARROW} {}", shown(&new));
    }
    out.push(b'\n');
}
