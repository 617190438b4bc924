//! Shards: manifests of parts of a tree, made on many hosts and merged into one.
//!
//! A [`Shard`] says which entries of the tree belong to a part. A [`Plan`] divides the paths of a tree into ranges, one
//! for each shard. [`Sharded`] is the visitor that skips what belongs to other shards.

mod changes;
mod groups;
mod meanwhile;
pub(crate) mod member;
mod merge;
mod newest;
mod part_files;
mod parts;
mod plan;
mod plan_error;
mod plan_lines;
mod planner;
mod range;
mod visitor;
pub(crate) mod whole_lines;

pub use changes::Changes;
pub use meanwhile::{Meanwhile, Renames};
pub use member::{Shard, Split};
pub use merge::Merged;
pub use part_files::{is_plan, named_like_parts, part_files};
pub use parts::{MergeError, Parts};
pub use plan::{Balance, Plan, PlannedShard, Root};
pub use plan_error::PlanError;
pub use planner::{Cost, Planner};
pub use range::{PathRange, Place};
pub use visitor::{Listed, ShardTag, Sharded};
