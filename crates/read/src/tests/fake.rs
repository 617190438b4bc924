//! A ring made of plain system calls, that performs operations late, in any order, and as wrongly as told.
#![expect(unsafe_code, reason = "it does what the kernel does with pointers")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::rc::Rc;

use rustix::fs::Mode;
use rustix::io::Errno;

use crate::Uring;
use crate::ring::{Completion, Op, Ring};

use super::harness::BUF;

/// The error of the nth operation, if it is to fail.
pub(crate) type Fault = dyn FnMut(usize, &Op) -> Option<Errno>;

/// What a fake ring is to do, and what it did.
pub(crate) struct Script {
    random: u64,
    /// Whether reads return less than asked.
    is_short: bool,
    /// Whether completions come twice, the second time at any time.
    stutters: bool,
    pub(crate) echoes: usize,
    pub(crate) fault: Box<Fault>,
    /// The error of the nth submission, if it is to fail.
    pub(crate) submit_fault: Box<dyn FnMut(usize) -> Option<Errno>>,
    pub(crate) performed: usize,
    pub(crate) submits: usize,
    /// The ring was closed.
    pub(crate) is_closed: bool,
    /// Operations that had no completion when the ring was closed.
    pub(crate) orphans: Vec<Op>,
    pub(crate) cancelled: usize,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            is_short: false,
            stutters: false,
            echoes: 0,
            fault: Box::new(|_, _| None),
            submit_fault: Box::new(|_| None),
            performed: 0,
            submits: 0,
            is_closed: false,
            orphans: Vec::new(),
            cancelled: 0,
        }
    }

    pub(crate) fn short_reads(mut self) -> Shared {
        self.is_short = true;
        self.shared()
    }

    pub(crate) fn stuttering(mut self) -> Shared {
        self.stutters = true;
        self.shared()
    }

    pub(crate) fn shared(self) -> Shared {
        Rc::new(RefCell::new(self))
    }

    fn below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % n as u64) as usize
    }
}

pub(crate) type Shared = Rc<RefCell<Script>>;

pub(crate) struct Fake {
    script: Shared,
    queue: VecDeque<(u64, Op)>,
    taken: Vec<(u64, Op)>,
    done: Vec<Completion>,
    /// Completions that were given already.
    given: Vec<Completion>,
}

impl Fake {
    pub(crate) fn reader(script: &Shared, depth: usize) -> Uring {
        let (queue, taken, done, given) = Default::default();
        let fake = Self { script: Rc::clone(script), queue, taken, done, given };
        Uring::on(Box::new(fake), depth, BUF)
    }

    fn perform(&mut self, nth: usize) {
        let (key, op) = self.taken.swap_remove(nth);
        let mut script = self.script.borrow_mut();
        script.performed += 1;
        let performed = script.performed - 1;
        let result = match ((script.fault)(performed, &op), op) {
            (Some(errno), _) => Err(errno),
            (None, Op::Open { dir, name, flags }) => {
                // SAFETY: `push` was promised that the directory stays open and the name in place.
                let (dir, name) = unsafe { (BorrowedFd::borrow_raw(dir), CStr::from_ptr(name)) };
                rustix::fs::openat(dir, name, flags, Mode::empty()).map(IntoRawFd::into_raw_fd)
            }
            (None, Op::Read { file, into, len, offset }) => {
                let len = if script.is_short { 1 + script.below(len as usize) } else { len as usize };
                // SAFETY: `push` was promised that file and buffer stay in place, the buffer untouched.
                let (file, into) =
                    unsafe { (BorrowedFd::borrow_raw(file), std::slice::from_raw_parts_mut(into, len)) };
                rustix::io::pread(file, into, offset).map(|got| got as i32)
            }
            (None, Op::Cancel { key }) => {
                script.cancelled += 1;
                let target = self.taken.iter().position(|&(taken, _)| taken == key);
                if let Some(target) = target {
                    self.taken.swap_remove(target);
                    self.done.push(Completion { key, result: -Errno::CANCELED.raw_os_error() });
                }
                target.map(|_| 0).ok_or(Errno::NOENT)
            }
        };
        let result = result.unwrap_or_else(|errno| -errno.raw_os_error());
        self.done.push(Completion { key, result });
    }
}

impl Ring for Fake {
    unsafe fn push(&mut self, key: u64, op: Op) -> io::Result<()> {
        self.queue.push_back((key, op));
        Ok(())
    }

    fn queued(&mut self) -> usize {
        self.queue.len()
    }

    fn submit(&mut self, wait: bool) -> io::Result<()> {
        let (fault, n) = {
            let mut script = self.script.borrow_mut();
            script.submits += 1;
            let submits = script.submits - 1;
            let fault = (script.submit_fault)(submits);
            (fault, self.taken.len() + self.queue.len())
        };
        self.taken.extend(self.queue.drain(..));
        if let Some(errno) = fault {
            return Err(errno.into());
        }
        assert!(!wait || n + self.done.len() > 0, "waits for ever");
        let least = usize::from(wait && self.done.is_empty());
        let n = if n > 0 { least + self.script.borrow_mut().below(n + 1 - least) } else { 0 };
        for _ in 0..n {
            if self.taken.is_empty() {
                break;
            }
            let nth = self.script.borrow_mut().below(self.taken.len());
            self.perform(nth);
        }
        Ok(())
    }

    fn completion(&mut self) -> Option<Completion> {
        let mut script = self.script.borrow_mut();
        if !self.given.is_empty() && script.below(2) == 0 {
            let nth = script.below(self.given.len());
            script.echoes += 1;
            return Some(self.given.swap_remove(nth));
        }
        if self.done.is_empty() {
            return None;
        }
        let nth = script.below(self.done.len());
        let completion = self.done.swap_remove(nth);
        if script.stutters {
            self.given.push(completion);
        }
        Some(completion)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let mut script = self.script.borrow_mut();
        script.is_closed = true;
        script.orphans.extend(self.queue.drain(..).chain(self.taken.drain(..)).map(|(_, op)| op));
        assert!(self.done.is_empty() || std::thread::panicking(), "completions were left behind");
    }
}

/// What a closed ring may still do: write into the buffers of reads that had no completion.
pub(crate) fn haunt(script: &Shared) {
    for op in &script.borrow().orphans {
        if let Op::Read { into, len, .. } = *op {
            // SAFETY: `push` was promised that the buffer stays in place even if the ring is closed.
            unsafe { std::ptr::write_bytes(into, 0xEE, len as usize) };
        }
    }
}
