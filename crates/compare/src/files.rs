//! Compares two files. The calling thread compares the start; if that is not enough, a team compares the
//! rest.

use std::cmp::Ordering;

use ftk_file::{Cursor, Failure, File, is_remote, is_trusted};
use ftk_sched::logical_cpus;

use crate::Side;
use crate::options::{FileResources, Method, Options};
use crate::outcome::{End, FilePlan, Lines, Outcome, Reason, Way};
use crate::pair::Part;
use crate::parallel::Context;
use crate::sequential::{Sequential, Sink};

/// Sizes at which the method changes. None of them affects the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// The calling thread alone compares this many bytes at the start. Starting a thread takes as long as
    /// comparing a third of them.
    pub(crate) alone: u64,
    /// Maximum size of a claim. It must be large: all mappings take the one lock of the address space, so
    /// workers that map small ranges slow each other down.
    pub(crate) claim: u64,
    /// Pieces smaller than this are read, because mapping a few pages costs more than copying them.
    pub(crate) map: u64,
    /// Maximum number of mismatches that workers look for at once.
    pub(crate) capacity: usize,
    /// After `capacity` mismatches, the calling thread goes on alone until this many bytes in a row are
    /// equal.
    pub(crate) clean: u64,
}

impl Tuning {
    pub(crate) const DEFAULT: Self =
        Self { alone: 1 << 20, claim: 16 << 20, map: 512 << 10, capacity: 4096, clean: 1 << 20 };
}

/// A comparison of two files in progress.
pub(crate) struct Files<'f> {
    a: Part<'f>,
    b: Part<'f>,
    options: &'f Options,
    resources: &'f FileResources<'f>,
    tuning: Tuning,
    sink: Sink<'f>,
    /// The two files as read by the calling thread.
    cursors: (Cursor<'f>, Cursor<'f>),
    /// Everything before this offset has been compared.
    at: u64,
    /// Lengths of the compared ranges, according to the files' sizes.
    lens: (u64, u64),
}

impl<'f> Files<'f> {
    pub(crate) fn new(
        a: Part<'f>,
        b: Part<'f>,
        options: &'f Options,
        resources: &'f FileResources<'f>,
        tuning: Tuning,
        sink: Sink<'f>,
    ) -> Self {
        let limit = options.limit.unwrap_or(u64::MAX);
        let lens = (a.len(limit), b.len(limit));
        let cursors = (Cursor::new(a.file, a.skip), Cursor::new(b.file, b.skip));
        Self { a, b, options, resources, tuning, sink, cursors, at: 0, lens }
    }

    pub(crate) fn compare(mut self) -> Result<Outcome, (Side, Failure)> {
        if self.is_same_file() {
            let plan = FilePlan { way: Way::SameFile, reason: Reason::Identity, workers: 1, block: 0 };
            return Ok(Outcome { mismatches: 0, first: None, end: End::Together, lines: None, plan });
        }
        let block = self.options.block(1, self.resources.memory);
        let mut plan = FilePlan { way: Way::Sequential, reason: Reason::Small, workers: 1, block };
        // The size of a small file may be synthetic, so both files are read to the end.
        let is_small = self.lens.0.min(self.lens.1) <= self.tuning.alone
            || self.a.has_synthetic_size()
            || self.b.has_synthetic_size();
        let head = if is_small { self.options.limit.unwrap_or(u64::MAX) } else { self.tuning.alone };
        let mut lines = Lines::NONE;
        let mut end = self.compare_alone(head, u64::MAX, Some(&mut lines))?;
        let head = self.at;
        if end.is_none() && !is_small {
            plan = self.plan();
            end = self.compare_in_parallel(&self.context(plan))?;
        }
        let end = match end {
            Some(end) => end,
            // Both files are long enough for the limit.
            None if is_small => End::Together,
            None => self.end_by_size(),
        };

        let mut outcome =
            Outcome { mismatches: self.sink.delivered, first: self.sink.first, end, lines: None, plan };
        if let Some(equal_to) = self.sink.equal_to(end).filter(|_| self.options.lines) {
            if equal_to > head {
                lines.newlines += self.context(plan).newlines(head..equal_to)?;
                lines.is_line_start = self.a.byte(equal_to - 1)? == b'\n';
            }
            outcome.lines = Some(lines);
        }
        // A team reads each file more than once.
        let verify = if plan.way == Way::Sequential { Cursor::verify } else { Cursor::verify_always };
        verify(&self.cursors.0).map_err(Side::A.failed())?;
        verify(&self.cursors.1).map_err(Side::B.failed())?;
        Ok(outcome)
    }

