//! The instruction sets of the CPU, and which of them may be used.

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "x86_64")]
use crate::arch::{Avx2, Avx512, ShaNi};

/// The instruction sets that may be used on this CPU, detected at run time.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx2: Option<Avx2>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) sha_ni: Option<ShaNi>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx512: Option<Avx512>,
    /// Whether to avoid the external crates' hashers, which detect the CPU themselves and could use more than
    /// is allowed.
    pub(crate) own_only: bool,
}

impl Platform {
    /// Detects the CPU.
    pub fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: Avx2::detect(),
            #[cfg(target_arch = "x86_64")]
            sha_ni: ShaNi::detect(),
            #[cfg(target_arch = "x86_64")]
            avx512: Avx512::detect(),
            own_only: false,
        }
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
        let mut platform = Self::detect();
        platform.own_only = most < Simd::ShaNi;
        platform.cut(most).ok_or(MissingSimd(most))
    }

    #[cfg(target_arch = "x86_64")]
    fn cut(self, most: Simd) -> Option<Self> {
        let Self { avx2, sha_ni, avx512, .. } = self;
        Some(match most {
            Simd::Portable => Self { avx2: None, sha_ni: None, avx512: None, ..self },
            Simd::Avx2 => Self { avx2: Some(avx2?), sha_ni: None, avx512: None, ..self },
            Simd::ShaNi => Self { sha_ni: Some(sha_ni?), avx512: None, ..self },
            Simd::Avx512 => Self { avx512: Some(avx512?), ..self },
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn cut(self, most: Simd) -> Option<Self> {
        (most == Simd::Portable).then_some(self)
    }
}

/// Instruction sets, smallest first. As the limit of [`Platform::up_to`], each allows those before it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Simd {
    /// The instructions that every CPU of the architecture has.
    Portable,
    /// AVX2, with BMI1 and BMI2.
    Avx2,
    /// The SHA extensions of x86-64.
    ShaNi,
    /// AVX-512 F, BW and VL, with AVX2, BMI1 and BMI2.
    Avx512,
}

impl Simd {
    /// All instruction sets, smallest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::ShaNi, Self::Avx512];

    /// Returns the name, such as `sha-ni`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
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
