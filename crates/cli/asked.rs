//! `kill -USR1`: one line about how far the run is, as from dd.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use signal_hook::consts::SIGUSR1;
use signal_hook::low_level::register;

/// Whether a line was asked for and is not written yet.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether a phase looks at [`ASKED`]. If none does, the handler itself says what goes on.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// What goes on where no phase counts.
static DOING: AtomicPtr<&'static str> = AtomicPtr::new(std::ptr::null_mut());

/// BSD and macOS send it for Ctrl-T.
#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
const SIGNALS: [i32; 2] = [SIGUSR1, signal_hook::consts::SIGINFO];
#[cfg(not(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
const SIGNALS: [i32; 1] = [SIGUSR1];

/// From now on the signals ask for a line and do not end the process.
#[expect(unsafe_code, reason = "what runs in a signal handler must be safe there")]
pub(crate) fn listen() {
    for signal in SIGNALS {
        // SAFETY: `answer` uses atomics, its stack and write(2); it does not allocate, lock or panic.
        // Where there is no handler, the signal ends the run as it always did.
        let _ = unsafe { register(signal, answer) };
    }
}

/// Whether a line is asked for.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Whether a line was asked for since the last call.
pub(crate) fn take() -> bool {
    // Most calls only read, which keeps the cache line shared.
    is_asked() && ASKED.swap(false, Ordering::Relaxed)
}

/// A phase that calls [`take`] often enough, until this is dropped.
#[derive(Debug)]
pub(crate) struct Watched(());

impl Watched {
    pub(crate) fn begin() -> Self {
        IS_WATCHED.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        IS_WATCHED.store(false, Ordering::Relaxed);
        if take() {
            answer();
        }
    }
}

/// Says what goes on until the next call, where no phase counts.
pub(crate) fn doing(what: &'static &'static str) {
    DOING.store(std::ptr::from_ref(what).cast_mut(), Ordering::Relaxed);
}

/// The handler.
fn answer() {
    if IS_WATCHED.load(Ordering::Relaxed) {
        ASKED.store(true, Ordering::Relaxed);
        return;
    }
    let doing = DOING.load(Ordering::Relaxed);
    #[expect(unsafe_code, reason = "an atomic holds no reference")]
    // SAFETY: it is null or comes from a reference that lives as long as the process.
    let what = unsafe { doing.as_ref() }.map_or("between two phases", |what| what);
    let mut line = [0; 80];
    let parts = [b"  ", what.as_bytes(), b"\n"];
    let mut end = 0;
    for byte in parts.iter().copied().flatten().take(line.len()) {
        line[end] = *byte;
        end += 1;
    }
    let _ = rustix::io::write(rustix::stdio::stderr(), &line[..end]);
}
