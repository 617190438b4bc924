//! Performs an action on a whole directory.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use ftk_file::temp_name;
use ftk_sched::Stop;
use rustix::fs::fstat;

use crate::action::{ActionKind, Freed};
use crate::durable::sync_names;
use crate::emptied::Empty;
use crate::engine::{Engine, RESERVED_DESCRIPTORS, max_batch};
use crate::intent::{Intent, Proof};
use crate::journal::Journal;
use crate::metadata::Metadata;
use crate::reach::Place;
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::Step;
use crate::tree::listing::{Directory, Link, Tree, TreeError};
use crate::tree::remove::{remove_emptied_directory, remove_empty_directory, remove_link};

/// What was done in a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeDone {
    /// Files on which the action was performed.
    pub files: u64,
    /// Bytes on the disk that this freed.
    pub freed: Freed,
}

impl Engine {
    /// Performs the action on all files of a directory, and removes the directory if the action removes files. Calls
    /// `report` with the outcome for each file. Returns what was done, and how it ended.
    ///
    /// The directory is listed first. If an entry has no equal counterpart, nothing is done. A deletion or a move ends
    /// at the first file that fails: everything that was not handled stays. For other actions, each file is on its own.
    ///
    /// # Errors
    /// If the journal cannot be written or names cannot be synced. A step that is not in the journal is never
    /// performed.
    pub fn run_tree(
        &mut self,
        step: &Step,
        journal: &mut Journal,
        stop: &Stop,
        mut report: impl FnMut(&Step, &Result<Freed, ActError>),
    ) -> io::Result<(TreeDone, Result<(), TreeError>)> {
        let mut done = TreeDone::default();
        if stop.is_raised() {
            return Ok((done, Err(at(step, ActError::Stopped))));
        }
        let kind = self.kind();
        self.remember_directory(step);
        let tree = match Tree::list(self.reach(), kind, step) {
            Ok(tree) => tree,
            Err(error) => return Ok((done, Err(error))),
        };
        let removes = kind.removes();
        let mut failed = None;
        let n_files = tree.files.len() as u64;
        let mut reported = 0;
        let files = tree.files.into_iter().map(|file| file.step);
        self.run_while(files, journal, stop, |step, outcome| {
            reported += 1;
            report(step, &outcome);
            match outcome {
                Ok(Freed(bytes)) => {
                    done.files += 1;
                    done.freed.0 += bytes;
                }
                // The victim is the keeper of the next links.
                Err(ActError::Refused(Refusal::TooManyLinks)) => {}
                Err(error) => {
                    failed.get_or_insert(at(step, error));
                }
            }
            if removes && failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if reported < n_files && failed.is_none() {
            failed = Some(at(step, ActError::Stopped));
        }
        let ended = match failed {
            Some(error) => Err(error),
            None => self.remove_rest(tree.links, tree.directories, journal, stop)?,
        };
        if removes && ended.is_ok() {
            self.note_removed(step);
        }
        Ok((done, ended))
    }

    /// Removes the directories that the run has emptied, if it was to [remember](Self::with_emptied) them: the innermost
    /// first, then those that this empties. Calls `report` with the path of each and the outcome. A directory that is not
    /// empty stays and is not reported. Undo makes the directories again.
    ///
    /// # Errors
    /// If the journal cannot be written or names cannot be synced. A step that is not in the journal is never
    /// performed.
    pub fn remove_emptied(
        &mut self,
        journal: &mut Journal,
        stop: &Stop,
        mut report: impl FnMut(&[u8], Result<(), ActError>),
    ) -> io::Result<()> {
        let Some(mut emptied) = self.take_emptied() else { return Ok(()) };
        while !stop.is_raised()
            && let Some(directories) = emptied.innermost(self.reach())
        {
            let mut intents = Vec::new();
            for (path, directory) in directories {
                match directory {
                    Ok(Empty { victim, metadata }) => {
                        emptied.remember(self.reach(), &victim);
                        // It has no counterpart.
                        let step = Step::new(victim.clone(), victim);
                        match self.proof(&step) {
                            Ok(proof) => {
                                let kind = ActionKind::RemoveDirectory;
                                let mut intent = intent(kind, step, metadata, proof);
                                match journal.intend(&mut intent, self.reach()) {
                                    Ok(()) => intents.push(intent),
                                    Err(refusal) => report(&path, Err(refusal.into())),
                                }
                            }
                            Err(refusal) => report(&path, Err(refusal.into())),
                        }
                    }
                    Err(refusal) => report(&path, Err(refusal.into())),
                }
            }
            if intents.is_empty() {
                continue;
            }
            journal.sync()?;
            let mut changed = Vec::new();
            for intent in &intents {
                if changed.len() >= max_batch(RESERVED_DESCRIPTORS) {
                    sync_remaining(&mut changed)?;
                }
                let outcome = match stop.is_raised() {
                    true => Err(ActError::Stopped),
                    false => remove_emptied_directory(self.reach(), intent),
                };
                let outcome = outcome.map(|place| changed.push(place.dir)).map(|()| Freed(0));
                journal.note(intent.step, &outcome);
                if outcome.is_ok() {
                    emptied.remove(&intent.victim);
                }
                match outcome {
                    // An entry that appeared meanwhile keeps the directory.
                    Err(ActError::Refused(Refusal::NotEmpty)) => {}
                    outcome => report(&intent.victim.path, outcome.map(|_| ())),
                }
            }
            sync_remaining(&mut changed)?;
            journal.write()?;
        }
        Ok(())
    }

    /// Removes the links and then the directories, the innermost ones first.
    fn remove_rest(
        &mut self,
        links: Vec<Link>,
        directories: Vec<Directory>,
        journal: &mut Journal,
        stop: &Stop,
    ) -> io::Result<Result<(), TreeError>> {
        let mut proofs = Vec::new();
        let steps = links.iter().map(|link| &link.step);
        for step in steps.chain(directories.iter().rev().map(|directory| &directory.step)) {
            match self.proof(step) {
                Ok(proof) => proofs.push(proof),
                Err(refusal) => return Ok(Err(at(step, refusal.into()))),
            }
        }
        let mut proofs = proofs.into_iter();
        let mut next_proof = || proofs.next().expect("each step has a proof");
        let mut intents = Vec::new();
        for Link { step, target, metadata } in links {
            let to = self.new_path(&step.victim.path);
            let link = intent(ActionKind::RemoveLink, step, metadata, next_proof());
            intents.push(Intent { target: Some(target), to, ..link });
        }
        for Directory { step, metadata } in directories.into_iter().rev() {
            intents.push(intent(ActionKind::RemoveDirectory, step, metadata, next_proof()));
        }
        if intents.is_empty() {
            return Ok(Ok(()));
        }
        let mut ended = Ok(());
        let mut n_added = 0;
        for intent in &mut intents {
            if let Err(refusal) = journal.intend(intent, self.reach()) {
                ended = Err(TreeError { path: intent.victim.path.clone(), error: refusal.into() });
                break;
            }
            n_added += 1;
        }
        journal.sync()?;
        let max_unsynced = max_batch(RESERVED_DESCRIPTORS);
        let mut changed = Vec::new();
        for intent in &intents[..n_added] {
            if changed.len() >= max_unsynced {
                sync_remaining(&mut changed)?;
            }
            let outcome = match &ended {
                Ok(()) if !stop.is_raised() => self.remove_one(intent),
                _ => Err(ActError::Stopped),
            };
            let outcome = outcome.map(|place| changed.push(place.dir)).map(|()| Freed(0));
            journal.note(intent.step, &outcome);
            if let (Err(error), true) = (outcome, ended.is_ok()) {
                ended = Err(TreeError { path: intent.victim.path.clone(), error });
            }
        }
        sync_remaining(&mut changed)?;
        self.sync_destination()?;
        journal.write()?;
        Ok(ended)
    }

    /// Identifies a link or directory that is about to be removed.
    fn proof(&mut self, step: &Step) -> Result<Proof, Refusal> {
        let place = self.reach().locate(Side::Victim, &step.victim.path, step.victim.root_len)?;
        Proof::of_removed(&place, Side::Victim, 1)
    }

    fn remove_one(&mut self, intent: &Intent) -> Result<Place, ActError> {
        match intent.kind {
            ActionKind::RemoveLink => {
                let (reach, destination) = self.reach_and_destination();
                remove_link(reach, intent, destination)
            }
            _ => remove_empty_directory(self.reach(), intent),
        }
    }
}

/// Syncs and closes the directories. One that was removed needs no sync, and its descriptor cannot be opened again.
fn sync_remaining(changed: &mut Vec<Rc<OwnedFd>>) -> io::Result<()> {
    changed.retain(|dir| fstat(dir).is_ok_and(|stat| stat.st_nlink > 0));
    sync_names(changed)?;
    changed.clear();
    Ok(())
}

fn at(step: &Step, error: ActError) -> TreeError {
    TreeError { path: step.victim.path.clone(), error }
}

/// Returns the intent of a step that removes or moves a name, and needs no more than this.
pub(crate) fn intent(kind: ActionKind, step: Step, metadata: Metadata, proof: Proof) -> Intent {
    let Step { victim, keeper, .. } = step;
    let (temp, proof) = (temp_name(), Some(proof));
    let (step, target, to, saved, made) = Default::default(); // numbered when it is added to the journal
    Intent { step, kind, temp, victim, metadata, keeper, target, to, saved, made, set: None, proof }
}
