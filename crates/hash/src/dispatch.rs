//! Chooses the kernel for each algorithm and CPU. No other module does.

use std::marker::PhantomData;

#[cfg(target_arch = "aarch64")]
use crate::arch::Neon;
#[cfg(target_arch = "x86_64")]
use crate::arch::{Avx2, Avx512, CPU, ShaNi};
use crate::arch::{Kernel, Narrow, NodeKernel, Portable};
use crate::function::{Blake2b, Function, Md5, Sha1, Sha256, Sha512};
use crate::lanes::Lanes;
use crate::message::{Blocks, Message};
use crate::serial::{Serial, hash_each};
use crate::stream::{Crc32, Crc32c, Crc64Nvme, RustCrypto, Stream};
use crate::tree_engine::TreeEngine;
use crate::xxh3::{Xxh3, Xxh128};
use crate::{Algorithm, Digest, Engine, Platform};

/// An implementation of a digest for this CPU.
#[derive(Clone, Copy)]
pub(crate) enum Choice {
    /// The hasher of the algorithm's external crate, which detects the CPU itself. One message at a time.
    Crate,
    /// Our portable code, one message at a time.
    Portable,
    /// Our code with 128-bit vectors.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// Our code with 256-bit vectors. The SHA extensions, if present, are used while few lanes are busy.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2, Option<ShaNi>),
    /// Our code with the SHA extensions, two messages interleaved.
    #[cfg(target_arch = "x86_64")]
    ShaNi(ShaNi),
    /// Our code with 512-bit vectors. The SHA extensions, if present, are used while few lanes are busy.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512, Option<ShaNi>),
}

impl Choice {
    /// Returns the implementation for this platform: the one with the widest vectors that its tuning allows.
    pub(crate) fn of(algorithm: Algorithm, platform: Platform) -> Self {
        let platform = platform.limited(platform.tuning(algorithm).simd);
        let ours = match algorithm {
            Algorithm::Sha256 | Algorithm::Sha1 | Algorithm::Sha512 | Algorithm::Md5 => true,
            Algorithm::Sha224 | Algorithm::Sha384 | Algorithm::Blake2b | Algorithm::Blake3 => true,
            Algorithm::Sha3_256 | Algorithm::Sha3_512 => false,
            Algorithm::Xxh64 | Algorithm::Xxh3 | Algorithm::Xxh128 => false,
            Algorithm::Crc32 | Algorithm::Crc32c | Algorithm::Crc64Nvme => false,
        };
        if !ours {
            return Self::Crate;
        }
        #[cfg(target_arch = "aarch64")]
        if let (Some(neon), Algorithm::Md5) = (platform.neon, algorithm) {
            return Self::Neon(neon);
        }
        #[cfg(target_arch = "x86_64")]
        match (platform.avx512, platform.sha_ni, platform.avx2) {
            (Some(avx512), sha_ni, _) => return Self::Avx512(avx512, sha_ni),
            (None, Some(sha_ni), _) if matches!(algorithm, Algorithm::Sha256 | Algorithm::Sha224) => {
                return Self::ShaNi(sha_ni);
            }
            // With the SHA extensions, 8 messages of SHA-1 in vectors are twice as fast as one after the other (EPYC of
            // 2021), unless the vectors are split: then they are slower by an eighth (EPYC of 2017).
            (None, Some(_), _) if algorithm == Algorithm::Sha1 && CPU.splits_avx => return Self::Crate,
            (None, sha_ni, Some(avx2)) => return Self::Avx2(avx2, sha_ni),
            (None, _, None) => {}
        }
        if platform.own_only { Self::Portable } else { Self::Crate }
    }

    /// Returns the most busy lanes for which the narrow kernel is faster than the vectors, if nothing was measured on this
    /// machine. These are the ratios of the speeds on a Xeon of 2023 and, for SHA-1 with AVX2, on an EPYC of 2021, and the
    /// results of `ftk calibrate` on an EPYC of 2022.
    fn few(self, #[cfg_attr(not(target_arch = "x86_64"), expect(unused))] algorithm: Algorithm) -> u32 {
        #[cfg(target_arch = "x86_64")]
        match (self, algorithm, CPU.amd) {
            (Self::Avx512(_, Some(_)), Algorithm::Sha256 | Algorithm::Sha224, false) => return 8,
            (Self::Avx512(_, Some(_)), Algorithm::Sha256 | Algorithm::Sha224, true) => return 14,
            (Self::Avx512(_, Some(_)) | Self::Avx2(_, Some(_)), Algorithm::Sha1, _) => return 4,
            (Self::Avx512(..), Algorithm::Md5, false) => return 0,
            (Self::Avx512(..), Algorithm::Blake2b, true) => return 2,
            _ => {}
        }
        // From the latencies in the manual of the Cortex-A72: a step takes 5 cycles for one message, and 15 in vectors.
        #[cfg(target_arch = "aarch64")]
        if let Self::Neon(_) = self {
            return 3;
        }
        1
    }

