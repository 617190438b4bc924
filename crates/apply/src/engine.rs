//! The engine: it proves steps, records them in the journal, performs them and reports the outcomes.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::ops::ControlFlow;

use ftk_file::{Identity, temp_name};
use ftk_sched::Stop;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::act::{absolute_path, act};
use crate::action::{Action, ActionKind, ActionOptions, Freed, OpenAction};
use crate::alias_check::AliasCheck;
use crate::copies::CopyProofs;
use crate::destination::Destination;
use crate::durable::Keepers;
use crate::emptied::Emptied;
use crate::intent::{Intent, Proof, To};
use crate::journal::Journal;
use crate::metadata::{KeeperAccess, Metadata};
use crate::own_changes::OwnChanges;
use crate::prove::{Proven, prove};
use crate::reach::Reach;
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::{Seen, Step};
use crate::stat::birth_of;

/// The maximal number of steps between two syncs of the journal: a sync costs milliseconds, a step tens of
/// microseconds.
const BATCH_STEPS: usize = 200;

/// A batch ends when the total size of its victims and of their records reaches this, to keep the time short between the
/// comparison of a file and the action, and to bound the memory.
pub(crate) const BATCH_BYTES: u64 = 16 << 20;

/// Descriptors that a step of a batch holds: two files and their directories.
const STEP_DESCRIPTORS: u64 = 4;

/// Descriptors that are reserved for everything else.
pub(crate) const RESERVED_DESCRIPTORS: u64 = 12;

/// Returns the maximal number of steps in a batch, limited by the descriptors they need. `reserved`:
/// descriptors that are needed for everything else.
pub(crate) fn max_batch(reserved: u64) -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (limit.saturating_sub(reserved) / STEP_DESCRIPTORS).clamp(1, BATCH_STEPS as u64) as usize
}

/// The state of steps that are carried out only together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    /// No such steps are in progress.
    Ended,
    Begun,
    /// One was refused or failed.
    Broken,
}

/// A proven step and its intent.
type Ready = Result<(Proven, Intent), ActError>;

/// Performs steps of one kind of action. The [front page](crate) has a complete example.
///
/// ```no_run
/// use ftk_apply::{Action, Engine, Journal, ActionOptions, Step};
/// # fn plan() -> Vec<Step> { Vec::new() }
///
/// let mut journal = Journal::create("run.journal".as_ref())?;
/// let mut engine = Engine::new(Action::Hardlink, ActionOptions::default())?;
/// let stop = ftk_sched::Stop::new();
/// engine.run(plan(), &mut journal, &stop, |step, outcome| match outcome {
///     Ok(freed) => println!("{:?} frees {} bytes", step.victim.path, freed.0),
///     Err(error) => println!("{:?}: {error}", step.victim.path),
/// })?;
/// journal.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    kind: ActionKind,
    action: OpenAction,
    options: ActionOptions,
    reach: Reach,
    alias_check: AliasCheck,
    own_changes: OwnChanges,
    copy_proofs: CopyProofs,
    keepers: Keepers,
    /// For each keeper that cannot have more links: the victim that could not be linked to it, which is the
    /// keeper of later steps instead.
    successors: HashMap<(u64, u64), Seen>,
    /// The directories that the run empties, if these are to be removed.
    emptied: Option<Emptied>,
    /// The maximal number of steps in a batch, limited by the descriptors they need.
    max_steps: usize,
}

impl Engine {
    /// Creates an engine. Relative paths start from the working directory. The directory of a move is created
    /// if it is missing.
    ///
    /// # Errors
    /// If the directory of a move cannot be opened or created.
    pub fn new(action: Action, options: ActionOptions) -> Result<Self, ActError> {
        let mut reach = Reach::new();
        let open = OpenAction::of(&action, reach.base())?;
        if let Some(destination) = open.destination() {
            let identity = destination.identity();
            let identity = identity.map_err(|error| ActError::failed("identify the directory", error))?;
            reach.expect_start(destination.path(), identity);
        }
        let max_steps = max_batch(RESERVED_DESCRIPTORS);
        let (alias_check, own_changes, copy_proofs, keepers) = Default::default();
        let successors = HashMap::new();
        Ok(Self {
            kind: action.kind(),
            action: open,
            options,
            reach,
            alias_check,
            own_changes,
            copy_proofs,
            keepers,
            successors,
            emptied: None,
            max_steps,
        })
    }

