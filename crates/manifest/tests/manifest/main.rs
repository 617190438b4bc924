//! Manifests held against a model that is slow and plain.

mod diff;
mod format;
mod model;

mod unique;


