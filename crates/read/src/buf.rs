//! Buffers, and the chunks of files that they hold.

use std::io;
use std::mem::MaybeUninit;

use ftk_file::{ALIGNMENT_SPARE, File, aligned_start};

/// A buffer of fixed capacity that moves between reader and caller.
///
/// The memory is not zeroed first: zeroing caused half of all page faults in a run over a hundred small
/// files.
#[derive(Debug)]
pub struct Buf {
    /// Only [`Chunk::prepend`] makes it grow; reads never move it.
    bytes: Vec<u8>,
    /// What the buffer holds begins here, which is the [`aligned_start`] of the memory.
    start: usize,
    /// How many bytes of a file the buffer may hold. Its memory may be larger.
    capacity: usize,
    /// This many bytes from `start` are known to be zero, held or not. A buffer that is filled
    /// from holes again and again is therefore zeroed only once.
    zeros: usize,
}

impl Buf {
    /// Creates an empty buffer with room for `len` bytes.
    pub fn new(len: usize) -> Self {
        let mut bytes = Vec::with_capacity(len + ALIGNMENT_SPARE);
        let start = aligned_start(bytes.as_ptr());
        bytes.resize(start, 0);
        Self { bytes, start, capacity: len, zeros: 0 }
    }

    /// Returns how many bytes the buffer can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Removes all bytes.
    pub(crate) fn clear(&mut self) {
        self.bytes.truncate(self.start);
    }

    /// Returns how many bytes the buffer holds.
    pub(crate) fn filled(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Returns how many more bytes the buffer can hold.
    pub(crate) fn left(&self) -> usize {
        self.capacity().saturating_sub(self.filled())
    }

    /// Returns the unused part of the buffer, where the next bytes go.
    pub(crate) fn room(&mut self) -> &mut [MaybeUninit<u8>] {
        // Even a read that fails may write to the room.
        self.zeros = self.zeros.min(self.filled());
        let left = self.left();
        &mut self.bytes.spare_capacity_mut()[..left]
    }

    /// Adds `count` zeros.
    ///
    /// # Panics
    /// If the room is smaller than `count`.
    #[expect(unsafe_code, reason = "bytes that are already zero are not written again")]
    pub(crate) fn add_zeros(&mut self, count: usize) {
        let (start, end) = (self.filled(), self.filled() + count);
        assert!(count <= self.left(), "{count} zeros in a room of {}", self.left());
        let known = if self.zeros >= start { self.zeros.min(end) - start } else { 0 };
        self.bytes.spare_capacity_mut()[known..count].fill(MaybeUninit::new(0));
        if self.zeros >= start {
            self.zeros = self.zeros.max(end);
        }
        // SAFETY: `known` of these bytes were zero before and have not been written since, because `room` is the
        // only access for writing. The others were just written.
        unsafe { self.bytes.set_len(self.start + end) };
    }

    /// Reads once from `offset` of the file into the first `most` bytes of the room. Returns how many bytes
    /// were read.
    ///
    /// # Panics
    /// If the room is smaller than `most`.
    #[expect(unsafe_code, reason = "the kernel writes to memory that the compiler treats as uninitialized")]
    pub(crate) fn read(&mut self, file: &File, offset: u64, most: usize) -> io::Result<usize> {
        let got = file.read_into(&mut self.room()[..most], offset)?;
        // SAFETY: `read_into` returned `got`, the number of bytes it has written to the beginning of the
        // room.
        unsafe { self.grow(got) };
        Ok(got)
    }

    /// Adds the first `got` bytes of the room, which were written from outside, to the bytes the buffer
    /// holds.
    ///
    /// # Safety
    /// The first `got` bytes of the room must have been written, through [`room`](Self::room).
    ///
    /// # Panics
    /// If `got` is larger than the room.
    #[expect(unsafe_code, reason = "the kernel writes to memory that the compiler treats as uninitialized")]
    pub(crate) unsafe fn grow(&mut self, got: usize) {
        let asked = self.left();
        assert!(got <= asked, "a read of {asked} bytes returned {got}");
        // SAFETY: the caller guarantees that these bytes were written, and the assertion above guarantees
        // that they fit.
        unsafe { self.bytes.set_len(self.bytes.len() + got) };
    }

    #[cfg(test)]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room().len());
        self.bytes.extend_from_slice(bytes);
    }
}

