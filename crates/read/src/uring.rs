//! The io_uring reader: many files under way at once, so that a cold disk always has work.
//!
//! ```text
//! start ─▶ openat ─▶ (fstat) ─▶ read ─▶ … ─▶ chunk out ─▶ (close)      plain system calls in parentheses
//!            │                    │
//!            └── refused ─────────┴─▶ the same file goes on in the SyncReader reader
//! ```
//!
//! The stages are not linked, since a read shorter than asked would break the chain; descriptors are ordinary,
//! since the kernel cannot `fstat` its own kind; and every operation has a completion that is waited for before
//! its slot is used again. A slot owns what its one operation points to: the name, the buffer, and a share of
//! the directory, whose number must not be given to another directory while the open is queued.
#![expect(unsafe_code, reason = "the kernel is handed pointers, and hands out descriptors")]

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::rc::Rc;

use rustix::io::Errno;

use crate::file::{open_failure, open_flags};
use crate::name::Name;
use crate::progress::{Filling, Progress};
use crate::ring::{self, Completion, Op, Ring};
use crate::sync::SyncReader;
use crate::{Buf, Failure, File, Open, Reader, Ready, Span, Stat};

/// Operations that the ring may refuse before it is no longer used: a kernel or a file system that refuses
/// this often refuses always.
const PATIENCE: u32 = 8;

/// Times in a row the kernel may be too busy to take operations before the ring counts as broken.
const BUSY_PATIENCE: u32 = 64;

/// The key of operations that belong to no slot.
const NO_SLOT: u64 = u64::MAX;

/// Reads many files at once through io_uring.
///
/// Operations are handed to the kernel when half the slots have one queued, or when a `poll` finds nothing
/// ready. What the ring refuses is read with plain system calls instead, and after the eighth refusal all else
/// is too; so is everything when the ring breaks down in mid-run. The bytes and failures are the same.
pub struct Uring {
    slots: Vec<Slot>,
    names: Vec<Name>,
    /// The key of the operation that each slot has in flight, or `NO_SLOT`.
    keys: Vec<u64>,
    /// Operations so far. Each has a key of its own, so that a completion that comes twice is not taken for the next.
    serial: u32,
    ring: Option<Box<dyn Ring>>,
    /// Operations queued or handed over whose completion was not taken.
    in_flight: usize,
    /// Files held open, those of `plain` aside.
    held: usize,
    refusals: u32,
    busy: u32,
    ready: VecDeque<Ready>,
    plain: SyncReader,
}

enum Slot {
    Free,
    /// An open is in flight. It points to the name of the slot.
    Opening {
        dir: Rc<OwnedFd>,
        follow: bool,
        span: Span,
        buf: Buf,
    },
    /// A read into the buffer is in flight.
    Reading(Filling),
    /// A chunk is out, or waits in `ready`.
    Out(Progress),
    /// This slot is the plain reader's.
    Plain,
}

impl Uring {
    /// Bytes of a buffer: small, since there are many, and most files are smaller still.
    pub const BUF_LEN: usize = 32 << 10;

    /// A reader of `depth` files at once, for which [`depth`](crate::depth()) has a good number, that asks for
    /// buffers of `buf_len` bytes.
    ///
    /// # Errors
    /// If there is no ring to be had: no such system call, forbidden (as in most containers), no memory, no
    /// descriptor, or [`io::ErrorKind::Unsupported`] outside of Linux. Use [`SyncReader`] then.
    ///
    /// # Panics
    /// If `depth` or `buf_len` is 0.
    pub fn new(depth: usize, buf_len: usize) -> io::Result<Self> {
        let entries = u32::try_from(depth).map_err(io::Error::other)?;
        Ok(Self::on(ring::open(entries)?, depth, buf_len))
    }

    pub(crate) fn on(ring: Box<dyn Ring>, depth: usize, buf_len: usize) -> Self {
        Self {
            slots: (0..depth).map(|_| Slot::Free).collect(),
            names: vec![Name::new(); depth],
            keys: vec![NO_SLOT; depth],
            serial: 0,
            ring: Some(ring),
            in_flight: 0,
            held: 0,
            refusals: 0,
            busy: 0,
            ready: VecDeque::new(),
            plain: SyncReader::new(depth, buf_len),
        }
    }

    fn is_retired(&self) -> bool {
        self.ring.is_none() || self.refusals >= PATIENCE
    }

    /// Opens the file of `slot`, whose name is set.
    fn open(&mut self, slot: u32, dir: Rc<OwnedFd>, follow: bool, span: Span, buf: Buf) {
        if self.is_retired() {
            return self.open_plainly(slot, &dir, follow, span, buf);
        }
        let op = Op::Open {
            dir: dir.as_raw_fd(),
            name: self.names[slot as usize].as_c_str().as_ptr(),
            flags: open_flags(follow),
        };
        self.slots[slot as usize] = Slot::Opening { dir, follow, span, buf };
        // SAFETY: the name's bytes are on the heap and stay as they are until `complete` frees the slot, and
        // the slot's `dir` keeps the directory open; `abandon` leaks the name if the completion never comes.
        unsafe { self.push(slot, op) };
    }

