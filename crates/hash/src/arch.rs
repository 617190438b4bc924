//! Compression functions that process many messages side by side.
//!
//! Each function is written once, in [`generic`], using only the vector operations of [`Vector`]. The modules
//! for an instruction set provide these operations. [`portable`] provides them for single words: it runs
//! everywhere, and the tests compare the others with it.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod generic;
mod kernel;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod pair;
mod portable;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::Neon;
pub(crate) use kernel::{Counters, Kernel, Narrow, NodeKernel, Nodes};
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
pub(crate) use pair::{Pair, compress_busy_half};
pub(crate) use portable::Portable;
pub(crate) use vector::Vector;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{Avx2, Avx512, CPU, ShaNi};
