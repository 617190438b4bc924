//! Reading lines of bounded length.

use std::io::{self, BufRead, ErrorKind};

/// The longest line that is parsed, in bytes. The longest path that a walk can print (ten thousand levels of
/// names of 255 bytes, all of them escaped) makes a line of 5 MB.
pub const MAX_LINE: usize = 16 << 20;

/// The longest path of a directory, in bytes, in formats in which directories contain each other: mtree and ncdu. What is
/// made of such a file has whole paths. Without a limit, it could be longer than the square of the file. No system call of
/// Linux accepts a longer path.
pub const MAX_NESTED_PATH: usize = 4096;

/// Appends the next line to `line`, without its end, but no more than is needed to see that it is longer than
/// [`MAX_LINE`]. `find` returns the position of the first byte that ends a line.
///
/// Returns the byte that ended the line, which is `Some(None)` if the input ended instead, or `None` if there is
/// no further line.
///
/// # Errors
/// When the input cannot be read.
pub fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    find: impl Fn(&[u8]) -> Option<usize>,
) -> io::Result<Option<Option<u8>>> {
    let mut is_read = false;
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            filled => filled?,
        };
        if buffer.is_empty() {
            return Ok(is_read.then_some(None));
        }
        is_read = true;
        let at = find(buffer);
        let end = at.map(|at| buffer[at]);
        let part = &buffer[..at.unwrap_or(buffer.len())];
        let room = (MAX_LINE + 1).saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(at.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(end));
        }
    }
}