    fn open_plainly(&mut self, slot: u32, dir: &Rc<OwnedFd>, follow: bool, span: Span, buf: Buf) {
        self.slots[slot as usize] = Slot::Plain;
        let name = self.names[slot as usize].as_c_str();
        self.plain.start(slot, Open { dir, name, follow, span }, buf);
    }

    /// Reads on. The file counts as held.
    fn read(&mut self, filling: Filling) {
        if self.is_retired() {
            return self.read_plainly(filling);
        }
        let slot = filling.slot();
        self.slots[slot as usize] = Slot::Reading(filling);
        // The pointer is made of the buffer where it stays: a `Filling` that moves would end its validity.
        let Slot::Reading(filling) = &mut self.slots[slot as usize] else { unreachable!("just set") };
        let (file, buf, offset, most) = filling.next();
        let len = u32::try_from(most).unwrap_or(u32::MAX);
        let op =
            Op::Read { file: file.as_fd().as_raw_fd(), into: buf.room().as_mut_ptr().cast(), len, offset };
        // SAFETY: the slot owns the buffer and nobody touches it until `complete` takes it out; `abandon`
        // leaks it if the completion never comes.
        unsafe { self.push(slot, op) };
    }

    fn read_plainly(&mut self, filling: Filling) {
        self.held -= 1;
        self.slots[filling.slot() as usize] = Slot::Plain;
        self.plain.adopt(filling);
    }

    /// # Safety
    /// As for [`Ring::push`].
    unsafe fn push(&mut self, slot: u32, op: Op) {
        self.serial = self.serial.wrapping_add(1);
        let key = u64::from(self.serial) << 32 | u64::from(slot);
        self.keys[slot as usize] = key;
        let half = self.slots.len().div_ceil(2);
        let ring = self.ring.as_mut().expect("only called while there is a ring");
        // SAFETY: passed on to the caller.
        if unsafe { ring.push(key, op) }.is_err() {
            return self.abandon();
        }
        self.in_flight += 1;
        if ring.queued() >= half {
            self.submit(false);
        }
    }

    fn submit(&mut self, wait: bool) {
        let Some(ring) = &mut self.ring else { return };
        let Err(error) = ring.submit(wait) else {
            self.busy = 0;
            return;
        };
        match Errno::from_io_error(&error) {
            Some(Errno::INTR) => {}
            // Completions must be taken before the kernel takes more, or it is out of memory for a while.
            Some(Errno::BUSY | Errno::AGAIN) if self.busy < BUSY_PATIENCE => self.busy += 1,
            _ => self.abandon(),
        }
    }

    /// Takes all completions there are.
    fn reap(&mut self) {
        while let Some(completion) = self.ring.as_mut().and_then(|ring| ring.completion()) {
            self.busy = 0;
            self.complete(completion);
        }
        if self.in_flight == 0 && self.is_retired() {
            self.ring = None;
        }
    }

    fn complete(&mut self, Completion { key, result }: Completion) {
        if key == NO_SLOT {
            self.in_flight -= 1;
            return;
        }
        let slot = key as u32;
        match self.keys.get_mut(slot as usize) {
            Some(expected) if *expected == key => *expected = NO_SLOT,
            _ => return, // nobody waits for it
        }
        self.in_flight -= 1;
        let result = if result < 0 { Err(Errno::from_raw_os_error(-result)) } else { Ok(result) };
        match (mem::replace(&mut self.slots[slot as usize], Slot::Free), result) {
            (Slot::Opening { span, buf, .. }, Ok(fd)) => {
                // SAFETY: the kernel made this descriptor for us, and this is its only mention.
                let fd = unsafe { OwnedFd::from_raw_fd(fd) };
                match File::from_fd(fd) {
                    Ok(file) => {
                        self.held += 1;
                        // Files that wait for news (`/proc/kmsg`, `trace_pipe`) say that they are empty. A
                        // ring would wait with them, since it takes `O_NONBLOCK` as leave to poll.
                        let may_wait = file.stat().size == 0;
                        let filling = Filling::new(Progress::new(slot, file, span), buf);
                        if may_wait { self.read_plainly(filling) } else { self.read(filling) }
                    }
                    Err(failure) => self.ready.push_back(Ready::Failed { slot, buf, failure }),
                }
            }
            (Slot::Opening { dir, follow, span, buf }, Err(errno)) => match errno {
                // The plain reader knows how to do without `O_NOATIME`, and how to wait for a descriptor.
                Errno::PERM | Errno::MFILE | Errno::NFILE => self.open_plainly(slot, &dir, follow, span, buf),
                errno if is_refusal(errno) => {
                    self.refusals += 1;
                    self.open_plainly(slot, &dir, follow, span, buf);
                }
                errno => self.ready.push_back(Ready::Failed { slot, buf, failure: open_failure(errno) }),
            },
            (Slot::Reading(mut filling), Ok(got)) => {
                // SAFETY: the completion of a read into the room says how many bytes the kernel wrote there.
                unsafe { filling.buf().grow(got as usize) };
                if filling.took(got as usize) {
                    let (progress, chunk) = filling.into_chunk();
                    self.slots[slot as usize] = Slot::Out(progress);
                    self.ready.push_back(Ready::Data(chunk));
                } else {
                    self.read(filling);
                }
            }
            (Slot::Reading(filling), Err(errno)) => {
                if is_refusal(errno) {
                    self.refusals += 1;
                    self.read_plainly(filling);
                } else {
                    let buf = filling.into_buf();
                    self.closed();
                    let failure = Failure::Io { op: "read", source: errno.into() };
                    self.ready.push_back(Ready::Failed { slot, buf, failure });
                }
            }
            (Slot::Free | Slot::Out(_) | Slot::Plain, _) => {
                unreachable!("a completion for slot {slot}, which has nothing in flight")
            }
        }
    }

