//! Shards: manifests of parts of a tree, made on many hosts and merged into one.
//!
//! A [`Shard`] says which entries of the tree belong to a part. A [`Plan`] divides the paths of a tree into ranges, one
//! for each shard. [`Sharded`] is the visitor that skips what belongs to other shards.

pub(crate) mod member;
mod range;
mod visitor;

pub use member::{Shard, Split};
pub use range::{PathRange, Place};
pub use visitor::{Listed, ShardTag, Sharded};
