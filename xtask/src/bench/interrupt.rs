//! Handles signals so that an interrupted run can clean up.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static CAUGHT: AtomicBool = AtomicBool::new(false);

/// Makes SIGINT, SIGTERM and SIGHUP only cause [`check`] to fail, so that trees are removed before the run ends.
/// The signals still end running commands, because a handler, unlike a mask, is not inherited.
pub(crate) fn watch() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, &CAUGHT)?;
    }
    Ok(())
}

/// Checks for an interrupt.
///
/// # Errors
/// If a signal arrived.
pub(crate) fn check() -> Result<()> {
    if CAUGHT.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(())
}
