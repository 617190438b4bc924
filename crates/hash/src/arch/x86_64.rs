//! Vector operations of x86-64.

#![expect(unsafe_code, reason = "intrinsics need it to load, to store, and to vouch for the CPU")]

mod avx2;
mod avx512;
mod sha_ni;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;
pub(crate) use sha_ni::ShaNi;

/// Makes the compression functions kernels of a vector type, each instantiated in a function that has the
/// target features.
macro_rules! kernels {
    ($proof:ident, $features:literal: $($function:ty, $word:ty, $lanes:literal x $words:literal, $compress:path;)*) => {$(
        impl Kernel<$function, $lanes, $words> for $proof {
            fn compress(
                self,
                state: &mut [[$word; $lanes]; $words],
                data: &[&[u8]; $lanes],
                counters: &Counters<$lanes>,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    proof: $proof,
                    state: &mut [[$word; $lanes]; $words],
                    data: &[&[u8]; $lanes],
                    counters: &Counters<$lanes>,
                ) {
                    $compress(proof, state, data, counters);
                }
                // SAFETY: a value of this type exists only if its `detect` saw these features on this CPU.
                unsafe { run(self, state, data, counters) }
            }
        }
    )*};
}
use kernels;
