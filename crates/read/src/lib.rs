//! File contents into buffers that move: the reader fills a buffer, the caller takes it away and gives it
//! back. Nothing is borrowed across the seam, so a buffer may wait in an engine's lane for as long as it likes.
//!
//! Three readers stand behind one trait, [`Reader`], and say the same of every file: [`SyncReader`] (plain system
//! calls, everywhere), [`Uring`] (many files in flight, for a cold disk) and [`Ahead`] (a helper thread, for
//! one huge file). [`File`] alone serves several threads that read windows of one file, and [`Map`] spares them
//! the copy. [`extents()`] says where a file lies on its disk: files that share a place need not be read.
//!
//! What all of them promise: only regular files are read, and nothing else is waited for; a short read is not
//! taken for the end; a file that changed while it was read is a [`Failure::Changed`], as far as
//! [`File::verify`] can tell; descriptors that run out delay an open as long as others can be closed.
//!
//! ```
//! use ftk_read::{Buf, Open, Reader, Ready, Span, SyncReader};
//!
//! let dir = std::rc::Rc::new(std::fs::File::open("src")?.into());
//! let file = Open { dir: &dir, name: c"lib.rs", follow: false, span: Span::Whole };
//! let mut reader = SyncReader::new(1, SyncReader::STREAM_BUF_LEN);
//! reader.start(0, file, Buf::new(reader.buf_len()));
//! let mut bytes = 0;
//! while let Some(ready) = reader.poll(true) {
//!     match ready {
//!         Ready::Data(chunk) => {
//!             bytes += chunk.as_ref().len() as u64;
//!             if chunk.part.is_end() {
//!                 assert_eq!(reader.finish(0).expect("nobody writes to it").size, bytes);
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
mod file;
mod guard;
#[cfg(all(target_os = "linux", not(ftk_portable)))]
mod kernel;
mod map;
mod name;
mod primitive;
mod progress;
mod reader;
mod ring;
mod span;
mod stat;
mod sync;
#[cfg(test)]
mod tests;
mod uring;

pub use ahead::Ahead;
pub use buf::{Buf, Chunk, Part};
pub use depth::depth;
pub use descriptors::{leave_shared_descriptors, make_room};
pub use extent::Extent;
pub use extents::{extents, share_a_disk};
pub use file::File;
pub use map::Map;
pub use reader::{Failure, Open, Reader, Ready};
pub use span::Span;
pub use stat::Stat;
pub use sync::SyncReader;
pub use uring::Uring;
