//! A run over a table of jobs: a sample, a choice, the small jobs, the large jobs.

use std::time::{Duration, Instant};

use crate::{Choice, Counters, CpuTime, Limits, Model, Progress, Sample, Stop, logical_cpus};

/// The part of the jobs that is done to forecast the time of the others: one in this many.
///
/// How many requests a disk serves at once varies more between disks than any other constant of the model, and so do
/// the effects of its read-ahead and of neighbouring inodes. So the forecast for a disk is measured in the way in
/// which the rest will be read.
///
/// A smaller probe ends before the disk is busy: with one in 64, the forecast for the cold sources of Linux was 1.2 to
/// 1.9 times the time that they took, and with one in 16, 1.0 to 1.5 times (EPYC of 2021, four runs each).
pub const PROBE: u32 = 16;

/// With fewer small jobs than this, a run measures nothing for [`Model::figures`].
pub const MEASURED_JOBS: u64 = 1_000;

/// With fewer bytes than this in large jobs, a run does not measure these.
const MEASURED_BYTES: u64 = 256 << 20;

/// A table of jobs, such as files to hash or pairs of files to compare, and the way to do them.
pub trait Jobs {
    /// Does a few jobs on the calling thread and [measures](crate::Sampling) them. Large jobs may be deferred.
    fn sample(&mut self, run: &Run<'_>) -> Sample;

    /// Returns what is not done: the number of files in small jobs, and the number of large jobs.
    fn left(&self) -> (u64, usize);

    /// Whether these jobs can use an io_uring. Called only if the files come from a disk.
    fn has_ring(&self) -> bool {
        false
    }

    /// Does about one in [`PROBE`] of the remaining small jobs in the same way as [`do_small`](Self::do_small), spread
    /// over the table. Called only if the files come from a disk. A table that does none gets a rougher forecast.
    fn do_probe(&mut self, _run: &Run<'_>, _sample: &Sample, _choice: &Choice) {}

    /// Does the remaining small jobs with the chosen workers and reader. Large jobs may be deferred.
    fn do_small(&mut self, run: &Run<'_>, sample: &Sample, choice: &Choice);

    /// Does the large jobs.
    fn do_large(&mut self, run: &Run<'_>);
}

/// What a run works with.
#[derive(Clone, Copy, Debug)]
pub struct Run<'r> {
    /// The model that decides how many workers there are and which reader they use.
    pub model: &'r Model,
    /// The options that the model can choose from. `ring` is ignored. If `cpus` is 0, the run counts the CPUs,
    /// unless it ends with its sample.
    pub limits: Limits,
    /// Ends the run early; jobs in progress are not done.
    pub stop: &'r Stop,
    /// New counters, for this run only.
    pub counters: &'r Counters,
}

/// What was decided, why, and how long it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunPlan {
    /// The measurements on the first files.
    pub sample: Sample,
    /// What the sample did, with the first half of it, which is not measured.
    pub sampled: Progress,
    /// The model's choice; `None` if the sample contained all files.
    pub choice: Option<Choice>,
    /// Time for the small jobs after the sample and the probe, in nanoseconds. This is the time that the choice
    /// forecasts.
    pub took_nanos: u64,
    /// The number of large jobs, which came last.
    pub large: usize,
    /// The extrapolation of the probe, which [`Constants::probe`](crate::Constants::probe) has not yet corrected, in
    /// nanoseconds; 0 without a probe.
    pub probe_nanos: u64,
    /// Measurements on the small jobs after the sample and the probe; `None` if there were too few, or if the system
    /// does not measure enough.
    pub small_phase: Option<Phase>,
    /// The same for the large jobs.
    pub large_phase: Option<Phase>,
}

/// What was done in one phase of a run, and how much time the calling thread had for its part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Elapsed time in nanoseconds.
    pub nanos: u64,
    /// Jobs that were done.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes that the calling thread processed.
    pub own_bytes: u64,
    /// The times of the calling thread.
    pub cpu: CpuTime,
}

/// The start of a phase.
struct Mark {
    start: Instant,
    done: Progress,
    own_bytes: u64,
    cpu: CpuTime,
}

impl Mark {
    fn now_if(is_worth: bool, counters: &Counters) -> Option<Self> {
        if !is_worth {
            return None;
        }
        let (done, own_bytes, cpu) = (counters.sum(), counters.of(0).bytes(), CpuTime::now()?);
        Some(Self { start: Instant::now(), done, own_bytes, cpu })
    }

    fn end(self, counters: &Counters) -> Option<Phase> {
        let nanos = self.start.elapsed().as_nanos() as u64;
        let done = counters.sum();
        Some(Phase {
            nanos,
            files: done.files - self.done.files,
            bytes: done.bytes - self.done.bytes,
            own_bytes: counters.of(0).bytes() - self.own_bytes,
            cpu: CpuTime::now()?.since(self.cpu),
        })
    }
}

impl Run<'_> {
    /// Does all jobs, unless the run is stopped.
    pub fn execute(mut self, jobs: &mut impl Jobs) -> RunPlan {
        let mut plan = RunPlan { sample: jobs.sample(&self), ..RunPlan::default() };
        plan.sampled = self.counters.sum();
        let (files, large) = jobs.left();
        plan.large = large;
        if (files, large) == (0, 0) || self.stop.is_raised() {
            return plan;
        }
        // Trying to create a ring takes 25 us, which only pays for a cold tree.
        self.limits.ring = plan.sample.is_cold() && plan.sample.remote_cpu.is_none() && jobs.has_ring();
        if self.limits.cpus == 0 {
            self.limits.cpus = logical_cpus();
        }
        self.counters.add_team(self.limits.max_workers());
        if files > 0 {
            let mut choice = self.model.choose(plan.sample, files, self.limits);
            let mut start = Instant::now();
            if choice.cold {
                jobs.do_probe(&self, &plan.sample, &choice);
                let left = jobs.left().0;
                if left < files {
                    plan.probe_nanos = scale(start.elapsed(), files - left, left);
                    choice.forecast_nanos = (plan.probe_nanos as f64 * self.model.constants().probe) as u64;
                    start = Instant::now();
                }
            }
            let mark = Mark::now_if(files >= MEASURED_JOBS, self.counters);
            jobs.do_small(&self, &plan.sample, &choice);
            plan.took_nanos = start.elapsed().as_nanos() as u64;
            plan.small_phase = mark.and_then(|mark| mark.end(self.counters));
            (plan.choice, plan.large) = (Some(choice), jobs.left().1);
        }
        if plan.large > 0 {
            let mark = Mark::now_if(self.counters.sum().large_bytes >= MEASURED_BYTES, self.counters);
            jobs.do_large(&self);
            plan.large_phase = mark.and_then(|mark| mark.end(self.counters));
        }
        plan
    }
}

/// Returns the time for `left` files in nanoseconds, if `done` files took `took`.
fn scale(took: Duration, done: u64, left: u64) -> u64 {
    (took.as_nanos() as f64 / done as f64 * left as f64) as u64
}
