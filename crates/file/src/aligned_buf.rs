//! Memory that the kernel copies into at full speed.

use std::ops::{Deref, DerefMut};

/// The alignment of memory for reads, in bytes: a cache line.
const LINE: usize = 64;

/// The distance of the starts of pages, in bytes. Reads never begin in the first line of a page.
const PAGE: usize = 4096;

/// Memory for reads must be this many bytes longer than the reads, so that it has an [`aligned_start`].
pub const ALIGNMENT_SPARE: usize = 2 * LINE - 1;

/// Returns where reads into this memory should begin, in bytes from its start. The result is at most
/// [`ALIGNMENT_SPARE`].
///
/// The kernel copies from the page cache with `rep movsb`, from the start of a page. On Zen 3 this is six times slower
/// than usual if the destination is 8 or 16 bytes further into its page than the source: a GiB of a cached file took
/// 0.39 s instead of 0.07. The C library's allocator returns exactly that for large blocks, 16 bytes after the start of a
/// page. glibc's memcpy avoids `rep movsb` for that reason (bug 30994). Other models are slow for the start of a page too
/// (OpenDAL issue 3665). Therefore reads begin at a cache line that is not the first of a page.
pub fn aligned_start(memory: *const u8) -> usize {
    let line = memory.addr().next_multiple_of(LINE);
    let start = if line.is_multiple_of(PAGE) { line + LINE } else { line };
    start - memory.addr()
}

/// Zeroed memory for reads, with a fixed length and an [`aligned_start`].
#[derive(Debug, Default)]
pub struct AlignedBuf {
    memory: Box<[u8]>,
    start: usize,
    len: usize,
}

impl AlignedBuf {
    /// Allocates `len` bytes.
    pub fn new(len: usize) -> Self {
        let memory = vec![0; len + ALIGNMENT_SPARE].into_boxed_slice();
        let start = aligned_start(memory.as_ptr());
        Self { memory, start, len }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_begin_at_a_line_that_is_not_the_first_of_a_page() {
        for (address, expected) in
            [(0x1000, 64), (0x1001, 63), (0x1010, 48), (0x103f, 1), (0x1040, 0), (0x1041, 63), (0x1fc1, 127)]
        {
            assert_eq!(aligned_start(std::ptr::without_provenance(address)), expected, "{address:#x}");
        }
    }

    #[test]
    fn the_memory_is_aligned_zeroed_and_as_long_as_asked() {
        for len in [1, 63, 64, 4096, 100_000, 1 << 20] {
            let mut buf = AlignedBuf::new(len);
            let address = buf.as_ptr().addr();
            assert!(buf.len() == len && buf.iter().all(|&byte| byte == 0));
            assert!(address.is_multiple_of(LINE) && !address.is_multiple_of(PAGE), "{address:#x}");
            buf.fill(7);
        }
        assert!(AlignedBuf::new(0).is_empty());
    }
}
