//! What a run measured about the machine: the equations of the model, solved for its constants.

use crate::fields::{DIGEST, is_name};
use crate::work::{Work, contention_of};
use crate::{Backend, Choice, Model, Phase, RunPlan};

/// A shorter phase is not measured, in nanoseconds. The kernel counts the time of a running thread at its clock ticks,
/// and a start of threads, a full queue or an interrupt would be a large part of it.
const LEAST_NANOS: u64 = 50_000_000;

/// The machine was busy if the calling thread waited for a CPU for more than one part in this many of the time.
const MAX_WAITING: u64 = 20;

/// The least share of its time that the calling thread must have run if the files were cached. With less it waited for
/// something that the model does not know: a signal that continues it, a full disk queue, other workers.
const MIN_RUNNING: f64 = 0.8;

/// The least number of files in the sample.
const SAMPLED: u32 = 4;

/// How much larger or smaller the mean file of the sample may be than that of the other files.
const TYPICAL: f64 = 1.5;

/// Bytes that are added to both means, since the sizes of tiny files do not matter.
const TINY: f64 = 1024.0;

/// Larger files, in bytes, say more about the digest or the memory than about files.
const SMALL: f64 = 65536.0;

/// Hashing may take at most one part in this many of the time for a file that measures the rest of it: its speed may be
/// unknown, and small files are hashed several at a time.
const MAX_HASHING: f64 = 6.0;

/// The least number of bytes that the calling thread must have processed to measure a digest.
const OWN_BYTES: u64 = 64 << 20;

/// A figure that a run measured: the name of a constant as [`Constants`](crate::Constants) prints it, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of the constant.
    pub name: String,
    /// Its value, in the unit of the constant.
    pub value: f64,
}

impl Figure {
    /// Returns a figure, or `None` if it is not plausible or not one that runs measure. A value at the edge of what is
    /// plausible is limited, so that the model never decides for one worker or one reader whatever the work is: it
    /// would never measure the alternative again.
    pub(crate) fn new(name: &str, value: f64) -> Option<Self> {
        let (plausible, limits) = match name {
            "file_ns" => (200.0..=1e6, 200.0..=1e6),
            "contention" | "cold_contention" => (-0.1..=1.1, 0.0..=0.9),
            "ring_cold" => (0.5..=1e3, 1.1..=1e3),
            "probe" => (0.2..=5.0, 0.2..=5.0),
            _ if name.strip_prefix(DIGEST).is_some_and(is_name) => (1e6..=1e13, 1e6..=1e13),
            _ => return None,
        };
        let limited = || value.clamp(*limits.start(), *limits.end());
        plausible.contains(&value).then(|| Self { name: name.to_owned(), value: limited() })
    }
}

