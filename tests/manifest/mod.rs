//! `ftk manifest`, compared with tools that report the same properties of files.

mod clocks;
mod compressed;
mod create;
pub(crate) mod damage;
mod diff;
mod export;
mod import;
mod links;
mod locks;
mod messages;
mod mounts;
mod output;
mod plans;
pub(crate) mod records;
mod refused;
pub(crate) mod repair;
mod scope;
mod scrub;
mod shards;
mod shifts;
pub(crate) mod tree_digests;
pub(crate) mod trees;
mod undecided;
mod unique;
mod update;
mod verify;
mod year;
