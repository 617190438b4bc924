//! Compression functions that process many messages side by side.
//!
//! Each function is written once, in [`generic`], using only the vector operations of [`Vector`]. The modules
//! for an instruction set provide these operations. [`portable`] provides them for single words: it runs
//! everywhere, and the tests compare the others with it.

mod generic;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod pair;
mod portable;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use kernel::{Counters, Kernel, Narrow, NodeKernel, Nodes};
#[cfg(target_arch = "x86_64")]
pub(crate) use pair::Pair;
pub(crate) use portable::Portable;
pub(crate) use vector::Vector;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{Avx2, Avx512, CPU, ShaNi};
