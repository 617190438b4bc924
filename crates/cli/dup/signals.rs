//! SIGINT and SIGTERM while a tree is changed: the step under way is finished, the rest is not begun, and then the
//! process ends by the signal as if it had not been caught.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::Builder;

use ftk_sched::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Signals that have been put off.
#[derive(Debug, Default)]
pub(super) struct PutOff {
    pub(super) stop: Stop,
    /// The first signal; 0 before.
    signal: AtomicI32,
}

impl PutOff {
    /// From now on a signal raises the flag instead of ending the process.
    pub(super) fn begin() -> io::Result<Arc<Self>> {
        let put_off = Arc::new(Self::default());
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let watched = Arc::clone(&put_off);
        // It waits until the end of the process.
        Builder::new().name("signals".into()).spawn(move || {
            for signal in &mut signals {
                let _ = watched.signal.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
                watched.stop.raise();
            }
        })?;
        Ok(put_off)
    }

    /// Ends the process by the signal that came, if one did.
    pub(super) fn obey(&self) {
        let signal = self.signal.load(Ordering::Relaxed);
        if signal != 0 {
            let _ = emulate_default_handler(signal); // does not return
        }
    }
}
