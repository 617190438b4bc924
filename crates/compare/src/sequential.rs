//! Two inputs from front to back, by the calling thread: streams, small files, and stretches where mismatch follows
//! on mismatch.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use ftk_read::Failure;

use crate::input::Input;
use crate::kernel::differences;
use crate::options::FileResources;
use crate::outcome::{End, Lines};
use crate::{Mismatch, Side};

/// Bytes of the first look. Each that follows is twice as long, up to what the buffers hold: a difference near the start
/// is found before much else was read.
const FIRST: usize = 16 << 10;

/// Where mismatches go, and how many more are wanted.
pub(crate) struct Sink<'s> {
    pub(crate) left: u64,
    pub(crate) delivered: u64,
    pub(crate) first: Option<u64>,
    found: &'s mut dyn FnMut(Mismatch) -> ControlFlow<()>,
}

impl<'s> Sink<'s> {
    /// For so many at most; `0` for all.
    pub(crate) fn new(max: u64, found: &'s mut dyn FnMut(Mismatch) -> ControlFlow<()>) -> Self {
        Self { left: if max == 0 { u64::MAX } else { max }, delivered: 0, first: None, found }
    }

    /// Hands out the next one. `Break` when no other is wanted.
    pub(crate) fn deliver(&mut self, mismatch: Mismatch) -> ControlFlow<()> {
        self.first.get_or_insert(mismatch.offset);
        self.delivered += 1;
        self.left -= 1;
        (self.found)(mismatch)?;
        if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Up to where the inputs are equal, if there is a difference.
    pub(crate) fn equal_to(&self, end: End) -> Option<u64> {
        match end {
            End::Shorter { bytes, .. } => Some(self.first.unwrap_or(bytes)),
            End::Together | End::Enough { .. } => self.first,
            End::Stopped => None,
        }
    }
}

/// Counts the lines of bytes that are shown to it in order.
impl Lines {
    /// Of nothing.
    pub(crate) const NONE: Self = Self { newlines: 0, is_line_start: true };

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.newlines += newlines(bytes);
        self.is_line_start = bytes.last().map_or(self.is_line_start, |&byte| byte == b'\n');
    }
}

/// How many ends of lines there are.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    if bytes.len() < FEW {
        return bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Fewer bytes are counted sooner than the crate has looked at the CPU, which it does once: in a virtual machine that
/// took 85 µs where it was measured.
const FEW: usize = 64 << 10;

/// Two inputs that stand at the same offset.
pub(crate) struct Sequential<'s> {
    pub(crate) a: &'s mut dyn Input,
    pub(crate) b: &'s mut dyn Input,
    /// The offset.
    pub(crate) at: u64,
    /// Where nothing more is compared.
    pub(crate) limit: u64,
    /// After so many equal bytes behind a mismatch others go on; `u64::MAX` where nobody is there to.
    pub(crate) clean: u64,
    /// Counts the lines of what is equal at the start.
    pub(crate) lines: Option<&'s mut Lines>,
}

impl Sequential<'_> {
    /// Compares until something ends it. `None`: the limit, or enough equal bytes. Everything before the offset is
    /// then compared.
    pub(crate) fn run(
        &mut self,
        sink: &mut Sink<'_>,
        buf_len: usize,
        env: &FileResources<'_>,
    ) -> Result<Option<End>, (Side, Failure)> {
        let (mut a, mut b) = (vec![0; buf_len], vec![0; buf_len]);
        let mut clean_from = self.at;
        let mut most = FIRST.min(buf_len);
        while self.at < self.limit && self.at - clean_from < self.clean {
            if env.stop.is_raised() {
                return Ok(Some(End::Stopped));
            }
            let ask = (self.limit - self.at).min(most as u64) as usize;
            most = (2 * most).min(buf_len);
            let a_len = self.a.fill(&mut a[..ask]).map_err(|failure| (Side::A, failure))?;
            let b_len = self.b.fill(&mut b[..ask]).map_err(|failure| (Side::B, failure))?;
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
            env.done.fetch_max(self.at, Relaxed);
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
