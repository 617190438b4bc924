//! Detects CPU features with at most three `CPUID` instructions.
//!
//! The standard library's `is_x86_feature_detected` executes ten. In a virtual machine each of them exits to
//! the host, which took 8 µs where we measured it: all ten take longer than hashing a small file.

use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::LazyLock;

/// The features of this CPU, detected on first use.
pub(crate) static CPU: LazyLock<Cpu> = LazyLock::new(Cpu::ask);

/// Instruction sets that the CPU has and whose registers the operating system saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cpu {
    /// Whether AMD made the CPU. Its instructions have other relative speeds.
    pub(crate) amd: bool,
    /// Whether the CPU executes an operation on 256 bits as two on 128: AMD's Zen and Zen+ (its software
    /// optimization guides 55723 and 56305).
    pub(crate) splits_avx: bool,
    pub(crate) pclmulqdq: bool,
    pub(crate) ssse3: bool,
    pub(crate) sse41: bool,
    pub(crate) sse42: bool,
    pub(crate) sha: bool,
    pub(crate) bmi1: bool,
    pub(crate) avx2: bool,
    pub(crate) bmi2: bool,
    pub(crate) vpclmulqdq: bool,
    pub(crate) avx512f: bool,
    pub(crate) avx512bw: bool,
    pub(crate) avx512vl: bool,
}

/// The text `AuthenticAMD` in the registers EBX, EDX and ECX (AMD64 manual, volume 3, function 0).
const AMD: (u32, u32, u32) =
    (u32::from_le_bytes(*b"Auth"), u32::from_le_bytes(*b"enti"), u32::from_le_bytes(*b"cAMD"));

impl Cpu {
    /// Detects the CPU. The bits of `CPUID` and `XGETBV` are those of Intel's manual, volumes 2A and 2D.
    #[allow(unused_unsafe, reason = "newer compilers know that every x86-64 CPU has CPUID, and make it safe")]
    fn ask() -> Self {
        let bit = |word: u32, nth: u32| word >> nth & 1 == 1;
        // SAFETY: every x86-64 CPU has `CPUID`, with the leaves 0 and 1.
        let (vendor, identity) = unsafe { (__cpuid(0), __cpuid(1)) };
        let first = identity.ecx;
        let amd = (vendor.ebx, vendor.edx, vendor.ecx) == AMD;
        // From the extended fields, as in every Zen; the model without its low digit.
        let (family, model) = (0xf + (identity.eax >> 20 & 0xff), identity.eax >> 12 & 0xf0);
        let old = Self {
            amd,
            splits_avx: amd && family == 0x17 && model < 0x30,
            pclmulqdq: bit(first, 1),
            ssse3: bit(first, 9),
            sse41: bit(first, 19),
            sse42: bit(first, 20),
            ..Self::default()
        };
        if vendor.eax < 7 {
            return old;
        }
        // SAFETY: leaf 0 returned 7 or more as the highest leaf, so leaf 7 exists.
        let (seventh, more) = unsafe {
            let leaf = __cpuid_count(7, 0);
            (leaf.ebx, leaf.ecx)
        };
        // The register state that the system saves on a context switch: 16, 32 and 64 bytes of each register,
        // and the masks.
        let saved = if bit(first, 27) {
            // SAFETY: bit 27 (OSXSAVE) says that the system has enabled `XGETBV`.
            unsafe { _xgetbv(0) }
        } else {
            0
        };
        let (ymm, zmm) = (bit(first, 28) && saved & 0x06 == 0x06, saved & 0xe6 == 0xe6);
        Self {
            sha: bit(seventh, 29),
            bmi1: bit(seventh, 3),
            avx2: ymm && bit(seventh, 5),
            bmi2: bit(seventh, 8),
            vpclmulqdq: ymm && bit(more, 10),
            avx512f: ymm && zmm && bit(seventh, 16),
            avx512bw: ymm && zmm && bit(seventh, 30),
            avx512vl: ymm && zmm && bit(seventh, 31),
            ..old
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_matches_the_standard_library() {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let number = |name: &str| {
            let mut fields = info.lines().filter_map(|line| line.split_once(':'));
            fields.find_map(|(key, value)| (key.trim() == name).then(|| value.trim().parse::<u32>().unwrap()))
        };
        let amd = info.contains("AuthenticAMD");
        let expected = Cpu {
            amd,
            splits_avx: amd && number("cpu family") == Some(0x17) && number("model") < Some(0x30),
            pclmulqdq: is_x86_feature_detected!("pclmulqdq"),
            ssse3: is_x86_feature_detected!("ssse3"),
            sse41: is_x86_feature_detected!("sse4.1"),
            sse42: is_x86_feature_detected!("sse4.2"),
            sha: is_x86_feature_detected!("sha"),
            bmi1: is_x86_feature_detected!("bmi1"),
            avx2: is_x86_feature_detected!("avx2"),
            bmi2: is_x86_feature_detected!("bmi2"),
            vpclmulqdq: is_x86_feature_detected!("vpclmulqdq"),
            avx512f: is_x86_feature_detected!("avx512f"),
            avx512bw: is_x86_feature_detected!("avx512bw"),
            avx512vl: is_x86_feature_detected!("avx512vl"),
        };
        assert_eq!(*CPU, expected);
    }
}