    /// Returns the name for messages to the user.
    pub(crate) fn name(self, algorithm: Algorithm) -> &'static str {
        match self {
            Self::Crate => name_of_crate(algorithm),
            Self::Portable => "portable",
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => "neon",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(..) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::ShaNi(_) => "sha-ni",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(..) => "avx512",
        }
    }
}

/// Computes the digest of each message. The digests that take nanoseconds do without an engine, whose creation
/// takes longer than hashing a short message.
pub(crate) fn hash_many(algorithm: Algorithm, platform: Platform, messages: &[&[u8]], out: &mut [Digest]) {
    match algorithm {
        Algorithm::Xxh64 => hash_each::<twox_hash::XxHash64>(messages, out),
        Algorithm::Xxh3 => hash_each::<Xxh3>(messages, out),
        Algorithm::Xxh128 => hash_each::<Xxh128>(messages, out),
        Algorithm::Crc32 => hash_each::<Crc32>(messages, out),
        Algorithm::Crc32c => hash_each::<Crc32c>(messages, out),
        Algorithm::Crc64Nvme => hash_each::<Crc64Nvme>(messages, out),
        _ => engine::<&[u8]>(algorithm, platform, 0).hash_many(messages, out),
    }
}

/// Creates the engine for an algorithm.
pub(crate) fn engine<'d, D: AsRef<[u8]> + 'd>(
    algorithm: Algorithm,
    platform: Platform,
    keys: usize,
) -> Box<dyn Engine<D> + 'd> {
    make(algorithm, platform, Engines { keys, pieces: PhantomData::<fn(D) -> &'d ()> })
}

/// Creates the state of one message.
pub(crate) fn message(algorithm: Algorithm, platform: Platform) -> Box<dyn Message> {
    make(algorithm, platform, Messages)
}

/// Makes something of the kernels that are chosen for an algorithm.
trait Make {
    type Made;

    /// Makes it of kernels that hash `L` messages side by side: `narrow` for up to `few` messages, `kernel` for more.
    fn lanes<F, K, N, const L: usize, const W: usize>(self, kernel: K, narrow: N, few: u32) -> Self::Made
    where
        F: Function<W>,
        K: Kernel<F, L, W>,
        N: Narrow<F, W>;

    /// Makes it of a kernel for nodes of BLAKE3.
    fn nodes<K: NodeKernel<L>, const L: usize>(self, kernel: K) -> Self::Made;

    /// Makes it of a hasher for single messages.
    fn stream<H: Stream>(self) -> Self::Made;
}

struct Engines<'d, D> {
    keys: usize,
    pieces: PhantomData<fn(D) -> &'d ()>,
}

impl<'d, D: AsRef<[u8]> + 'd> Make for Engines<'d, D> {
    type Made = Box<dyn Engine<D> + 'd>;

    fn lanes<F, K, N, const L: usize, const W: usize>(self, kernel: K, narrow: N, few: u32) -> Self::Made
    where
        F: Function<W>,
        K: Kernel<F, L, W>,
        N: Narrow<F, W>,
    {
        Box::new(Lanes::<F, K, N, D, L, W>::new(kernel, narrow, few, self.keys))
    }

    fn nodes<K: NodeKernel<L>, const L: usize>(self, kernel: K) -> Self::Made {
        Box::new(TreeEngine::<K, D, L>::new(kernel, self.keys))
    }

    fn stream<H: Stream>(self) -> Self::Made {
        Box::new(Serial::<H, D>::new(self.keys))
    }
}

struct Messages;

impl Make for Messages {
    type Made = Box<dyn Message>;

