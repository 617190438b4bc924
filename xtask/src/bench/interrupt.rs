//! Signals that end a run in good order.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static CAUGHT: AtomicBool = AtomicBool::new(false);

/// From now on, SIGINT, SIGTERM and SIGHUP only make [`check`] fail, so that whoever made a tree removes it.
/// They still end the commands that run at the moment: a handler, unlike a mask, is not inherited.
pub(crate) fn watch() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, &CAUGHT)?;
    }
    Ok(())
}

/// # Errors
/// If a signal came.
pub(crate) fn check() -> Result<()> {
    if CAUGHT.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(())
}
