//! The one loop in which a reader and engines meet: files start, their bytes move from reader to engines,
//! buffers move back, rows are filled.

use std::collections::HashMap;
use std::io;
use std::mem;

use ftk_inventory::{DirFd, DirNo, FileNo, Inventory, Opener};
use ftk_read::{Buf, Chunk, Failure, Open, Reader, Ready, Span, Stat};
use ftk_sched::Stop;

use crate::Work;
use crate::claims::Job;
use crate::engines::Engines;
use crate::progress::{Cell, Look};
use crate::rows::State;
use crate::spare::Spare;

/// A file that could not be processed.
#[derive(Debug)]
pub struct Failed {
    /// Its number in the inventory.
    pub file: FileNo,
    /// Why; a directory that could not be opened again is a failed "open".
    pub failure: Failure,
}

/// Where a worker's next file comes from, and where one goes that turns out to be large.
pub(crate) trait Source<'r> {
    fn next(&mut self) -> Option<Job<'r>>;
    /// Called once for each file that did not end in its first chunk, with what `fstat` said of it; gives it back if it
    /// is to be read on now.
    fn judge(&mut self, seen: &Stat, job: Job<'r>) -> Option<Job<'r>>;
    /// Whether its files had been put off before.
    fn is_late(&self) -> bool {
        false
    }
}

/// One worker's half of phase C: its engines, its open directories, and what it has done.
pub(crate) struct Driver<'w> {
    inventory: &'w Inventory,
    opener: Opener<'w>,
    dirs: HashMap<DirNo, DirFd>,
    most_dirs: usize,
    span: Span,
    engines: Engines,
    stop: &'w Stop,
    done: &'w Cell,
    look: Look<'w>,
    /// Whether the files of this run had been put off.
    late: bool,
    /// Buffers for its next run.
    pub(crate) spare: Spare,
    pub(crate) failed: Vec<Failed>,
}

/// Files under way, by slot.
struct Slots<'r> {
    jobs: Vec<Option<Job<'r>>>,
    free: Vec<u32>,
    spare: Spare,
}

impl<'w> Driver<'w> {
    /// `most_slots`: the most that any reader of this worker has. `most_dirs`: how many directories it may hold
    /// open.
    pub(crate) fn new(
        work: &Work<'w>,
        most_slots: usize,
        most_dirs: usize,
        stop: &'w Stop,
        done: &'w Cell,
        look: Look<'w>,
    ) -> Self {
        Self {
            inventory: work.inventory,
            opener: Opener::new(work.inventory),
            dirs: HashMap::new(),
            most_dirs,
            span: work.span,
            engines: Engines::new(work.algorithms, work.platform, most_slots),
            stop,
            done,
            look,
            late: false,
            spare: Spare::default(),
            failed: Vec::new(),
        }
    }

    /// Files the engines want side by side.
    pub(crate) fn width(&self) -> usize {
        self.engines.width()
    }

