//! How many bytes of the page its parts may fill. Together with the script and the style, a page has less than 8 MB,
//! however long the names are.

use std::io::{self, Write};

use serde::Serialize;

/// What uses the space.
pub(crate) const SPACE: usize = 4_600_000;

/// Groups of duplicates.
pub(crate) const DUPLICATES: usize = 2_600_000;

/// Changed entries.
pub(crate) const CHANGED_ENTRIES: usize = 1_200_000;

/// Directories in which something changed.
pub(crate) const CHANGED_DIRS: usize = 700_000;

/// Directories that grew or shrank.
pub(crate) const GROWN_DIRS: usize = 400_000;

/// Damaged files, and directories by their health: each list may have as much.
pub(crate) const HEALTH: usize = 300_000;

/// Messages. They are on the page twice: as data and as a list.
pub(crate) const MESSAGES: usize = 100_000;

/// Returns how many bytes of the page a value fills, with a comma.
pub(crate) fn embedded_len(value: &impl Serialize) -> usize {
    let mut counter = Counter(1);
    serde_json::to_writer(&mut counter, value).expect("counting succeeds, and all keys are strings");
    counter.0
}

/// Removes the last values of a list, so that the others fill at most `room` bytes.
pub(crate) fn shorten<T: Serialize>(list: &mut Vec<T>, room: usize) {
    let ends = list.iter().scan(0, |end, value| {
        *end += embedded_len(value);
        Some(*end)
    });
    let fitting = ends.take_while(|end| *end <= room).count();
    list.truncate(fitting);
}

/// Counts the bytes of JSON in the page, which escapes each `<` with six bytes.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() + 5 * bytes.iter().filter(|byte| **byte == b'<').count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_in_the_page() {
        assert_eq!(embedded_len(&"a\"<"), r#""a\"\u003c","#.len());
        assert_eq!(embedded_len(&[1, 22]), "[1,22],".len());
    }

    #[test]
    fn the_first_values_that_fit_stay() {
        let mut list = vec!["a", "bb", "c"];
        shorten(&mut list, 9);
        assert_eq!(list, ["a", "bb"]);
        shorten(&mut list, 8);
        assert_eq!(list, ["a"]);
        shorten(&mut list, 0);
        assert!(list.is_empty());
    }
}