    fn lanes<F, K, N, const L: usize, const W: usize>(self, _: K, narrow: N, _: u32) -> Self::Made
    where
        F: Function<W>,
        K: Kernel<F, L, W>,
        N: Narrow<F, W>,
    {
        Box::new(Blocks::<F, N, W>::new(narrow))
    }

    fn nodes<K: NodeKernel<L>, const L: usize>(self, _: K) -> Self::Made {
        self.stream::<blake3::Hasher>()
    }

    fn stream<H: Stream>(self) -> Self::Made {
        Box::new(H::new())
    }
}

/// Chooses the kernels for an algorithm.
fn make<M: Make>(algorithm: Algorithm, platform: Platform, make: M) -> M::Made {
    use Algorithm as A;
    let choice = Choice::of(algorithm, platform);
    let few = platform.tuning(algorithm).few.map_or_else(|| choice.few(algorithm), u32::from);
    match (choice, algorithm) {
        (_, A::Sha256) => sha256::<32, sha2::Sha256, M>(choice, few, make),
        (_, A::Sha224) => sha256::<28, sha2::Sha224, M>(choice, few, make),
        (_, A::Sha512) => sha512::<64, sha2::Sha512, M>(choice, few, make),
        (_, A::Sha384) => sha512::<48, sha2::Sha384, M>(choice, few, make),

        #[cfg(target_arch = "x86_64")]
        (Choice::Avx512(wide, Some(sha_ni)), A::Sha1) => make.lanes::<Sha1, _, _, 16, 5>(wide, sha_ni, few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx512(wide, None), A::Sha1) => make.lanes::<Sha1, _, _, 16, 5>(wide, wide.avx2(), few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx512(wide, _), A::Md5) => make.lanes::<Md5, _, _, 16, 4>(wide, wide.avx2(), few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx512(wide, _), A::Blake2b) => make.lanes::<Blake2b, _, _, 8, 8>(wide, Portable, few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx512(wide, _), A::Blake3) => make.nodes::<_, 16>(wide),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx2(wide, Some(sha_ni)), A::Sha1) => make.lanes::<Sha1, _, _, 8, 5>(wide, sha_ni, few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx2(wide, None), A::Sha1) => make.lanes::<Sha1, _, _, 8, 5>(wide, wide, few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx2(wide, _), A::Md5) => make.lanes::<Md5, _, _, 16, 4>(wide, wide, few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx2(wide, _), A::Blake2b) => make.lanes::<Blake2b, _, _, 4, 8>(wide, Portable, few),
        #[cfg(target_arch = "x86_64")]
        (Choice::Avx2(wide, _), A::Blake3) => make.nodes::<_, 8>(wide),

        #[cfg(target_arch = "aarch64")]
        (Choice::Neon(wide), A::Md5) => make.lanes::<Md5, _, _, 16, 4>(wide, Portable, few),

        (Choice::Portable, A::Sha1) => make.lanes::<Sha1, _, _, 1, 5>(Portable, Portable, few),
        (Choice::Portable, A::Md5) => make.lanes::<Md5, _, _, 1, 4>(Portable, Portable, few),
        (Choice::Portable, A::Blake2b) => make.lanes::<Blake2b, _, _, 1, 8>(Portable, Portable, few),
        (Choice::Portable, A::Blake3) => make.nodes::<_, 4>(Portable),

        (_, A::Sha1) => make.stream::<RustCrypto<sha1::Sha1>>(),
        (_, A::Md5) => make.stream::<RustCrypto<md5::Md5>>(),
        (_, A::Blake2b) => make.stream::<RustCrypto<blake2::Blake2b512>>(),
        (_, A::Blake3) => make.stream::<blake3::Hasher>(),
        (_, A::Sha3_256) => make.stream::<sha3::Sha3_256>(),
        (_, A::Sha3_512) => make.stream::<sha3::Sha3_512>(),
        (_, A::Xxh64) => make.stream::<twox_hash::XxHash64>(),
        (_, A::Xxh3) => make.stream::<Xxh3>(),
        (_, A::Xxh128) => make.stream::<Xxh128>(),
        (_, A::Crc32) => make.stream::<Crc32>(),
        (_, A::Crc32c) => make.stream::<Crc32c>(),
        (_, A::Crc64Nvme) => make.stream::<Crc64Nvme>(),
    }
}

