//! Manifests compared with a slow and simple model.

mod changed;
mod diff;
mod format;
mod model;
mod scrub;
mod trees;
mod unique;
mod update;
mod verify;
mod versions;