impl Model {
    /// Returns what a run with this model and `cpus` logical CPUs measured; nothing if it did too little or had to wait
    /// for CPUs. `kernel` is the `algorithm/kernel` of its only digest.
    ///
    /// The caller should ask only after a run over files that were read whole and without errors, and that nothing
    /// slowed down on purpose.
    pub fn figures(&self, plan: &RunPlan, cpus: usize, kernel: Option<&str>) -> Vec<Figure> {
        let mut measured = Vec::new();
        if let Some(phase) = plan.large_phase.filter(is_undisturbed) {
            measured.extend(
                kernel.zip(self.digest(&phase)).map(|(kernel, speed)| (format!("{DIGEST}{kernel}"), speed)),
            );
        }
        if let (Some(choice), Some(phase)) = (plan.choice, plan.small_phase.filter(is_undisturbed))
            && plan.sample.files >= SAMPLED
            && (choice.cold || choice.workers <= cpus)
        {
            let work = Work::new(self.constants(), plan.sample, phase.files, cpus);
            let small = if choice.cold {
                cold(&work, &choice, &phase, plan)
            } else {
                self.warm(&work, plan, &phase, kernel)
            };
            measured.extend(small.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        measured.into_iter().filter_map(|(name, value)| Figure::new(&name, value)).collect()
    }

    /// Returns the speed of the digest. The calling thread may have waited for a disk, but not computed meanwhile.
    fn digest(&self, phase: &Phase) -> Option<f64> {
        let speed = phase.own_bytes as f64 / phase.cpu.running as f64 * 1e9;
        // Else most of the time is that of copying.
        let is_limit = speed < self.constants().memory_one_bytes_per_s as f64 / 2.0;
        (phase.own_bytes >= OWN_BYTES && is_limit).then_some(speed)
    }

    fn warm(
        &self,
        work: &Work<'_>,
        plan: &RunPlan,
        phase: &Phase,
        kernel: Option<&str>,
    ) -> Vec<(&'static str, f64)> {
        let mut measured = Vec::new();
        let bytes = plan.sampled.bytes as f64 / plan.sampled.files as f64;
        let ran = phase.cpu.running as f64 >= MIN_RUNNING * phase.nanos as f64;
        let Some(choice) = plan.choice.filter(|choice| choice.backend == Backend::Sync) else {
            return measured;
        };
        if !ran || !is_typical(plan, phase) || bytes > SMALL {
            return measured;
        }
        if choice.workers > 1 {
            let share = each_ns(work, &choice, phase) / work.file_ns;
            measured.push(("contention", contention_of(share, choice.workers)));
        }
        let speed = kernel.and_then(|kernel| self.constants().digest_bytes_per_s.get(kernel));
        let hashing = speed.map(|&speed| bytes / speed as f64 * 1e9);
        let is_little = |hashing: &f64| *hashing < work.file_ns / MAX_HASHING;
        measured.extend(hashing.filter(is_little).map(|hashing| ("file_ns", work.file_ns - hashing)));
        measured
    }
}

/// Returns what a disk needed. The part of computing is small, or the disk is not what was measured.
fn cold(work: &Work<'_>, choice: &Choice, phase: &Phase, plan: &RunPlan) -> Vec<(&'static str, f64)> {
    let mut measured = Vec::new();
    if plan.probe_nanos > 0 {
        measured.push(("probe", phase.nanos as f64 / plan.probe_nanos as f64));
    }
    let (computing, alone) = (work.computing_ns(), work.file_ns - work.computing_ns());
    let waiting = each_ns(work, choice, phase) - computing * work.warm_share(choice.workers);
    // What a server needs says nothing about a disk.
    if alone < computing || !is_typical(plan, phase) || plan.sample.remote_cpu.is_some() {
        return measured;
    }
    match choice.backend {
        Backend::Uring => measured.push(("ring_cold", alone / waiting)),
        Backend::Sync if choice.workers > 1 => {
            measured.push(("cold_contention", contention_of(waiting / alone, choice.workers)));
        }
        Backend::Sync => {}
    }
    measured
}

/// Returns the wall time per file once the team had started.
fn each_ns(work: &Work<'_>, choice: &Choice, phase: &Phase) -> f64 {
    (phase.nanos as f64 - work.start_ns(choice.workers, choice.backend)) / phase.files as f64
}

fn is_undisturbed(phase: &Phase) -> bool {
    phase.nanos >= LEAST_NANOS && phase.cpu.waiting <= phase.nanos / MAX_WAITING
}

/// Whether the files of the sample were about as large as the others.
fn is_typical(plan: &RunPlan, phase: &Phase) -> bool {
    let mean = |files: u64, bytes: u64| bytes as f64 / files as f64 + TINY;
    let ratio = mean(plan.sampled.files, plan.sampled.bytes) / mean(phase.files, phase.bytes);
    (1.0 / TYPICAL..=TYPICAL).contains(&ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Constants, CpuTime, Progress, Reason, Sample};

    /// A run with two workers over cached files of 1,000 bytes: each took 10 us alone, and 6 us with two workers.
    fn run() -> RunPlan {
        let cpu = CpuTime { running: 590_000_000, waiting: 1_000_000 };
        let choice = Choice {
            workers: 2,
            backend: Backend::Sync,
            cold: false,
            forecast_nanos: 1,
            reason: Reason::Warm,
        };
        RunPlan {
            sample: Sample { files: 16, bytes: 16_000, nanos: 160_000, waits: 0, remote_cpu: None },
            sampled: Progress { files: 32, bytes: 32_000, ..Progress::default() },
            choice: Some(choice),
            small_phase: Some(Phase {
                nanos: 600_000_000,
                files: 100_000,
                bytes: 100_000_000,
                own_bytes: 50_000_000,
                cpu,
            }),
            large_phase: Some(Phase {
                nanos: 2_000_000_000,
                files: 1,
                bytes: 500_000_000,
                own_bytes: 500_000_000,
                cpu: CpuTime { running: 1_000_000_000, waiting: 0 },
            }),
            ..RunPlan::default()
        }
    }

    fn figures(plan: &RunPlan, kernel: Option<&str>) -> Vec<(String, f64)> {
        let figures = Model::new(Constants::default()).figures(plan, 2, kernel);
        figures.into_iter().map(|it| (it.name, (it.value * 100.0).round() / 100.0)).collect()
    }

    fn names(plan: &RunPlan) -> Vec<String> {
        figures(plan, Some("sha256/avx512")).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_run_measures_what_it_used() {
        let expected = [("digest_bytes_per_s.sha256/avx512", 5e8), ("contention", 0.2), ("file_ns", 9285.71)];
        assert_eq!(
            figures(&run(), Some("sha256/avx512")),
            expected.map(|(name, value)| (name.to_owned(), value))
        );
        // Several digests, or one whose speed is unknown.
        assert_eq!(
            figures(&run(), None).into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["contention"]
        );
        assert_eq!(figures(&run(), Some("new/x"))[0], ("digest_bytes_per_s.new/x".to_owned(), 5e8));
    }

    #[test]
    fn a_disk_measures_what_it_used() {
        let mut plan = run();
        plan.sample = Sample { nanos: 16 * 106_000, waits: 16, ..plan.sample };
        plan.probe_nanos = 500_000_000;
        let mut with = |backend, workers| {
            let choice = plan.choice.as_mut().unwrap();
            (choice.cold, choice.backend, choice.workers) = (true, backend, workers);
            plan.large_phase = None;
            figures(&plan, None)
        };
        let of = |name: &str, value| vec![("probe".to_owned(), 1.2), (name.to_owned(), value)];
        // 100 us of waiting for one worker: 6.00 us of a file, less 3.24 us of computing and 4 ns of the start, is 2.76 us.
        assert_eq!(with(Backend::Uring, 2), of("ring_cold", 36.29));
        assert_eq!(with(Backend::Sync, 32), of("cold_contention", 0.0));
        assert_eq!(with(Backend::Sync, 1), [("probe".to_owned(), 1.2)]);
        plan.sample.remote_cpu = Some(16 * 6_000);
        plan.choice.as_mut().unwrap().workers = 32;
        assert_eq!(figures(&plan, None), [("probe".to_owned(), 1.2)]);
    }

    /// Each case spoils one of three: the small files, the digest, or both.
    #[test]
    fn h57_nothing_is_learned_from_a_disturbed_run() {
        let (small, digest) = (["contention", "file_ns"], ["digest_bytes_per_s.sha256/avx512"]);
        let with = |change: fn(&mut RunPlan, &mut Phase, &mut Phase)| {
            let mut plan = run();
            let (mut few, mut large) = (plan.small_phase.unwrap(), plan.large_phase.unwrap());
            change(&mut plan, &mut few, &mut large);
            (plan.small_phase, plan.large_phase) = (Some(few), Some(large));
            names(&plan)
        };
        // The thread waited for a CPU for more than a twentieth of the time.
        assert_eq!(with(|_, few, _| few.cpu.waiting = few.nanos / 20 + 1), digest);
        assert_eq!(with(|_, _, large| large.cpu.waiting = large.nanos / 20 + 1), small);
        // It was stopped, or waited for others.
        assert_eq!(with(|_, few, _| few.cpu.running = few.nanos * 79 / 100), digest);
        // Too short, or too few bytes.
        assert_eq!(
            with(|_, few, _| (few.nanos, few.cpu) = (49_000_000, CpuTime { running: 49_000_000, waiting: 0 })),
            digest
        );
        assert_eq!(with(|_, _, large| large.own_bytes = 60 << 20), small);
        assert_eq!(with(|_, _, large| large.nanos = 49_000_000), small);
        // The digest is so fast that most of the time is that of copying.
        assert_eq!(with(|_, _, large| large.own_bytes = 5_000_000_000), small);
        // The sample was small, or had other files than the rest.
        assert_eq!(with(|plan, _, _| plan.sample.files = 3), digest);
        assert_eq!(with(|_, few, _| few.bytes *= 3), digest);
        assert_eq!(
            with(|plan, few, _| (plan.sampled.bytes, few.bytes) = (32 * 70_000, 7_000_000_000)),
            digest
        );
        // More workers than CPUs, or the reader for disks.
        assert_eq!(with(|plan, _, _| plan.choice.as_mut().unwrap().workers = 3), digest);
        assert_eq!(with(|plan, _, _| plan.choice.as_mut().unwrap().backend = Backend::Uring), digest);
        // Ten times slower: workers would have been slower together than alone.
        assert_eq!(
            with(|_, few, _| (few.nanos, few.cpu.running) = (6_000_000_000, 6_000_000_000)),
            ["digest_bytes_per_s.sha256/avx512", "file_ns"]
        );
        // Most of the time was hashing.
        assert_eq!(
            with(|plan, few, _| (plan.sampled.bytes, few.bytes) = (32 * 10_000, 1_000_000_000)),
            ["digest_bytes_per_s.sha256/avx512", "contention"]
        );
        assert_eq!(with(|plan, _, _| plan.choice = None), digest);
        let unmeasured = RunPlan { small_phase: None, large_phase: None, ..run() };
        assert!(names(&unmeasured).is_empty());
    }

    #[test]
    fn figures_are_limited_to_what_lets_the_model_try_everything() {
        let value = |name, value| Figure::new(name, value).map(|figure| figure.value);
        assert_eq!(value("contention", 1.05), Some(0.9));
        assert_eq!(value("contention", -0.05), Some(0.0));
        assert_eq!(value("ring_cold", 0.7), Some(1.1));
        for (name, bad) in [
            ("contention", 1.2),
            ("contention", -0.2),
            ("contention", f64::NAN),
            ("ring_cold", 0.4),
            ("ring_cold", f64::INFINITY),
            ("file_ns", 100.0),
            ("probe", 10.0),
            ("digest_bytes_per_s.md5/avx2", 1e5),
            ("digest_bytes_per_s.md5\navx2", 1e9),
            ("team_ns", 1000.0),
            ("", 1.0),
        ] {
            assert_eq!(value(name, bad), None, "{name} {bad}");
        }
    }
}
