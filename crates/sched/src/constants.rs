//! The measured speed of the machine: built-in values, or those of a calibration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the model knows about the machine. Field names end in the unit; fields without a unit are ratios.
///
/// [`Constants::default`] returns the built-in values. They are medians measured on a virtual machine with
/// two cores of a server CPU of 2023 (2.4 GHz, AVX-512), Linux 6.18, ext4 on flash.
///
/// A deserialized value has all fields, but they may be implausible; see [`Constants::check`].
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    /// The fixed cost of starting a team, without its threads: the scope and the last wake-up.
    pub team_ns: u64,
    /// The additional cost of each thread: its start and its join.
    pub thread_ns: u64,
    /// The cost of a new worker besides its thread: a descriptor table, a reader, page faults of new buffers
    /// while other workers have theirs, and lanes that become idle when files run out. All workers pay it at
    /// the same time, so a team pays it once.
    pub worker_ns: u64,
    /// The time for a cached file of a source tree with the plain reader and one worker: open, fstat, read,
    /// close.
    pub file_ns: u64,
    /// How much workers slow each other down on cached files. With `k` workers, a file takes this many times
    /// as long as with one: `1 + (k - 1) * contention`. 0 means not at all, 1 that more workers gain nothing.
    pub contention: f64,
    /// How much workers slow each other down while plain reads wait for a disk. The formula is the same as
    /// for `contention`.
    pub cold_contention: f64,
    /// The cost of creating an io_uring.
    pub ring_ns: u64,
    /// Time for a cached file with a deep io_uring (one with a large queue depth), divided by the time with
    /// plain reads.
    pub ring_warm: f64,
    /// Time that one worker with plain reads waits for a disk, divided by the time that a deep io_uring
    /// waits.
    pub ring_cold: f64,
    /// Time per file from a disk after the [probe](crate::PROBE), divided by the time per file of the probe.
    pub probe: f64,
    /// Bytes per second that one core alone reads from memory.
    pub memory_one_bytes_per_s: u64,
    /// Bytes per second that each CPU reads from memory while all CPUs do. It is stored per CPU, and not as a
    /// sum, because the built-in value must also fit machines with more CPUs.
    pub memory_each_bytes_per_s: u64,
    /// Bytes per second that one core hashes, by `algorithm/kernel`.
    pub digest_bytes_per_s: BTreeMap<String, u64>,
    /// The kernel that is fastest, by algorithm. Algorithms that are not listed use the built-in one.
    pub kernels: BTreeMap<String, Kernel>,
}

/// The fastest kernel of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The largest instruction set that it uses, such as `avx2`.
    pub simd: String,
    /// Up to this many messages are hashed one or two at a time, and more of them side by side in the lanes of vectors.
    /// 0: even a single message is hashed in a lane. `None`: for this algorithm it makes no difference.
    pub few: Option<u8>,
}

impl Default for Constants {
    fn default() -> Self {
        // One core, one stream of 4 MiB, with the kernel that is chosen for many messages. The AVX-512
        // kernels pass a single stream to SHA-NI or to portable code.
        let digests = [
            ("sha256/avx512", 1_400_000_000),
            ("sha256/sha-ni", 1_400_000_000),
            ("sha224/avx512", 1_400_000_000),
            ("sha224/sha-ni", 1_400_000_000),
            ("sha1/avx512", 1_550_000_000),
            ("sha1/sha-ni", 1_550_000_000),
            ("sha512/avx512", 400_000_000),
            ("sha512/avx2", 400_000_000),
            ("sha384/avx512", 400_000_000),
            ("sha384/avx2", 400_000_000),
            ("md5/avx512", 540_000_000),
            ("md5/avx2", 540_000_000),
            ("md5/portable", 540_000_000),
            ("blake2b/avx512", 860_000_000),
            ("blake2b/avx2", 860_000_000),
            ("blake2b/portable", 860_000_000),
            ("blake3/avx512", 5_900_000_000),
            ("sha3-256/portable", 280_000_000),
            ("sha3-512/portable", 150_000_000),
            ("xxh3/avx2", 25_000_000_000),
            ("xxh128/avx2", 25_000_000_000),
            ("xxh64/portable", 12_000_000_000),
            ("crc32/avx512", 25_000_000_000),
            ("crc32c/sse4.2", 10_000_000_000),
        ];
        Self {
            // Spawning and joining two threads: 63 us.
            team_ns: 15_000,
            thread_ns: 24_000,
            // After the sample, one worker took 430 and 750 us for trees of 64 and 100 files of 14 KB, where
            // two took 690 and 920. For 150 files it was 980 with one and 930 with two; for 250 files, 1,810
            // and 1,350. So another worker pays off from 0.8 ms of work on.
            worker_ns: 350_000,
            // 86,629 source files of 17 KB on average: 520 to 600 ms.
            file_ns: 6_000,
            // Two workers were 1.7 to 2.0 times as fast as one on the same files. More than two were not
            // measured.
            contention: 0.08,
            // The same tree from the disk: 6.1 s with 1 thread, 4.2 s with 2, 2.4 s with 16, 2.1 to 2.4 s
            // with 32 and 64.
            cold_contention: 0.33,
            // Creating a ring: 20 to 27 us.
            ring_ns: 25_000,
            // The tree in the cache, depth 256: 400 ms instead of 297.
            ring_warm: 1.34,
            // The tree from the disk, depth 256, two workers: 1.7 to 1.85 s, of which about 0.3 s is
            // computing.
            ring_cold: 4.0,
            // 1.0 to 1.5 on one machine, so 1 is the best guess for others.
            probe: 1.0,
            // One core alone, and each of two at the same time.
            memory_one_bytes_per_s: 8_000_000_000,
            memory_each_bytes_per_s: 5_000_000_000,
            digest_bytes_per_s: digests.map(|(name, speed)| (name.to_owned(), speed)).into(),
            // `ftk_hash` has the built-in choices.
            kernels: BTreeMap::new(),
        }
    }
}
