//! `ftk manifest`, compared with tools that report the same properties of files.

mod create;
mod diff;
mod messages;
mod output;
mod plans;
pub(crate) mod records;
mod refused;
mod scope;
pub(crate) mod tree_digests;
pub(crate) mod trees;
mod unique;
mod update;
mod verify;
