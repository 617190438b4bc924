//! Tests messages longer than 2^32 bits and than 2^32 bytes. They consist of zeros; the expected digests are
//! those of coreutils 9.1, b3sum and xxhsum.

use std::io::Write as _;
use std::time::{Duration, Instant};

use ftk_hash::{Algorithm, Event, Platform};

const BITS: u64 = (1 << 29) + 11;
const BYTES: u64 = (1 << 32) + 11;

/// The longer message is skipped if the shorter one takes longer than this, so that it takes less than ten
/// seconds.
const MAX_TIME: Duration = Duration::from_millis(1200);

static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

fn digest_of_zeros(algorithm: Algorithm, len: u64) -> String {
    let mut engine = algorithm.engine::<&[u8]>(Platform::detect(), 1);
    let mut events = Vec::new();
    let mut left = len;
    while left > 0 {
        let piece = &ZEROS[..left.min(ZEROS.len() as u64) as usize];
        engine.feed(0, left == len, left == piece.len() as u64, piece);
        engine.step(&mut events);
        left -= piece.len() as u64;
        match events.pop() {
            Some(Event::Done { digest, .. }) => return digest.to_string(),
            other => assert!(matches!(other, Some(Event::Dry { .. })), "{other:?}"),
        }
    }
    panic!("no digest after the last piece")
}

fn check(algorithm: Algorithm, past_bits: &str, past_bytes: Option<&str>) {
    let start = Instant::now();
    assert_eq!(digest_of_zeros(algorithm, BITS), past_bits, "{algorithm}");
    let Some(past_bytes) = past_bytes else { return };
    if start.elapsed() > MAX_TIME {
        // libtest hides the output of `eprintln!`.
        let mut stderr = std::io::stderr().lock();
        _ = writeln!(stderr, "SKIPPED: {algorithm} of more than 4 GiB: too slow here");
        return;
    }
    assert_eq!(digest_of_zeros(algorithm, BYTES), past_bytes, "{algorithm}");
}

#[test]
fn sha1() {
    check(
        Algorithm::Sha1,
        "8080617155546aece459c8f93157a2a6c310c231",
        Some("ede48f6242bb6d681826147239a58b1832860c32"),
    );
}

#[test]
fn sha256() {
    check(
        Algorithm::Sha256,
        "b45a7803200a2b1c50a2cf9ce23a4b6a6fc84b1e9132dbb09c629690203bd81a",
        Some("664b6cbe46deeb13ca7cb2f73e6a029a7076b643cb6590681b183e5b0151eb43"),
    );
}

#[test]
fn sha512() {
    check(
        Algorithm::Sha512,
        "55497a5b5cafd18a720df69a2247ddcaed08ae50942a17a843447ae8c13dff34bfea08682d9833e3687a2e4e2b8e5d11e01aa5d9eb668c073f984bc0525e37db",
        None,
    );
}

#[test]
fn md5() {
    check(Algorithm::Md5, "c3aff73b13959d941c34731f2435f56b", None);
}

/// BLAKE2b is the only algorithm that counts bytes instead of bits.
#[test]
fn blake2b() {
    check(
        Algorithm::Blake2b,
        "152c6befa8d8bc4f9cebe3847d7df725542e0aa5711ec53504086f53eac3a0b6f41027c22f8f26b65ec8a47a9e6257946396646c3fc168c052bae85f53e6206d",
        Some(
            "ae4756ef9c3d8191d54cd8d291b3b2bb00af16ef4c95baf08732de566f9c53d669f78339a03b4eaf8085dfed34e414f272d6fb83e53e3ccb55c20a04c7367f52",
        ),
    );
}

#[test]
fn blake3() {
    check(
        Algorithm::Blake3,
        "f9479c14c952e74dbaf8f2c72fed58e0303fc54197cabf4bec718854f974beff",
        Some("ed2661fac7ed958b3b12ed1918c6b4e41b2673d9a881e4425264e746316f2637"),
    );
}

#[test]
fn xxh64() {
    check(Algorithm::Xxh64, "fd5aee20e67afa31", None);
}

#[test]
fn xxh3() {
    check(Algorithm::Xxh3, "b3b544e2bd7d4705", Some("db0d716626874bd4"));
}

#[test]
fn xxh128() {
    check(Algorithm::Xxh128, "9dcfd59c6a2223aeb3b544e2bd7d4705", Some("26b5d69759fa49a6db0d716626874bd4"));
}
