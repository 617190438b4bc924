//! The commands that run now, and the signal that ends them with us.

use std::collections::HashMap;
use std::io;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::Builder;

use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Commands under way. `SIGTERM` is passed on to them, since it reaches one process only; `SIGINT` and `SIGHUP` of a
/// terminal reach all of them anyway.
#[derive(Debug, Default)]
pub(super) struct Children {
    /// Held for reading while a command is started, so that none is overlooked.
    gate: RwLock<()>,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    handles: HashMap<u64, handle::Handle>,
}

impl Children {
    /// From now on `SIGTERM` ends the commands first.
    pub(super) fn watch() -> io::Result<Arc<Self>> {
        let children = Arc::new(Self::default());
        let mut signals = Signals::new([SIGTERM])?;
        let watched = Arc::clone(&children);
        // It waits until the end of the process.
        Builder::new().name("signals".into()).spawn(move || {
            for signal in &mut signals {
                // Closed to the end: the next command would start as soon as the one before it has died.
                let _closed = watched.gate.write().unwrap_or_else(PoisonError::into_inner);
                watched.running().handles.values().for_each(handle::terminate);
                let _ = emulate_default_handler(signal); // does not return
            }
        })?;
        Ok(children)
    }

    /// Starts a command, which is among those under way until the guard is dropped.
    pub(super) fn spawn(&self, command: &mut Command) -> io::Result<(Child, Guard<'_>)> {
        let _open = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        let mut running = self.running();
        let number = running.next;
        running.next += 1;
        running.handles.extend(handle::of(&child).map(|handle| (number, handle)));
        drop(running);
        Ok((child, Guard { children: self, number }))
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command under way.
pub(super) struct Guard<'c> {
    children: &'c Children,
    number: u64,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.children.running().handles.remove(&self.number);
    }
}

/// A descriptor of the process, which unlike its number never comes to mean another one.
#[cfg(target_os = "linux")]
mod handle {
    use std::os::fd::OwnedFd;
    use std::process::Child;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    pub(super) type Handle = OwnedFd;

    pub(super) fn of(child: &Child) -> Option<Handle> {
        pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok()
    }

    pub(super) fn terminate(handle: &Handle) {
        let _ = pidfd_send_signal(handle, Signal::TERM); // it may have ended already
    }
}

/// Elsewhere commands are left to themselves.
#[cfg(not(target_os = "linux"))]
mod handle {
    use std::process::Child;

    pub(super) type Handle = std::convert::Infallible;

    pub(super) fn of(_: &Child) -> Option<Handle> {
        None
    }

    pub(super) fn terminate(handle: &Handle) {
        match *handle {}
    }
}
