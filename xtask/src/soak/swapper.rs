//! A thread that exchanges two names as fast as possible.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::bench::shape::mix;

/// Pauses between two exchanges are shorter than this, in microseconds. They vary, so that an exchange can fall between
/// any two system calls of the tested program.
const LONGEST_PAUSE: u64 = 300;

/// A running exchange of two names.
pub(super) struct Swapper {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<u64>>,
}

impl Swapper {
    /// Starts the thread; `seed` determines the pauses.
    pub(super) fn start(a: &Path, b: &Path, seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (a, b, is_over) = (a.to_owned(), b.to_owned(), Arc::clone(&stop));
        Self { stop, thread: thread::spawn(move || swap(&a, &b, seed, &is_over)) }
    }

    /// Restores both names, ends the thread, and returns the number of exchanges.
    ///
    /// # Errors
    /// If an exchange failed, because another process removed a name.
    pub(super) fn stop(self) -> Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the swapper panicked"))?.context("names cannot be exchanged")
    }
}

fn swap(a: &Path, b: &Path, seed: u64, is_over: &AtomicBool) -> io::Result<u64> {
    let mut swaps: u64 = 0;
    // At least one exchange and its reverse, even if the thread starts late.
    while swaps == 0 || !is_over.load(Ordering::Relaxed) || !swaps.is_multiple_of(2) {
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?;
        swaps += 1;
        let dice = mix(seed << 32 | swaps);
        if !dice.is_multiple_of(4) {
            thread::sleep(Duration::from_micros((dice >> 2) % LONGEST_PAUSE));
        }
    }
    Ok(swaps)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_are_restored_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::write(folder.join("b"), "").unwrap();
        let swapper = Swapper::start(&folder.join("a"), &folder.join("b"), 1);
        thread::sleep(Duration::from_millis(5));
        let swaps = swapper.stop().unwrap();
        assert!(swaps > 0 && swaps.is_multiple_of(2), "{swaps}");
        assert!(folder.join("a").is_dir() && folder.join("b").is_file());
    }
}
