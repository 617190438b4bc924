//! The kernels that ftk has for a digest on this CPU.

use ftk_hash::{Algorithm, Platform, Simd};

/// A kernel.
pub struct Kernel {
    /// The name of its rows: `ftk` for the one that ftk chooses here, `ftk avx2` for one it would choose on a
    /// lesser CPU.
    pub name: String,
    /// The platform with which the algorithm uses it.
    pub platform: Platform,
}

/// Returns every kernel that this CPU has for `algorithm`, first the one that ftk chooses.
pub fn kernels(algorithm: Algorithm) -> Vec<Kernel> {
    let best = Platform::detect();
    let mut names = vec![algorithm.kernel_name(best)];
    let mut kernels = vec![Kernel { name: "ftk".into(), platform: best }];
    for platform in Simd::ALL.into_iter().rev().filter_map(|simd| Platform::up_to(simd).ok()) {
        let name = algorithm.kernel_name(platform);
        if !names.contains(&name) {
            names.push(name);
            kernels.push(Kernel { name: format!("ftk {name}"), platform });
        }
    }
    kernels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_kernel_is_first_and_all_are_different() {
        for algorithm in Algorithm::ALL {
            let kernels = kernels(algorithm);
            let mut names: Vec<_> =
                kernels.iter().map(|kernel| algorithm.kernel_name(kernel.platform)).collect();
            assert_eq!(kernels[0].name, "ftk");
            assert_eq!(names[0], algorithm.kernel_name(Platform::detect()));
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), kernels.len(), "{algorithm}");
        }
    }
}
