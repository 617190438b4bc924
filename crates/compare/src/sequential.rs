//! Compares two inputs from front to back on the calling thread: streams, small files, and ranges with dense
//! mismatches.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use ftk_file::{AlignedBuf, Failure};

use crate::input::Input;
use crate::kernel::differences;
use crate::options::FileResources;
use crate::outcome::{End, Lines};
use crate::{Mismatch, Side};

/// Bytes of the first read. Each following read is twice as large, up to the size of the buffers. A
/// difference near the start is found before much is read.
const FIRST: usize = 16 << 10;

/// Where mismatches go, and how many more are wanted.
pub(crate) struct Sink<'s> {
    pub(crate) left: u64,
    pub(crate) delivered: u64,
    pub(crate) first: Option<u64>,
    found: &'s mut dyn FnMut(Mismatch) -> ControlFlow<()>,
}

impl<'s> Sink<'s> {
    /// Creates a sink for at most `max` mismatches; `0` means all.
    pub(crate) fn new(max: u64, found: &'s mut dyn FnMut(Mismatch) -> ControlFlow<()>) -> Self {
        Self { left: if max == 0 { u64::MAX } else { max }, delivered: 0, first: None, found }
    }

    /// Passes on the next mismatch. Returns `Break` if no more are wanted.
    pub(crate) fn deliver(&mut self, mismatch: Mismatch) -> ControlFlow<()> {
        self.first.get_or_insert(mismatch.offset);
        self.delivered += 1;
        self.left -= 1;
        (self.found)(mismatch)?;
        if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns the offset up to which the inputs are equal, if there is a difference.
    pub(crate) fn equal_to(&self, end: End) -> Option<u64> {
        match end {
            End::Shorter { bytes, .. } => Some(self.first.unwrap_or(bytes)),
            End::Together | End::Enough { .. } => self.first,
            End::Stopped => None,
        }
    }
}

/// Counts the lines of consecutive bytes.
impl Lines {
    /// The lines of an empty input.
    pub(crate) const NONE: Self = Self { newlines: 0, is_line_start: true };

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.newlines += newlines(bytes);
        self.is_line_start = bytes.last().map_or(self.is_line_start, |&byte| byte == b'\n');
    }
}

/// Counts newlines.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    if bytes.len() < FEW {
        return bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Below this number of bytes, a simple loop is faster: `memchr` first detects the CPU's features, once per
/// process. In a virtual machine this took 85 µs.
const FEW: usize = 64 << 10;

/// Two inputs at the same offset.
pub(crate) struct Sequential<'s> {
    pub(crate) a: &'s mut dyn Input,
    pub(crate) b: &'s mut dyn Input,
    /// The current offset.
    pub(crate) at: u64,
    /// The offset at which the comparison ends.
    pub(crate) limit: u64,
    /// Return to the parallel search after this many equal bytes; `u64::MAX` if there is none.
    pub(crate) clean: u64,
    /// Counts the lines in the equal bytes at the start.
    pub(crate) lines: Option<&'s mut Lines>,
}

impl Sequential<'_> {
    /// Compares until something ends the comparison, and returns the cause. Returns `None` at `limit`, or
    /// after `clean` equal bytes since the last mismatch; everything before the current offset has then been
    /// compared.
    pub(crate) fn run(
        &mut self,
        sink: &mut Sink<'_>,
        buf_len: usize,
        resources: &FileResources<'_>,
    ) -> Result<Option<End>, (Side, Failure)> {
        let (mut a, mut b) = (AlignedBuf::new(buf_len), AlignedBuf::new(buf_len));
        let mut clean_from = self.at;
        let mut max = FIRST.min(buf_len);
        while self.at < self.limit && self.at - clean_from < self.clean {
            if resources.stop.is_raised() {
                return Ok(Some(End::Stopped));
            }
            let ask = (self.limit - self.at).min(max as u64) as usize;
            max = (2 * max).min(buf_len);
            let a_len = self.a.fill(&mut a[..ask]).map_err(Side::A.failed())?;
            let b_len = self.b.fill(&mut b[..ask]).map_err(Side::B.failed())?;
            let len = a_len.min(b_len);
            let (a, b) = (&a[..len], &b[..len]);
            let mut nothing_yet = sink.first.is_none();
            for index in differences(a, b) {
                if nothing_yet {
                    self.count(&a[..index]);
                    nothing_yet = false;
                }
                let offset = self.at + index as u64;
                clean_from = offset + 1;
                if sink.deliver(Mismatch { offset, a: a[index], b: b[index] }).is_break() {
                    self.at = clean_from;
                    return Ok(Some(End::Enough { at: self.at }));
                }
            }
            if nothing_yet {
                self.count(a);
            }
            self.at += len as u64;
            resources.done.fetch_max(2 * self.at, Relaxed);
            if a_len != b_len {
                let side = if a_len < b_len { Side::A } else { Side::B };
                return Ok(Some(End::Shorter { side, bytes: self.at }));
            }
            if len < ask {
                return Ok(Some(End::Together));
            }
        }
        Ok(None)
    }

    fn count(&mut self, bytes: &[u8]) {
        if let Some(lines) = &mut self.lines {
            lines.add(bytes);
        }
    }
}
