//! Tests the model in typical situations, and properties that hold for all inputs.

use ftk_sched::{Backend, Choice, Constants, Limits, Model, Reason, Sample, Threads};
use proptest::prelude::*;

const TWO_CPUS: Limits = Limits { threads: Threads::Auto, backend: None, ring: true, cpus: 2 };

fn choose(seen: Sample, files_left: u64, limits: Limits) -> Choice {
    Model::new(Constants::default()).choose(seen, files_left, limits)
}

/// Returns a sample of 32 files with this time and size each, and no waits for a disk.
fn warm(file_ns: u64, file_bytes: u64) -> Sample {
    Sample { files: 32, bytes: 32 * file_bytes, nanos: 32 * file_ns, waits: 0, remote_cpu: None }
}

fn cold(file_ns: u64) -> Sample {
    Sample { waits: 32, ..warm(file_ns, 17_000) }
}

/// Returns the same for a remote file system, with this CPU time per file.
fn remote(file_ns: u64, cpu_ns: u64) -> Sample {
    Sample { remote_cpu: Some(32 * cpu_ns), ..cold(file_ns) }
}

#[test]
fn each_situation_gets_the_right_choice() {
    use Backend::{Sync, Uring};
    use Reason::{BelowBreakEven, ColdRing, ColdThreads, Remote, Warm};

    let no_ring = Limits { ring: false, ..TWO_CPUS };
    let sixteen = Limits { cpus: 16, ..TWO_CPUS };
    let many_cpus = Limits { cpus: 64, ..TWO_CPUS };
    let lone_cpu = Limits { cpus: 1, ..TWO_CPUS };
    let one = Sample { files: 1, bytes: 100, nanos: 9_000, waits: 0, remote_cpu: None };
    let huge = Sample { files: 1, bytes: 4 << 30, nanos: 800_000_000, waits: 0, remote_cpu: None };
    let table = [
        ("one tiny file", one, 0, TWO_CPUS, (1, Sync, BelowBreakEven)),
        ("one huge file", huge, 0, sixteen, (1, Sync, BelowBreakEven)),
        ("nothing sampled, nothing left", Sample::default(), 0, TWO_CPUS, (1, Sync, BelowBreakEven)),
        ("nothing sampled, a tree left", Sample::default(), 100_000, TWO_CPUS, (2, Sync, Warm)),
        ("ten files", warm(3_000, 100), 10, TWO_CPUS, (1, Sync, BelowBreakEven)),
        ("a hundred tiny files", warm(2_700, 100), 68, TWO_CPUS, (1, Sync, BelowBreakEven)),
        ("a hundred source files", warm(12_000, 17_000), 68, TWO_CPUS, (1, Sync, BelowBreakEven)),
        ("two hundred source files", warm(12_000, 17_000), 168, TWO_CPUS, (2, Sync, Warm)),
        ("the same with more CPUs than pay", warm(12_000, 17_000), 168, sixteen, (9, Sync, Warm)),
        ("a source tree", warm(12_000, 17_000), 86_597, TWO_CPUS, (2, Sync, Warm)),
        ("a source tree, 16 CPUs", warm(12_000, 17_000), 86_597, sixteen, (16, Sync, Warm)),
        ("a source tree, one CPU", warm(12_000, 17_000), 86_597, lone_cpu, (1, Sync, Warm)),
        ("nine more huge files", huge, 9, sixteen, (9, Sync, Warm)),
        ("a million cold files", cold(70_000), 1_000_000, TWO_CPUS, (2, Uring, ColdRing)),
        ("the same without a ring", cold(70_000), 1_000_000, no_ring, (32, Sync, ColdThreads)),
        ("a hundred cold files without a ring", cold(70_000), 68, no_ring, (11, Sync, ColdThreads)),
        ("ten cold files", cold(70_000), 10, TWO_CPUS, (1, Uring, ColdRing)),
        ("twenty cold files without a ring", cold(70_000), 20, no_ring, (5, Sync, ColdThreads)),
        ("one cold file", cold(20_000), 1, TWO_CPUS, (1, Sync, BelowBreakEven)),
        ("a server far away", remote(4_000_000, 40_000), 1_000_000, TWO_CPUS, (32, Sync, Remote)),
        ("the same without a ring", remote(4_000_000, 40_000), 1_000_000, no_ring, (32, Sync, Remote)),
        ("five hundred files", remote(4_000_000, 40_000), 468, TWO_CPUS, (32, Sync, Remote)),
        ("forty files", remote(4_000_000, 40_000), 40, TWO_CPUS, (10, Sync, Remote)),
        ("ten files far away", remote(4_000_000, 40_000), 10, TWO_CPUS, (2, Sync, Remote)),
        ("three files far away", remote(4_000_000, 40_000), 3, TWO_CPUS, (1, Sync, BelowBreakEven)),
        ("a program on this machine", remote(60_000, 25_000), 1_000_000, TWO_CPUS, (5, Sync, Remote)),
        ("a server that hardly waits", remote(60_000, 59_000), 1_000_000, TWO_CPUS, (3, Sync, Remote)),
        ("many CPUs", remote(4_000_000, 40_000), 1_000_000, many_cpus, (64, Sync, Remote)),
        ("more CPUs than pay", remote(60_000, 25_000), 168, sixteen, (16, Sync, Remote)),
    ];
    for (situation, seen, files_left, limits, expected) in table {
        let choice = choose(seen, files_left, limits);
        assert_eq!((choice.workers, choice.backend, choice.reason), expected, "{situation}: {choice:?}");
        assert_eq!(choice.cold, seen.waits > 0, "{situation}");
    }
}

