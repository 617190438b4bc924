//! `ftk manifest`, held against the tools that know the same of files.

mod create;
mod diff;
mod messages;
mod output;
mod plans;
pub(crate) mod records;
mod refused;
mod scope;
pub(crate) mod trees;
mod unique;
mod update;
mod verify;
