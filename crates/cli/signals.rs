//! Defers SIGINT and SIGTERM while a tree is being changed. The current step is finished, the others are not
//! started, and then the process ends by the signal as if it had not been caught.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::Builder;

use ftk_sched::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Catches signals, and remembers the first one.
#[derive(Debug, Default)]
pub(crate) struct DeferredSignals {
    /// Raised by the first signal.
    pub(crate) stop: Stop,
    /// The first signal; 0 if there was none.
    signal: AtomicI32,
}

impl DeferredSignals {
    /// Starts to catch signals. From now on, a signal raises `stop` instead of ending the process.
    pub(crate) fn begin() -> io::Result<Arc<Self>> {
        Self::begin_with(&[SIGINT, SIGTERM])
    }

    /// Does the same with these signals.
    pub(crate) fn begin_with(signals: &[i32]) -> io::Result<Arc<Self>> {
        let deferred = Arc::new(Self::default());
        let mut signals = Signals::new(signals)?;
        let watched = Arc::clone(&deferred);
        // This thread waits for signals until the process ends.
        Builder::new().name("signals".into()).spawn(move || {
            for signal in &mut signals {
                let _ = watched.signal.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
                watched.stop.raise();
                ftk_file::lift_rate_limit();
            }
        })?;
        Ok(deferred)
    }

    /// Ends the process by the signal that was caught, if any.
    pub(crate) fn raise_again(&self) {
        let signal = self.signal.load(Ordering::Relaxed);
        if signal != 0 {
            let _ = emulate_default_handler(signal); // does not return
        }
    }
}
