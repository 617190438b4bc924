//! Internal to ftk: reads the contents of regular files into buffers that move between reader and caller.
//!
//! The reader fills a [`Buf`], the caller keeps the [`Chunk`] as long as it needs the bytes, and then gives
//! the buffer back. Reader and caller never borrow from each other, so any reader works with any digest
//! engine.
//!
//! - [`Reader`] is the common trait. Its three implementations return the same bytes and failures for every
//!   file: [`SyncReader`] (plain system calls, on every platform), [`Uring`] (many files in flight, for a
//!   cold disk) and [`Ahead`] (a read-ahead thread, for one huge file).
//! - [`Map`] maps a window of an open file without a copy.
//! - [`extents()`] reports where a file lies on its disk, so that blocks shared by several files need not be
//!   read. [`exclusive_bytes`] adds up those that are not shared.
//! - [`be_polite()`] makes the process yield to others.
//!
//! Every reader guarantees:
//!
//! - It reads only regular files, and never blocks on a FIFO, socket or device.
//! - A short read is not treated as the end of the file.
//! - Holes are delivered as zeros without a read, where [`Holes`](ftk_file::Holes) finds them.
//! - A file that changed while being read is reported as [`Changed`](ftk_file::Failure::Changed).
//!   [`File::verify`](ftk_file::File::verify) documents which changes can go unnoticed.
//! - If no descriptor is free, an open waits until this reader closes one of its files. It fails if the
//!   reader has none.
//!
//! # Example
//!
//! The size of one file, read chunk by chunk:
//!
//! ```
//! use ftk_file::Symlinks;
//! use ftk_read::{Buf, How, Open, Reader, Ready, Span, SyncReader};
//!
//! let dir = std::rc::Rc::new(std::fs::File::open("src")?.into());
//! let file = Open { dir: &dir, name: c"lib.rs", how: How::new(Symlinks::NoFollow, Span::Whole) };
//! let mut reader = SyncReader::new(1, SyncReader::STREAM_BUF_LEN);
//! reader.start(0, file, Buf::new(reader.buf_len()));
//! let mut bytes = 0;
//! while let Some(ready) = reader.poll(true) {
//!     match ready {
//!         Ready::Data(chunk) => {
//!             bytes += chunk.as_ref().len() as u64;
//!             if chunk.part.is_end() {
//!                 let stat = reader.finish(0).expect("the file did not change");
//!                 assert_eq!(stat.size, bytes);
//!             } else {
//!                 reader.more(0, chunk.into_buf());
//!             }
//!         }
//!         Ready::Failed { failure, .. } => panic!("{failure:?}"),
//!     }
//! }
//! assert!(bytes > 0);
//! # Ok::<(), std::io::Error>(())
//! ```

mod ahead;
mod buf;
mod depth;
mod descriptors;
mod extent;
#[cfg_attr(not(target_os = "linux"), path = "extents_none.rs")]
mod extents;
#[cfg(target_os = "linux")]
mod file_system;
mod guard;
#[cfg_attr(
    any(
        not(target_os = "linux"),
        not(any(
            target_arch = "aarch64",
            target_arch = "loongarch64",
            target_arch = "powerpc64",
            target_arch = "riscv64",
            target_arch = "x86_64"
        )),
        feature = "portable"
    ),
    path = "kernel_none.rs"
)]
mod kernel;
mod map;
mod name;
#[cfg_attr(not(target_os = "linux"), path = "polite_none.rs")]
mod polite;
mod primitive;
mod progress;
mod reader;
mod ring;
mod span;
mod sync;
#[cfg(test)]
mod tests;
mod uring;

pub use ahead::Ahead;
pub use buf::{Buf, Chunk, Part};
pub use depth::depth;
pub use descriptors::leave_shared_descriptors;
pub use extent::{Extent, SharedBlocks};
pub use extents::{exclusive_bytes, extents, flush_file_system, marks_shared_extents, share_a_disk};
pub use map::Map;
pub use polite::be_polite;
pub use reader::{How, Open, Reader, Ready, WriteBack, WrittenBack};
pub use span::Span;
pub use sync::SyncReader;
pub use uring::Uring;
