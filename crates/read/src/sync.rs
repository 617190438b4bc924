//! The reader that uses plain system calls: `openat`, `fstat`, `pread`, `close`.

use std::collections::VecDeque;
use std::mem;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use ftk_file::{Failure, File, Stat};

use crate::name::Name;
use crate::progress::{Filling, Progress};
use crate::{Buf, How, Open, Reader, Ready};

/// Reads one file at a time with plain system calls, each time it is polled.
///
/// This reader works everywhere, and is the fastest for files in the page cache. `start` and `more` only
/// record the request. Every `poll`, with or without `wait`, opens or reads one file and blocks for it if
/// necessary. Files that are already open are read before others are opened, so that their descriptors are
/// closed soon.
///
/// If descriptors run out while this reader has files open, the next open waits until one of them is closed.
/// When only such opens are left, `poll` returns `None`, with or without `wait`: the caller has a chunk of
/// every open file, and must request more of one, finish it or cancel it.
#[derive(Debug)]
pub struct SyncReader {
    slots: Vec<Slot>,
    names: Vec<Name>,
    opens: VecDeque<u32>,
    reads: VecDeque<u32>,
    /// Number of open files.
    held: usize,
    /// Whether the last open failed because no descriptor was free, and none was freed since.
    is_starved: bool,
    buf_len: usize,
}

#[derive(Debug)]
enum Slot {
    Free,
    Opening {
        dir: Rc<OwnedFd>,
        how: How,
        buf: Buf,
    },
    Reading(Filling),
    /// The caller has a chunk.
    Out(Box<Progress>),
}

impl SyncReader {
    /// Buffer size, in bytes, for several files side by side.
    pub const LANE_BUF_LEN: usize = 64 << 10;
    /// Buffer size, in bytes, for one file alone. A larger buffer no longer fits the second-level cache.
    pub const STREAM_BUF_LEN: usize = 256 << 10;

    /// Creates a reader of `slots` files at once that asks for buffers of `buf_len` bytes.
    ///
    /// # Panics
    /// If `slots` or `buf_len` is 0.
    pub fn new(slots: usize, buf_len: usize) -> Self {
        assert!(slots > 0 && buf_len > 0, "a reader needs at least one slot and a buffer size");
        Self {
            slots: (0..slots).map(|_| Slot::Free).collect(),
            names: vec![Name::new(); slots],
            opens: VecDeque::new(),
            reads: VecDeque::new(),
            held: 0,
            is_starved: false,
            buf_len,
        }
    }

    /// Takes over a file that another reader opened, to continue reading it.
    pub(crate) fn adopt(&mut self, filling: Filling) {
        let slot = filling.slot();
        self.held += 1;
        self.reads.push_back(slot);
        let before = mem::replace(&mut self.slots[slot as usize], Slot::Reading(filling));
        assert!(matches!(before, Slot::Free), "slot {slot} is in use");
    }

    /// Records that a descriptor was freed, so that waiting opens are tried again.
    pub(crate) fn descriptor_freed(&mut self) {
        self.is_starved = false;
    }

    /// Polls as a part of another reader, the owner. `owner_holds` is whether the owner has, or is about to
    /// have, files open: then an open that finds no free descriptor waits instead of failing.
    pub(crate) fn poll_for_owner(&mut self, owner_holds: bool) -> Option<Ready> {
        if let Some(slot) = self.reads.pop_front() {
            let Slot::Reading(filling) = self.take(slot) else {
                unreachable!("slot {slot} is not being read")
            };
            return Some(self.fill(filling));
        }
        let may_wait = owner_holds || self.held > 0;
        if self.is_starved && may_wait {
            return None;
        }
        let slot = self.opens.pop_front()?;
        let Slot::Opening { dir, how, buf } = self.take(slot) else {
            unreachable!("slot {slot} is not being opened")
        };
        match File::open_with(&*dir, self.names[slot as usize].as_c_str(), how.symlinks, how.birth) {
            Ok(file) => {
                self.held += 1;
                Some(self.fill(Filling::new(Progress::new(slot, file, how), buf)))
            }
            Err(failure) if may_wait && failure.is_out_of_descriptors() => {
                self.slots[slot as usize] = Slot::Opening { dir, how, buf };
                self.opens.push_front(slot);
                self.is_starved = true;
                None
            }
            Err(failure) => Some(Ready::Failed { slot, buf, failure }),
        }
    }

    fn fill(&mut self, filling: Filling) -> Ready {
        let slot = filling.slot();
        match filling.fill() {
            Ok((progress, chunk)) => {
                self.slots[slot as usize] = Slot::Out(progress);
                Ready::Data(chunk)
            }
            Err((buf, failure)) => {
                self.file_closed();
                Ready::Failed { slot, buf, failure }
            }
        }
    }

    fn file_closed(&mut self) {
        self.held -= 1;
        self.descriptor_freed();
    }

    fn take(&mut self, slot: u32) -> Slot {
        mem::replace(&mut self.slots[slot as usize], Slot::Free)
    }

    fn take_progress(&mut self, slot: u32) -> Box<Progress> {
        match self.take(slot) {
            Slot::Out(progress) => progress,
            other => panic!("the caller has no chunk of slot {slot}: {other:?}"),
        }
    }
}

impl Reader for SyncReader {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn buf_len(&self) -> usize {
        self.buf_len
    }

    fn start(&mut self, slot: u32, file: Open<'_>, buf: Buf) {
        let Open { dir, name, how } = file;
        self.names[slot as usize].set(name);
        self.opens.push_back(slot);
        let place = &mut self.slots[slot as usize];
        assert!(matches!(place, Slot::Free), "slot {slot} is in use");
        *place = Slot::Opening { dir: Rc::clone(dir), how, buf };
    }

    fn more(&mut self, slot: u32, buf: Buf) {
        let progress = self.take_progress(slot);
        self.slots[slot as usize] = Slot::Reading(Filling::new(progress, buf));
        self.reads.push_back(slot);
    }

    fn poll(&mut self, _wait: bool) -> Option<Ready> {
        self.poll_for_owner(false)
    }

    fn stat(&self, slot: u32) -> &Stat {
        match &self.slots[slot as usize] {
            Slot::Out(progress) => progress.stat(),
            other => panic!("the caller has no chunk of slot {slot}: {other:?}"),
        }
    }

    fn file(&self, slot: u32) -> Option<&File> {
        match &self.slots[slot as usize] {
            Slot::Out(progress) => Some(progress.file()),
            other => panic!("the caller has no chunk of slot {slot}: {other:?}"),
        }
    }

    fn is_written_back(&self, slot: u32) -> bool {
        match &self.slots[slot as usize] {
            Slot::Out(progress) => progress.is_written_back(),
            other => panic!("the caller has no chunk of slot {slot}: {other:?}"),
        }
    }

    fn finish(&mut self, slot: u32) -> Result<Stat, Failure> {
        let result = self.take_progress(slot).finish();
        self.file_closed();
        result
    }

    fn cancel(&mut self, slot: u32) {
        drop(self.take_progress(slot));
        self.file_closed();
    }
}
