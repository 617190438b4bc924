//! The number of files that an io_uring reader reads at once.

use crate::Uring;

/// Descriptors reserved for the rest of the process.
const SPARE: u64 = 16;

/// Returns the number of slots for a [`Uring`] whose buffers may use `memory_bytes` and which may open
/// `descriptors` files.
///
/// The result is 256, which is enough to hide the latency of a cold disk, or less if memory or descriptors do
/// not suffice. It is at least 8 however little memory there is, but can be 1 if descriptors are scarce.
pub fn depth(memory_bytes: u64, descriptors: u64) -> usize {
    let by_memory = (memory_bytes / Uring::BUF_LEN as u64).clamp(8, 256);
    by_memory.min(descriptors.saturating_sub(SPARE)).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn depth_is_bounded_by_memory_and_descriptors() {
        assert_eq!(depth(0, 1024), 8);
        assert_eq!(depth(1 << 20, 1024), 32);
        assert_eq!(depth(u64::MAX, 1024), 256);
        assert_eq!(depth(u64::MAX, 64), 48);
        assert_eq!(depth(u64::MAX, 3), 1);
    }
}