/// The position of a chunk in its file, or in the sampled pieces of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The only chunk of the file.
    Only,
    /// The first chunk. More follow.
    First,
    /// A chunk between the first and the last.
    Middle,
    /// The last chunk. It may be empty.
    Last,
}

impl Part {
    /// Returns whether this chunk is the first of its file.
    pub fn is_start(self) -> bool {
        matches!(self, Self::Only | Self::First)
    }
    /// Returns whether this chunk is the last of its file.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Only | Self::Last)
    }
}

/// Consecutive bytes of one file, in the buffer they were read into.
#[derive(Debug)]
pub struct Chunk {
    /// The slot on which the file was started.
    pub slot: u32,
    /// The position of the bytes in the file.
    pub part: Part,
    pub(crate) buf: Buf,
}

impl Chunk {
    /// Returns the buffer for reuse.
    pub fn into_buf(self) -> Buf {
        self.buf
    }

    /// Puts bytes before those of the file. The chunk may then be longer than the buffer's capacity.
    pub fn prepend(&mut self, bytes: &[u8]) {
        let Buf { bytes: held, start, zeros, .. } = &mut self.buf;
        held.reserve_exact(bytes.len());
        held.splice(*start..*start, bytes.iter().copied());
        *zeros = 0;
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.buf.bytes[self.buf.start..]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Zeros(usize),
        Data(usize),
        /// A failed read that wrote this many bytes.
        Failed(usize),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0..50_usize).prop_map(Step::Zeros),
            2 => (0..50_usize).prop_map(Step::Data),
            1 => (0..50_usize).prop_map(Step::Failed),
            2 => Just(Step::Clear),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn added_zeros_are_zero_whatever_was_there_before(steps in prop::collection::vec(step(), 0..40)) {
            let mut buf = Buf::new(64);
            let mut expected = Vec::new();
            for step in steps {
                match step {
                    Step::Zeros(count) => {
                        let count = count.min(buf.left());
                        buf.add_zeros(count);
                        expected.resize(expected.len() + count, 0);
                    }
                    Step::Data(count) => {
                        let count = count.min(buf.left());
                        buf.append(&vec![7; count]);
                        expected.resize(expected.len() + count, 7);
                    }
                    Step::Failed(count) => {
                        let count = count.min(buf.left());
                        buf.room()[..count].fill(MaybeUninit::new(9));
                    }
                    Step::Clear => {
                        buf.clear();
                        expected.clear();
                    }
                }
                prop_assert_eq!(&buf.bytes[buf.start..], &expected);
                prop_assert!(buf.zeros <= buf.capacity());
            }
        }
    }

    #[test]
    fn reads_begin_at_an_aligned_address() {
        for len in [1, 300, 64 << 10, 256 << 10, 1 << 20] {
            let mut buf = Buf::new(len);
            for _ in 0..2 {
                assert_eq!((buf.room().len(), aligned_start(buf.room().as_ptr().cast())), (len, 0));
                buf.append(&vec![7; len]);
                buf.clear();
            }
        }
    }

    #[test]
    fn a_buffer_that_is_filled_from_holes_is_zeroed_once() {
        let mut buf = Buf::new(64);
        for _ in 0..3 {
            buf.clear();
            buf.add_zeros(40);
            assert_eq!((buf.zeros, buf.filled()), (40, 40));
        }
        buf.clear();
        buf.append(&[7; 10]);
        assert_eq!(buf.zeros, 0);
    }
}
