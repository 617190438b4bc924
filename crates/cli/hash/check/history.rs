//! The history of ASC MHL among the lists of a check.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Context as _;
use ftk_manifest::{GenerationState, History};
use ftk_record::quote;

use crate::film::Ignored;
use crate::hash::check::lists::{List, ParseOptions, Source, Tables, placed};
use crate::hash::check::verdict::CheckResult;
use crate::hash::reading::ReadList;
use crate::human;

impl ParseOptions<'_> {
    /// Adds the files that the history of the directory `film` records, and the state of each generation. Reports what
    /// is wrong in it. Returns whether it was read.
    ///
    /// # Errors
    /// If the history was named and cannot be read, or if its files do not fit into the tables.
    pub(super) fn history(&self, source: &Source, film: &Path, tables: &mut Tables) -> anyhow::Result<bool> {
        let console = self.run.console;
        let Source { path, found } = source;
        let name = quote(path.as_bytes());
        let nested = found.as_ref().map_or(&[][..], |found| &found.nested);
        let read = History::read(film, nested, &self.run.budget).map_err(anyhow::Error::from);
        let read = read.and_then(|history| Ok((Ignored::of(&history)?, history)));
        let (ignored, history) = match read.with_context(|| name.clone()) {
            Ok(read) => read,
            Err(error) if found.is_some() => {
                console.fatal(&error);
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let root = self.root.unwrap_or(film);
        let (table, place) = tables.place(found.as_ref(), root, true, &self.run.budget)?;
        let shown = |path| placed(found.as_ref().map(|_| film), path);
        for unusable in &history.unusable {
            let file = unusable.item.path.as_ref().map_or("it".into(), |path| quote(path.as_bytes()));
            let (generation, line) = (quote(&shown(&unusable.generation)), unusable.line);
            console
                .error(format_args!("{generation}, line {line}: cannot check {file}: {}", unusable.item.why));
        }
        for inconsistency in &history.inconsistencies {
            let generation = quote(&shown(&inconsistency.generation));
            console.error(format_args!("{generation}: {}", inconsistency.what));
        }
        if history.unknown_directory_hashes > 0 {
            let hashes = human::count(history.unknown_directory_hashes, "directory hash");
            console
                .summary(format_args!("{name}: {hashes} not checked: files lack digests by the algorithm"));
        }
        let start = tables.lines.lines.len();
        let mut read = ReadList { name, ..ReadList::default() };
        read.unusable = history.unusable.len() as u64;
        for file in &history.files {
            if !tables.is_wanted(&file.path) {
                read.usable += 1;
                continue;
            }
            if file.digests.is_empty() {
                console.error(format_args!(
                    "{}: cannot check {}: it has only digests of failed checks",
                    read.name,
                    quote(&shown(&file.path))
                ));
                read.unusable += 1;
                continue;
            }
            read.usable += 1;
            // An ignored file may be gone.
            let is_there = || root.join(OsStr::from_bytes(&file.path)).symlink_metadata().is_ok();
            if ignored.has(&file.path, false) && !is_there() {
                continue;
            }
            tables.push(table, &placed(place, &file.path), &file.digests, file.size, &self.run.budget)?;
        }
        let states = history.generations.iter().map(|(path, state)| {
            let verdict = match state {
                GenerationState::Intact => CheckResult::Ok,
                GenerationState::Edited => CheckResult::Failed,
                GenerationState::Missing => CheckResult::Missing,
                GenerationState::Unlisted => CheckResult::New,
            };
            (shown(path).into_owned(), verdict)
        });
        let generations = states.collect();
        tables.lines.is_inconsistent |= !history.inconsistencies.is_empty();
        tables.lines.ignored.push(ignored);
        let lines = start..tables.lines.lines.len();
        tables.lines.lists.push(List {
            read,
            path: film.to_path_buf(),
            lines,
            table,
            generations,
            identity: None,
            is_found: found.is_some(),
        });
        Ok(true)
    }
}
