//! Parity files: recovery blocks from which damaged and missing contents of a tree are computed.
//!
//! `docs/parity.md` specifies the format. The contents of a tree, each distinct one once, lie in a stream of blocks: see
//! [`Layout`]. Runs of the stream are encoded together, in interleaved groups: see [`Batch`]. [`protect()`] writes a parity
//! file, [`Update`] brings one up to date, [`Parity`] reads one that may itself be damaged, and [`heal()`] computes contents.
//!
//! This crate never writes to a tree, and knows neither paths nor manifests. Its callers open the files, as [`Sources`],
//! and compare the digest of every computed content with the recorded one before they use it.

#![forbid(unsafe_code)]

mod batch;
mod code;
mod encode;
mod error;
#[cfg(test)]
mod forged;
mod head;
mod heal;
mod index;
mod layout;
mod load;
mod pages;
mod protect;
mod read;
mod sources;
mod space;
mod target;
mod update;

pub use batch::{Batch, Redundancy, any_of, batches, block_len, either_of};
pub use error::Error;
pub use heal::{Outcome, Output, heal};
pub use index::{Algorithms, Content};
pub use layout::{Layout, Piece};
pub use protect::{LeftOut, Plan, Protected, protect};
pub use read::{Condition, Parity, is_parity};
pub use sources::Sources;
pub use target::Target;
pub use update::{Update, UpdatePlan, Updated};

/// The unit of the code, in bytes: 32 symbols. A lost byte costs the whole unit, and no unit belongs to two contents.
pub const UNIT: u64 = 64;

/// Returns `value` divided by `unit`, rounded up, times `unit`: at most the largest number.
fn round_up(value: u64, unit: u64) -> u64 {
    value.div_ceil(unit).saturating_mul(unit)
}

/// Returns the checksum of a block or page: CRC-64/NVME.
fn checksum(parts: &[&[u8]]) -> u64 {
    let mut digest = crc64fast_nvme::Digest::new();
    parts.iter().for_each(|part| digest.write(part));
    digest.sum64()
}
