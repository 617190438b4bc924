//! The io_uring reader: many files in flight at once, so that a cold disk always has work.
//!
//! ```text
//! start ─▶ openat ─▶ (fstat) ─▶ read ─▶ … ─▶ chunk ─▶ (close)     plain system calls in parentheses
//!            │                    │
//!            └── refused ─────────┴─▶ the SyncReader continues with this file
//! ```
//!
//! Files on FUSE are opened through the ring, and read plainly: see [`misreads`].
//!
//! The operations of a file are not linked, since a short read would break the chain. Descriptors are
//! ordinary ones, since `fstat` does not work on the ring's own kind. A slot is reused only after the
//! completion of its last operation.
//!
//! A slot owns everything its one operation points to: the name, the buffer, and a reference to the
//! directory. The directory stays open while the open is queued, so that its descriptor number cannot be
//! reused.
#![expect(unsafe_code, reason = "the kernel receives pointers and returns descriptors")]

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::rc::Rc;

use ftk_file::{Failure, File, Stat};
use rustix::io::Errno;

use crate::name::Name;
use crate::progress::{Filling, Progress};
use crate::ring::{self, Completion, Op, Ring};
use crate::sync::SyncReader;
use crate::{Buf, How, Open, Reader, Ready};

/// After this many refused operations the ring is no longer used. A kernel or file system that refuses this
/// often usually refuses always.
const MAX_REFUSALS: u32 = 8;

/// The ring counts as broken if the kernel is too busy for operations more often than this in a row.
const MAX_BUSY: u32 = 64;

/// The key of operations that belong to no slot.
const NO_SLOT: u64 = u64::MAX;

/// Reads many files at once through io_uring.
///
/// Queued operations are submitted together: when their number reaches half the number of slots, or when a
/// `poll` finds nothing ready. Plain system calls read the files whose operations the ring refuses. After
/// eight refusals, or if the ring breaks down, they read all further files. Bytes and failures are the same
/// either way.
pub struct Uring {
    slots: Vec<Slot>,
    names: Vec<Name>,
    /// For each slot, the key of its operation in flight; `NO_SLOT` if there is none.
    keys: Vec<u64>,
    /// Number of operations so far. It makes every key unique, so that a duplicate completion does not match
    /// a later operation.
    serial: u32,
    ring: Option<Box<dyn Ring>>,
    /// Number of operations that are queued or submitted and whose completion was not received.
    in_flight: usize,
    /// Number of open files, without those of `plain`.
    held: usize,
    refusals: u32,
    busy: u32,
    ready: VecDeque<Ready>,
    plain: SyncReader,
}

enum Slot {
    Free,
    /// An open is in flight. It points to the slot's entry in `names`.
    Opening {
        dir: Rc<OwnedFd>,
        how: How,
        buf: Buf,
    },
    /// A read into the buffer is in flight.
    Reading(Filling),
    /// The caller has a chunk, or a chunk waits in `ready`.
    Out(Box<Progress>),
    /// The plain reader handles this slot.
    Plain,
}

impl Uring {
    /// Buffer size in bytes. It is small because there are many buffers, and most files are smaller still.
    pub const BUF_LEN: usize = 32 << 10;

