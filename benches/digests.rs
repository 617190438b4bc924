//! Each digest by message size: ftk's kernels, with full lanes and one message at a time, compared with the
//! crates that they come from or replace, and with OpenSSL if requested (`--features openssl`).
//!
//! All rows of a size hash the same messages on one thread. `ftk` is the kernel that ftk chooses on this CPU;
//! the name of the group contains it. `ftk sha-ni` and so on are other kernels, which ftk would choose on a
//! lesser CPU. These rows hash all messages in one call; rows with `one by one` use a call for each, as for a
//! single stream. Peers have no other way than one by one.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ftk_benches::{Kernel, Messages, config, is_timed, kernels};
use ftk_hash::{Algorithm, Digest, Platform};

/// Lengths of messages in bytes.
const SIZES: [usize; 8] = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20];

/// Bytes of all messages together. They fit into the second-level cache, so that memory is not timed.
const TOTAL: usize = 512 << 10;

/// As many messages as the widest kernel has lanes, and more if messages are short.
const COUNTS: std::ops::RangeInclusive<usize> = 16..=1024;

/// For a test, one message more than lanes is enough.
const TEST_COUNT: usize = 17;

fn digests(criterion: &mut Criterion) {
    for algorithm in Algorithm::ALL {
        let kernel = algorithm.kernel_name(Platform::detect());
        let mut group = criterion.benchmark_group(format!("digests/{algorithm} ({kernel})"));
        for size in SIZES {
            let count =
                if is_timed() { (TOTAL / size).clamp(*COUNTS.start(), *COUNTS.end()) } else { TEST_COUNT };
            let messages = Messages::new(count, size);
            let mut bench = Bench::new(&mut group, messages.slices(), size);
            bench.peers(algorithm);
            for kernel in kernels(algorithm) {
                bench.ftk(algorithm, &kernel);
            }
        }
    }
}

/// The rows that hash the same messages.
struct Bench<'g, 'c, 'm> {
    group: &'g mut BenchmarkGroup<'c, WallTime>,
    messages: Vec<&'m [u8]>,
    size: usize,
    /// The digests of the first peer.
    expected: Vec<Digest>,
}

impl<'g, 'c, 'm> Bench<'g, 'c, 'm> {
    fn new(group: &'g mut BenchmarkGroup<'c, WallTime>, messages: Vec<&'m [u8]>, size: usize) -> Self {
        group.throughput(Throughput::Bytes((messages.len() * size) as u64));
        Self { group, messages, size, expected: Vec::new() }
    }

    fn peers(&mut self, algorithm: Algorithm) {
        match algorithm {
            Algorithm::Sha256 => self.crate_peer::<sha2::Sha256>("sha2"),
            Algorithm::Sha512 => self.crate_peer::<sha2::Sha512>("sha2"),
            Algorithm::Sha1 => self.crate_peer::<sha1::Sha1>("sha1"),
            Algorithm::Md5 => self.crate_peer::<md5::Md5>("md-5"),
            Algorithm::Blake2b => self.crate_peer::<blake2::Blake2b512>("blake2"),
            Algorithm::Blake3 => self.peer("blake3", |message| *blake3::hash(message).as_bytes()),
            Algorithm::Sha224 => self.crate_peer::<sha2::Sha224>("sha2"),
            Algorithm::Sha384 => self.crate_peer::<sha2::Sha384>("sha2"),
            Algorithm::Sha3_256 => self.crate_peer::<sha3::Sha3_256>("sha3"),
            Algorithm::Sha3_512 => self.crate_peer::<sha3::Sha3_512>("sha3"),
            Algorithm::Crc32 => self.peer("crc32fast", |message| crc32fast::hash(message).to_be_bytes()),
            Algorithm::Crc32c => self.peer("crc32c", |message| crc32c::crc32c(message).to_be_bytes()),
            Algorithm::Crc64Nvme => self.peer("crc64fast-nvme", |message| {
                let mut digest = crc64fast_nvme::Digest::new();
                digest.write(message);
                digest.sum64().to_be_bytes()
            }),
            Algorithm::Xxh64 => {
                self.peer("xxhash-rust", |message| xxhash_rust::xxh64::xxh64(message, 0).to_be_bytes());
                self.peer("twox-hash", |message| twox_hash::XxHash64::oneshot(0, message).to_be_bytes());
            }
            Algorithm::Xxh3 => {
                self.peer("xxhash-rust", |message| xxhash_rust::xxh3::xxh3_64(message).to_be_bytes());
                self.peer("twox-hash", |message| twox_hash::XxHash3_64::oneshot(message).to_be_bytes());
            }
            Algorithm::Xxh128 => {
                self.peer("xxhash-rust", |message| xxhash_rust::xxh3::xxh3_128(message).to_be_bytes());
                self.peer("twox-hash", |message| twox_hash::XxHash3_128::oneshot(message).to_be_bytes());
            }
            other => panic!("{other} has no peer here"),
        }
        #[cfg(feature = "openssl")]
        if let Some(mut context) = ftk_benches::Context::new(algorithm) {
            self.peer("openssl", |message| context.digest(message));
        }
    }

    /// Adds a peer from the crates that share a trait.
    fn crate_peer<D: sha2::Digest>(&mut self, name: &str) {
        self.peer(name, |message| D::digest(message));
    }

    /// Adds a peer. The digests of the first one are the expected ones.
    fn peer<D: AsRef<[u8]>>(&mut self, name: &str, mut digest: impl FnMut(&[u8]) -> D) {
        let answers: Vec<_> =
            self.messages.iter().map(|message| Digest::from_bytes(digest(message).as_ref())).collect();
        if self.expected.is_empty() {
            self.expected = answers;
        } else {
            assert_eq!(answers, self.expected, "{name}, {} bytes", self.size);
        }
        let messages = &self.messages;
        self.group.bench_function(BenchmarkId::new(name, self.size), |bencher| {
            bencher.iter(|| {
                for message in messages {
                    black_box(digest(black_box(message)));
                }
            });
        });
    }

    fn ftk(&mut self, algorithm: Algorithm, kernel: &Kernel) {
        let Kernel { name, platform } = kernel;
        let messages = &self.messages;
        let mut out = vec![Digest::from_bytes(&[]); messages.len()];

        algorithm.hash_many_with(*platform, messages, &mut out);
        assert_eq!(out, self.expected, "{name}, {} bytes", self.size);
        self.group.bench_function(BenchmarkId::new(name, self.size), |bencher| {
            bencher.iter(|| algorithm.hash_many_with(*platform, black_box(messages), black_box(&mut out)));
        });

        let one_by_one = |message: &&[u8]| algorithm.hash_one_with(*platform, black_box(message));
        assert!(messages.iter().map(one_by_one).eq(self.expected.iter().copied()), "{name}, {}", self.size);
        self.group.bench_function(BenchmarkId::new(format!("{name} one by one"), self.size), |bencher| {
            bencher.iter(|| {
                for message in messages {
                    black_box(one_by_one(message));
                }
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = config();
    targets = digests
}
criterion_main!(benches);
