//! A walk as an iterator, with a bound on how far it runs ahead.

use std::iter::FusedIterator;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::vec;

use crate::dir_entry::Copier;
use crate::{DirEntry, Directory, Entry, Filter, Step, Visitor, WalkError, Walker};

type Item = Result<DirEntry, WalkError>;

/// The most entries that a worker sends at a time.
const BATCH: usize = 64;

/// The iterator that [`Walker::stream`] returns.
///
/// Dropping it stops the walk, and waits until all workers have ended. Each ends after its current system call.
#[derive(Debug)]
pub struct Stream {
    batches: Option<Receiver<Vec<Item>>>,
    batch: vec::IntoIter<Item>,
    walk: Option<JoinHandle<()>>,
    is_dropped: Arc<AtomicBool>,
}

/// The visitor that sends what it is shown.
struct Sender {
    batches: SyncSender<Vec<Item>>,
    copier: Copier,
    batch: Vec<Item>,
    size: usize,
    is_dropped: Arc<AtomicBool>,
}

impl Sender {
    fn push(&mut self, item: Item) -> Step {
        self.batch.push(item);
        if self.batch.len() < self.size { Step::Descend } else { self.send() }
    }

    /// Sends the batch. Waits while the channel is full.
    fn send(&mut self) -> Step {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() || self.batches.send(batch).is_ok() { Step::Descend } else { Step::Stop }
    }
}

impl Visitor for Sender {
    type Dir = ();

    fn entry(&mut self, _: Option<&()>, entry: &mut Entry<'_>) -> Step {
        self.push(Ok(self.copier.copy(entry)))
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.push(Err(error))
    }

    fn shares_directories(&self) -> bool {
        true
    }

    fn enter(&mut self, _: &(), dir: &Directory<'_>) -> Step {
        self.copier.enter(dir);
        if self.is_dropped.load(Relaxed) { Step::Stop } else { Step::Descend }
    }

    fn leave(&mut self, _: &()) {
        // If the stream was dropped, the next call of `enter` ends the walk.
        self.send();
    }
}

impl<F: Filter + Send + 'static> Walker<F> {
    /// Starts the walk on threads of its own, and returns an iterator over its entries and errors in no particular order.
    ///
    /// About `bound` entries wait for the consumer, and up to 64 more at each worker. Then the workers sleep until the
    /// consumer takes some. `0` makes each entry wait for the consumer. Dropping the iterator stops the walk.
    ///
    /// # Panics
    /// If the system cannot start a thread. The iterator panics if a [filter](Self::filter_entry) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use ftk_walk::Walker;
    ///
    /// let mut stream = Walker::new(["src"]).stream(1000);
    /// let found = stream.find_map(|entry| entry.ok().filter(|entry| entry.file_name() == "lib.rs"));
    /// assert!(found.is_some_and(|entry| entry.path().ends_with("src/lib.rs")));
    /// ```
    pub fn stream(self, bound: usize) -> Stream {
        let size = bound.clamp(1, BATCH);
        let (sender, receiver) = sync_channel(bound / size);
        let is_dropped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_dropped);
        let walk = thread::spawn(move || {
            let visitor = |_| Sender {
                batches: sender.clone(),
                copier: Copier::default(),
                batch: Vec::new(),
                size,
                is_dropped: Arc::clone(&flag),
            };
            for mut visitor in self.run(visitor) {
                visitor.send();
            }
        });
        Stream { batches: Some(receiver), batch: Vec::new().into_iter(), walk: Some(walk), is_dropped }
    }
}

impl Iterator for Stream {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.batch.next() {
                return Some(item);
            }
            match self.batches.as_ref()?.recv() {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(_) => {
                    self.batches = None;
                    if let Err(panic) = self.walk.take()?.join() {
                        resume_unwind(panic);
                    }
                }
            }
        }
    }
}

impl FusedIterator for Stream {}

impl Drop for Stream {
    fn drop(&mut self) {
        self.is_dropped.store(true, Relaxed);
        // Wakes the workers that wait for the consumer. Their sends fail.
        self.batches = None;
        if let Some(walk) = self.walk.take() {
            // A panic has been printed. Resuming it here could end the process.
            let _ = walk.join();
        }
    }
}
