//! Checking the content of a single file.

use std::io::{self, Read};

use ftk_file::{Cursor, Failure, File};
use ftk_hash::{Algorithm, Platform};
use ftk_process::hash_stream;

/// Reads a whole file and returns whether it has these digests, which are concatenated in the order of the
/// algorithms.
///
/// # Errors
/// When the file cannot be read, or changes while it is read.
pub fn has_content(
    file: &File,
    algorithms: &[Algorithm],
    digests: &[u8],
    platform: Platform,
) -> Result<bool, Failure> {
    let mut input = Input { cursor: Cursor::new(file, 0), failure: None };
    let read = hash_stream(&mut input, algorithms, platform);
    if let Some(failure) = input.failure {
        return Err(failure);
    }
    let found = read.map_err(Failure::of_read)?;
    input.cursor.verify_always()?;
    Ok(found.iter().flat_map(|digest| digest.as_bytes()).eq(digests))
}

/// A file as a stream. It keeps the failure of a read, which an [`io::Error`] cannot hold.
struct Input<'f> {
    cursor: Cursor<'f>,
    failure: Option<Failure>,
}

impl Read for Input<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.cursor.fill(buf).map_err(|failure| {
            self.failure = Some(failure);
            io::ErrorKind::Other.into()
        })
    }
}
