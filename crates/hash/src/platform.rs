//! The instruction sets of the CPU, and which of them may be used.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::Algorithm;
#[cfg(target_arch = "aarch64")]
use crate::arch::Neon;
#[cfg(target_arch = "x86_64")]
use crate::arch::{Avx2, Avx512, ShaNi};

/// The instruction sets that may be used on this CPU, detected at run time, and how each algorithm uses them.
///
/// It changes the speed, but no digest. Functions without this argument use [`Platform::detect`].
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    #[cfg(target_arch = "aarch64")]
    pub(crate) neon: Option<Neon>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx2: Option<Avx2>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) sha_ni: Option<ShaNi>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx512: Option<Avx512>,
    /// Whether to avoid the external crates' hashers, which detect the CPU themselves and could use more than
    /// is allowed.
    pub(crate) own_only: bool,
    /// By the number of the algorithm.
    tunings: [Tuning; Algorithm::ALL.len()],
}

/// Which kernel an algorithm uses, and for how many messages. This changes the speed, but no digest.
///
/// The fastest kernel is not always that with the widest vectors: on some CPUs these lower the clock, and others have
/// faster instructions for a single digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The kernel uses no instruction set beyond this one.
    pub simd: Simd,
    /// Up to this many messages are hashed one or two at a time, and more of them side by side in the lanes of vectors.
    /// 0: even a single message is hashed in a lane. `None`: the built-in number for this kind of CPU.
    pub few: Option<u8>,
}

impl Default for Tuning {
    /// The widest kernel and the built-in number.
    fn default() -> Self {
        Self { simd: Simd::Avx512, few: None }
    }
}

impl Platform {
    /// Detects the CPU, the first time it is called.
    pub fn detect() -> Self {
        static DETECTED: LazyLock<Platform> = LazyLock::new(|| Platform {
            #[cfg(target_arch = "aarch64")]
            neon: Neon::detect(),
            #[cfg(target_arch = "x86_64")]
            avx2: Avx2::detect(),
            #[cfg(target_arch = "x86_64")]
            sha_ni: ShaNi::detect(),
            #[cfg(target_arch = "x86_64")]
            avx512: Avx512::detect(),
            own_only: false,
            tunings: [Tuning::default(); Algorithm::ALL.len()],
        });
        *DETECTED
    }

    /// Returns this platform with another tuning of one algorithm. `simd` may be an instruction set that this CPU lacks:
    /// it is only a limit.
    #[must_use]
    pub fn tuned(mut self, algorithm: Algorithm, tuning: Tuning) -> Self {
        self.tunings[algorithm as usize] = tuning;
        self
    }

    /// Returns the tuning of an algorithm.
    pub(crate) fn tuning(&self, algorithm: Algorithm) -> Tuning {
        self.tunings[algorithm as usize]
    }

    /// Detects the CPU but allows no instruction set beyond `most`. This is for tests: it changes the speed,
    /// but no digest.
    ///
    /// It does not affect SHA-3, XXH64, XXH3, the CRCs, and BLAKE3 messages that are long or arrive in pieces: their crates
    /// detect the CPU themselves.
    ///
    /// # Errors
    /// If the CPU does not have `most`.
    pub fn up_to(most: Simd) -> Result<Self, MissingSimd> {
        let detected = Self::detect();
        if !detected.has(most) {
            return Err(MissingSimd(most));
        }
        Ok(Self { own_only: most < Simd::ShaNi, ..detected.limited(most) })
    }

    fn has(&self, simd: Simd) -> bool {
        match simd {
            Simd::Portable => true,
            #[cfg(target_arch = "aarch64")]
            Simd::Neon => self.neon.is_some(),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => self.avx2.is_some(),
            #[cfg(target_arch = "x86_64")]
            Simd::ShaNi => self.sha_ni.is_some(),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => self.avx512.is_some(),
            #[allow(unreachable_patterns, reason = "those of other CPUs")]
            _ => false,
        }
    }

    /// Returns this platform without the instruction sets beyond `most`.
    pub(crate) fn limited(
        self,
        #[cfg_attr(not(any(target_arch = "aarch64", target_arch = "x86_64")), expect(unused))] most: Simd,
    ) -> Self {
        Self {
            #[cfg(target_arch = "aarch64")]
            neon: self.neon.filter(|_| most >= Simd::Neon),
            #[cfg(target_arch = "x86_64")]
            avx2: self.avx2.filter(|_| most >= Simd::Avx2),
            #[cfg(target_arch = "x86_64")]
            sha_ni: self.sha_ni.filter(|_| most >= Simd::ShaNi),
            #[cfg(target_arch = "x86_64")]
            avx512: self.avx512.filter(|_| most >= Simd::Avx512),
            ..self
        }
    }
}

/// Instruction sets of all architectures, smallest first. As the limit of [`Platform::up_to`], each allows those before it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Simd {
    /// No vectors.
    Portable,
    /// The vectors of aarch64.
    Neon,
    /// AVX2, with BMI1 and BMI2.
    Avx2,
    /// The SHA extensions of x86-64.
    ShaNi,
    /// AVX-512 F, BW and VL, with AVX2, BMI1 and BMI2.
    Avx512,
}

impl Simd {
    /// All instruction sets, smallest first.
    pub const ALL: [Self; 5] = [Self::Portable, Self::Neon, Self::Avx2, Self::ShaNi, Self::Avx512];

    /// Returns the name, such as `sha-ni`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::ShaNi => "sha-ni",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Simd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Simd {
    type Err = UnknownSimd;

    /// Parses a [name](Simd::name).
    fn from_str(name: &str) -> Result<Self, UnknownSimd> {
        Self::ALL.into_iter().find(|simd| simd.name() == name).ok_or_else(|| UnknownSimd(name.to_owned()))
    }
}

/// The error for an unknown instruction set name. Its message lists all names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSimd(String);

impl fmt::Display for UnknownSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Simd::ALL.map(Simd::name).join(", ");
        write!(f, "unknown instruction set {:?}, expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownSimd {}

/// The error for an instruction set that this CPU does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingSimd(Simd);

impl fmt::Display for MissingSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this CPU does not have {}", self.0)
    }
}

impl std::error::Error for MissingSimd {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_set_names_can_be_parsed() {
        for simd in Simd::ALL {
            assert_eq!(simd.to_string().parse(), Ok(simd));
        }
        let message = "sse9".parse::<Simd>().unwrap_err().to_string();
        assert!(Simd::ALL.iter().all(|simd| message.contains(simd.name())), "{message}");
    }

    #[test]
    fn portable_is_always_available() {
        assert!(Platform::up_to(Simd::Portable).is_ok_and(|platform| platform.own_only));
    }
}