#[test]
fn one_wait_per_16_files_means_a_disk() {
    for (files, waits) in [(32, 2), (33, 3), (64, 4), (16, 1), (8, 1), (1, 1)] {
        assert!(Sample { files, waits, ..Sample::default() }.is_cold(), "{waits} of {files}");
        assert!(
            !Sample { files, waits: waits - 1, ..Sample::default() }.is_cold(),
            "below {waits} of {files}"
        );
    }
    assert!(!Sample::default().is_cold());
}

#[test]
fn forecasts_match_the_measured_trees() {
    let threads = Limits { ring: false, ..TWO_CPUS };
    for (measured_s, choice) in [
        // 17 KB per file, SHA-256: 1.055 s with one worker and 0.583 s with two.
        (0.583, choose(warm(12_200, 17_000), 86_597, TWO_CPUS)),
        // From the disk, 6.1 s with one worker: 1.78 s with io_uring, 2.3 s with many threads.
        (1.78, choose(cold(70_400), 86_597, TWO_CPUS)),
        (2.30, choose(cold(70_400), 86_597, threads)),
    ] {
        let forecast_s = choice.forecast_nanos as f64 / 1e9;
        assert!((forecast_s / measured_s - 1.0).abs() < 0.15, "{measured_s}: {choice:?}");
    }
}

#[test]
fn memory_bandwidth_limits_the_number_of_workers() {
    let narrow = Constants { memory_each_bytes_per_s: 500_000_000, ..Constants::default() };
    // Each worker reads 4 GB/s and memory delivers 8 GB/s: enough for two workers, and a third one for what
    // they lose by contention.
    let seen = Sample { files: 1, bytes: 4_000_000_000, nanos: 1_000_000_000, waits: 0, remote_cpu: None };
    let choice = Model::new(narrow).choose(seen, 100, Limits { cpus: 16, ..TWO_CPUS });
    assert_eq!((choice.workers, choice.reason), (3, Reason::Warm));
}

#[test]
fn workers_beyond_the_cpus_do_not_shorten_the_forecast() {
    let forecast = |workers| {
        let limits = Limits { threads: Threads::Fixed(workers), ..TWO_CPUS };
        choose(warm(12_000, 17_000), 86_597, limits).forecast_nanos
    };
    assert!(forecast(2) < forecast(1) && forecast(2) < forecast(32));
}

#[test]
fn a_requested_reader_is_always_chosen() {
    for seen in [warm(12_000, 17_000), cold(70_000)] {
        for files_left in [0, 1, 50, 100_000] {
            for backend in [Backend::Sync, Backend::Uring] {
                for ring in [false, true] {
                    let limits = Limits { backend: Some(backend), ring, ..TWO_CPUS };
                    assert_eq!(choose(seen, files_left, limits).backend, backend);
                }
            }
        }
    }
}

#[test]
fn a_requested_ring_reads_a_remote_file_system() {
    let ring = Limits { backend: Some(Backend::Uring), ..TWO_CPUS };
    let choice = choose(remote(4_000_000, 40_000), 1_000_000, ring);
    assert_eq!((choice.workers, choice.backend), (2, Backend::Uring));
    let choice = choose(remote(4_000_000, 0), 1_000_000, TWO_CPUS);
    assert_eq!((choice.workers, choice.reason), (32, Reason::Remote), "no CPU time was measured");
}

#[test]
fn the_forecast_for_a_server_divides_the_waiting_by_the_workers() {
    let choice = choose(remote(4_032_000, 32_000), 10_000, TWO_CPUS);
    // 125 us of waiting, and 32 us of computing on two CPUs that slow each other down by 8 %: 17.3 us.
    let expected_ns = 10_000.0 * (125_000.0 + 17_280.0);
    assert!((choice.forecast_nanos as f64 / expected_ns - 1.0).abs() < 0.01, "{choice:?}");
}