    /// Expects that the starting point with this path is this directory.
    #[must_use]
    pub fn expecting(mut self, path: &[u8], identity: Identity) -> Self {
        self.reach.expect_start(path, identity);
        self
    }

    /// Returns an engine that remembers the directories from which it removes entries, for
    /// [`remove_emptied`](Self::remove_emptied).
    #[must_use]
    pub fn with_emptied(self, emptied: Emptied) -> Self {
        Self { emptied: Some(emptied), ..self }
    }

    pub(crate) fn take_emptied(&mut self) -> Option<Emptied> {
        self.emptied.take()
    }

    /// Remembers the state of the victim's directory, before the step changes it.
    pub(crate) fn remember_directory(&mut self, step: &Step) {
        if let Some(emptied) = &mut self.emptied {
            emptied.remember(&mut self.reach, &step.victim);
        }
    }

    pub(crate) fn note_removed(&mut self, step: &Step) {
        if let Some(emptied) = &mut self.emptied {
            emptied.remove(&step.victim);
        }
    }

    /// Returns the kind of the action.
    pub(crate) fn kind(&self) -> ActionKind {
        self.kind
    }

    pub(crate) fn reach(&mut self) -> &mut Reach {
        &mut self.reach
    }

    pub(crate) fn destination(&self) -> Option<&Destination> {
        self.action.destination()
    }

    pub(crate) fn reach_and_destination(&mut self) -> (&mut Reach, Option<&Destination>) {
        (&mut self.reach, self.action.destination())
    }

    /// Returns the new path of a moved file, if the action is a move.
    pub(crate) fn new_path(&self, scanned: &[u8]) -> Option<To> {
        self.action.destination().map(|destination| destination.to(scanned))
    }

    /// Waits until moved files are on the disk under their new names.
    pub(crate) fn sync_destination(&self) -> Result<(), Errno> {
        self.action.destination().map_or(Ok(()), Destination::sync)
    }

    /// Adds the directory of a move to the journal, so that undo knows it even if the run is killed before its first
    /// step.
    pub(crate) fn note_destination(&self, journal: &mut Journal) -> io::Result<()> {
        if let Some(destination) = self.action.destination()
            && journal.start(destination.path(), &destination.identity()?)
        {
            journal.sync()?;
        }
        Ok(())
    }

    /// Performs the steps in order, and calls `report` with the outcome of each. An error of a step ends only
    /// that step.
    ///
    /// Steps are processed in batches: all steps of a batch are proven, and their intents are written to the
    /// journal and synced. Then each is checked again and performed, and the directories are synced. Raising
    /// `stop` ends the run between two steps; steps that are already in the journal are reported as
    /// [`ActError::Stopped`].
    ///
    /// If a victim is refused because its keeper cannot have more links ([`Refusal::TooManyLinks`]), it
    /// becomes the keeper of the later steps with the same keeper. `report` gets these steps with the new
    /// keeper.
    ///
    /// # Errors
    /// If the journal cannot be written or names cannot be synced. A step that is not in the journal is never
    /// performed, and the remaining steps are skipped.
    pub fn run(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
        journal: &mut Journal,
        stop: &Stop,
        mut report: impl FnMut(&Step, Result<Freed, ActError>),
    ) -> io::Result<()> {
        self.run_while(steps, journal, stop, |step, outcome| {
            report(step, outcome);
            ControlFlow::Continue(())
        })
    }

