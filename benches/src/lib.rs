//! What the benches of single pieces share: how they are run, and what they are run on.
//!
//! ```sh
//! cargo bench -p ftk-benches                                      # all of them, some twenty minutes
//! cargo bench -p ftk-benches --bench digests -- 'sha256.*/4096'   # those whose name matches
//! cargo bench -p ftk-benches --features openssl                   # OpenSSL 3 is a peer too; needs libssl-dev
//! cargo test -p ftk-benches --benches                             # each once, for its answers only
//! ```
//!
//! Every bench first holds its answers against those of a peer, or against what is known of its input, and
//! panics where they differ; only then it is timed. As tests the same code runs on less input.
//!
//! The bench profile is the release profile, link-time optimisation over all crates included: what is timed is
//! compiled as `cargo install` compiles it, so that the figures stand for the program. That takes a minute or
//! two to build. Tests take the dev profile, in which only the digests are optimised.
//!
//! `cargo xtask bench kernels` runs `digests` and `lines` and puts what they say into the benchmark record.

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