    fn is_same_file(&self) -> bool {
        let key = |part: &Part<'_>| (part.file.stat().identity(), part.skip);
        self.options.shortcuts && key(&self.a) == key(&self.b) && is_trusted(self.a.file)
    }

    /// Compares on the calling thread alone, up to `limit` or until `clean` bytes in a row are equal.
    fn compare_alone(
        &mut self,
        limit: u64,
        clean: u64,
        lines: Option<&mut Lines>,
    ) -> Result<Option<End>, (Side, Failure)> {
        let (a, b) = &mut self.cursors;
        a.go_to(self.a.skip + self.at);
        b.go_to(self.b.skip + self.at);
        let mut sequential = Sequential { a, b, at: self.at, limit, clean, lines };
        let block = self.options.block(1, self.resources.memory) as u64;
        // The buffer has one byte more than a small file, so that the first read also shows the end of the
        // file.
        let buf_len = self.lens.0.max(self.lens.1).saturating_add(1).min(block) as usize;
        let end = sequential.run(&mut self.sink, buf_len, self.resources)?;
        self.at = sequential.at;
        Ok(end)
    }

    /// Compares with a team. Where mismatches are dense, the calling thread goes on alone, because delivering
    /// them takes most of the time.
    fn compare_in_parallel(&mut self, context: &Context<'_>) -> Result<Option<End>, (Side, Failure)> {
        let common = self.lens.0.min(self.lens.1);
        while self.at < common {
            let capacity = self.sink.left.min(self.tuning.capacity as u64) as usize;
            let earliest = context.earliest(self.at..common, capacity)?;
            if self.resources.stop.is_raised() {
                return Ok(Some(End::Stopped));
            }
            let is_full = earliest.len() == capacity;
            for mismatch in earliest {
                self.at = mismatch.offset + 1;
                if self.sink.deliver(mismatch).is_break() {
                    return Ok(Some(End::Enough { at: self.at }));
                }
            }
            if !is_full {
                break;
            }
            let end = self.compare_alone(common, self.tuning.clean, None)?;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    fn context(&self, plan: FilePlan) -> Context<'f> {
        let (a, b, resources) = (self.a, self.b, self.resources);
        Context { a, b, shortcuts: self.options.shortcuts, plan, tuning: self.tuning, resources }
    }

    /// Decides how a team compares the rest.
    fn plan(&self) -> FilePlan {
        let memory = self.resources.memory;
        let (way, reason) = match self.options.method {
            Method::Stream => (Way::Stream, Reason::Asked),
            _ if !File::may_be_mapped() => (Way::Stream, Reason::Restricted),
            Method::Mapped => (Way::Mapped, Reason::Asked),
            Method::Auto if may_be_remote(self.a.file) || may_be_remote(self.b.file) => {
                (Way::Stream, Reason::Remote)
            }
            Method::Auto if self.lens.0.saturating_add(self.lens.1) > memory => {
                (Way::Stream, Reason::TooLarge)
            }
            Method::Auto => (Way::Mapped, Reason::Fits),
        };
        let wanted = if self.resources.workers == 0 { logical_cpus() } else { self.resources.workers };
        let left = self.lens.0.min(self.lens.1) - self.at;
        let workers = left.div_ceil(self.tuning.alone).clamp(1, wanted as u64);
        FilePlan { way, reason, workers: workers as usize, block: self.options.block(workers, memory) }
    }

    fn end_by_size(&self) -> End {
        let (a, b) = self.lens;
        match a.cmp(&b) {
            Ordering::Less => End::Shorter { side: Side::A, bytes: a },
            Ordering::Equal => End::Together,
            Ordering::Greater => End::Shorter { side: Side::B, bytes: b },
        }
    }
}

/// Whether the file may be on a remote file system. There, reading large pieces is better than mapping, because each
/// missing page would cost a round trip. Always true on platforms where it is unknown: mapping would be a risk.
fn may_be_remote(file: &File) -> bool {
    !cfg!(target_os = "linux") || is_remote(file)
}
