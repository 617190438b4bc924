//! The loop that connects a reader with the engines: files start, chunks move from the reader to the engines,
//! buffers move back, and rows are filled.

use std::collections::HashMap;
use std::io;
use std::mem;

use ftk_file::{Failure, Stat, is_out_of_descriptors, now_ns};
use ftk_inventory::{DirFd, DirNo, FileNo, Opener};
use ftk_read::{Buf, Chunk, How, Open, Reader, Ready};
use ftk_sched::WorkerCounters;

use crate::Work;
use crate::attributes::OpenAttributes;
use crate::claims::Job;
use crate::engines::Engines;
use crate::reuse::Notes;
use crate::rows::State;
use crate::run::Context;
use crate::spare::Spare;

/// A file that could not be processed.
#[derive(Debug)]
pub struct Failed {
    /// The file's number in the inventory.
    pub file: FileNo,
    /// The reason. If its directory could not be reopened, this is a failed "open".
    pub failure: Failure,
}

/// Supplies a worker's files, and decides which of them are deferred.
pub(crate) trait Source<'r> {
    fn next(&mut self) -> Option<Job<'r>>;
    /// Returns the job if the file should be read now, or defers the file and returns `None`. Called once for
    /// each file that did not end in its first chunk; `seen` is what `fstat` returned for it.
    fn admit(&mut self, seen: &Stat, job: Job<'r>) -> Option<Job<'r>>;
    /// Whether the files of this source were deferred before.
    fn is_deferred(&self) -> bool {
        false
    }
}

/// Supplies files that were deferred before, with a closure.
pub(crate) struct Deferred<F>(pub(crate) F);

impl<'r, F: FnMut() -> Option<Job<'r>>> Source<'r> for Deferred<F> {
    fn next(&mut self) -> Option<Job<'r>> {
        (self.0)()
    }

    fn admit(&mut self, _seen: &Stat, job: Job<'r>) -> Option<Job<'r>> {
        Some(job)
    }

    fn is_deferred(&self) -> bool {
        true
    }
}

/// One worker of a run: its engines, its open directories, and its results.
pub(crate) struct Driver<'w> {
    context: Context<'w>,
    opener: Opener<'w>,
    dirs: HashMap<DirNo, DirFd>,
    max_dirs: usize,
    engines: Engines,
    done: &'w WorkerCounters,
    /// Whether the files of the current run were deferred before.
    deferred: bool,
    attributes: OpenAttributes,
    /// The bytes read of the file on each slot. Counted only if the files have a prefix.
    read: Vec<u64>,
    /// What is remembered for later runs, if anything.
    notes: Option<Notes<'w>>,
    /// Buffers for the next run.
    pub(crate) spare: Spare,
    pub(crate) failed: Vec<Failed>,
}

/// The files in progress, by slot.
struct Slots<'r> {
    jobs: Vec<Option<Job<'r>>>,
    free: Vec<u32>,
    spare: Spare,
}

impl<'w> Driver<'w> {
    /// Creates the driver of worker number `worker`. Must be called on that worker's thread. `max_dirs` is the
    /// number of directories it may hold open.
    pub(crate) fn new(context: Context<'w>, worker: usize, max_dirs: usize) -> Self {
        let Work { inventory, algorithms, platform, .. } = *context.work;
        Self {
            context,
            opener: Opener::new(inventory),
            dirs: HashMap::new(),
            max_dirs,
            engines: Engines::new(algorithms, platform, context.readers.max_slots()),
            done: context.counters.of(worker),
            deferred: false,
            attributes: OpenAttributes::default(),
            read: vec![0; context.readers.max_slots()],
            notes: context.reuse.map(|reuse| reuse.notes(context.readers.max_slots())),
            spare: Spare::default(),
            failed: Vec::new(),
        }
    }

    /// Returns how many files the engines can hash in parallel.
    pub(crate) fn width(&self) -> usize {
        self.engines.width()
    }

