//! The hashers of XXH3.
//!
//! On x86-64, `twox-hash` is the fastest: it finds out at run time which vectors the CPU has. Elsewhere it has none but on
//! aarch64, and counts the bytes of a message in a `usize`: where that has 32 bits, digests of messages over 4 GiB would be
//! wrong. `xxhash-rust` always counts in 64 bits, and uses the vectors that every CPU of a target has, as NEON on aarch64.

#[cfg(target_arch = "x86_64")]
pub(crate) use twox_hash::{XxHash3_64 as Xxh3, XxHash3_128 as Xxh128};
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use wide_counter::{Xxh3, Xxh128};

#[cfg(any(test, not(target_arch = "x86_64")))]
mod wide_counter {
    use xxhash_rust::xxh3;

    use crate::Digest;
    use crate::stream::Stream;

    /// XXH3 with 64 bits.
    #[derive(Clone)]
    pub(crate) struct Xxh3(xxh3::Xxh3);

    impl Stream for Xxh3 {
        fn new() -> Self {
            Self(xxh3::Xxh3::new())
        }
        fn update(&mut self, data: &[u8]) {
            self.0.update(data);
        }
        fn finish(self) -> Digest {
            Digest::from_words([self.0.digest().to_be_bytes()])
        }
        #[inline(always)]
        fn whole(data: &[u8], out: &mut Digest) {
            out.set([xxh3::xxh3_64(data).to_be_bytes()]);
        }
    }

    /// XXH3 with 128 bits.
    #[derive(Clone)]
    pub(crate) struct Xxh128(xxh3::Xxh3);

    impl Stream for Xxh128 {
        fn new() -> Self {
            Self(xxh3::Xxh3::new())
        }
        fn update(&mut self, data: &[u8]) {
            self.0.update(data);
        }
        fn finish(self) -> Digest {
            Digest::from_words([self.0.digest128().to_be_bytes()])
        }
        #[inline(always)]
        fn whole(data: &[u8], out: &mut Digest) {
            out.set([xxh3::xxh3_128(data).to_be_bytes()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wide_counter;
    use crate::Digest;
    use crate::stream::Stream;

    /// Returns the digest of a message in one piece, and in pieces of this length.
    fn digests<H: Stream>(message: &[u8], piece: usize) -> [Digest; 2] {
        let mut whole = Digest::from_bytes(&[]);
        H::whole(message, &mut whole);
        let mut state = H::new();
        message.chunks(piece).for_each(|piece| state.update(piece));
        [whole, state.finish()]
    }

    #[test]
    fn both_crates_compute_the_same_digests() {
        let bytes: Vec<u8> = (0..5000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for len in (0..1300).chain([2047, 2048, 2049, 4096, 5000]) {
            for piece in [1, 64, 255, 256, 257, 1024, 5000] {
                let message = &bytes[..len];
                let expected = digests::<twox_hash::XxHash3_64>(message, piece);
                assert_eq!(digests::<wide_counter::Xxh3>(message, piece), expected, "{len} {piece}");
                let expected = digests::<twox_hash::XxHash3_128>(message, piece);
                assert_eq!(digests::<wide_counter::Xxh128>(message, piece), expected, "{len} {piece}");
            }
        }
    }

    /// The expected digests are those of xxhsum. `tests/counters.rs` tests the hashers that are used.
    #[test]
    fn messages_over_4_gib_have_the_right_digests() {
        let zeros = vec![0; 1 << 20];
        let (mut short, mut long) = (wide_counter::Xxh3::new(), wide_counter::Xxh128::new());
        for _ in 0..1 << 12 {
            short.update(&zeros);
            long.update(&zeros);
        }
        short.update(&zeros[..11]);
        long.update(&zeros[..11]);
        assert_eq!(short.finish().to_string(), "db0d716626874bd4");
        assert_eq!(long.finish().to_string(), "26b5d69759fa49a6db0d716626874bd4");
    }
}
