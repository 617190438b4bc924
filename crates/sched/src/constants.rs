//! What the machine costs: built-in figures, or those of a calibration.

use std::collections::BTreeMap;

/// What the model knows of the machine. Fields end in their unit; those without one are ratios.
///
/// [`Constants::default`] holds the built-in figures. They are medians taken on a virtual machine with two
/// cores of a server CPU of 2023 (2.4 GHz, AVX-512), Linux 6.18, ext4 on flash.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// What a team costs whose first thread is still to be added: the scope, and the last wake-up.
    pub team_ns: u64,
    /// What each thread adds to that: its start and its join.
    pub thread_ns: u64,
    /// What a new worker costs beside its thread: a descriptor table, a reader, buffers touched for the first
    /// time while others touch theirs, lanes that drain for want of files. Workers do it at the same time, so a
    /// team pays it once.
    pub worker_ns: u64,
    /// A file of a source tree with the plain reader, cached, on one worker: open, fstat, read, close.
    pub file_ns: u64,
    /// What another worker costs those at work on cached files: with `k` of them a file takes
    /// `1 + (k - 1) * contention` times as long as alone. 0: nothing; 1: more workers are no faster.
    pub contention: f64,
    /// The same for the time that plain reads wait for a disk.
    pub cold_contention: f64,
    /// Making a ring.
    pub ring_ns: u64,
    /// How many times as long a cached file takes with a deep ring instead of plain reads.
    pub ring_warm: f64,
    /// How many times less a deep ring waits for a disk than one worker with plain reads.
    pub ring_cold: f64,
    /// What one core reads from memory in a second.
    pub memory_one_bytes_per_s: u64,
    /// What each CPU reads from memory in a second when all of them do: a figure that holds better than their
    /// sum where the built-in one meets a machine with more CPUs.
    pub memory_each_bytes_per_s: u64,
    /// What one core digests in a second, by `algorithm/kernel`.
    pub digest_bytes_per_s: BTreeMap<String, u64>,
}

impl Default for Constants {
    fn default() -> Self {
        // One core, one stream of 4 MiB, by the kernel that is chosen for many: those of AVX-512 hand a lone
        // stream to SHA-NI or to portable code.
        let digests = [
            ("sha256/avx512", 1_400_000_000),
            ("sha256/sha-ni", 1_400_000_000),
            ("sha1/avx512", 1_550_000_000),
            ("sha1/sha-ni", 1_550_000_000),
            ("sha512/avx512", 400_000_000),
            ("sha512/avx2", 400_000_000),
            ("md5/avx512", 540_000_000),
            ("md5/avx2", 540_000_000),
            ("md5/portable", 540_000_000),
            ("blake2b/avx512", 860_000_000),
            ("blake2b/avx2", 860_000_000),
            ("blake2b/portable", 860_000_000),
            ("blake3/avx512", 5_900_000_000),
            ("xxh3/avx2", 25_000_000_000),
            ("xxh128/avx2", 25_000_000_000),
            ("xxh64/portable", 12_000_000_000),
        ];
        Self {
            // Spawning and joining two threads: 63 us.
            team_ns: 15_000,
            thread_ns: 24_000,
            // Trees of 64 and 100 files of 14 KB took two workers 690 and 920 us after the sample where one took
            // 430 and 750; 150 files took them 930 against 980, and 250 files 1,350 against 1,810. A second
            // worker then pays from 0.8 ms of work on.
            worker_ns: 350_000,
            // 86,629 source files of 17 KB in the mean: 520 to 600 ms.
            file_ns: 6_000,
            // Two workers did the same files 1.7 to 2.0 times as fast as one. More than two were not measured.
            contention: 0.08,
            // The same tree from the disk: 6.1 s with 1 thread, 4.2 with 2, 2.4 with 16, 2.1 to 2.4 with 32 and 64.
            cold_contention: 0.33,
            // Setting a ring up: 20 to 27 us.
            ring_ns: 25_000,
            // The tree cached, depth 256: 400 ms against 297.
            ring_warm: 1.34,
            // The tree from the disk, depth 256, two workers: 1.7 to 1.85 s, some 0.3 of them spent computing.
            ring_cold: 4.0,
            // One core alone, and each of two at once.
            memory_one_bytes_per_s: 8_000_000_000,
            memory_each_bytes_per_s: 5_000_000_000,
            digest_bytes_per_s: digests.map(|(name, speed)| (name.to_owned(), speed)).into(),
        }
    }
}
