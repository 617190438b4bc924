//! `FTK_SIMD`: limits the instruction sets of the digests, so that tests reach every kernel on one machine.

use std::env;

use anyhow::Context as _;
use ftk_hash::{Platform, Simd};

const VARIABLE: &str = "FTK_SIMD";

/// Returns the instruction sets to use: those of this CPU, limited to the one the variable names.
///
/// # Errors
/// If the variable names an unknown instruction set, or one that this CPU lacks.
pub(crate) fn platform() -> anyhow::Result<Platform> {
    env::var_os(VARIABLE).map_or_else(
        || Ok(Platform::detect()),
        |name| bounded(&name.to_string_lossy()).with_context(|| format!("bad value of {VARIABLE}")),
    )
}

fn bounded(name: &str) -> anyhow::Result<Platform> {
    Ok(Platform::up_to(name.parse::<Simd>()?)?)
}
