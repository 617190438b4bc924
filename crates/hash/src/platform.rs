//! What the CPU can do.

/// What this CPU can do, found once at run time.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// Instructions for SHA-1 and SHA-256.
    pub(crate) sha: bool,
    /// Instructions for SHA-512, aarch64 only.
    pub(crate) sha512: bool,
    /// Vectors of 256 bits.
    pub(crate) avx2: bool,
    /// Vectors of 512 bits, with their 128- and 256-bit forms.
    pub(crate) avx512: bool,
    /// Vectors of 128 bits beyond the baseline of x86-64.
    pub(crate) sse41: bool,
}

impl Platform {
    /// Looks at the CPU.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Self {
        Self {
            sha: is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1"),
            sha512: false,
            avx2: is_x86_feature_detected!("avx2"),
            avx512: is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl"),
            sse41: is_x86_feature_detected!("sse4.1"),
        }
    }

    /// Looks at the CPU.
    #[cfg(target_arch = "aarch64")]
    pub fn detect() -> Self {
        Self {
            sha: std::arch::is_aarch64_feature_detected!("sha2"),
            sha512: std::arch::is_aarch64_feature_detected!("sha3"),
            avx2: false,
            avx512: false,
            sse41: false,
        }
    }

    /// Looks at the CPU.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn detect() -> Self {
        Self { sha: false, sha512: false, avx2: false, avx512: false, sse41: false }
    }
}
