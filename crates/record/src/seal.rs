//! Files of lines that show whether they are complete: the writing half.

use std::io::Write as _;

use data_encoding::HEXLOWER;
use memchr::memchr;
use sha2::{Digest as _, Sha256};

/// What a footer begins with, and no other line may.
pub(crate) const FOOTER: &[u8] = b"{\"footer\":";

/// Counts and hashes the lines of a report, a manifest or a journal, and makes the footer that seals them.
///
/// The footer is the last line, and of whatever was lost, changed or added before it, it tells:
/// `{"footer":{"records":N,"sha256":"..."}}`, where `records` is the number of all lines before it and `sha256` the
/// digest of all their bytes, newlines included. It protects from accidents. Who can change a file on purpose can
/// change its footer too.
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
    /// Longest line, in bytes without its newline. The longest path that a walk can give, ten thousand levels of
    /// names of 255 bytes that all have to be escaped, takes 16 MB, and this leaves three times as much for what is
    /// said of it. A reader refuses what is longer, so that no input makes it take all memory.
    pub const MAX_LINE: usize = 64 << 20;

    /// A seal of no lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line, its newline included, to what is sealed.
    ///
    /// # Panics
    /// If this is not exactly one line, if it is longer than [`MAX_LINE`](Self::MAX_LINE), or if it begins as a
    /// footer does: no reader would understand it.
    pub fn line(&mut self, line: &[u8]) {
        assert_eq!(memchr(b'\n', line), line.len().checked_sub(1), "not one line with its end");
        assert!(line.len() <= Self::MAX_LINE + 1, "a line of {} bytes", line.len());
        assert!(!line.starts_with(FOOTER), "a line that looks like a footer");
        self.add(line);
    }

    /// Appends the footer, a line of its own, to `out`.
    pub fn footer(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(FOOTER);
        let sha256 = HEXLOWER.encode(&self.sha256.clone().finalize());
        // A Vec takes everything.
        let _ = writeln!(out, "{{\"records\":{},\"sha256\":\"{sha256}\"}}}}", self.records);
    }

    /// Adds a line that was looked at already.
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
    #[should_panic = "not one line"]
    fn a_line_has_an_end() {
        Seal::new().line(b"a");
    }

    #[test]
    #[should_panic = "not one line"]
    fn two_lines_are_not_one() {
        Seal::new().line(b"a\nb\n");
    }

    #[test]
    #[should_panic = "footer"]
    fn no_line_looks_like_a_footer() {
        Seal::new().line(b"{\"footer\":1}\n");
    }
}