    /// Creates a reader of `depth` files at once that asks for buffers of `buf_len` bytes.
    /// [`depth`](crate::depth()) computes a good `depth`.
    ///
    /// # Errors
    /// If no ring can be opened: the kernel has no io_uring, forbids it (as in most containers), or lacks
    /// memory or descriptors. The error is [`io::ErrorKind::Unsupported`] on platforms other than Linux. Use
    /// [`SyncReader`] instead.
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
        self.ring.is_none() || self.refusals >= MAX_REFUSALS
    }

    /// Opens the file of `slot`. Its entry in `names` must be set.
    fn open(&mut self, slot: u32, dir: Rc<OwnedFd>, how: How, buf: Buf) {
        if self.is_retired() {
            return self.open_plainly(slot, &dir, how, buf);
        }
        let op = Op::Open {
            dir: dir.as_raw_fd(),
            name: self.names[slot as usize].as_c_str().as_ptr(),
            flags: File::open_flags(how.symlinks),
        };
        self.slots[slot as usize] = Slot::Opening { dir, how, buf };
        // SAFETY: the name is on the heap and does not change until `complete` frees the slot. The slot's
        // `dir` keeps the directory open. If the completion never comes, `abandon` leaks the name.
        unsafe { self.push(slot, op) };
    }

    fn open_plainly(&mut self, slot: u32, dir: &Rc<OwnedFd>, how: How, buf: Buf) {
        self.slots[slot as usize] = Slot::Plain;
        let name = self.names[slot as usize].as_c_str();
        self.plain.start(slot, Open { dir, name, how }, buf);
    }

    /// Queues the next read, or delivers the chunk if it is complete. The file must already be counted in
    /// `held`.
    fn read(&mut self, mut filling: Filling) {
        let slot = filling.slot();
        if filling.add_holes() {
            let (progress, chunk) = filling.into_chunk();
            self.slots[slot as usize] = Slot::Out(progress);
            return self.ready.push_back(Ready::Data(chunk));
        }
        if ftk_file::is_rate_limited() {
            // The disk can work on the queued operations while this thread waits.
            self.submit(false);
        }
        if self.is_retired() {
            return self.read_plainly(filling);
        }
        self.slots[slot as usize] = Slot::Reading(filling);
        // Take the pointer only after the `Filling` is in its place: moving it would invalidate the pointer.
        let Slot::Reading(filling) = &mut self.slots[slot as usize] else { unreachable!("just set") };
        let (file, buf, offset, most) = filling.next();
        let (len, flags) = file.before_read(most, offset);
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        let file = file.as_fd().as_raw_fd();
        let op = Op::Read { file, into: buf.room().as_mut_ptr().cast(), len, offset, flags };
        // SAFETY: the slot owns the buffer, and nothing accesses it until `complete` takes it out of the
        // slot. If the completion never comes, `abandon` leaks the buffer.
        unsafe { self.push(slot, op) };
    }

    fn read_plainly(&mut self, filling: Filling) {
        self.held -= 1;
        self.slots[filling.slot() as usize] = Slot::Plain;
        self.plain.adopt(filling);
    }

    /// Queues an operation for `slot`.
    ///
    /// # Safety
    /// The same requirements as [`Ring::push`].
    unsafe fn push(&mut self, slot: u32, op: Op) {
        self.serial = self.serial.wrapping_add(1);
        let key = u64::from(self.serial) << 32 | u64::from(slot);
        self.keys[slot as usize] = key;
        let half = self.slots.len().div_ceil(2);
        let ring = self.ring.as_mut().expect("the caller checked that there is a ring");
        // SAFETY: the caller upholds the same requirements.
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
            // The kernel accepts more only after completions were received, or it lacks memory for the
            // moment.
            Some(Errno::BUSY | Errno::AGAIN) if self.busy < MAX_BUSY => self.busy += 1,
            _ => self.abandon(),
        }
    }

    /// Processes all completions that are available.
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
            _ => return, // a duplicate or unknown completion
        }
        self.in_flight -= 1;
        let result = if result < 0 { Err(Errno::from_raw_os_error(-result)) } else { Ok(result) };
        match (mem::replace(&mut self.slots[slot as usize], Slot::Free), result) {
            (Slot::Opening { how, buf, .. }, Ok(fd)) => {
                // SAFETY: the completion of an open returned this descriptor, and each completion is
                // processed once (see `keys`), so that nothing else owns it.
                let fd = unsafe { OwnedFd::from_raw_fd(fd) };
                match File::from_fd(fd, how.birth) {
                    Ok(file) => {
                        self.held += 1;
                        // Files that block until there is new data (`/proc/kmsg`, `trace_pipe`) report a size
                        // of 0. The plain reader reads them without blocking; a ring would wait, since with
                        // `O_NONBLOCK` it polls for data.
                        let may_wait = file.stat().size == 0;
                        let is_plain = may_wait || misreads(&file);
                        let filling = Filling::new(Progress::new(slot, file, how), buf);
                        if is_plain { self.read_plainly(filling) } else { self.read(filling) }
                    }
                    Err(failure) => self.ready.push_back(Ready::Failed { slot, buf, failure }),
                }
            }
            (Slot::Opening { dir, how, buf }, Err(errno)) => match errno {
                // The plain reader can retry without `O_NOATIME` and can wait for a descriptor.
                Errno::PERM | Errno::MFILE | Errno::NFILE => self.open_plainly(slot, &dir, how, buf),
                errno if is_refusal(errno) => {
                    self.refusals += 1;
                    self.open_plainly(slot, &dir, how, buf);
                }
                errno => self.ready.push_back(Ready::Failed { slot, buf, failure: Failure::of_open(errno) }),
            },
            (Slot::Reading(mut filling), Ok(got)) => {
                let (file, _, offset, most) = filling.next();
                file.after_read(most, offset, got as usize);
                // SAFETY: the completion of a read into the room returned the number of bytes the kernel
                // wrote there.
                unsafe { filling.buf().grow(got as usize) };
                filling.count_read(got as usize);
                self.read(filling);
            }
            (Slot::Reading(filling), Err(errno)) => {
                if is_refusal(errno) {
                    self.refusals += 1;
                    self.read_plainly(filling);
                } else {
                    let buf = filling.into_buf();
                    self.file_closed();
                    let failure = Failure::Io { op: "read", source: errno.into() };
                    self.ready.push_back(Ready::Failed { slot, buf, failure });
                }
            }
            (Slot::Free | Slot::Out(_) | Slot::Plain, _) => {
                unreachable!("slot {slot} has no operation in flight, but a completion")
            }
        }
    }

    /// Stops using the ring. The plain reader restarts all operations in flight, with new memory, since the
    /// closed ring may still write to the old. The old memory is leaked.
    fn abandon(&mut self) {
        self.refusals = MAX_REFUSALS;
        self.reap();
        self.ring = None;
        self.in_flight = 0;
        self.keys.fill(NO_SLOT);
        for slot in 0..self.slots.len() as u32 {
            match mem::replace(&mut self.slots[slot as usize], Slot::Free) {
                Slot::Opening { dir, how, buf } => {
                    let name = self.names[slot as usize].clone();
                    mem::forget(mem::replace(&mut self.names[slot as usize], name));
                    self.open_plainly(slot, &dir, how, buf);
                }
                Slot::Reading(mut filling) => {
                    mem::forget(filling.start_over());
                    self.read_plainly(filling);
                }
                other => self.slots[slot as usize] = other,
            }
        }
    }

    fn file_closed(&mut self) {
        self.held -= 1;
        self.plain.descriptor_freed();
    }

    fn take_progress(&mut self, slot: u32) -> Option<Box<Progress>> {
        match mem::replace(&mut self.slots[slot as usize], Slot::Free) {
            Slot::Out(progress) => Some(progress),
            Slot::Plain => None,
            _ => panic!("the caller has no chunk of slot {slot}"),
        }
    }
}

