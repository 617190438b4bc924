//! `ftk manifest`, compared with tools that report the same properties of files.

mod compressed;
mod create;
mod diff;
mod export;
mod import;
mod messages;
mod output;
mod plans;
pub(crate) mod records;
mod refused;
pub(crate) mod repair;
mod scope;
pub(crate) mod tree_digests;
pub(crate) mod trees;
mod unique;
mod update;
mod verify;
