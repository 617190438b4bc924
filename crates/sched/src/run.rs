//! A run over a table of jobs: a sample, a choice, the small jobs, the large jobs.

use std::time::{Duration, Instant};

use crate::{Choice, Counters, Limits, Model, Sample, Stop, logical_cpus};

/// The part of the jobs that is done to forecast the time of the others: one in this many.
///
/// How many requests a disk serves at once varies more between disks than any other constant of the model, and so do
/// the effects of its read-ahead and of neighbouring inodes. So the forecast for a disk is measured in the way in
/// which the rest will be read.
///
/// A smaller probe ends before the disk is busy: with one in 64, the forecast for the cold sources of Linux was 1.2 to
/// 1.9 times the time that they took, and with one in 16, 1.0 to 1.5 times (EPYC of 2021, four runs each).
pub const PROBE: u32 = 16;

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
    /// The model's choice; `None` if the sample contained all files.
    pub choice: Option<Choice>,
    /// Time for the small jobs after the sample and the probe, in nanoseconds. This is the time that the choice
    /// forecasts.
    pub took_nanos: u64,
    /// The number of large jobs, which came last.
    pub large: usize,
}

impl Run<'_> {
    /// Does all jobs, unless the run is stopped.
    pub fn execute(mut self, jobs: &mut impl Jobs) -> RunPlan {
        let mut plan = RunPlan { sample: jobs.sample(&self), ..RunPlan::default() };
        let (files, large) = jobs.left();
        plan.large = large;
        if (files, large) == (0, 0) || self.stop.is_raised() {
            return plan;
        }
        // Trying to create a ring takes 25 us, which only pays for a cold tree.
        self.limits.ring = plan.sample.is_cold() && jobs.has_ring();
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
                    choice.forecast_nanos = scale(start.elapsed(), files - left, left);
                    start = Instant::now();
                }
            }
            jobs.do_small(&self, &plan.sample, &choice);
            plan.took_nanos = start.elapsed().as_nanos() as u64;
            (plan.choice, plan.large) = (Some(choice), jobs.left().1);
        }
        if plan.large > 0 {
            jobs.do_large(&self);
        }
        plan
    }
}

/// Returns the time for `left` files in nanoseconds, if `done` files took `took`.
fn scale(took: Duration, done: u64, left: u64) -> u64 {
    (took.as_nanos() as f64 / done as f64 * left as f64) as u64
}
