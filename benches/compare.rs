//! The comparison kernel: two messages that are equal, differ in one byte, or differ everywhere.
//!
//! The peer is a loop over bytes. The results of both are compared.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ftk_benches::{Messages, config, is_timed};
use ftk_compare::{differences, first_difference};

/// From a small file to more than any cache holds.
fn lengths() -> &'static [usize] {
    if is_timed() { &[100, 4 << 10, 128 << 10, 64 << 20] } else { &[100, 5000, 128 << 10] }
}

/// Returns two copies of random bytes, the second changed by `change`.
fn pair(len: usize, change: impl Fn(&mut [u8])) -> (Messages, Vec<u8>) {
    let messages = Messages::new(1, len);
    let mut other = messages.slices()[0].to_vec();
    change(&mut other);
    (messages, other)
}

fn first(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compare/first difference");
    for &len in lengths() {
        group.throughput(Throughput::Bytes(len as u64));
        let cases = [("none", None), ("in the middle", Some(len / 2)), ("at the end", Some(len - 1))];
        for (case, at) in cases {
            let (a, b) = pair(len, |bytes| at.into_iter().for_each(|at| bytes[at] ^= 1));
            let a = a.slices()[0];
            group.bench_function(BenchmarkId::new(format!("ftk, {case}"), len), |bencher| {
                bencher.iter(|| assert_eq!(first_difference(black_box(a), black_box(&b)), at));
            });
            group.bench_function(BenchmarkId::new(format!("loop, {case}"), len), |bencher| {
                bencher.iter(|| assert_eq!(first_by_loop(black_box(a), black_box(&b)), at));
            });
        }
    }
}

fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compare/all differences");
    for &len in lengths() {
        group.throughput(Throughput::Bytes(len as u64));
        let every =
            |step: usize| move |bytes: &mut [u8]| bytes.iter_mut().step_by(step).for_each(|it| *it ^= 1);
        for (case, step) in [("all bytes", 1), ("one in 100", 100), ("one in 10000", 10_000)] {
            let (a, b) = pair(len, every(step));
            let (a, expected) = (a.slices()[0], (0..len).step_by(step).sum::<usize>());
            group.bench_function(BenchmarkId::new(format!("ftk, {case}"), len), |bencher| {
                bencher
                    .iter(|| assert_eq!(differences(black_box(a), black_box(&b)).sum::<usize>(), expected));
            });
            group.bench_function(BenchmarkId::new(format!("loop, {case}"), len), |bencher| {
                bencher.iter(|| assert_eq!(all_by_loop(black_box(a), black_box(&b)), expected));
            });
        }
    }
}

fn first_by_loop(a: &[u8], b: &[u8]) -> Option<usize> {
    a.iter().zip(b).position(|(a, b)| a != b)
}

fn all_by_loop(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).map(|(index, _)| index).sum()
}

criterion_group! {
    name = benches;
    config = config();
    targets = first, all
}
criterion_main!(benches);