    /// Gives the ring up where it stands: what it still had in flight is begun again by the plain reader, in
    /// other memory, for a ring that is closed may still write into the old.
    fn abandon(&mut self) {
        self.refusals = PATIENCE;
        self.reap();
        self.ring = None;
        self.in_flight = 0;
        self.keys.fill(NO_SLOT);
        for slot in 0..self.slots.len() as u32 {
            match mem::replace(&mut self.slots[slot as usize], Slot::Free) {
                Slot::Opening { dir, follow, span, buf } => {
                    let name = self.names[slot as usize].clone();
                    mem::forget(mem::replace(&mut self.names[slot as usize], name));
                    self.open_plainly(slot, &dir, follow, span, buf);
                }
                Slot::Reading(mut filling) => {
                    mem::forget(filling.start_over());
                    self.read_plainly(filling);
                }
                other => self.slots[slot as usize] = other,
            }
        }
    }

    fn closed(&mut self) {
        self.held -= 1;
        self.plain.feed();
    }

    fn take_out(&mut self, slot: u32) -> Option<Progress> {
        match mem::replace(&mut self.slots[slot as usize], Slot::Free) {
            Slot::Out(progress) => Some(progress),
            Slot::Plain => None,
            _ => panic!("no chunk of slot {slot} is out"),
        }
    }
}

impl Reader for Uring {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn buf_len(&self) -> usize {
        self.plain.buf_len()
    }

    fn start(&mut self, slot: u32, file: Open<'_>, buf: Buf) {
        assert!(matches!(self.slots[slot as usize], Slot::Free), "slot {slot} is taken");
        let Open { dir, name, follow, span } = file;
        self.names[slot as usize].set(name);
        self.open(slot, Rc::clone(dir), follow, span, buf);
    }

    fn more(&mut self, slot: u32, buf: Buf) {
        match self.take_out(slot) {
            Some(progress) => self.read(Filling::new(progress, buf)),
            None => {
                self.slots[slot as usize] = Slot::Plain;
                self.plain.more(slot, buf);
            }
        }
    }

    fn poll(&mut self, wait: bool) -> Option<Ready> {
        loop {
            self.reap();
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let holds = self.held > 0 || self.in_flight > 0;
            if let Some(ready) = self.plain.poll_beside(holds) {
                if let Ready::Failed { slot, .. } = ready {
                    self.slots[slot as usize] = Slot::Free;
                }
                return Some(ready);
            }
            if self.in_flight == 0 {
                return None;
            }
            if wait || self.ring.as_mut().is_some_and(|ring| ring.queued() > 0) {
                self.submit(wait);
            }
            if !wait {
                self.reap();
                return self.ready.pop_front();
            }
        }
    }

    fn stat(&self, slot: u32) -> &Stat {
        match &self.slots[slot as usize] {
            Slot::Out(progress) => progress.stat(),
            Slot::Plain => self.plain.stat(slot),
            _ => panic!("no chunk of slot {slot} is out"),
        }
    }

    fn finish(&mut self, slot: u32) -> Result<Stat, Failure> {
        let Some(progress) = self.take_out(slot) else {
            return self.plain.finish(slot);
        };
        let result = progress.finish();
        self.closed();
        result
    }

    fn cancel(&mut self, slot: u32) {
        match self.take_out(slot) {
            Some(progress) => {
                drop(progress);
                self.closed();
            }
            None => self.plain.cancel(slot),
        }
    }
}

impl Drop for Uring {
    /// Waits until nothing is in flight any more, since the kernel writes into the buffers until then.
    fn drop(&mut self) {
        self.refusals = PATIENCE;
        self.submit(false);
        for slot in 0..self.slots.len() {
            let Some(ring) = &mut self.ring else { break };
            if matches!(self.slots[slot], Slot::Opening { .. } | Slot::Reading(_)) {
                // SAFETY: a cancellation points to nothing.
                let pushed = unsafe { ring.push(NO_SLOT, Op::Cancel { key: self.keys[slot] }) };
                // A full queue only means that this one runs to its end.
                self.in_flight += usize::from(pushed.is_ok());
            }
        }
        while self.in_flight > 0 {
            self.submit(true);
            self.reap();
        }
    }
}

/// Whether an error is about the ring and not about the file: a plain system call may well succeed, and says
/// what is wrong if it does not.
fn is_refusal(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOMEM | Errno::AGAIN | Errno::INTR | Errno::CANCELED
    )
}
