//! Compares the engines with the one-shot functions of external crates, for any pieces, any order, any other
//! messages, and every kernel.

use std::collections::HashMap;
use std::io::Write as _;

use fastrand::Rng;
use ftk_hash::{Algorithm, Digest, Engine, Event, Platform, Simd, Tuning};
use proptest::prelude::*;
use sha2::Digest as _;

/// Returns every kernel that this CPU has for `algorithm`, each with the smallest instruction set that allows
/// it. Then those between which a tuning chooses, never and always one message at a time.
fn platforms(algorithm: Algorithm) -> Vec<(&'static str, Platform)> {
    let found = Simd::ALL.into_iter().filter_map(|simd| Platform::up_to(simd).ok());
    let mut kernels: Vec<_> = found.map(|platform| (algorithm.kernel_name(platform), platform)).collect();
    kernels.dedup_by_key(|(name, _)| *name);
    let here = Platform::detect();
    for (name, tuning) in algorithm.kernels(here) {
        for few in [0, u8::MAX] {
            kernels.push((name, here.tuned(algorithm, Tuning { few: Some(few), ..tuning })));
        }
    }
    kernels
}

fn oracle(algorithm: Algorithm, data: &[u8]) -> Digest {
    match algorithm {
        Algorithm::Sha256 => Digest::from_bytes(&sha2::Sha256::digest(data)),
        Algorithm::Sha512 => Digest::from_bytes(&sha2::Sha512::digest(data)),
        Algorithm::Sha1 => Digest::from_bytes(&sha1::Sha1::digest(data)),
        Algorithm::Md5 => Digest::from_bytes(&md5::Md5::digest(data)),
        Algorithm::Blake2b => Digest::from_bytes(&blake2::Blake2b512::digest(data)),
        Algorithm::Blake3 => Digest::from_bytes(blake3::hash(data).as_bytes()),
        Algorithm::Sha224 => Digest::from_bytes(&sha2::Sha224::digest(data)),
        Algorithm::Sha384 => Digest::from_bytes(&sha2::Sha384::digest(data)),
        Algorithm::Sha3_256 => Digest::from_bytes(&sha3::Sha3_256::digest(data)),
        Algorithm::Sha3_512 => Digest::from_bytes(&sha3::Sha3_512::digest(data)),
        Algorithm::Crc32 => Digest::from_bytes(&crc(0xedb8_8320, data)),
        Algorithm::Crc32c => Digest::from_bytes(&crc(0x82f6_3b78, data)),
        Algorithm::Crc64Nvme => Digest::from_bytes(&crc64(0x9a6c_9329_ac4b_c9b5, data)),
        Algorithm::Xxh64 => Digest::from_bytes(&twox_hash::XxHash64::oneshot(0, data).to_be_bytes()),
        Algorithm::Xxh3 => Digest::from_bytes(&twox_hash::XxHash3_64::oneshot(data).to_be_bytes()),
        Algorithm::Xxh128 => Digest::from_bytes(&twox_hash::XxHash3_128::oneshot(data).to_be_bytes()),
        other => panic!("no oracle for {other}"),
    }
}

/// Computes a CRC bit by bit. `polynomial` is reflected.
fn crc(polynomial: u32, data: &[u8]) -> [u8; 4] {
    let byte = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { polynomial } else { 0 })
    };
    (!data.iter().fold(!0, byte)).to_be_bytes()
}

/// Like [`crc`], with 64 bits.
fn crc64(polynomial: u64, data: &[u8]) -> [u8; 8] {
    let byte = |crc: u64, byte: &u8| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { polynomial } else { 0 })
    };
    (!data.iter().fold(!0, byte)).to_be_bytes()
}

/// A piece of a message, at any alignment.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    bytes: Vec<u8>,
    skip: usize,
}

impl Piece {
    fn new(data: &[u8], skip: usize) -> Self {
        let mut bytes = vec![0xEE; skip];
        bytes.extend_from_slice(data);
        Self { bytes, skip }
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[self.skip..]
    }
}

/// Returns random bytes.
fn bytes(random: &mut Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill(&mut bytes);
    bytes
}

/// A message that an engine is hashing.
struct Open {
    message: usize,
    fed: usize,
    last: Option<Piece>, // the last piece that was fed, which the engine must give back
    ended: bool,
}

