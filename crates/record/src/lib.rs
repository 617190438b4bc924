//! Every list ftk reads or writes goes through here.
//!
//! A file name on Unix is any bytes without NUL and `/`, so each text format needs a way to carry the odd
//! ones, and reading must give back exactly what was written. This crate is the one place that knows how:
//!
//! - [`SumFormat`] writes and [`SumLine`] reads the checksum lines of `sha256sum` and its kin,
//!   [`SumReader`] a list of them;
//! - [`changes()`] tells what differs between two lists;
//! - [`write_path`] and [`read_path`] carry names through JSON, which holds only Unicode, and [`Object`] takes no
//!   array for a record;
//! - [`Seal`] and [`SealedReader`] tell a file of lines that is complete from one that is not;
//! - [`sanitize`] and [`quote`] show names on a terminal, where they must not act on it;
//! - [`Output`] is a file that appears complete or not at all.
//!
//! Nothing here repairs input: what is not exactly right is an error that says what is wrong.
//!
//! ```
//! use ftk_record::{End, Style, SumFormat, SumLine};
//!
//! let format = SumFormat::new("SHA256", Style::Untagged, End::Newline);
//! let mut list = Vec::new();
//! format.write_line(&mut list, &[0x12, 0xab], b"two\nlines");
//! assert_eq!(list, b"\\12ab  two\\nlines\n");
//!
//! let line = SumLine::parse(list.strip_suffix(b"\n").unwrap(), End::Newline)?;
//! assert_eq!((line.hex, &*line.name), (&b"12ab"[..], &b"two\nlines"[..]));
//! # Ok::<(), ftk_record::SumError>(())
//! ```
#![forbid(unsafe_code)]

mod changes;
mod json;
mod object;
mod output;
mod parse;
mod reader;
mod seal;
mod sealed;
mod sum;
mod sums;
mod target;
mod temp;
mod terminal;

pub use changes::{Change, changes};
pub use json::{PathError, read_base64, read_path, write_path, write_string};
pub use object::Object;
pub use output::Output;
pub use parse::{SumError, SumLine};
pub use reader::{SumReader, SumRecord};
pub use seal::Seal;
pub use sealed::{SealError, SealedReader};
pub use sum::{End, Style, SumFormat, write_name};
pub use sums::{Conflict, SortedSums, Sums};
pub use terminal::{quote, sanitize};
