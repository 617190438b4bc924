//! All forms of a digest give the same value: a message at once, in pieces, by a reader, by a file, and by the traits of the
//! crate `digest`. Errors are never digests.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};

use ftk_hash::{Algorithm, Digest, Hasher, Platform, Simd, Tuning};
use proptest::prelude::*;

/// Returns every platform that this CPU has, and one for each kernel that a tuning chooses.
fn platforms(algorithm: Algorithm) -> Vec<Platform> {
    let here = Platform::detect();
    let limited = Simd::ALL.into_iter().filter_map(|simd| Platform::up_to(simd).ok());
    let tuned = algorithm.kernels(here).into_iter();
    let tuned = tuned.map(|(_, tuning)| here.tuned(algorithm, Tuning { few: Some(0), ..tuning }));
    limited.chain(tuned).collect()
}

/// A reader of some bytes that returns few at a time, is interrupted now and then, and may fail at the end.
struct Reader<'b> {
    bytes: &'b [u8],
    lens: Vec<usize>,
    calls: usize,
    failure: Option<ErrorKind>,
}

impl<'b> Reader<'b> {
    fn new(bytes: &'b [u8], lens: &[usize], failure: Option<ErrorKind>) -> Self {
        Self { bytes, lens: lens.to_vec(), calls: 0, failure }
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        if let Some(kind) = self.failure.filter(|_| self.bytes.is_empty()) {
            return Err(kind.into());
        }
        let len = self.lens[self.calls % self.lens.len()].max(1);
        let (now, later) = self.bytes.split_at(len.min(buffer.len()).min(self.bytes.len()));
        buffer[..now.len()].copy_from_slice(now);
        self.bytes = later;
        Ok(now.len())
    }
}

/// Hashes a message in pieces of these lengths, in turn. Half way it continues with a clone.
fn in_pieces(mut hasher: Hasher, message: &[u8], lens: &[usize]) -> Digest {
    let (mut rest, mut is_cloned) = (message, false);
    for len in lens.iter().cycle() {
        let (piece, later) = rest.split_at(rest.len().min(*len));
        hasher.update(piece);
        rest = later;
        if rest.is_empty() {
            break;
        }
        if !is_cloned && rest.len() <= message.len() / 2 {
            let other = hasher.clone();
            hasher.update(b"only in the original");
            hasher = other;
            is_cloned = true;
        }
    }
    hasher.finalize()
}

/// Checks all forms of one message.
fn check(message: &[u8], lens: &[usize]) {
    for algorithm in Algorithm::ALL {
        let expected = algorithm.hash_one(message);
        for platform in platforms(algorithm) {
            let kernel = algorithm.kernel_name(platform);
            let hasher = Hasher::with_platform(algorithm, platform);
            assert_eq!(in_pieces(hasher, message, lens), expected, "{algorithm} by {kernel}");
            assert_eq!(algorithm.hash_one_with(platform, message), expected, "{algorithm} by {kernel}");
        }
        let reader = Reader::new(message, lens, None);
        assert_eq!(algorithm.hash_reader(reader).unwrap(), expected, "{algorithm}");
        let mut hasher = Hasher::new(algorithm);
        io::copy(&mut Reader::new(message, lens, None), &mut hasher).unwrap();
        assert_eq!((hasher.algorithm(), hasher.finalize()), (algorithm, expected));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_forms_are_equal(
        message in prop::collection::vec(any::<u8>(), 0..3000),
        lens in prop::collection::vec(prop_oneof![0_usize..5, 60_usize..70, 120_usize..140, 0_usize..3000], 1..6),
    ) {
        prop_assume!(lens.iter().any(|len| *len > 0));
        check(&message, &lens);
    }

    #[test]
    fn a_failure_is_no_digest(len in 0_usize..200_000, piece in 1_usize..70_000) {
        let message = vec![7; len];
        for algorithm in Algorithm::ALL {
            let reader = Reader::new(&message, &[piece], Some(ErrorKind::PermissionDenied));
            prop_assert_eq!(algorithm.hash_reader(reader).unwrap_err().kind(), ErrorKind::PermissionDenied);
        }
    }
}

/// The lengths around blocks, and around the buffer of `hash_reader`.
#[test]
fn lengths_around_blocks_are_equal() {
    let bytes: Vec<u8> = (0..140_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for len in [55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 240, 241, 65_535, 65_536, 65_537, 131_072] {
        check(&bytes[..len], &[1 << 20]);
        check(&bytes[..len], &[64]);
        check(&bytes[..len], &[1000, 24, 0, 63]);
    }
}

#[test]
fn nothing_has_the_digest_of_the_empty_message() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("empty");
    fs::write(&path, b"").unwrap();
    for algorithm in Algorithm::ALL {
        let expected = algorithm.hash_one(b"");
        assert_eq!(Hasher::new(algorithm).finalize(), expected, "{algorithm}");
        assert_eq!(algorithm.hash_reader(io::empty()).unwrap(), expected, "{algorithm}");
        assert_eq!(algorithm.hash_file(&path).unwrap(), expected, "{algorithm}");
        let mut hasher = Hasher::new(algorithm);
        hasher.update(b"");
        assert_eq!(hasher.write(b"").unwrap(), 0);
        hasher.flush().unwrap();
        assert_eq!(hasher.finalize(), expected, "{algorithm}");
        assert_ne!(expected, Digest::default());
    }
    // FIPS 180-4 and RFC 1321.
    let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Hasher::new(Algorithm::Sha256).finalize().to_string(), sha256);
    assert_eq!(Hasher::new(Algorithm::Md5).finalize().to_string(), "d41d8cd98f00b204e9800998ecf8427e");
}