#[test]
fn the_largest_numbers_saturate() {
    let seen = Sample { files: 1, bytes: u64::MAX, nanos: u64::MAX, waits: 0, remote_cpu: None };
    let choice = choose(seen, u64::MAX, TWO_CPUS);
    assert_eq!((choice.workers, choice.forecast_nanos), (2, u64::MAX));
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let remote_cpu = prop::option::of(0..1_u64 << 36);
    let measured = (0..=64_u32, 0..1_u64 << 40, 0..1_u64 << 36, 0..=8_u32, remote_cpu);
    measured.prop_map(|(files, bytes, nanos, waits, remote_cpu)| Sample {
        files,
        bytes,
        nanos,
        waits,
        remote_cpu,
    })
}

fn any_limits() -> impl Strategy<Value = Limits> {
    let backend = prop_oneof![Just(None), Just(Some(Backend::Sync)), Just(Some(Backend::Uring))];
    (backend, any::<bool>(), 0..=128_usize).prop_map(|(backend, ring, cpus)| Limits {
        threads: Threads::Auto,
        backend,
        ring,
        cpus,
    })
}

/// Returns tree sizes of all magnitudes, small ones as often as large ones.
fn any_files() -> impl Strategy<Value = u64> {
    (0..=32_u32).prop_flat_map(|bits| 0..=(1_u64 << bits))
}

proptest! {
    #[test]
    fn more_files_never_reduce_the_number_of_workers(
        seen in any_sample(), limits in any_limits(), few in any_files(), more in any_files()
    ) {
        let (few, many) = (choose(seen, few, limits), choose(seen, few + more, limits));
        prop_assert!(few.workers <= many.workers, "{few:?} {many:?}");
    }

    #[test]
    fn more_files_never_shorten_the_forecast_of_a_team(
        seen in any_sample(), limits in any_limits(), workers in 1..200_usize, few in 200..1_u64 << 32, more in any_files()
    ) {
        let fixed = Limits { threads: Threads::Fixed(workers), ..limits };
        let (few, many) = (choose(seen, few, fixed), choose(seen, few + more, fixed));
        prop_assert!(few.forecast_nanos <= many.forecast_nanos, "{few:?} {many:?}");
    }

    #[test]
    fn slower_files_never_reduce_the_number_of_workers(
        seen in any_sample(), limits in any_limits(), files in any_files(), more in 0..1_u64 << 36
    ) {
        let slower = Sample { nanos: seen.nanos + more, ..seen };
        let (fast, slow) = (choose(seen, files, limits), choose(slower, files, limits));
        prop_assert!(fast.workers <= slow.workers, "{fast:?} {slow:?}");
    }

    #[test]
    fn more_cpus_never_lengthen_the_forecast(
        seen in any_sample(), limits in any_limits(), files in any_files(), more in 0..64_usize
    ) {
        let wider = Limits { cpus: limits.cpus + more, ..limits };
        prop_assert!(choose(seen, files, wider).forecast_nanos <= choose(seen, files, limits).forecast_nanos);
    }

    #[test]
    fn the_chosen_number_of_workers_has_the_shortest_forecast(
        seen in any_sample(), limits in any_limits(), files in any_files()
    ) {
        let best = choose(seen, files, limits);
        for asked in 1..=limits.cpus.min(usize::try_from(files / 4).unwrap()) {
            let fixed = Limits { threads: Threads::Fixed(asked), ..limits };
            let other = choose(seen, files, fixed);
            prop_assert!(best.forecast_nanos <= other.forecast_nanos, "{best:?} {other:?}");
        }
    }

    #[test]
    fn a_requested_number_of_workers_is_used(
        seen in any_sample(), limits in any_limits(), files in any_files(), asked in 0..200_usize
    ) {
        let choice = choose(seen, files, Limits { threads: Threads::Fixed(asked), ..limits });
        let most = usize::try_from(files).unwrap().max(1);
        prop_assert_eq!(choice.workers, asked.clamp(1, most));
        prop_assert_eq!(choice.reason, Reason::Asked);
    }

    #[test]
    fn there_are_between_one_and_as_many_workers_as_files(
        seen in any_sample(), limits in any_limits(), files in any_files()
    ) {
        let choice = choose(seen, files, limits);
        prop_assert!(choice.workers >= 1 && choice.workers as u64 <= files.max(1));
        prop_assert!(limits.ring || limits.backend.is_some() || choice.backend == Backend::Sync);
    }

    #[test]
    fn extreme_numbers_give_a_valid_choice(
        files: u32, bytes: u64, nanos: u64, waits: u32, remote_cpu: Option<u64>, files_left: u64, limits in any_limits()
    ) {
        let choice = choose(Sample { files, bytes, nanos, waits, remote_cpu }, files_left, limits);
        prop_assert!(choice.workers >= 1 && choice.workers <= limits.cpus.max(32));
    }
}