/// Makes SHA-256 or SHA-224. `C` is the hasher of the external crate.
fn sha256<const LEN: usize, C, M: Make>(choice: Choice, few: u32, make: M) -> M::Made
where
    RustCrypto<C>: Stream,
{
    match choice {
        #[cfg(target_arch = "x86_64")]
        Choice::Avx512(wide, Some(sha_ni)) => make.lanes::<Sha256<LEN>, _, _, 16, 8>(wide, sha_ni, few),
        #[cfg(target_arch = "x86_64")]
        Choice::Avx512(wide, None) => make.lanes::<Sha256<LEN>, _, _, 16, 8>(wide, wide.avx2(), few),
        #[cfg(target_arch = "x86_64")]
        Choice::ShaNi(wide) => make.lanes::<Sha256<LEN>, _, _, 2, 8>(wide, wide, few),
        #[cfg(target_arch = "x86_64")]
        Choice::Avx2(wide, _) => make.lanes::<Sha256<LEN>, _, _, 8, 8>(wide, wide, few),
        Choice::Portable => make.lanes::<Sha256<LEN>, _, _, 1, 8>(Portable, Portable, few),
        _ => make.stream::<RustCrypto<C>>(),
    }
}

/// Makes SHA-512 or SHA-384. `C` is the hasher of the external crate.
fn sha512<const LEN: usize, C, M: Make>(choice: Choice, few: u32, make: M) -> M::Made
where
    RustCrypto<C>: Stream,
{
    match choice {
        #[cfg(target_arch = "x86_64")]
        Choice::Avx512(wide, _) => make.lanes::<Sha512<LEN>, _, _, 8, 8>(wide, wide.avx2(), few),
        #[cfg(target_arch = "x86_64")]
        Choice::Avx2(wide, _) => make.lanes::<Sha512<LEN>, _, _, 4, 8>(wide, wide, few),
        Choice::Portable => make.lanes::<Sha512<LEN>, _, _, 1, 8>(Portable, Portable, few),
        _ => make.stream::<RustCrypto<C>>(),
    }
}

/// Returns the instruction set that the external crate's hasher uses. Repeats the crate's own checks.
#[cfg(target_arch = "x86_64")]
fn name_of_crate(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sha256 | Algorithm::Sha224 | Algorithm::Sha1 if ShaNi::detect().is_some() => "sha-ni",
        Algorithm::Crc32 if CPU.pclmulqdq && CPU.ssse3 && CPU.sse41 => match () {
            () if CPU.avx512f && CPU.vpclmulqdq => "avx512",
            () if CPU.avx2 && CPU.vpclmulqdq => "avx2",
            () => "pclmulqdq",
        },
        Algorithm::Crc32c if CPU.sse42 => "sse4.2",
        Algorithm::Crc64Nvme if CPU.pclmulqdq => "pclmulqdq",
        Algorithm::Blake3 if CPU.avx512f && CPU.avx512vl => "avx512",
        Algorithm::Sha512 | Algorithm::Sha384 if CPU.avx2 => "avx2",
        Algorithm::Blake3 | Algorithm::Xxh3 | Algorithm::Xxh128 if CPU.avx2 => "avx2",
        Algorithm::Blake3 if CPU.sse41 => "sse4.1",
        Algorithm::Blake3 | Algorithm::Xxh3 | Algorithm::Xxh128 => "sse2",
        _ => "portable",
    }
}

/// Returns the instruction set that the external crate's hasher uses. Repeats the crate's own checks.
#[cfg(target_arch = "aarch64")]
fn name_of_crate(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sha256 | Algorithm::Sha224 | Algorithm::Sha1
            if std::arch::is_aarch64_feature_detected!("sha2") =>
        {
            "sha2"
        }
        Algorithm::Crc32 | Algorithm::Crc32c if std::arch::is_aarch64_feature_detected!("crc") => "crc",
        Algorithm::Sha512 | Algorithm::Sha384 | Algorithm::Sha3_256 | Algorithm::Sha3_512
            if std::arch::is_aarch64_feature_detected!("sha3") =>
        {
            "sha3"
        }
        Algorithm::Blake3 | Algorithm::Xxh3 | Algorithm::Xxh128 => "neon",
        _ => "portable",
    }
}

/// Returns the instruction set that the external crate's hasher uses.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn name_of_crate(_: Algorithm) -> &'static str {
    "portable"
}