    /// Processes what `source` gives until it gives no more, or the run is stopped.
    pub(crate) fn run<'r>(&mut self, reader: &mut dyn Reader, source: &mut dyn Source<'r>) {
        self.late = source.is_late();
        let n = reader.slots();
        let mut slots = Slots {
            jobs: std::iter::repeat_with(|| None).take(n).collect(),
            free: (0..n as u32).rev().collect(),
            spare: mem::take(&mut self.spare).of_len(reader.buf_len()),
        };
        let mut used = Vec::new();
        let mut pieces = 0;
        let mut held_back = Vec::new();
        while !self.stop.is_raised() {
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
                    let job = slots.release(slot, chunk.into_buf());
                    self.finish(job, slot, reader.finish(slot));
                } else {
                    reader.more(slot, chunk.into_buf());
                }
            }
        }
        if self.stop.is_raised() {
            // Messages under way are left unfinished; their rows stay pending.
            (0..n as u32).for_each(|slot| self.engines.forget(slot));
        }
        self.spare = slots.spare;
    }

    /// Starts a job on a free slot. Gives it back when descriptors are short and files under way will free
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
        let name = self.inventory.name(job.dir, job.file);
        let follow = self.inventory.via_link(job.dir, job.file);
        reader.start(slot, Open { dir: &dir, name, follow, span: self.span }, buf);
        slots.jobs[slot as usize] = Some(job);
        None
    }

    /// Whether descriptors were short for a file in `dir` and will be less so: each file that waits to be
    /// opened holds a directory, and so do we.
    fn may_open_later(&mut self, failure: &Failure, slots: &Slots<'_>, dir: DirNo) -> bool {
        if !matches!(failure, Failure::Io { source, .. } if is_out_of_descriptors(source)) {
            return false;
        }
        let held = self.dirs.len();
        self.dirs.retain(|&open, _| open == dir);
        slots.is_busy() || self.dirs.len() < held
    }

    /// The directory, opened again once for all its files in a claim or window.
    fn dir(&mut self, dir: DirNo) -> io::Result<DirFd> {
        if let Some(open) = self.dirs.get(&dir) {
            return Ok(open.clone());
        }
        if self.dirs.len() >= self.most_dirs {
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

    /// Whether the chunk went to the engines; that of a large file that is put off does not, nor that of a file
    /// that is no longer as it was walked.
    fn feed<'r>(
        &mut self,
        reader: &mut dyn Reader,
        slots: &mut Slots<'r>,
        source: &mut dyn Source<'r>,
        chunk: Chunk,
    ) -> bool {
        let (slot, part, len) = (chunk.slot, chunk.part, chunk.as_ref().len());
        if part.is_start()
            && self.inventory.has_sizes()
            && let Some(before) = self.has_changed(slots.job(slot), reader.stat(slot))
        {
            let (before, after) = (Box::new(before), Box::new(*reader.stat(slot)));
            reader.cancel(slot);
            let job = slots.release(slot, chunk.into_buf());
            self.fail(job, Failure::Changed { before, after, read: len as u64 });
            return false;
        }
        // A file of which only pieces are read is no more work than a small one.
        if part.is_start() && !part.is_end() && self.span.is_whole(reader.stat(slot).size) {
            let job = slots.jobs[slot as usize].take().expect("a job for every slot under way");
            let seen = reader.stat(slot);
            match source.judge(seen, job) {
                Some(job) => slots.jobs[slot as usize] = Some(job),
                None => {
                    self.done.put_off(seen.size);
                    reader.cancel(slot);
                    slots.spare.put(chunk.into_buf());
                    slots.free.push(slot);
                    return false;
                }
            }
        }
        self.done.add_bytes(len, self.late);
        self.look.look();
        self.engines.feed(chunk);
        true
    }

    /// What is known of the file from the walk, and for the rest what `fstat` says now, if it has another size now.
    /// The table has sizes.
    fn has_changed(&self, job: &Job<'_>, now: &Stat) -> Option<Stat> {
        let size = self.inventory.size(job.dir, job.file);
        (size != now.size).then(|| {
            let (dev, ino) = self.inventory.identity(job.dir, job.file);
            Stat { dev, ino, size, ..*now }
        })
    }

    fn finish(&mut self, job: Job<'_>, slot: u32, verdict: Result<Stat, Failure>) {
        match verdict {
            Ok(stat) => {
                job.row.ok(self.engines.digests(slot), &stat);
                self.done.add_file(self.late);
            }
            Err(failure) => self.fail(job, failure),
        }
    }

    /// The one place where a file is given up.
    fn fail(&mut self, job: Job<'_>, failure: Failure) {
        job.row.fail(State::of(&failure));
        self.failed.push(Failed { file: job.file, failure });
        self.done.add_file(self.late);
    }
}

impl<'r> Slots<'r> {
    fn is_busy(&self) -> bool {
        self.free.len() < self.jobs.len()
    }

    fn job(&self, slot: u32) -> &Job<'r> {
        self.jobs[slot as usize].as_ref().expect("a job for every slot under way")
    }

    fn release(&mut self, slot: u32, buf: Buf) -> Job<'r> {
        self.spare.put(buf);
        self.free.push(slot);
        self.jobs[slot as usize].take().expect("a job for every slot under way")
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE]
        .iter()
        .any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}
