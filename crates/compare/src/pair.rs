//! Two files: where their bytes come from, piece by piece.
#![expect(unsafe_code, reason = "mapped files may change while they are looked at")]

use std::io;
use std::ops::Range;

use ftk_read::{Failure, File, Map};

use crate::Side;
use crate::holes::{Holes, KnownRange};
use crate::shared::Shared;

/// One of two files and what is skipped of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'f> {
    pub(crate) side: Side,
    pub(crate) file: &'f File,
    pub(crate) skip: u64,
}

impl<'f> Part<'f> {
    /// Bytes to be compared, as far as the file's size can be believed.
    pub(crate) fn len(&self, limit: u64) -> u64 {
        self.file.stat().size.saturating_sub(self.skip).min(limit)
    }

    /// Whether somebody made the size up: the file takes no place on a disk, and is no hole either. Kernels show files of
    /// their own like that, which are not to be mapped.
    pub(crate) fn has_made_up_size(&self) -> bool {
        self.file.stat().blocks == 0 && !Holes::new(self.file, true).at(0).holds
    }

    fn failed(&self, op: &'static str, source: io::Error) -> (Side, Failure) {
        (self.side, Failure::Io { op, source })
    }

    /// What is said of a file that has fewer bytes than it had, or has a page no more.
    fn lost(&self, source: io::Error) -> (Side, Failure) {
        match self.file.verify(0, 2) {
            Err(failure) => (self.side, failure),
            Ok(()) => self.failed("read", source),
        }
    }

    /// The byte at `offset`.
    pub(crate) fn byte(&self, offset: u64) -> Result<u8, (Side, Failure)> {
        let mut byte = [0];
        self.read(&mut byte, offset)?;
        Ok(byte[0])
    }

    /// Fills the buffer with the bytes from `offset` on.
    fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), (Side, Failure)> {
        let mut len = 0;
        while len < buf.len() {
            let at = self.skip + offset + len as u64;
            match self.file.read_at(&mut buf[len..], at) {
                Ok(0) => return Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
                Ok(got) => len += got,
                Err(source) => return Err(self.failed("read", source)),
            }
        }
        Ok(())
    }
}

/// Two files as one worker sees them.
pub(crate) struct Pair<'f> {
    pub(crate) a: View<'f>,
    pub(crate) b: View<'f>,
    shared: Shared<'f>,
}

/// What is known of a place without a look at the bytes.
pub(crate) enum Known {
    /// Both files have the same up to this offset.
    Equal(u64),
    /// Up to this offset the first is a hole, or the second, or neither.
    Nothing { end: u64, a_is_hole: bool, b_is_hole: bool },
}

impl<'f> Pair<'f> {
    pub(crate) fn new(a: Part<'f>, b: Part<'f>, shortcuts: bool) -> Self {
        let shared = Shared::new((a.file, a.skip), (b.file, b.skip), shortcuts);
        Self { a: View::new(a, shortcuts), b: View::new(b, shortcuts), shared }
    }

    /// What is known from `offset` on.
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

/// One file as one worker sees it.
pub(crate) struct View<'f> {
    part: Part<'f>,
    holes: Holes<'f>,
    buf: Vec<u8>,
}

/// Where the bytes of a piece come from.
pub(crate) enum Bytes {
    Zeros,
    /// A mapping, and the offset at which it begins, as an offset of the file.
    Mapped(Map, u64),
    Read,
}

impl<'f> View<'f> {
    pub(crate) fn new(part: Part<'f>, shortcuts: bool) -> Self {
        Self { part, holes: Holes::new(part.file, shortcuts), buf: Vec::new() }
    }

    /// Whether there is a hole at `offset`, and up to where that goes.
    pub(crate) fn hole(&mut self, offset: u64) -> KnownRange {
        let KnownRange { holds, end } = self.holes.at(self.part.skip + offset);
        KnownRange { holds, end: if end == u64::MAX { end } else { end - self.part.skip } }
    }

    /// Makes the bytes of a piece ready. What cannot be mapped is read.
    pub(crate) fn open(&self, piece: &Range<u64>, is_hole: bool, is_mapped: bool) -> Bytes {
        if is_hole {
            return Bytes::Zeros;
        }
        if is_mapped {
            let (start, end) = (self.part.skip + piece.start, self.part.skip + piece.end);
            let page_start = start - start % rustix::param::page_size() as u64;
            if let Ok(map) = Map::new(self.part.file, page_start..end) {
                return Bytes::Mapped(map, page_start);
            }
        }
        Bytes::Read
    }

    /// The bytes of a block of the piece.
    pub(crate) fn block<'b>(
        &'b mut self,
        bytes: &'b Bytes,
        block: &Range<u64>,
    ) -> Result<&'b [u8], (Side, Failure)> {
        let len = (block.end - block.start) as usize;
        if let Bytes::Mapped(map, map_start) = bytes {
            let start = (self.part.skip + block.start - map_start) as usize;
            // SAFETY: blocks are compared and their newlines counted. A mismatch that changes while it is looked at may
            // be told with two equal values; `File::verify` finds that. We do not write to files that we compare.
            return Ok(&unsafe { map.bytes() }[start..start + len]);
        }
        if self.buf.len() < len {
            self.buf.resize(len, 0);
        }
        let buf = &mut self.buf[..len];
        match bytes {
            Bytes::Zeros => buf.fill(0),
            _ => self.part.read(buf, block.start)?,
        }
        Ok(buf)
    }

    /// Whether the bytes that came from a piece were the file's.
    pub(crate) fn close(&mut self, bytes: &Bytes, piece: &Range<u64>) -> Result<(), (Side, Failure)> {
        let Bytes::Mapped(map, _) = bytes else { return Ok(()) };
        let Err(missing) = map.check() else { return Ok(()) };
        let lost = self.part.lost(missing);
        if matches!(lost.1, Failure::Io { .. }) {
            // Neither its length nor its times say why, but reading may: a disk that fails says so.
            let mut buf = vec![0; 1 << 20];
            for start in piece.clone().step_by(buf.len()) {
                let len = (piece.end - start).min(buf.len() as u64) as usize;
                self.part.read(&mut buf[..len], start)?;
            }
        }
        Err(lost)
    }
}
