//! A fake ring made of plain system calls. It performs operations late, in any order, and with the faults of
//! its script.
#![expect(unsafe_code, reason = "it uses pointers as the kernel does")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::rc::Rc;

use fastrand::Rng;
use rustix::fs::Mode;
use rustix::io::Errno;

use crate::Uring;
use crate::ring::{Completion, Op, Ring};

use super::harness::BUF;

/// Returns the error of the nth operation, or `None` if it succeeds.
pub(crate) type Fault = dyn FnMut(usize, &Op) -> Option<Errno>;

/// What a fake ring does, and what happened to it.
pub(crate) struct Script {
    random: Rng,
    /// Whether reads return fewer bytes than asked for.
    is_short: bool,
    /// Whether completions come twice. The second time can be any time later.
    repeats_completions: bool,
    pub(crate) repeated: usize,
    pub(crate) fault: Box<Fault>,
    /// Returns the error of the nth submission, or `None` if it succeeds.
    pub(crate) submit_fault: Box<dyn FnMut(usize) -> Option<Errno>>,
    pub(crate) performed: usize,
    pub(crate) submits: usize,
    /// Whether the ring was closed.
    pub(crate) is_closed: bool,
    /// Operations that had no completion when the ring was closed.
    pub(crate) orphans: Vec<Op>,
    pub(crate) cancelled: usize,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            is_short: false,
            repeats_completions: false,
            repeated: 0,
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

    pub(crate) fn with_repeated_completions(mut self) -> Shared {
        self.repeats_completions = true;
        self.shared()
    }

    pub(crate) fn shared(self) -> Shared {
        Rc::new(RefCell::new(self))
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.usize(..n)
    }
}

pub(crate) type Shared = Rc<RefCell<Script>>;

pub(crate) struct Fake {
    script: Shared,
    queue: VecDeque<(u64, Op)>,
    submitted: Vec<(u64, Op)>,
    done: Vec<Completion>,
    /// Completions that were returned and can be returned again.
    given: Vec<Completion>,
}

impl Fake {
    pub(crate) fn reader(script: &Shared, depth: usize) -> Uring {
        let (queue, submitted, done, given) = Default::default();
        let fake = Self { script: Rc::clone(script), queue, submitted, done, given };
        Uring::on(Box::new(fake), depth, BUF)
    }

    fn perform(&mut self, nth: usize) {
        let (key, op) = self.submitted.swap_remove(nth);
        let mut script = self.script.borrow_mut();
        script.performed += 1;
        let performed = script.performed - 1;
        let result = match ((script.fault)(performed, &op), op) {
            (Some(errno), _) => Err(errno),
            (None, Op::Open { dir, name, flags }) => {
                // SAFETY: the caller of `push` guarantees that the directory stays open and the name valid.
                let (dir, name) = unsafe { (BorrowedFd::borrow_raw(dir), CStr::from_ptr(name)) };
                rustix::fs::openat(dir, name, flags, Mode::empty()).map(IntoRawFd::into_raw_fd)
            }
            (None, Op::Read { file, into, len, offset, .. }) => {
                let len = if script.is_short { 1 + script.below(len as usize) } else { len as usize };
                // SAFETY: the caller of `push` guarantees that the file stays open, and that nothing else
                // accesses the buffer.
                let (file, into) =
                    unsafe { (BorrowedFd::borrow_raw(file), std::slice::from_raw_parts_mut(into, len)) };
                rustix::io::pread(file, into, offset).map(|got| got as i32)
            }
            (None, Op::Cancel { key }) => {
                script.cancelled += 1;
                let target = self.submitted.iter().position(|&(submitted, _)| submitted == key);
                if let Some(target) = target {
                    self.submitted.swap_remove(target);
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
            (fault, self.submitted.len() + self.queue.len())
        };
        self.submitted.extend(self.queue.drain(..));
        if let Some(errno) = fault {
            return Err(errno.into());
        }
        assert!(!wait || n + self.done.len() > 0, "a wait without any operation never ends");
        let least = usize::from(wait && self.done.is_empty());
        let n = if n > 0 { least + self.script.borrow_mut().below(n + 1 - least) } else { 0 };
        for _ in 0..n {
            if self.submitted.is_empty() {
                break;
            }
            let nth = self.script.borrow_mut().below(self.submitted.len());
            self.perform(nth);
        }
        Ok(())
    }

    fn completion(&mut self) -> Option<Completion> {
        let mut script = self.script.borrow_mut();
        if !self.given.is_empty() && script.below(2) == 0 {
            let nth = script.below(self.given.len());
            script.repeated += 1;
            return Some(self.given.swap_remove(nth));
        }
        if self.done.is_empty() {
            return None;
        }
        let nth = script.below(self.done.len());
        let completion = self.done.swap_remove(nth);
        if script.repeats_completions {
            self.given.push(completion);
        }
        Some(completion)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let mut script = self.script.borrow_mut();
        script.is_closed = true;
        script.orphans.extend(self.queue.drain(..).chain(self.submitted.drain(..)).map(|(_, op)| op));
        assert!(
            self.done.is_empty() || std::thread::panicking(),
            "the ring was closed with unread completions"
        );
    }
}

/// Does what a closed ring may still do: writes to the buffers of reads that had no completion.
pub(crate) fn write_to_orphans(script: &Shared) {
    for op in &script.borrow().orphans {
        if let Op::Read { into, len, .. } = *op {
            // SAFETY: the caller of `push` guarantees that the buffer stays valid even after the ring is
            // dropped.
            unsafe { std::ptr::write_bytes(into, 0xEE, len as usize) };
        }
    }
}
