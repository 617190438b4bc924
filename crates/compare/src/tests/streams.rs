//! Inputs that can only be read from front to back.

use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;

use ftk_read::Failure;
use ftk_sched::Stop;
use proptest::prelude::*;

use super::oracle::{Answer, Files, answer, naive};
use crate::testing::random;
use crate::{FileResources, Options, Side, Source, Way, compare};

/// Returns its bytes in pieces of the given lengths, with an interruption before each.
struct Dribs<'d> {
    bytes: &'d [u8],
    lens: std::iter::Cycle<std::slice::Iter<'d, usize>>,
    is_interrupted: bool,
}

impl<'d> Dribs<'d> {
    fn new(bytes: &'d [u8], lens: &'d [usize]) -> Self {
        Self { bytes, lens: lens.iter().cycle(), is_interrupted: false }
    }
}

impl Read for Dribs<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        let len = buf.len().min(self.bytes.len()).min(*self.lens.next().unwrap());
        buf[..len].copy_from_slice(&self.bytes[..len]);
        self.bytes = &self.bytes[len..];
        Ok(len)
    }
}

fn run(a: Source<'_>, b: Source<'_>, options: &Options) -> Result<Answer, (Side, Failure)> {
    let resources =
        FileResources { workers: 4, memory: 1 << 20, stop: &Stop::new(), done: &AtomicU64::new(0) };
    let mut found = Vec::new();
    let outcome = compare(a, b, options, &resources, &mut |mismatch| {
        found.push(mismatch);
        ControlFlow::Continue(())
    })?;
    assert_eq!(outcome.plan.way, Way::Sequential);
    Ok(answer(found, outcome))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streams_with_short_reads_are_compared_like_files(
        (a_len, b_len) in prop_oneof![(0..9000_usize).prop_map(|len| (len, len)), (0..9000_usize, 0..9000_usize)],
        changes in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        lens in prop::collection::vec(1..4000_usize, 1..8),
        max_mismatches in 0..4_u64,
        skips in (0..20_u64, 0..20_u64),
        is_shifted in any::<bool>(),
        limit in prop::option::weighted(0.3, 0..9000_u64),
    ) {
        let (skip_a, skip_b) = if is_shifted { skips } else { (skips.0, skips.0) };
        let options = Options { max_mismatches, skip_a, skip_b, limit, block: 1000, lines: true, ..Options::default() };
        let bytes = random(9000);
        let (a, mut b) = (&bytes[..a_len], bytes[..b_len].to_vec());
        for at in changes {
            if b_len > 0 {
                b[at.index(b_len)] ^= 0x55;
            }
        }
        let expected = naive(a, &b, &options);
        let files = Files::new(a, &b);
        let dribs = || (Dribs::new(a, &lens), Dribs::new(&b, &lens[..1]));
        let (mut stream_a, mut stream_b) = dribs();
        let answer = run(Source::Stream(&mut stream_a), Source::Stream(&mut stream_b), &options).unwrap();
        prop_assert_eq!(&answer, &expected);
        let (mut stream_a, mut stream_b) = dribs();
        let answer = run(Source::File(&files.a), Source::Stream(&mut stream_b), &options).unwrap();
        prop_assert_eq!(&answer, &expected);
        let answer = run(Source::Stream(&mut stream_a), Source::File(&files.b), &options).unwrap();
        prop_assert_eq!(&answer, &expected);
    }
}

#[test]
fn a_failing_stream_is_an_error_with_its_side() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(5))
        }
    }
    for skip_b in [0, 7] {
        let options = Options { skip_b, ..Options::default() };
        let error =
            run(Source::Stream(&mut &b"bytes"[..]), Source::Stream(&mut Fails), &options).unwrap_err();
        assert!(matches!(error, (Side::B, Failure::Io { op: "read", .. })), "{error:?}");
    }
}
