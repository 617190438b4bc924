//! Measures the machine for the cost model.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ftk_hash::{Algorithm, Digest, Platform, Tuning};
use ftk_inventory::{FileNo, Inventory, PathList};
use ftk_read::{Span, Uring};
use ftk_sched::{Backend, Constants, Kernel, Limits, Model, Stop, Team, Threads, logical_cpus};

use crate::{Resources, Rows, Work, process};

/// How often each value is measured. The median is used, so up to two disturbed measurements do no harm.
const ROUNDS: usize = 5;

/// The lanes of the widest kernel.
const LANES: usize = 16;

/// A kernel is faster than a wider one if it needs less than this share of the time. Less is noise.
const FASTER: f64 = 0.97;

/// Measures the constants of the cost model on this machine, and chooses the fastest of the kernels that `platform` has.
/// This takes about four seconds.
///
/// `files` should be some thousands of small cached files, with many files in a directory. They are read
/// several times. Some constants keep their built-in values: `cold_contention`, `ring_cold` and `probe`,
/// which need a cold disk; `ring_ns` and `ring_warm`, if no io_uring can be created; `contention` and `worker_ns`, if
/// there is only one CPU.
pub fn calibrate(files: &Inventory, platform: Platform) -> Constants {
    let mut constants = Constants::default();
    team(&mut constants);
    reading(&mut constants, files, platform);
    memory(&mut constants);
    for algorithm in Algorithm::ALL {
        let kernels = algorithm.kernels(platform);
        for (kernel, tuning) in &kernels {
            let speed = digest(algorithm, platform.tuned(algorithm, *tuning));
            constants.digest_bytes_per_s.insert(format!("{algorithm}/{kernel}"), speed);
        }
        if kernels.len() > 1 {
            let tuning = fastest(algorithm, platform, &kernels, files);
            // BLAKE3 hashes the parts of a single message side by side.
            let few = (algorithm != Algorithm::Blake3).then(|| few(algorithm, platform, tuning));
            let kernel = Kernel { simd: tuning.simd.name().to_owned(), few };
            constants.kernels.insert(algorithm.name().to_owned(), kernel);
        }
    }
    constants
}

/// Returns the kernel that hashes small files and long messages in the least time, or a wider one that needs hardly
/// more. Wide vectors can lower the clock, which also slows down the code that opens and reads files. All kernels take
/// turns.
fn fastest(
    algorithm: Algorithm,
    platform: Platform,
    kernels: &[(&str, Tuning)],
    files: &Inventory,
) -> Tuning {
    /// As many bytes as the files have, so that both count about the same.
    const LONG: usize = 1 << 20;
    let messages = vec![vec![7; LONG]; LANES];
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut out = [Digest::from_bytes(&[]); LANES];
    let workers = logical_cpus().min(2);
    let mut took = vec![[Duration::ZERO; ROUNDS]; kernels.len()];
    for round in 0..ROUNDS {
        for ((_, tuning), took) in kernels.iter().zip(&mut took) {
            let platform = platform.tuned(algorithm, *tuning);
            let small = run(files, algorithm, platform, workers, Backend::Sync);
            let long = timed(|| algorithm.hash_many_with(platform, &messages, &mut out));
            took[round] = small + long;
        }
    }
    let medians: Vec<_> = took.into_iter().map(middle).collect();
    let least = medians.iter().min().copied().unwrap_or_default();
    let first = medians.iter().position(|&took| took.mul_f64(FASTER) <= least).unwrap_or(0);
    kernels[first].1
}

/// Returns up to how many messages the kernel hashes faster one or two at a time than in the lanes of vectors.
fn few(algorithm: Algorithm, platform: Platform, tuning: Tuning) -> u8 {
    let messages = [[7; 16 << 10]; LANES];
    let messages = messages.each_ref().map(<[u8; _]>::as_slice);
    let mut out = [Digest::from_bytes(&[]); LANES];
    let mut took = |n: usize, few: u8| {
        let platform = platform.tuned(algorithm, Tuning { few: Some(few), ..tuning });
        median(|| timed(|| algorithm.hash_many_with(platform, &messages[..n], &mut out[..n])))
    };
    // Counted, so that a single disturbed measurement changes the result by one only.
    (1..=LANES).filter(|&n| took(n, u8::MAX) <= took(n, 0).mul_f64(FASTER)).count() as u8
}

