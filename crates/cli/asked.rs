//! `kill -USR1`: prints one line of progress, like dd.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use signal_hook::consts::SIGUSR1;
use signal_hook::low_level::register;

/// Whether a line was requested and has not been written yet.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether the current phase polls [`ASKED`]. Otherwise the handler writes the line itself.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// A description of the current work, for phases that have no counters.
static DOING: AtomicPtr<&'static str> = AtomicPtr::new(std::ptr::null_mut());

/// The signals that request a line. BSD and macOS send SIGINFO for Ctrl-T.
#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
const SIGNALS: [i32; 2] = [SIGUSR1, signal_hook::consts::SIGINFO];
#[cfg(not(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
const SIGNALS: [i32; 1] = [SIGUSR1];

/// Installs the handler. From now on the signals request a line instead of ending the process.
#[expect(unsafe_code, reason = "registers a signal handler, which must be async-signal-safe")]
pub(crate) fn listen() {
    for signal in SIGNALS {
        // SAFETY: `answer` uses atomics, its stack and write(2); it does not allocate, lock or panic.
        // If it cannot be registered, the signal keeps its default action and ends the run.
        let _ = unsafe { register(signal, answer) };
    }
}

/// Whether a line was requested and is still due.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Returns whether a line was requested since the last call, and clears the request.
pub(crate) fn take() -> bool {
    // Most calls only read, which keeps the cache line shared.
    is_asked() && ASKED.swap(false, Ordering::SeqCst)
}

/// Marks a phase that polls with [`take`]. The phase ends when the guard is dropped.
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
        // Sequentially consistent, like the handler: it sees that the phase is over, or its request is seen here.
        IS_WATCHED.store(false, Ordering::SeqCst);
        if take() {
            answer();
        }
    }
}

/// Sets the description of the current work, for phases without counters. It stays until the next call.
pub(crate) fn doing(what: &'static &'static str) {
    DOING.store(std::ptr::from_ref(what).cast_mut(), Ordering::Relaxed);
}

/// The signal handler.
fn answer() {
    ASKED.store(true, Ordering::SeqCst);
    // If a phase is just ending, either it takes the request or the handler does.
    if IS_WATCHED.load(Ordering::SeqCst) || !take() {
        return;
    }
    let doing = DOING.load(Ordering::Relaxed);
    #[expect(unsafe_code, reason = "an atomic stores a pointer, not a reference")]
    // SAFETY: the pointer is null or was made from a `'static` reference.
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
