//! Random bytes, the same in every run.

use fastrand::Rng;

/// Alignments of messages in a page: any, as for messages in a file or a longer buffer.
const OFFSETS: usize = 4096;

/// Messages of one length. Each begins anywhere in a page, so that no kernel gains or loses by equal
/// alignment.
pub struct Messages {
    bytes: Vec<u8>,
    starts: Vec<usize>,
    len: usize,
}

impl Messages {
    /// Creates `count` messages of `len` random bytes each.
    pub fn new(count: usize, len: usize) -> Self {
        let mut random = Rng::with_seed(len as u64);
        let mut end = 0;
        let starts: Vec<_> = (0..count)
            .map(|_| {
                let start = end + random.usize(..OFFSETS);
                end = start + len;
                start
            })
            .collect();
        Self { bytes: bytes(&mut random, end), starts, len }
    }

    /// Returns the messages.
    pub fn slices(&self) -> Vec<&[u8]> {
        self.starts.iter().map(|&start| &self.bytes[start..start + self.len]).collect()
    }
}

/// Returns `len` random bytes.
pub fn random_bytes(len: usize) -> Vec<u8> {
    bytes(&mut Rng::with_seed(len as u64), len)
}

fn bytes(random: &mut Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_overlap_and_have_any_alignment() {
        let messages = Messages::new(100, 33);
        let slices = messages.slices();
        assert!(slices.len() == 100 && slices.iter().all(|message| message.len() == 33));
        assert!(slices.windows(2).all(|pair| pair[0].as_ptr_range().end <= pair[1].as_ptr()));
        assert!(slices.iter().any(|message| message.as_ptr() as usize % 2 == 1));
        assert!(slices.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn random_bytes_repeat_from_run_to_run() {
        assert_eq!(random_bytes(13), random_bytes(13));
        assert_eq!(random_bytes(13).len(), 13);
        assert_ne!(random_bytes(16)[..8], random_bytes(16)[8..]);
    }
}