fn team(constants: &mut Constants) {
    let start = |workers| {
        // Starting a team takes microseconds, so one figure is the mean of 20 starts.
        let many = || (0..20).for_each(|_| drop(Team::new(workers).run(&Stop::new(), |_| ())));
        nanos(median(|| timed(many)) / 20)
    };
    let (two, three) = (start(2), start(3));
    constants.thread_ns = three.saturating_sub(two).max(1_000);
    constants.team_ns = two.saturating_sub(constants.thread_ns);
}

fn reading(constants: &mut Constants, files: &Inventory, platform: Platform) {
    let each = |workers, backend| {
        let took = median(|| run(files, Algorithm::Xxh3, platform, workers, backend));
        nanos(took / files.files().max(1)).max(1)
    };
    let alone = each(1, Backend::Sync);
    constants.file_ns = alone;
    if logical_cpus() > 1 {
        let together = each(2, Backend::Sync);
        constants.contention = (2.0 * together as f64 / alone as f64 - 1.0).clamp(0.0, 1.0);
        worker(constants, files, platform);
    }
    if Uring::new(256, 1).is_ok() {
        constants.ring_ns = nanos(median(|| timed(|| drop(Uring::new(256, 1)))));
        constants.ring_warm = each(1, Backend::Uring) as f64 / alone as f64;
    }
}

/// Measures what a second worker costs in addition to its thread: the time that two workers need for a few
/// files, minus their share of the work and the start of the team.
fn worker(constants: &mut Constants, files: &Inventory, platform: Platform) {
    const FEW: u32 = 150;
    let (mut few, mut path) = (PathList::new(), Vec::new());
    for file in 0..files.files().min(FEW) {
        path.clear();
        files.push_path(FileNo(file), &mut path);
        if few.push(&path).is_err() {
            return;
        }
    }
    let Ok((few, _)) = Inventory::from_list(few) else { return };
    // This includes the cost for each worker to fill and drain the lanes of the default digest.
    let took = |workers| nanos(median(|| run(&few, Algorithm::Sha256, platform, workers, Backend::Sync)));
    let share = (took(1) as f64 * (1.0 + constants.contention) / 2.0) as u64;
    constants.worker_ns = took(2).saturating_sub(share + constants.team_ns + constants.thread_ns);
}

/// Returns the time that `workers` workers need for the files, without the sample.
fn run(
    files: &Inventory,
    algorithm: Algorithm,
    platform: Platform,
    workers: usize,
    backend: Backend,
) -> Duration {
    let model = Model::new(Constants::default());
    let limits =
        Limits { threads: Threads::Fixed(workers), backend: Some(backend), ring: true, cpus: workers };
    let algorithms = &[algorithm];
    let mut rows = Rows::new(files.files(), algorithms);
    let work = Work {
        inventory: files,
        algorithms,
        platform,
        only: None,
        span: Span::Whole,
        fixed_sizes: false,
        prefix: None,
    };
    let resources =
        Resources { model: &model, limits, memory: 64 << 20, stop: &Stop::new(), watch: None, cache: None };
    Duration::from_nanos(process(&work, &mut rows, &resources).plan.took_nanos)
}

fn memory(constants: &mut Constants) {
    /// Much larger than a second-level cache.
    const BYTES: usize = 64 << 20;
    let read = |workers| {
        let buffers: Vec<_> = (0..workers).map(|_| vec![1_u64; BYTES / 8]).collect();
        let sum =
            |worker: usize| black_box(buffers[worker].iter().fold(0_u64, |sum, n| sum.wrapping_add(*n)));
        per_second(BYTES, median(|| timed(|| drop(Team::new(workers).run(&Stop::new(), sum)))))
    };
    constants.memory_one_bytes_per_s = read(1);
    constants.memory_each_bytes_per_s = read(logical_cpus().min(8));
}

/// Returns the speed of a digest on one long message, in bytes per second.
fn digest(algorithm: Algorithm, platform: Platform) -> u64 {
    let data = vec![7; 4 << 20];
    per_second(data.len(), median(|| timed(|| _ = black_box(algorithm.hash_one_with(platform, &data)))))
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut figure: impl FnMut() -> Duration) -> Duration {
    middle(std::array::from_fn(|_| figure()))
}

fn middle(mut figures: [Duration; ROUNDS]) -> Duration {
    figures.sort_unstable();
    figures[ROUNDS / 2]
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

fn per_second(bytes: usize, time: Duration) -> u64 {
    (bytes as f64 / time.as_secs_f64().max(1e-9)) as u64
}