/// Hashes `messages` as a driver would: in pieces of up to `longest` bytes cut at random, with up to `keys`
/// messages open at once, fed in random order. Checks everything that the trait guarantees.
fn hash_all(
    engine: &mut dyn Engine<Piece>,
    messages: &[Vec<u8>],
    keys: usize,
    longest: usize,
    seed: u64,
) -> Vec<Digest> {
    let mut random = Rng::with_seed(seed);
    let mut digests = vec![None; messages.len()];
    let mut open: HashMap<u32, Open> = HashMap::new();
    let mut free: Vec<u32> = (0..keys as u32).collect();
    let mut waiting: Vec<u32> = Vec::new();
    let mut next = 0;
    let mut events = Vec::new();
    while digests.iter().any(Option::is_none) {
        while next < messages.len() && !free.is_empty() {
            let key = free.swap_remove(random.usize(..free.len()));
            open.insert(key, Open { message: next, fed: 0, last: None, ended: false });
            waiting.push(key);
            next += 1;
        }
        while engine.vacant() > 0 && !waiting.is_empty() {
            let key = waiting.swap_remove(random.usize(..waiting.len()));
            let state = open.get_mut(&key).unwrap();
            let rest = &messages[state.message][state.fed..];
            // Some pieces are empty, as at the end of a file of unknown size.
            let len = if random.u8(..8) == 0 { 0 } else { rest.len().min(1 + random.usize(..longest)) };
            let piece = Piece::new(&rest[..len], random.usize(..70));
            let end = len == rest.len() && random.u8(..4) != 0;
            engine.feed(key, state.last.is_none(), end, piece.clone());
            state.fed += len;
            state.ended = end;
            state.last = Some(piece);
        }
        engine.step(&mut events);
        assert!(!events.is_empty(), "a step with pieces in the engine returns events");
        for event in events.drain(..) {
            match event {
                Event::Dry { key, data } => {
                    let state = open.get_mut(&key).unwrap();
                    assert!(!state.ended, "the last piece must complete the message");
                    assert_eq!(state.last.as_ref(), Some(&data), "the piece must come back unchanged");
                    waiting.push(key);
                }
                Event::Done { key, data, digest } => {
                    let state = open.remove(&key).unwrap();
                    assert!(state.ended, "only the last piece may complete the message");
                    assert_eq!(state.last.as_ref(), Some(&data), "the piece must come back unchanged");
                    assert_eq!(digests[state.message].replace(digest), None, "each message has one digest");
                    free.push(key);
                }
            }
        }
    }
    engine.step(&mut events);
    assert!(events.is_empty(), "an empty engine returns no events");
    digests.into_iter().flatten().collect()
}

fn check(algorithm: Algorithm, messages: &[Vec<u8>], keys: usize, longest: usize, seed: u64) {
    let expected: Vec<_> = messages.iter().map(|message| oracle(algorithm, message)).collect();
    for (kernel, platform) in platforms(algorithm) {
        let mut engine = algorithm.engine(platform, keys);
        let digests = hash_all(&mut *engine, messages, keys, longest, seed);
        for ((message, digest), expected) in messages.iter().zip(digests).zip(&expected) {
            assert_eq!(digest, *expected, "{algorithm} of {} bytes, {kernel}, seed {seed}", message.len());
        }
    }
}

/// Instruction sets that this CPU lacks are reported; it is an error if `FTK_SIMD` names one of them.
#[test]
fn every_kernel_is_tested_or_reported() {
    // libtest hides the output of `eprintln!`.
    let mut stderr = std::io::stderr().lock();
    let wanted = std::env::var("FTK_SIMD").ok().map(|name| name.parse::<Simd>().unwrap());
    for simd in Simd::ALL {
        if let Err(missing) = Platform::up_to(simd) {
            assert_ne!(Some(simd), wanted, "{missing}");
            _ = writeln!(stderr, "SKIPPED: {missing}");
        }
    }
    for algorithm in Algorithm::ALL {
        let mut names: Vec<_> = platforms(algorithm).iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        _ = writeln!(stderr, "tested: {algorithm} by {}", names.join(", "));
    }
}

