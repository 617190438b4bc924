//! Manifests: what a tree is, and what changed since.