    /// Does the same as [`run`](Self::run), but ends when `report` returns `Break`. Steps that are already in the
    /// journal are then noted as stopped, and not reported.
    pub(crate) fn run_while(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
        journal: &mut Journal,
        stop: &Stop,
        mut report: impl FnMut(&Step, Result<Freed, ActError>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.note_destination(journal)?;
        let mut steps = steps.into_iter();
        let mut again = VecDeque::new();
        loop {
            let mut next = || again.pop_front().or_else(|| steps.next());
            let mut batch = self.prepare(&mut next, journal, stop).into_iter();
            if batch.len() == 0 {
                return Ok(());
            }
            if batch.as_slice().iter().any(|(_, ready)| ready.is_ok()) {
                journal.sync()?;
            }
            let mut changed = Vec::new();
            let mut flow = ControlFlow::Continue(());
            let mut chain = Chain::Ended;
            while let Some((step, ready)) = batch.next() {
                if chain == Chain::Ended && step.with_next {
                    chain = self.begin_chain((&step, &ready), batch.as_slice(), stop);
                }
                let outcome = ready.and_then(|(proven, intent)| {
                    let outcome = match chain {
                        Chain::Ended => self.perform(&proven, &intent, stop),
                        // A chain that has begun is not left half done.
                        Chain::Begun => self.perform(&proven, &intent, &Stop::new()),
                        Chain::Broken if stop.is_raised() => Err(ActError::Stopped),
                        Chain::Broken => {
                            Err(proven.recheck(&self.own_changes).err().unwrap_or(Refusal::Together).into())
                        }
                    };
                    journal.note(intent.step, &outcome);
                    if outcome.is_ok() {
                        changed.push(proven.victim.place.dir);
                    }
                    outcome
                });
                if outcome.is_ok() {
                    self.note_removed(&step);
                }
                chain = match (step.with_next, outcome.is_ok()) {
                    (false, _) => Chain::Ended,
                    (true, true) => chain,
                    (true, false) => Chain::Broken,
                };
                let is_full = matches!(outcome, Err(ActError::Refused(Refusal::TooManyLinks)));
                flow = report(&step, outcome);
                if flow.is_break() || (is_full && self.replace_keeper(&step)) {
                    break;
                }
            }
            // The remaining steps of the batch were proven with a keeper that is full. They are prepared
            // again with the new keeper. If the run ends here, they are not performed.
            for (step, ready) in batch {
                if let Ok((_, intent)) = ready {
                    journal.note(intent.step, &Err(ActError::Stopped));
                }
                again.push_back(step);
            }
            // Syncs the names before the outcomes are written: a step that the journal calls done must still
            // be done after a power failure.
            self.action.sync(&changed)?;
            journal.write()?;
            if flow.is_break() {
                return Ok(());
            }
        }
    }

    /// Returns whether the steps that are carried out only together may begin: all are proven and unchanged. `rest` begins
    /// with those after the first.
    fn begin_chain(&self, first: (&Step, &Ready), rest: &[(Step, Ready)], stop: &Stop) -> Chain {
        let steps = std::iter::once(first).chain(rest.iter().map(|(step, ready)| (step, ready)));
        let mut is_intact = !stop.is_raised();
        for (step, ready) in steps {
            let proven = ready.as_ref().ok().map(|(proven, _)| proven);
            is_intact &= proven.is_some_and(|proven| proven.recheck(&self.own_changes).is_ok());
            if !step.with_next {
                break;
            }
        }
        if is_intact { Chain::Begun } else { Chain::Broken }
    }

    /// Makes the victim of a step the keeper of later steps. Returns `false` if the victim's own successor is
    /// the same keeper, or the victim is another name of it: successors must not form a cycle.
    fn replace_keeper(&mut self, step: &Step) -> bool {
        let full = step.keeper.version.identity();
        let is_new = self.latest(&step.victim).version.identity() != full;
        if is_new {
            self.successors.insert(full, step.victim.clone());
        }
        is_new
    }

    /// Returns the last successor of a keeper, or the keeper itself.
    fn latest<'s>(&'s self, keeper: &'s Seen) -> &'s Seen {
        let mut latest = keeper;
        while let Some(successor) = self.successors.get(&latest.version.identity()) {
            latest = successor;
        }
        latest
    }

    /// Proves the next steps and adds their intents to the journal. Returns an empty batch if there are no
    /// more.
    fn prepare(
        &mut self,
        next: &mut impl FnMut() -> Option<Step>,
        journal: &mut Journal,
        stop: &Stop,
    ) -> Vec<(Step, Ready)> {
        let mut batch = Vec::new();
        let mut bytes = 0_u64;
        // Further copies need descriptors as well: two for each.
        let mut further = 0;
        let max_steps = self.max_steps;
        let has_room = |steps: usize, further: usize| steps + further.div_ceil(2) < max_steps;
        let mut chain_start = 0;
        while chain_start < batch.len()
            || (has_room(batch.len(), further) && bytes < BATCH_BYTES && !stop.is_raised())
        {
            let Some(mut step) = next() else { break };
            let planned = step.keeper.version.identity();
            step.keeper = self.latest(&step.keeper).clone();
            bytes = bytes.saturating_add(step.victim.version.size);
            let keeper = step.keeper.version.identity();
            let ready = if planned != keeper && keeper == step.victim.version.identity() {
                Err(Refusal::TooManyLinks.into()) // another name of a file that stays
            } else {
                self.make_ready(&step, stop)
            };
            if let Ok((proven, intent)) = &ready {
                further += proven.copies.len();
                bytes = bytes.saturating_add(intent.memory());
            }
            let is_last = !step.with_next;
            batch.push((step, ready));
            if is_last {
                self.intend(&mut batch[chain_start..], journal);
                chain_start = batch.len();
            }
        }
        self.intend(&mut batch[chain_start..], journal);
        batch
    }

    /// Adds the intents of steps that are carried out only together to the journal. If one is refused, all are.
    fn intend(&mut self, chain: &mut [(Step, Ready)], journal: &mut Journal) {
        let mut added = Vec::new();
        let mut is_refused = chain.iter().any(|(_, ready)| ready.is_err());
        for (step, ready) in chain.iter_mut() {
            let Ok((_, intent)) = ready else { continue };
            if is_refused {
                *ready = Err(Refusal::Together.into());
                continue;
            }
            self.remember_directory(step);
            if let (ActionKind::Delete, Some(copies), Some(proof)) =
                (self.kind, &step.copies, &mut intent.proof)
            {
                proof.copies = Some(journal.copies(copies, &mut self.reach));
            }
            match journal.intend(intent, &self.reach) {
                Ok(()) => added.push(intent.step),
                Err(refusal) => {
                    *ready = Err(refusal.into());
                    is_refused = true;
                }
            }
        }
        if is_refused {
            added.iter().for_each(|step| journal.note_error(*step, &Refusal::Together.into()));
            for (_, ready) in chain.iter_mut().filter(|(_, ready)| ready.is_ok()) {
                *ready = Err(Refusal::Together.into());
            }
        }
    }

    fn make_ready(&mut self, step: &Step, stop: &Stop) -> Ready {
        let victim = self.reach.hold(Side::Victim, &step.victim, &self.own_changes)?;
        let keeper = self.reach.hold(Side::Keeper, &step.keeper, &self.own_changes)?;
        let metadata = if self.kind.loses_metadata() {
            Metadata::of(&victim)
                .map_err(|error| Refusal::unreadable(Side::Victim, "read the attributes of", error))?
        } else {
            Metadata::of_stat(&victim) // the file itself keeps its attributes
        };
        let mut proven = prove(victim, keeper, self.kind, self.options, stop)?;
        if let Some(copies) = &step.copies {
            proven.copies =
                self.copy_proofs.prove(&mut self.reach, &self.own_changes, copies, &proven, stop)?;
        }
        if self.kind != ActionKind::Reflink {
            let synced = self.keepers.sync(&proven.keeper, &step.keeper.version);
            synced.map_err(|errno| ActError::failed("sync the keeper", errno))?;
        }
        let target = (self.kind == ActionKind::Symlink).then(|| absolute_path(&proven.keeper)).transpose()?;
        let keeper_access = KeeperAccess::of(&proven.keeper, &metadata)
            .map_err(|error| Refusal::unreadable(Side::Keeper, "read the attributes of", error))?;
        let keeper_birth_ns = birth_of(&proven.keeper.file)
            .map_err(|errno| Refusal::unreadable(Side::Keeper, "identify", errno))?;
        let unidentified = |error| Refusal::unreadable(Side::Victim, "identify", error);
        let proof = Proof {
            directory: proven.victim.place.directory(Side::Victim)?,
            victim: Some(Identity::of(&proven.victim.file).map_err(unidentified)?),
            nlink: proven.victim.stat.nlink,
            keeper_mode: proven.keeper.stat.mode,
            keeper_access,
            keeper_birth_ns,
            digest: proven.digest,
            copies: None, // listed when the intent is added to the journal
        };
        let to = match &mut self.action {
            OpenAction::Move(destination) => Some(destination.to(&step.victim.path)),
            OpenAction::Trash(bins) => Some(bins.to(&proven.victim.place, &mut self.reach)?),
            _ => None,
        };
        let intent = Intent {
            step: 0, // numbered when it is added to the journal
            kind: self.kind,
            temp: temp_name(),
            victim: step.victim.clone(),
            metadata,
            keeper: step.keeper.clone(),
            target,
            to,
            saved: None,
            made: None,
            set: None,
            proof: Some(proof),
        };
        Ok((proven, intent))
    }

    fn perform(&mut self, proven: &Proven, intent: &Intent, stop: &Stop) -> Result<Freed, ActError> {
        if stop.is_raised() {
            return Err(ActError::Stopped);
        }
        act(&mut self.action, proven, intent, &mut self.alias_check, &mut self.own_changes, stop)
    }
}
