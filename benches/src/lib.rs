//! What the benches of single parts share: how they are run, and their input.
//!
//! ```sh
//! cargo bench -p ftk-benches                                      # all benches, about twenty minutes
//! cargo bench -p ftk-benches --bench digests -- 'sha256.*/4096'   # benches whose name matches
//! cargo bench -p ftk-benches --features openssl                   # with OpenSSL 3 as a peer; needs libssl-dev
//! cargo test -p ftk-benches --benches                             # each once, to check its results
//! ```
//!
//! Every bench first compares its results with those of a peer or with what is known of its input, and panics
//! if they differ. Only then it is timed. As a test the same code runs on less input.
//!
//! The bench profile is the release profile, including link-time optimisation over all crates: the timed code
//! is compiled as `cargo install` compiles it, so the figures hold for the program. It takes a minute or two
//! to build. Tests use the dev profile, in which only the digests are optimised.
//!
//! `cargo xtask bench kernels` runs `digests` and `lines` and adds their figures to the benchmark record.

mod counts;
mod input;
mod kernels;
mod mode;
#[cfg(feature = "openssl")]
mod openssl;
mod tree;

pub use counts::thread_counts;
pub use input::{Messages, random_bytes};
pub use kernels::{Kernel, kernels};
pub use mode::{config, is_timed};
#[cfg(feature = "openssl")]
pub use openssl::{Context, Output};
pub use tree::Tree;
