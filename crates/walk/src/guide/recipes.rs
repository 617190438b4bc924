//! Walks in asynchronous programs, cancelling, and back-pressure.
//!
//! # Tokio
//!
//! A walk makes system calls that wait. Run it with `spawn_blocking`, which keeps it off the threads of the runtime:
//!
//! ```
//! use ftk_walk::{DirEntry, Walker};
//!
//! # tokio::runtime::Builder::new_multi_thread().build()?.block_on(async {
//! let walk = tokio::task::spawn_blocking(|| Walker::new(["src"]).collect_sorted());
//! let (entries, errors): (Vec<DirEntry>, _) = walk.await?;
//! assert!(errors.is_empty() && entries.len() > 10);
//! # Ok::<(), tokio::task::JoinError>(()) })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! To use entries while the walk runs, send them through a channel. `blocking_send` waits while the channel is full, so a
//! slow task slows the walk instead of filling the memory. When the task drops its receiver, sending fails, and the walk
//! ends. This is the example `async_count`:
//!
#![doc = concat!("```no_run\n", include_str!("../../examples/async_count.rs"), "```")]
//!
//! # Cancel
//!
//! [`Step::Stop`](crate::Step::Stop) ends the walk: each worker ends after its current call, and workers that sleep wake
//! up and end. To cancel from outside, let the closure look at a flag. The states come back as they are then:
//!
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
//! use std::time::Duration;
//! use ftk_walk::{Step, Walker};
//!
//! let cancelled = AtomicBool::new(false);
//! let counts = std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         std::thread::sleep(Duration::from_millis(20));
//!         cancelled.store(true, Relaxed);
//!     });
//!     Walker::new(["/usr", "/proc"]).fold(|| 0, |entries, _| {
//!         *entries += 1;
//!         if cancelled.load(Relaxed) { Step::Stop } else { Step::Descend }
//!     })
//! });
//! assert!(counts.iter().sum::<u64>() > 0);
//! ```
//!
//! A system call that hangs, as on a network file system whose server is gone, cannot be cancelled by any of this.
//!
//! # Back-pressure
//!
//! [`stream`](crate::Walker::stream) has it built in: it runs at most `bound` entries ahead, plus 64 at each worker, and
//! then its workers sleep. Dropping the iterator stops the walk and waits for its threads:
//!
//! ```
//! use ftk_walk::Walker;
//!
//! let mut largest = None;
//! for entry in Walker::new(["src"]).prefetch(ftk_walk::Fields::SIZE).stream(100).flatten() {
//!     let size = entry.metadata().map(|metadata| metadata.size);
//!     largest = largest.max(size.map(|size| (size, entry.into_path())));
//! }
//! assert!(largest.is_some());
//! ```
//!
//! # Rayon
//!
//! Work that is much longer than the walk belongs on a pool of its own: feed it from
//! [`stream`](crate::Walker::stream), for example with `par_bridge` of Rayon. Work that takes as long as reading a file
//! belongs into the closure of [`fold`](crate::Walker::fold), which is called on all workers already.
