//! Signals that end a run in good order.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use nix::sys::signal::{SigSet, Signal};

static CAUGHT: AtomicBool = AtomicBool::new(false);

/// From now on, SIGINT, SIGTERM and SIGHUP only make [`check`] fail, so that whoever made a tree removes it.
/// Child processes have these signals unblocked, as the standard library starts them.
pub(crate) fn watch() -> Result<()> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        signals.add(signal);
    }
    signals.thread_block()?;
    std::thread::spawn(move || {
        if signals.wait().is_ok() {
            CAUGHT.store(true, Ordering::Relaxed);
        }
    });
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