/// Without a tuning the first of the kernels is used; a tuning limits one algorithm only.
#[test]
fn a_tuning_chooses_the_kernel_of_one_algorithm() {
    let here = Platform::detect();
    for algorithm in Algorithm::ALL {
        let kernels = algorithm.kernels(here);
        let mut names: Vec<_> = kernels.iter().map(|(name, _)| *name).collect();
        for (name, tuning) in &kernels {
            assert_eq!(algorithm.kernel_name(here.tuned(algorithm, *tuning)), *name, "{algorithm}");
        }
        assert_eq!(names[0], algorithm.kernel_name(here), "{algorithm}");
        for other in Algorithm::ALL.into_iter().filter(|other| *other != algorithm) {
            let least = here.tuned(algorithm, kernels.last().unwrap().1);
            assert_eq!(other.kernel_name(least), other.kernel_name(here), "{other} with {algorithm}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), kernels.len(), "{algorithm}: {names:?}");
    }
}

#[test]
fn every_short_length_is_correct() {
    for algorithm in Algorithm::ALL {
        let messages: Vec<_> = (0..=300).map(|len| bytes(&mut Rng::with_seed(len as u64), len)).collect();
        check(algorithm, &messages, 33, 400, 1);
        check(algorithm, &messages, 7, 50, 2);
    }
}

#[test]
fn lengths_around_blocks_and_buffers_are_correct() {
    let lens = [512, 1024, 2048, 4096, 65_536].into_iter().flat_map(|edge| {
        [
            edge - 129,
            edge - 65,
            edge - 64,
            edge - 9,
            edge - 1,
            edge,
            edge + 1,
            edge + 63,
            edge + 64,
            edge + 128,
        ]
    });
    let messages: Vec<_> = lens.map(|len| bytes(&mut Rng::with_seed(len as u64), len)).collect();
    for algorithm in Algorithm::ALL {
        check(algorithm, &messages, 20, 65_536, 3);
        check(algorithm, &messages, 3, 5000, 4);
    }
}

#[test]
fn hash_one_is_correct() {
    for algorithm in Algorithm::ALL {
        for len in (0..300).chain([1000, 100_000]) {
            let data = bytes(&mut Rng::with_seed(len as u64), len);
            assert_eq!(algorithm.hash_one(&data), oracle(algorithm, &data), "{algorithm} {len}");
        }
    }
}

/// Tests mixed and equal lengths, so that padding is both rewritten and reused, and both fewer and more
/// messages than lanes.
#[test]
fn many_whole_messages_are_correct() {
    let mut random = Rng::with_seed(5);
    for algorithm in Algorithm::ALL {
        for (kernel, platform) in platforms(algorithm) {
            for n in [0, 1, 2, 7, 15, 16, 17, 31, 100] {
                for limit in [1, 20, 56, 113, 130, 3000] {
                    let len = random.usize(..limit);
                    let equal = random.bool();
                    let message = |_| {
                        let len = if equal { len } else { random.usize(..limit) };
                        bytes(&mut random, len)
                    };
                    let messages: Vec<_> = (0..n).map(message).collect();
                    let mut digests = vec![Digest::from_bytes(&[]); n];
                    let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                    algorithm.hash_many_with(platform, &slices, &mut digests);
                    let expected: Vec<_> =
                        messages.iter().map(|message| oracle(algorithm, message)).collect();
                    assert_eq!(digests, expected, "{algorithm}, {kernel}, {n} messages");
                }
            }
        }
    }
}

/// Tests messages of several BLAKE3 chunks of 1 KiB, together with messages too long for the lanes, at odd
/// offsets.
#[test]
fn many_blake3_messages_of_several_chunks_are_correct() {
    let bytes = bytes(&mut Rng::with_seed(6), 100_000);
    let edges = (1..=34).chain([48, 64, 65]).map(|chunks| chunks * 1024);
    let lens = edges.flat_map(|edge| [edge - 1, edge, edge + 1, edge + 64]);
    let messages: Vec<&[u8]> = lens.enumerate().map(|(nth, len)| &bytes[nth % 67..][..len]).collect();
    let mut digests = vec![Digest::from_bytes(&[]); messages.len()];
    for (kernel, platform) in platforms(Algorithm::Blake3) {
        for batch in [1, 2, 3, 16, messages.len()] {
            for (messages, digests) in messages.chunks(batch).zip(digests.chunks_mut(batch)) {
                Algorithm::Blake3.hash_many_with(platform, messages, digests);
            }
            for (message, digest) in messages.iter().zip(&digests) {
                assert_eq!(
                    *digest,
                    oracle(Algorithm::Blake3, message),
                    "{kernel}, {} bytes in batches of {batch}",
                    message.len()
                );
            }
        }
    }
}

/// Tests each length in every lane of the widest kernel.
#[test]
fn every_short_length_is_correct_in_every_lane() {
    for algorithm in Algorithm::ALL {
        for (kernel, platform) in platforms(algorithm) {
            for len in 0..=300 {
                let messages: Vec<_> =
                    (0..17).map(|nth| bytes(&mut Rng::with_seed(nth * 1000 + len as u64), len)).collect();
                let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                let mut digests = vec![Digest::from_bytes(&[]); slices.len()];
                algorithm.hash_many_with(platform, &slices, &mut digests);
                for (message, digest) in messages.iter().zip(digests) {
                    assert_eq!(digest, oracle(algorithm, message), "{algorithm}, {kernel}, {len} bytes");
                }
            }
        }
    }
}

#[test]
fn forgetting_a_message_does_not_affect_others() {
    for algorithm in Algorithm::ALL {
        let mut engine = algorithm.engine::<Vec<u8>>(Platform::detect(), 2);
        let mut events = Vec::new();
        for key in [0, 1] {
            engine.feed(key, true, false, vec![key as u8; 200]);
            engine.step(&mut events);
            assert!(matches!(events.pop(), Some(Event::Dry { key: dry, .. }) if dry == key), "{algorithm}");
        }
        engine.forget(0);
        let kept = [vec![1; 200], b"end".to_vec()].concat();
        for (key, start, data, whole) in [(0, true, b"new", b"new".to_vec()), (1, false, b"end", kept)] {
            engine.feed(key, start, true, Vec::from(data));
            engine.step(&mut events);
            let Some(Event::Done { digest, .. }) = events.pop() else { panic!("{algorithm}: no digest") };
            assert_eq!(digest, oracle(algorithm, &whole), "{algorithm}");
        }
    }
}

#[test]
#[should_panic(expected = "needs `start`")]
fn a_forgotten_message_cannot_be_continued() {
    let mut engine = Algorithm::Sha256.engine::<&[u8]>(Platform::detect(), 1);
    engine.feed(0, true, false, b"gone");
    engine.step(&mut Vec::new());
    engine.forget(0);
    engine.feed(0, false, true, b"on");
    engine.step(&mut Vec::new());
}

#[test]
#[should_panic(expected = "out of range")]
fn a_key_out_of_range_panics() {
    Algorithm::Sha256.engine(Platform::detect(), 3).feed(3, true, true, b"");
}

#[test]
#[should_panic(expected = "full engine")]
fn feeding_a_full_engine_panics() {
    let mut engine = Algorithm::Sha256.engine(Platform::detect(), 300);
    for key in 0..=engine.vacant() as u32 {
        engine.feed(key, true, true, b"");
    }
}

proptest! {
    /// Tests batches of mixed lengths, from one message up to three times as many as the widest engine has
    /// lanes.
    #[test]
    fn any_messages_in_pieces_are_correct(
        which in 0..Algorithm::ALL.len(),
        lens in prop::collection::vec(prop_oneof![4 => 0_usize..200, 2 => 0_usize..3000, 1 => 0_usize..20_000], 1..48),
        keys in 1_usize..40,
        longest in prop_oneof![1_usize..200, 200_usize..20_000],
        seed: u64,
    ) {
        let mut random = Rng::with_seed(seed);
        let messages: Vec<_> = lens.into_iter().map(|len| bytes(&mut random, len)).collect();
        check(Algorithm::ALL[which], &messages, keys, longest, seed);
    }

    /// Tests the same with whole messages at any alignment.
    #[test]
    fn any_whole_messages_are_correct(
        which in 0..Algorithm::ALL.len(),
        lens in prop::collection::vec(prop_oneof![4 => 0_usize..200, 2 => 0_usize..3000, 2 => 0_usize..40_000], 1..48),
        seed: u64,
    ) {
        let algorithm = Algorithm::ALL[which];
        let mut random = Rng::with_seed(seed);
        let pieces: Vec<_> =
            lens.into_iter().map(|len| Piece::new(&bytes(&mut random, len), random.usize(..70))).collect();
        let messages: Vec<&[u8]> = pieces.iter().map(AsRef::as_ref).collect();
        let expected: Vec<_> = messages.iter().map(|message| oracle(algorithm, message)).collect();
        for (kernel, platform) in platforms(algorithm) {
            let mut digests = vec![Digest::from_bytes(&[]); messages.len()];
            algorithm.hash_many_with(platform, &messages, &mut digests);
            prop_assert_eq!(&digests, &expected, "{}, {}, seed {}", algorithm, kernel, seed);
        }
    }
}
