//! Supplies the bytes of two files, piece by piece.
#![expect(unsafe_code, reason = "mapped files may change while they are compared")]

use std::ops::Range;

use ftk_file::{AlignedBuf, Failure, File, Holes, KnownRange};
use ftk_read::Map;

use crate::Side;
use crate::shared::Shared;

/// One of the two files, and how many bytes of it are skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'f> {
    pub(crate) side: Side,
    pub(crate) file: &'f File,
    pub(crate) skip: u64,
}

impl<'f> Part<'f> {
    /// Returns the length of the compared range, according to the file's size.
    pub(crate) fn len(&self, limit: u64) -> u64 {
        self.file.stat().size.saturating_sub(self.skip).min(limit)
    }

    /// Whether the file's size is synthetic: it has no disk blocks, and is not a hole either. Kernel file
    /// systems report such sizes, and their files must not be mapped.
    pub(crate) fn has_synthetic_size(&self) -> bool {
        !self.file.stat().has_plausible_size() && !Holes::new(self.file, true).at(self.file, 0).holds
    }

    /// Reads the byte at `offset`.
    pub(crate) fn byte(&self, offset: u64) -> Result<u8, (Side, Failure)> {
        let mut byte = [0];
        self.read(&mut byte, offset)?;
        Ok(byte[0])
    }

    /// Fills the buffer with the bytes from `offset` on.
    fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), (Side, Failure)> {
        self.file.read_exact_at(buf, self.skip + offset).map_err(self.side.failed())
    }
}

/// Two files as seen by one worker.
pub(crate) struct Pair<'f> {
    pub(crate) a: View<'f>,
    pub(crate) b: View<'f>,
    shared: Shared<'f>,
}

/// What is known about a position without reading bytes.
pub(crate) enum Known {
    /// Both files are identical up to this offset.
    Equal(u64),
    /// Up to this offset, one of the files is a hole, or neither is. The bytes must be compared.
    Nothing { end: u64, a_is_hole: bool, b_is_hole: bool },
}

impl<'f> Pair<'f> {
    pub(crate) fn new(a: Part<'f>, b: Part<'f>, shortcuts: bool) -> Self {
        let shared = Shared::new((a.file, a.skip), (b.file, b.skip), shortcuts);
        Self { a: View::new(a, shortcuts), b: View::new(b, shortcuts), shared }
    }

    /// Returns what is known from `offset` on.
    pub(crate) fn at(&mut self, offset: u64) -> Known {
        let shared = self.shared.at(offset);
        if shared.holds {
            return Known::Equal(shared.end);
        }
        let (a, b) = (self.a.hole(offset), self.b.hole(offset));
        let end = a.end.min(b.end);
        if a.holds && b.holds {
            return Known::Equal(end);
        }
        Known::Nothing { end: end.min(shared.end), a_is_hole: a.holds, b_is_hole: b.holds }
    }
}

/// One file as seen by one worker.
pub(crate) struct View<'f> {
    part: Part<'f>,
    holes: Holes,
    buf: AlignedBuf,
}

/// Where the bytes of a piece come from.
pub(crate) enum Bytes {
    Zeros,
    /// A mapping of the piece, which begins at this offset.
    Mapped(Map, u64),
    Read,
}

impl<'f> View<'f> {
    pub(crate) fn new(part: Part<'f>, shortcuts: bool) -> Self {
        part.file.expect_pieces();
        Self { part, holes: Holes::new(part.file, shortcuts), buf: AlignedBuf::default() }
    }

    /// Whether there is a hole at `offset`, and where it or the data ends.
    pub(crate) fn hole(&mut self, offset: u64) -> KnownRange {
        let KnownRange { holds, end } = self.holes.at(self.part.file, self.part.skip + offset);
        KnownRange { holds, end: if end == u64::MAX { end } else { end - self.part.skip } }
    }

    /// Prepares the bytes of a piece. If the piece cannot be mapped, it is read.
    pub(crate) fn open(&self, piece: &Range<u64>, is_hole: bool, is_mapped: bool) -> Bytes {
        if is_hole {
            return Bytes::Zeros;
        }
        if is_mapped {
            let (start, end) = (self.part.skip + piece.start, self.part.skip + piece.end);
            if let Ok(map) = Map::new(self.part.file, start..end) {
                return Bytes::Mapped(map, piece.start);
            }
        }
        Bytes::Read
    }

    /// Returns the bytes of one block of the piece.
    pub(crate) fn block<'b>(
        &'b mut self,
        bytes: &'b Bytes,
        block: &Range<u64>,
    ) -> Result<&'b [u8], (Side, Failure)> {
        let len = (block.end - block.start) as usize;
        if let Bytes::Mapped(map, piece_start) = bytes {
            let start = (block.start - piece_start) as usize;
            // SAFETY: blocks are only compared and their newlines counted. A byte that changes meanwhile may
            // be reported as a mismatch of two equal values; `File::verify` then finds the change. We do not
            // write to files that we compare.
            return Ok(&unsafe { map.bytes() }[start..start + len]);
        }
        if self.buf.len() < len {
            self.buf = AlignedBuf::new(len);
        }
        let buf = &mut self.buf[..len];
        match bytes {
            Bytes::Zeros => buf.fill(0),
            _ => self.part.read(buf, block.start)?,
        }
        Ok(buf)
    }

    /// Checks that the bytes of a piece really came from the file.
    pub(crate) fn close(&mut self, bytes: &Bytes, piece: &Range<u64>) -> Result<(), (Side, Failure)> {
        let Bytes::Mapped(map, _) = bytes else { return Ok(()) };
        let Err(missing) = map.check() else { return Ok(()) };
        let lost = self.part.file.lost(missing);
        if matches!(lost, Failure::Io { .. }) {
            // The size and times of the file are unchanged, but part of it could not be loaded. Reading
            // may give the cause, such as a disk error.
            let mut buf = AlignedBuf::new(1 << 20);
            for start in piece.clone().step_by(buf.len()) {
                let len = (piece.end - start).min(buf.len() as u64) as usize;
                self.part.read(&mut buf[..len], start)?;
            }
        }
        Err((self.part.side, lost))
    }
}
