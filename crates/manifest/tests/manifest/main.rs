//! Manifests compared with a slow and simple model.

mod append;
mod changed;
mod compressed;
mod copied;
mod diff;
mod examined;
mod format;
mod links;
mod model;
mod narrowed;
mod owned;
mod parts;
mod pass;
mod rounded;
mod scrub;
mod shards;
mod since;
mod tree_digests;
mod trees;
mod unique;
mod update;
mod verify;
mod versions;
mod writer;