    /// Processes the files of `source` until it has no more, or until the run is stopped.
    pub(crate) fn run<'r>(&mut self, reader: &mut dyn Reader, source: &mut dyn Source<'r>) {
        self.deferred = source.is_deferred();
        let n = reader.slots();
        let mut slots = Slots {
            jobs: std::iter::repeat_with(|| None).take(n).collect(),
            free: (0..n as u32).rev().collect(),
            spare: mem::take(&mut self.spare).of_len(reader.buf_len()),
        };
        let mut used = Vec::new();
        let mut pieces = 0;
        let mut held_back = Vec::new();
        while !self.context.resources.stop.is_raised() {
            while !slots.free.is_empty() {
                let Some(job) = held_back.pop().or_else(|| source.next()) else { break };
                if let Some(job) = self.start(reader, &mut slots, job) {
                    held_back.push(job);
                    break;
                }
            }
            if slots.free.len() == n {
                break;
            }
            while self.engines.vacant() > 0 {
                match reader.poll(pieces == 0) {
                    Some(Ready::Data(chunk)) => {
                        pieces += usize::from(self.feed(reader, &mut slots, source, chunk))
                    }
                    Some(Ready::Failed { slot, buf, failure }) => {
                        let job = slots.release(slot, buf);
                        if self.may_open_later(&failure, &slots, job.dir) {
                            held_back.push(job);
                        } else {
                            self.fail(job, failure);
                        }
                    }
                    None => break,
                }
            }
            self.engines.step(&mut used);
            for chunk in used.drain(..) {
                pieces -= 1;
                let (slot, is_end) = (chunk.slot, chunk.part.is_end());
                if is_end {
                    let mut job = slots.release(slot, chunk.into_buf());
                    job.row.read_attributes(|| reader.file(slot), &mut self.attributes);
                    let is_written_back = reader.is_written_back(slot);
                    self.finish(job, slot, is_written_back, reader.finish(slot));
                } else {
                    reader.more(slot, chunk.into_buf());
                    // The next file may end only after hours. What was read must not wait for it.
                    if let Some(notes) = &mut self.notes {
                        notes.flush();
                    }
                }
            }
        }
        if self.context.resources.stop.is_raised() {
            // Discard unfinished digests; the rows of these files stay pending.
            (0..n as u32).for_each(|slot| self.engines.forget(slot));
        }
        if let Some(notes) = &mut self.notes {
            notes.flush();
        }
        self.spare = slots.spare;
    }

    /// Starts a job on a free slot. Returns the job if descriptors ran out and files in progress will free
    /// some.
    fn start<'r>(&mut self, reader: &mut dyn Reader, slots: &mut Slots<'r>, job: Job<'r>) -> Option<Job<'r>> {
        let dir = match self.dir(job.dir) {
            Ok(dir) => dir,
            Err(error) if is_out_of_descriptors(&error) && slots.is_busy() => return Some(job),
            Err(source) => {
                self.fail(job, Failure::Io { op: "open", source });
                return None;
            }
        };
        if !self.opener.may_open(&dir, job.dir, job.file) {
            self.fail(job, Failure::NotRegular);
            return None;
        }
        let slot = slots.free.pop().expect("the caller saw a free slot");
        let buf = slots.spare.take();
        let inventory = self.context.work.inventory;
        let (name, symlinks) = (inventory.name(job.dir, job.file), inventory.symlinks(job.dir, job.file));
        let (birth, span) = (job.row.birth(), self.context.work.span);
        let write_back = self.context.write_back(&job);
        if let Some(notes) = &mut self.notes {
            notes.start(slot);
        }
        let how = How { symlinks, birth, write_back, span };
        reader.start(slot, Open { dir: &dir, name, how }, buf);
        slots.jobs[slot as usize] = Some(job);
        None
    }

    /// Whether the open of a file in `dir` failed because descriptors ran out, and a later try may succeed.
    /// Closes the other directories held by this driver. Files that wait to be opened hold directories too,
    /// and free them when they are done.
    fn may_open_later(&mut self, failure: &Failure, slots: &Slots<'_>, dir: DirNo) -> bool {
        if !failure.is_out_of_descriptors() {
            return false;
        }
        let held = self.dirs.len();
        self.dirs.retain(|&open, _| open == dir);
        slots.is_busy() || self.dirs.len() < held
    }

    /// Returns the directory. It is opened once for all its files in a claim or window.
    fn dir(&mut self, dir: DirNo) -> io::Result<DirFd> {
        if let Some(open) = self.dirs.get(&dir) {
            return Ok(open.clone());
        }
        if self.dirs.len() >= self.max_dirs {
            self.dirs.clear();
        }
        let open = match self.opener.open(dir) {
            Err(error) if is_out_of_descriptors(&error) && !self.dirs.is_empty() => {
                self.dirs.clear();
                self.opener.open(dir)?
            }
            opened => opened?,
        };
        self.dirs.insert(dir, open.clone());
        Ok(open)
    }

    /// Passes the chunk to the engines. Returns whether it did: the chunk is dropped if the file is deferred,
    /// or if its size differs from the walk.
    fn feed<'r>(
        &mut self,
        reader: &mut dyn Reader,
        slots: &mut Slots<'r>,
        source: &mut dyn Source<'r>,
        mut chunk: Chunk,
    ) -> bool {
        let (slot, part, len) = (chunk.slot, chunk.part, chunk.as_ref().len());
        if part.is_start()
            && self.context.work.fixed_sizes
            && let Some(before) = self.changed_since_walk(slots.job(slot), reader.stat(slot))
        {
            let (before, after) = (Box::new(before), Box::new(*reader.stat(slot)));
            reader.cancel(slot);
            let job = slots.release(slot, chunk.into_buf());
            self.fail(job, Failure::Changed { before, after, read: len as u64 });
            return false;
        }
        // If only pieces of a file are read, it is no more work than a small file.
        if part.is_start() && !part.is_end() && self.context.work.span.is_whole(reader.stat(slot).size) {
            let job = slots.jobs[slot as usize].take().expect("a job for every slot in progress");
            let seen = reader.stat(slot);
            match source.admit(seen, job) {
                Some(job) => slots.jobs[slot as usize] = Some(job),
                None => {
                    self.done.defer(seen.size);
                    reader.cancel(slot);
                    slots.spare.put(chunk.into_buf());
                    slots.free.push(slot);
                    return false;
                }
            }
        }
        if let Some(notes) = self.notes.as_mut().filter(|_| !part.is_start()) {
            notes.flush_if_due(now_ns());
        }
        self.done.add_bytes(len, self.deferred);
        self.context.show();
        if let Some(prefix) = self.context.work.prefix {
            let read = &mut self.read[slot as usize];
            if part.is_start() {
                *read = 0;
                chunk.prepend(&prefix(reader.stat(slot).size));
            }
            *read += len as u64;
        }
        self.engines.feed(chunk);
        true
    }

    /// Returns the file's metadata at the time of the walk if its size is different now. Requires an inventory
    /// with sizes.
    fn changed_since_walk(&self, job: &Job<'_>, now: &Stat) -> Option<Stat> {
        let differs = self.context.work.inventory.size(job.dir, job.file) != now.size;
        differs.then(|| self.context.work.inventory.stat_then(job.dir, job.file, now))
    }

    fn finish(&mut self, job: Job<'_>, slot: u32, is_written_back: bool, result: Result<Stat, Failure>) {
        match result {
            Ok(stat) if self.has_wrong_prefix(slot, &stat) => {
                let (before, after) = (Box::new(stat), Box::new(stat));
                self.fail(job, Failure::Changed { before, after, read: self.read[slot as usize] });
            }
            Ok(stat) => {
                let digests = self.engines.digests(slot);
                job.row.ok(digests, &stat);
                if let Some(notes) = self.notes.as_mut().filter(|_| is_written_back) {
                    notes.finish(slot, &stat, digests);
                }
                self.done.add_file(self.deferred);
            }
            Err(failure) => self.fail(job, failure),
        }
    }

    /// Returns whether the size in the prefix is not that of the content, as in procfs.
    fn has_wrong_prefix(&self, slot: u32, stat: &Stat) -> bool {
        self.context.work.prefix.is_some() && self.read[slot as usize] != stat.size
    }

    /// Records a failed file. All failures go through here.
    fn fail(&mut self, job: Job<'_>, failure: Failure) {
        job.row.fail(State::of(&failure));
        self.failed.push(Failed { file: job.file, failure });
        self.done.add_file(self.deferred);
    }
}

impl<'r> Slots<'r> {
    fn is_busy(&self) -> bool {
        self.free.len() < self.jobs.len()
    }

    fn job(&self, slot: u32) -> &Job<'r> {
        self.jobs[slot as usize].as_ref().expect("a job for every slot in progress")
    }

    fn release(&mut self, slot: u32, buf: Buf) -> Job<'r> {
        self.spare.put(buf);
        self.free.push(slot);
        self.jobs[slot as usize].take().expect("a job for every slot in progress")
    }
}
