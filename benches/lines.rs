//! SHA-256 of ten million strings of 16 bytes, by number of threads.
//!
//! Threads claim runs of strings, so they share only the strings, a counter and the subject of the row. Rows
//! that end in `one context in a mutex` show the cost of one hash context for all threads: two threads are
//! slower than one. With OpenSSL (`--features openssl`) there are two more: a digest that is fetched once,
//! and one that is looked up for every message, as `EVP_sha256()` is in OpenSSL 3.
//!
//! The result is the sum of the first words of all digests. It is checked in every run, timed or not.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use ftk_benches::{config, is_timed, random_bytes, thread_counts};
use ftk_hash::{Algorithm, Digest, Platform};
use ftk_sched::{Stop, Team};
use sha2::{Digest as _, Sha256};

type Line = [u8; 16];

/// Strings in one call.
const BATCH: usize = 1024;
/// Strings in a claim.
const CLAIM: usize = 16 * BATCH;

fn lines(criterion: &mut Criterion) {
    let count = if is_timed() { 10_000_000 } else { 3 * CLAIM + 5 };
    let bytes = random_bytes(count * size_of::<Line>());
    let lines = bytes.as_chunks().0;
    let mut group = criterion.benchmark_group("lines/sha256");
    group.throughput(Throughput::Elements(count as u64));
    group.sampling_mode(SamplingMode::Flat);
    let mut bench = Bench { group, lines, expected: one_by_one(lines, sha2) };

    bench.row("ftk", || {
        let platform = Platform::detect();
        let mut messages: Vec<&[u8]> = Vec::with_capacity(BATCH);
        let mut digests = [Digest::from_bytes(&[]); BATCH];
        move |batch| {
            messages.clear();
            messages.extend(batch.iter().map(Line::as_slice));
            let digests = &mut digests[..batch.len()];
            Algorithm::Sha256.hash_many_with(platform, &messages, digests);
            digests.iter().fold(0, |sum: u64, digest| sum.wrapping_add(first_word(digest.as_bytes())))
        }
    });
    bench.row("sha2", || |batch| one_by_one(batch, sha2));
    let shared = Mutex::new(Sha256::new());
    bench.row("sha2, one context in a mutex", || {
        |batch| {
            one_by_one(batch, |line| {
                let mut context = shared.lock().expect("nothing panics with the lock");
                context.update(line);
                first_word(&context.finalize_reset())
            })
        }
    });
    #[cfg(feature = "openssl")]
    openssl(&mut bench);
}

#[cfg(feature = "openssl")]
fn openssl(bench: &mut Bench<'_, '_>) {
    let context = || ftk_benches::Context::new(Algorithm::Sha256).expect("OpenSSL has SHA-256");
    bench.row("openssl", || {
        let mut context = context();
        move |batch| one_by_one(batch, |line| first_word(context.digest(line).as_ref()))
    });
    bench.row("openssl, looked up for each", || {
        let mut context = context();
        move |batch| one_by_one(batch, |line| first_word(context.sha256_looked_up(line).as_ref()))
    });
    let shared = Mutex::new(context());
    bench.row("openssl, one context in a mutex", || {
        |batch| {
            one_by_one(batch, |line| {
                let mut context = shared.lock().expect("nothing panics with the lock");
                first_word(context.digest(line).as_ref())
            })
        }
    });
}

struct Bench<'c, 'l> {
    group: BenchmarkGroup<'c, WallTime>,
    lines: &'l [Line],
    expected: u64,
}

impl<'l> Bench<'_, 'l> {
    /// Adds a row. `make` returns what one thread needs, as a function that returns the sum for a batch.
    fn row<H: FnMut(&'l [Line]) -> u64>(&mut self, name: &str, make: impl Fn() -> H + Sync) {
        for threads in thread_counts() {
            self.group.bench_function(BenchmarkId::new(name, threads), |bencher| {
                bencher.iter(|| {
                    assert_eq!(on_threads(threads, self.lines, &make), self.expected, "{name}, {threads}");
                });
            });
        }
    }
}

/// Returns the sum over all lines, computed on this many threads.
fn on_threads<'l, H>(threads: usize, lines: &'l [Line], make: &(impl Fn() -> H + Sync)) -> u64
where
    H: FnMut(&'l [Line]) -> u64,
{
    let next = AtomicUsize::new(0);
    let sums = Team::new(threads).run(&Stop::new(), |_| {
        let mut hash = make();
        let mut sum = 0_u64;
        loop {
            let start = next.fetch_add(CLAIM, Ordering::Relaxed);
            let Some(rest) = lines.get(start..) else { return sum };
            for batch in rest[..CLAIM.min(rest.len())].chunks(BATCH) {
                sum = sum.wrapping_add(hash(batch));
            }
        }
    });
    assert_eq!(sums.len(), threads, "a thread could not be started");
    sums.into_iter().fold(0, u64::wrapping_add)
}

fn one_by_one(batch: &[Line], mut hash: impl FnMut(&Line) -> u64) -> u64 {
    batch.iter().fold(0, |sum, line| sum.wrapping_add(hash(line)))
}

fn sha2(line: &Line) -> u64 {
    first_word(&Sha256::digest(line))
}

fn first_word(digest: &[u8]) -> u64 {
    u64::from_le_bytes(*digest.first_chunk().expect("a digest has eight bytes"))
}

criterion_group! {
    name = benches;
    config = config().sample_size(10);
    targets = lines
}
criterion_main!(benches);
