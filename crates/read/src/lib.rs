//! File contents into buffers that move: the reader fills a buffer, the caller takes it away and gives it
//! back. Nothing is borrowed across the seam, so a buffer may wait in an engine's lane for as long as it likes.

mod ahead;
mod buf;
mod depth;
mod file;
#[cfg(all(target_os = "linux", not(ftk_portable)))]
mod kernel;
mod name;
mod progress;
mod reader;
mod ring;
mod stat;
mod sync;
#[cfg(test)]
mod tests;
mod uring;

pub use ahead::Ahead;
pub use buf::{Buf, Chunk, Part};
pub use depth::depth;
pub use file::File;
pub use reader::{Failure, Open, Reader, Ready, Span};
pub use stat::Stat;
pub use sync::Sync;
pub use uring::Uring;
