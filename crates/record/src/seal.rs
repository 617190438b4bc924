//! Makes the footer that proves that a file of lines is complete.

use std::io::Write as _;

use data_encoding::HEXLOWER;
use memchr::{memchr, memchr_iter};
use sha2::{Digest as _, Sha256};

/// The start of a footer. No other line may begin with it.
pub(crate) const FOOTER: &[u8] = b"{\"footer\":";

/// Counts and hashes the lines of a report, a manifest or a journal, and makes the footer that seals them.
///
/// The footer is the last line. It shows whether any line before it was lost, changed or added:
/// `{"footer":{"records":N,"sha256":"..."}}`, where `records` is the number of lines before it and `sha256`
/// the digest of all their bytes, including newlines. It protects against accidents only: an attacker who can
/// change the file can also change the footer.
///
/// ```
/// use ftk_record::{Seal, SealedReader};
///
/// let mut file = b"{\"ftk\":\"list\",\"version\":1}\n".to_vec();
/// let mut seal = Seal::new();
/// seal.line(&file);
/// seal.footer(&mut file);
///
/// let mut reader = SealedReader::new(&file[..]);
/// assert_eq!(reader.next_line()?, Some(&b"{\"ftk\":\"list\",\"version\":1}"[..]));
/// assert_eq!(reader.next_line()?, None);
/// # Ok::<(), ftk_record::SealError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Seal {
    records: u64,
    sha256: Sha256,
}

impl Seal {
    /// The maximal length of a line in bytes, without its newline. The longest path that a walk can give (ten
    /// thousand levels of names of 255 bytes, all of them escaped) is 16 MB, which leaves three times as much
    /// for the rest of the line. A reader refuses longer lines, so that no input can exhaust the memory.
    pub const MAX_LINE: usize = 64 << 20;

    /// Creates a seal of no lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line, including its newline.
    ///
    /// # Panics
    /// If `line` is not exactly one line, is longer than [`MAX_LINE`](Self::MAX_LINE), or begins like a
    /// footer: readers would refuse it.
    pub fn line(&mut self, line: &[u8]) {
        assert_eq!(memchr(b'\n', line), line.len().checked_sub(1), "not one line with its newline");
        self.lines(line);
    }

    /// Adds several lines, each with its newline. This is faster than adding them one by one.
    ///
    /// # Panics
    /// If `lines` does not end with a newline, or for a line that [`line`](Self::line) refuses.
    pub fn lines(&mut self, lines: &[u8]) {
        let mut start = 0;
        for end in memchr_iter(b'\n', lines) {
            assert!(end - start <= Self::MAX_LINE, "a line of {} bytes", end - start);
            assert!(!lines[start..].starts_with(FOOTER), "a line that looks like a footer");
            start = end + 1;
            self.records += 1;
        }
        assert_eq!(start, lines.len(), "the last line has no newline");
        self.sha256.update(lines);
    }

    /// Appends the footer line to `out`.
    pub fn footer(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(FOOTER);
        let sha256 = self.digest();
        // Writing to a Vec cannot fail.
        let _ = writeln!(out, "{{\"records\":{},\"sha256\":\"{sha256}\"}}}}", self.records);
    }

    /// Returns the SHA-256 of all lines, in lower-case hexadecimal digits.
    pub fn digest(&self) -> String {
        HEXLOWER.encode(&self.sha256.clone().finalize())
    }

    /// Adds a line that is known to be valid.
    pub(crate) fn add(&mut self, line: &[u8]) {
        self.records += 1;
        self.sha256.update(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footer_counts_and_hashes_all_lines() {
        let mut seal = Seal::new();
        seal.line(b"a\n");
        seal.line(b"\n");
        let mut out = b"before ".to_vec();
        seal.footer(&mut out);
        // printf 'a\n\n' | sha256sum
        let sha256 = "a7da489976d0047490617adb4f7a1f27f7af8b52a5176fd002ffe471863520ab";
        let expected = format!("before {{\"footer\":{{\"records\":2,\"sha256\":\"{sha256}\"}}}}\n");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn lines_can_be_added_together() {
        let (mut one_by_one, mut together) = (Seal::new(), Seal::new());
        ["a\n", "\n", "b\n"].iter().for_each(|line| one_by_one.line(line.as_bytes()));
        together.lines(b"");
        together.lines(b"a\n\n");
        together.lines(b"b\n");
        let [one_by_one, together] = [one_by_one, together].map(|seal| {
            let mut footer = Vec::new();
            seal.footer(&mut footer);
            footer
        });
        assert_eq!(together, one_by_one);
    }

    #[test]
    #[should_panic = "no newline"]
    fn the_last_of_several_lines_must_end_with_a_newline() {
        Seal::new().lines(b"a\nb");
    }

    #[test]
    #[should_panic = "footer"]
    fn none_of_several_lines_may_look_like_a_footer() {
        Seal::new().lines(b"a\n{\"footer\":1}\n");
    }

    #[test]
    #[should_panic = "not one line"]
    fn lines_must_end_with_a_newline() {
        Seal::new().line(b"a");
    }

    #[test]
    #[should_panic = "not one line"]
    fn two_lines_at_once_are_refused() {
        Seal::new().line(b"a\nb\n");
    }

    #[test]
    #[should_panic = "footer"]
    fn lines_that_look_like_a_footer_are_refused() {
        Seal::new().line(b"{\"footer\":1}\n");
    }
}
