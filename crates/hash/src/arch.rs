//! Compression functions, many messages side by side.
//!
//! Each is written once, in [`generic`], over the few vector operations of [`Vector`]; the modules for an
//! instruction set provide these operations and nothing else. [`portable`] provides them for single words: it
//! runs everywhere, and is what the others are held against.

mod generic;
mod kernel;
mod portable;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use kernel::{Counters, Kernel, Narrow, NodeKernel, Nodes};
pub(crate) use portable::Portable;
pub(crate) use vector::Vector;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{Avx2, Avx512, CPU, ShaNi};
