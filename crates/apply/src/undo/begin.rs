//! The start of an undo: the journal, and the directories that it names.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::BufReader;
use std::os::fd::OwnedFd;

use ftk_file::{FileType, Identity};
use rustix::fs::{CWD, Mode, openat};

use crate::history::{History, JournalError, Remade, inode, removed};
use crate::intent::{Intent, Making};
use crate::reach::{DIRECTORY, Reach};
use crate::refusal::Side;
use crate::undo::Undoing;
use crate::undo::log::Log;
use crate::undo::names::names;

/// How an undo works.
#[derive(Debug)]
pub struct UndoOptions {
    /// Files and directories that undos of later runs have made in place of those that these runs had removed. The journal
    /// knows only the old ones. Default: none.
    pub remade: Vec<Remade>,
    /// How many bytes of memory the steps may need. Default: no limit.
    pub memory: u64,
    /// Whether kept copies may be below other directories than the recorded starting points. Their content must have the
    /// recorded digest either way. Default: no.
    pub other_root: bool,
}

impl Default for UndoOptions {
    fn default() -> Self {
        Self { remade: Vec::new(), memory: u64::MAX, other_root: false }
    }
}

/// An undo before its first step.
pub(super) struct Begun {
    pub(super) undoing: Undoing,
    /// The steps of the journal.
    pub(super) steps: Vec<Intent>,
    /// The starting points of the journal.
    pub(super) starts: Vec<Vec<u8>>,
    /// The steps that are undone, and whether the file lacks rights.
    pub(super) undone: BTreeMap<u64, bool>,
    /// The directories that the run was making.
    pub(super) making: Vec<Making>,
}

/// Reads a journal, and finds out which files and directories it means. Changes nothing.
///
/// # Errors
/// If the journal cannot be read or is invalid, its working directory cannot be opened or is another one, or the memory
/// does not suffice.
pub(super) fn begin(journal: File, options: UndoOptions) -> Result<Begun, JournalError> {
    let UndoOptions { remade, memory, other_root } = options;
    let mut history = History::read(BufReader::new(&journal), memory)?;
    let keepers: HashSet<_> = history.steps.iter().map(|step| step.keeper.version.identity()).collect();
    let is_directory = |it: &Remade| it.removed.file_type == FileType::Directory;
    let remade = remade.into_iter().filter(|it| is_directory(it) || keepers.contains(&it.removed_numbers()));
    let (directories, files): (Vec<_>, Vec<_>) = remade.partition(is_directory);
    history.replace_directories(&directories);
    let mut reach = Reach::new().with_other_sources(other_root);
    reach.expect_given(given(&history.steps));
    if has_relative_paths(&history) {
        let base = working_directory(&history, &reach)?;
        reach = reach.below(base);
    }
    let starts: Vec<_> = history.starts.keys().cloned().collect();
    if history.cwd_identity.is_some() {
        reach = reach.with_recorded(history.starts);
    }
    let mut steps = history.steps;
    for (removed, made) in of_steps(&steps, &history.remade) {
        reach.expect_remade(&removed, &made);
    }
    present_devices(&mut steps, &mut reach);
    let of_step = |step: &Intent| Some((step.victim.version.identity(), *history.remade.get(&step.step)?));
    let of_others = files.iter().map(|it| (it.removed_numbers(), it.made));
    let mut replacements: HashMap<_, Vec<_>> = HashMap::new();
    for (removed, made) in steps.iter().filter_map(of_step).chain(of_others) {
        replacements.entry(removed).or_default().push(made);
    }
    let mut undoing = Undoing {
        reach,
        copies: history.copies,
        names: names(&steps, &history.undone, &history.remade),
        replacements,
        held: VecDeque::new(),
        replaced: of_steps(&steps, &history.remade).map(|(old, made)| (inode(&old), made)).collect(),
        remade: history.remade,
        changed: Vec::new(),
        set: Vec::new(),
        made: Vec::new(),
        untouched: HashSet::new(),
        log: Log::new(journal, history.len),
        new: Vec::new(),
        undone: Vec::new(),
    };
    undoing.remember_present(&steps);
    Ok(Begun { undoing, steps, starts, undone: history.undone, making: history.making })
}

/// Returns whether any path of the journal starts from the working directory of the run.
fn has_relative_paths(history: &History) -> bool {
    let of_step = |intent: &Intent| {
        let elsewhere = intent.to.iter().chain(&intent.saved).any(|to| !to.path.starts_with(b"/"));
        elsewhere || [&intent.victim, &intent.keeper].iter().any(|seen| !seen.path.starts_with(b"/"))
    };
    let mut copies = history.copies.values().flatten();
    let is_relative = |start: &Vec<u8>| !start.starts_with(b"/");
    history.starts.keys().any(is_relative)
        || history.steps.iter().any(of_step)
        || copies.any(|copy| !copy.path.starts_with(b"/"))
}

/// Opens the working directory of the run, which must be the recorded one.
fn working_directory(
    History { cwd, cwd_identity, .. }: &History,
    reach: &Reach,
) -> Result<OwnedFd, JournalError> {
    let failed = |error| JournalError::WorkingDirectory(cwd.clone(), error);
    let base = openat(CWD, cwd, DIRECTORY, Mode::empty()).map_err(|errno| failed(errno.into()))?;
    if let Some(recorded) = cwd_identity
        && let Some(difference) = reach.difference(recorded, &Identity::of(&base).map_err(failed)?)
    {
        return Err(JournalError::OtherDirectory(cwd.clone(), difference));
    }
    Ok(base)
}

/// Returns the directories to which the steps gave another owner, with that owner.
fn given(steps: &[Intent]) -> Vec<Identity> {
    let of_step = |intent: &Intent| {
        let new = intent.set.as_ref()?;
        let victim = intent.proof.as_ref()?.victim?;
        let is_given = victim.file_type == FileType::Directory && victim.uid != new.uid;
        is_given.then_some(Identity { uid: new.uid, ..victim })
    };
    steps.iter().filter_map(of_step).collect()
}

/// Returns the directories that the steps have removed and that undos of this journal have made in their place.
fn of_steps(
    steps: &[Intent],
    remade: &BTreeMap<u64, Identity>,
) -> impl Iterator<Item = (Identity, Identity)> {
    steps.iter().filter_map(|intent| Some((removed(intent)?, *remade.get(&intent.step)?)))
}

/// Replaces the recorded device numbers by those that the file systems have now. A file system without a lasting
/// identity keeps its number, so its files are recognised only until it is mounted again.
fn present_devices(steps: &mut [Intent], reach: &mut Reach) {
    let mut devices = reach.present_devices();
    for intent in steps.iter() {
        if let Some(proof) = &intent.proof
            && proof.directory.fs.is_some()
            && !devices.contains_key(&proof.directory.dev)
            && let Ok(place) = reach.locate_entry(Side::Victim, &intent.victim.path, intent.victim.root_len)
            && let Ok(now) = place.directory(Side::Victim)
            && now.fs == proof.directory.fs
        {
            devices.insert(proof.directory.dev, now.dev);
        }
    }
    for intent in steps {
        let made = intent.made.as_mut().map(|made| &mut made.version);
        let versions = [&mut intent.victim.version, &mut intent.keeper.version].into_iter().chain(made);
        let victim = intent.proof.as_mut().and_then(|proof| proof.victim.as_mut());
        for dev in versions.map(|version| &mut version.dev).chain(victim.map(|victim| &mut victim.dev)) {
            *dev = devices.get(dev).copied().unwrap_or(*dev);
        }
    }
}
