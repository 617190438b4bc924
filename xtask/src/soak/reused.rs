//! What a run with `--cache` reused, and what its store contains.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::command::Soak;

/// Returns how many digests a run reused, from the file that it wrote for `--stats`; 0 if it did not use the cache.
pub(super) fn reused(stats: &Path) -> Result<u64> {
    let text = fs::read(stats).with_context(|| format!("no {}", stats.display()))?;
    let stats: Value = serde_json::from_slice(&text)?;
    let phases = stats["phases"].as_array().context("statistics have phases")?;
    Ok(phases.iter().filter_map(|phase| phase["reused"].as_u64()).sum())
}

/// Returns for how many files the store of runs in `place` has digests.
pub(super) fn stored(soak: &Soak, place: &Path) -> Result<u64> {
    let ended = soak.ftk(place, &["cache", "stats", "--json"])?;
    ensure!(ended.code == 0, "ftk cache stats: {}", ended.in_words());
    serde_json::from_slice::<Value>(&ended.out)?["files"].as_u64().context("a number of files")
}
