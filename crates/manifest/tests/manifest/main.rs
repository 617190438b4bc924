//! Manifests held against a model that is slow and plain.

mod changed;
mod diff;
mod format;
mod model;
mod trees;
mod unique;
mod update;
mod verify;