/// Returns whether a ring may read wrong bytes from this file.
///
/// On FUSE with `direct_io`, a read of a ring that returns fewer bytes than requested, as at the end of a file, is
/// sometimes continued by the kernel at the offset where it began, and then counts as a full read. This was seen with
/// Linux 6.18, 32 KiB requests and a busy CPU: files of 50,000 bytes became 65,536 bytes.
#[cfg(target_os = "linux")]
fn misreads(file: &File) -> bool {
    // Unknown is not safe.
    crate::file_system::magic(file).map_or(true, |magic| magic == crate::file_system::FUSE)
}

/// Other systems have no ring.
#[cfg(not(target_os = "linux"))]
fn misreads(_: &File) -> bool {
    false
}

impl Reader for Uring {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn buf_len(&self) -> usize {
        self.plain.buf_len()
    }

    fn start(&mut self, slot: u32, file: Open<'_>, buf: Buf) {
        assert!(matches!(self.slots[slot as usize], Slot::Free), "slot {slot} is in use");
        let Open { dir, name, how } = file;
        self.names[slot as usize].set(name);
        self.open(slot, Rc::clone(dir), how, buf);
    }

    fn more(&mut self, slot: u32, buf: Buf) {
        match self.take_progress(slot) {
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
            if let Some(ready) = self.plain.poll_for_owner(holds) {
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
            _ => panic!("the caller has no chunk of slot {slot}"),
        }
    }

    fn file(&self, slot: u32) -> Option<&File> {
        match &self.slots[slot as usize] {
            Slot::Out(progress) => Some(progress.file()),
            Slot::Plain => self.plain.file(slot),
            _ => panic!("the caller has no chunk of slot {slot}"),
        }
    }

    fn is_written_back(&self, slot: u32) -> bool {
        match &self.slots[slot as usize] {
            Slot::Out(progress) => progress.is_written_back(),
            Slot::Plain => self.plain.is_written_back(slot),
            _ => panic!("the caller has no chunk of slot {slot}"),
        }
    }

    fn finish(&mut self, slot: u32) -> Result<Stat, Failure> {
        let Some(progress) = self.take_progress(slot) else {
            return self.plain.finish(slot);
        };
        let result = progress.finish();
        self.file_closed();
        result
    }

    fn cancel(&mut self, slot: u32) {
        match self.take_progress(slot) {
            Some(progress) => {
                drop(progress);
                self.file_closed();
            }
            None => self.plain.cancel(slot),
        }
    }
}

impl Drop for Uring {
    /// Waits until no operation is in flight, since the kernel writes to the buffers until then.
    fn drop(&mut self) {
        self.refusals = MAX_REFUSALS;
        self.submit(false);
        for slot in 0..self.slots.len() {
            let Some(ring) = &mut self.ring else { break };
            if matches!(self.slots[slot], Slot::Opening { .. } | Slot::Reading(_)) {
                // SAFETY: a cancellation contains no pointers.
                let pushed = unsafe { ring.push(NO_SLOT, Op::Cancel { key: self.keys[slot] }) };
                // If the queue is full, this operation simply runs to its end.
                self.in_flight += usize::from(pushed.is_ok());
            }
        }
        while self.in_flight > 0 {
            self.submit(true);
            self.reap();
        }
    }
}

/// Returns whether an error concerns the ring and not the file. A plain system call may then succeed, and
/// otherwise returns the file's real error.
fn is_refusal(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOMEM | Errno::AGAIN | Errno::INTR | Errno::CANCELED
    )
}
