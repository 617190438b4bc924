//! The history of ASC MHL among the lists of a check.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Context as _;
use ftk_manifest::{GenerationState, History};
use ftk_record::quote;

use crate::film::Ignored;
use crate::hash::check::lists::{List, ParseOptions, Tables};
use crate::hash::check::verdict::CheckResult;
use crate::hash::reading::ReadList;
use crate::human;

impl ParseOptions<'_> {
    /// Adds the files that the history of the directory `film` records, and the state of each generation. Reports what
    /// is wrong in it.
    pub(super) fn history(&self, path: &OsStr, film: &Path, tables: &mut Tables) -> anyhow::Result<()> {
        let console = self.run.console;
        let name = quote(path.as_bytes());
        let history = History::read(film, &self.run.budget).with_context(|| name.clone())?;
        let ignored = Ignored::of(&history).with_context(|| name.clone())?;
        for unusable in &history.unusable {
            let file = unusable.item.path.as_ref().map_or("it".into(), |path| quote(path.as_bytes()));
            let (generation, line) = (quote(&unusable.generation), unusable.line);
            console
                .error(format_args!("{generation}, line {line}: cannot check {file}: {}", unusable.item.why));
        }
        for inconsistency in &history.inconsistencies {
            console.error(format_args!("{}: {}", quote(&inconsistency.generation), inconsistency.what));
        }
        if history.unknown_directory_hashes > 0 {
            let hashes = human::count(history.unknown_directory_hashes, "directory hash");
            console
                .summary(format_args!("{name}: {hashes} not checked: files lack digests by the algorithm"));
        }
        let start = tables.lines.lines.len();
        let mut read = ReadList { name, ..ReadList::default() };
        read.unusable = history.unusable.len() as u64;
        let root = self.root.unwrap_or(film);
        for file in &history.files {
            if !tables.is_wanted(&file.path) {
                read.usable += 1;
                continue;
            }
            if file.digests.is_empty() {
                console.error(format_args!(
                    "{}: cannot check {}: it has only digests of failed checks",
                    read.name,
                    quote(&file.path)
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
            tables.push(&file.path, &file.digests, file.size, &self.run.budget)?;
        }
        let states = history.generations.iter().map(|(path, state)| {
            let verdict = match state {
                GenerationState::Intact => CheckResult::Ok,
                GenerationState::Edited => CheckResult::Failed,
                GenerationState::Missing => CheckResult::Missing,
                GenerationState::Unlisted => CheckResult::New,
            };
            (path.clone(), verdict)
        });
        tables.lines.generations.extend(states);
        tables.lines.is_inconsistent |= !history.inconsistencies.is_empty();
        tables.lines.ignored.push(ignored);
        let lines = start..tables.lines.lines.len();
        tables.lines.lists.push(List {
            read,
            path: film.to_path_buf(),
            lines,
            identity: None,
            is_found: false,
        });
        Ok(())
    }
}
