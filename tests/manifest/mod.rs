//! `ftk manifest`, compared with tools that report the same properties of files.

mod create;
pub(crate) mod damage;
mod diff;
mod locks;
mod messages;
mod mounts;
mod output;
mod plans;
pub(crate) mod records;
mod refused;
mod scope;
mod scrub;
mod shifts;
pub(crate) mod trees;
mod unique;
mod update;
mod verify;
mod year;
