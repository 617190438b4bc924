//! File contents into buffers that move: the reader fills a buffer, the caller takes it away and gives it
//! back. Nothing is borrowed across the seam, so a buffer may wait in an engine's lane for as long as it likes.

mod buf;
mod file;
mod name;
mod progress;
mod reader;
mod stat;
mod sync;

pub use buf::{Buf, Chunk, Part};
pub use file::File;
pub use reader::{Failure, Open, Reader, Ready, Span};
pub use stat::Stat;
pub use sync::Sync;
