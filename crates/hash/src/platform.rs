//! What the CPU can do, and how much of it may be used.

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "x86_64")]
use crate::arch::{Avx2, Avx512, ShaNi};

/// What this CPU can do, found once at run time.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx2: Option<Avx2>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) sha_ni: Option<ShaNi>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx512: Option<Avx512>,
    /// Whether the crates' hashers, which look at the CPU themselves, would use more than is wanted.
    pub(crate) own_only: bool,
}

impl Platform {
    /// Looks at the CPU.
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

    /// What this CPU can do, but nothing beyond `most`. Digests do not change, only speed; this is for tests.
    ///
    /// XXH64, XXH3, and BLAKE3 messages that are long or come in pieces are left alone: their crates choose for
    /// themselves.
    ///
    /// # Errors
    /// If the CPU has not what `most` names.
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

/// Instruction sets, each an upper bound that has the ones before in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Simd {
    /// What every CPU of the architecture has.
    Portable,
    /// AVX2.
    Avx2,
    /// The SHA extensions of x86-64.
    ShaNi,
    /// AVX-512 F, BW and VL.
    Avx512,
}

impl Simd {
    /// All of them, least first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::ShaNi, Self::Avx512];

    /// The name: `sha-ni`.
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

    /// Reads a [name](Simd::name).
    fn from_str(name: &str) -> Result<Self, UnknownSimd> {
        Self::ALL.into_iter().find(|simd| simd.name() == name).ok_or_else(|| UnknownSimd(name.to_owned()))
    }
}

/// A name that no [`Simd`] has. The message lists those there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSimd(String);

impl fmt::Display for UnknownSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Simd::ALL.map(Simd::name).join(", ");
        write!(f, "unknown instruction set {:?}, expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownSimd {}

/// This CPU does not have what was asked for.
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
    fn names_are_read_back() {
        for simd in Simd::ALL {
            assert_eq!(simd.to_string().parse(), Ok(simd));
        }
        let message = "sse9".parse::<Simd>().unwrap_err().to_string();
        assert!(Simd::ALL.iter().all(|simd| message.contains(simd.name())), "{message}");
    }

    #[test]
    fn the_least_bound_is_always_there() {
        assert!(Platform::up_to(Simd::Portable).is_ok_and(|platform| platform.own_only));
    }
}
