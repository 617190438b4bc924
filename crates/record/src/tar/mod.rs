//! Reading tar archives as a stream: v7, ustar, pax and GNU, with long names, pax records and sparse files.
//!
//! - [`header`] decodes the block before each member.
//! - [`pax`] decodes the records of an extended header.
//! - [`sparse`] decodes the map of a sparse file.
//! - [`reader`] joins them to members with their content.
//!
//! An archive is input from elsewhere: what is damaged, cut off or ambiguous is an error, and every size is bounded.
//! Names are as in the archive, so callers decide which of them are paths.

mod header;
mod pax;
mod reader;
mod sparse;

pub use header::MemberKind;
pub use reader::{TarEnd, TarMember, TarReader};

use std::io::{self, ErrorKind};

/// The name and the value of an extended attribute.
pub type TarXattr = (Vec<u8>, Vec<u8>);

/// The unit of an archive.
const BLOCK: usize = 512;

/// The largest extended header or long name. Linux has attributes of up to 64 KiB and paths of up to 4 KiB.
const MAX_EXTENSION: u64 = 16 << 20;

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}
