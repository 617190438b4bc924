//! How many files a ring reads at once.

use crate::Uring;

/// Descriptors left to the rest of the process.
const SPARE: u64 = 16;

/// The slots of a [`Uring`] that may use `memory_bytes` of buffers and `descriptors` of the limit on open
/// files: 256, which hides a cold disk, or as many as fit, but at least 8 by memory and 1 by descriptors.
pub fn depth(memory_bytes: u64, descriptors: u64) -> usize {
    let by_memory = (memory_bytes / Uring::BUF_LEN as u64).clamp(8, 256);
    by_memory.min(descriptors.saturating_sub(SPARE)).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn bounded_by_memory_and_descriptors() {
        assert_eq!(depth(0, 1024), 8);
        assert_eq!(depth(1 << 20, 1024), 32);
        assert_eq!(depth(u64::MAX, 1024), 256);
        assert_eq!(depth(u64::MAX, 64), 48);
        assert_eq!(depth(u64::MAX, 3), 1);
    }
}
