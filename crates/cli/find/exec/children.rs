//! Keeps track of running commands, and terminates them together with ftk.

use std::collections::HashMap;
use std::io;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::Builder;

use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The running commands. `SIGTERM` is passed on to them, since it is sent to a single process. `SIGINT` and
/// `SIGHUP` from a terminal reach all of them anyway.
#[derive(Debug, Default)]
pub(super) struct Children {
    /// Held for reading while a command starts, so that the signal thread misses none.
    gate: RwLock<()>,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    handles: HashMap<u64, handle::Handle>,
}

impl Children {
    /// Starts to catch `SIGTERM`, which from now on terminates the commands first.
    pub(super) fn watch() -> io::Result<Arc<Self>> {
        let children = Arc::new(Self::default());
        let mut signals = Signals::new([SIGTERM])?;
        let watched = Arc::clone(&children);
        // This thread waits for signals until the process ends.
        Builder::new().name("signals".into()).spawn(move || {
            for signal in &mut signals {
                // Never released: otherwise a worker would start the next command as soon as one has ended.
                let _closed = watched.gate.write().unwrap_or_else(PoisonError::into_inner);
                watched.running().handles.values().for_each(handle::terminate);
                let _ = emulate_default_handler(signal); // does not return
            }
        })?;
        Ok(children)
    }

    /// Starts a command, which counts as running until the guard is dropped.
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

/// Marks a command as running.
pub(super) struct Guard<'c> {
    children: &'c Children,
    number: u64,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.children.running().handles.remove(&self.number);
    }
}

/// A process descriptor. Unlike a process id, it never refers to another process later.
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

/// On other systems, commands are not terminated.
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