#[test]
fn files_are_read_to_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    for len in [1, 65_536, 65_537, 300_000] {
        let bytes: Vec<u8> = (0..len).map(|n| (n % 251) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.hash_file(&path).unwrap(), algorithm.hash_one(&bytes), "{algorithm} {len}");
        }
    }
    File::create(&path).unwrap().set_len(200_000).unwrap(); // a hole
    assert_eq!(Algorithm::Sha1.hash_file(&path).unwrap(), Algorithm::Sha1.hash_one(&[0; 200_000]));
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for algorithm in Algorithm::ALL {
        let missing = algorithm.hash_file(dir.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound, "{algorithm}");
        let directory = algorithm.hash_file(dir.path()).unwrap_err();
        assert_eq!(directory.kind(), ErrorKind::IsADirectory, "{algorithm}");
    }
}

#[test]
fn hashers_move_between_threads() {
    fn is_shared<T: Send + Sync + 'static>(_: &T) {}
    let mut hasher = Hasher::new(Algorithm::Blake3);
    is_shared(&hasher);
    hasher.update(b"a");
    assert_eq!(format!("{hasher:?}"), "Hasher { algorithm: Blake3, .. }");
    let there = std::thread::spawn(move || {
        hasher.update(b"bc");
        hasher.finalize()
    });
    assert_eq!(there.join().unwrap(), Algorithm::Blake3.hash_one(b"abc"));
}

#[cfg(feature = "digest")]
mod traits {
    use digest::{Digest, DynDigest};
    use ftk_hash::typed::{Blake2b, Blake3, Md5, Sha1, Sha3_256, Sha3_512, Sha224, Sha256, Sha384, Sha512};
    use ftk_hash::{Algorithm, Hasher};

    fn check<D: Digest + digest::FixedOutputReset + Clone>(algorithm: Algorithm) {
        let expected = |message: &[u8]| algorithm.hash_one(message).as_bytes().to_vec();
        assert_eq!(<D as Digest>::output_size(), algorithm.digest_len(), "{algorithm}");
        assert_eq!(D::digest(b"").to_vec(), expected(b""), "{algorithm}");
        let mut hasher = D::new_with_prefix(b"a");
        let other = hasher.clone();
        Digest::update(&mut hasher, [b'b'; 1000]);
        assert_eq!(hasher.finalize_reset().to_vec(), expected(&[b"a", &[b'b'; 1000][..]].concat()));
        assert_eq!(hasher.chain_update(b"c").finalize().to_vec(), expected(b"c"), "{algorithm}");
        let mut other = other.chain_update(b"d");
        assert_eq!(other.clone().finalize().to_vec(), expected(b"ad"), "{algorithm}");
        Digest::reset(&mut other);
        assert_eq!(other.finalize().to_vec(), expected(b""), "{algorithm}");
    }

    #[test]
    fn types_have_the_same_digests() {
        check::<Sha256>(Algorithm::Sha256);
        check::<Sha512>(Algorithm::Sha512);
        check::<Sha1>(Algorithm::Sha1);
        check::<Md5>(Algorithm::Md5);
        check::<Blake2b>(Algorithm::Blake2b);
        check::<Blake3>(Algorithm::Blake3);
        check::<Sha224>(Algorithm::Sha224);
        check::<Sha384>(Algorithm::Sha384);
        check::<Sha3_256>(Algorithm::Sha3_256);
        check::<Sha3_512>(Algorithm::Sha3_512);
    }

    #[test]
    fn every_algorithm_can_be_chosen_at_run_time() {
        for algorithm in Algorithm::ALL {
            let expected = |message: &[u8]| algorithm.hash_one(message).as_bytes().to_vec();
            let mut hasher: Box<dyn DynDigest> = Box::new(Hasher::new(algorithm));
            assert_eq!(hasher.output_size(), algorithm.digest_len());
            hasher.update(b"a");
            let other = hasher.clone();
            hasher.update(b"b");
            assert!(hasher.finalize_into_reset(&mut [0; 65]).is_err(), "{algorithm}");
            assert_eq!(hasher.finalize_reset().to_vec(), expected(b"ab"), "{algorithm}");
            assert_eq!(hasher.finalize_reset().to_vec(), expected(b""), "{algorithm}");
            assert_eq!(other.finalize().to_vec(), expected(b"a"), "{algorithm}");
            let mut hasher = Hasher::new(algorithm);
            hasher.update(b"lost");
            DynDigest::reset(&mut hasher);
            let mut out = vec![0; algorithm.digest_len()];
            DynDigest::finalize_into(hasher, &mut out).unwrap();
            assert_eq!(out, expected(b""), "{algorithm}");
        }
    }
}
