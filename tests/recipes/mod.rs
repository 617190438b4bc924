//! Runs the commands in `docs/recipes.md`, `docs/cluster.md` and in the tour of `README.md`, and compares what they print with the page.
//!
//! The pages are the only source of commands and outputs. `FTK_UPDATE_DOCS=1 cargo test --test integration recipes`
//! replaces the outputs that differ.

mod cluster;
mod expressions;
mod filters;
mod nightly;
mod page;
mod scene;
mod session;
mod slurm;
mod tasks;
