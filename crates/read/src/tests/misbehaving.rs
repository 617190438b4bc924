//! The io_uring reader on a ring that refuses operations, fails, breaks down, or is dropped with operations
//! in flight.

use std::fs;
use std::io::ErrorKind;
use std::rc::Rc;

use rustix::io::Errno;

use super::fake::{Fake, Script, write_to_orphans};
use super::harness::{BUF, Tree, bytes_of, content, name, read_all, start};
use crate::ring::Op;
use crate::{Reader, Uring};

const REFUSALS: [Errno; 6] =
    [Errno::INVAL, Errno::OPNOTSUPP, Errno::NOMEM, Errno::AGAIN, Errno::INTR, Errno::CANCELED];

/// Creates 40 files of up to three buffers. Returns the directory and their names.
fn forty_files() -> (Tree, Vec<String>) {
    let tree = Tree::new();
    let names: Vec<String> = (0..40).map(|i| format!("file {i}")).collect();
    for (i, name) in names.iter().enumerate() {
        tree.file(name, &content(i * 3 * BUF / 39, i as u64));
    }
    (tree, names)
}

/// Reads all files and checks their bytes.
fn assert_all_are_read(tree: &Tree, names: &[String], reader: &mut dyn Reader) {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (name, outcome) in names.iter().zip(read_all(reader, &tree.open(), &names)) {
        assert_eq!(bytes_of(outcome), Ok(fs::read(tree.path(name)).unwrap()), "{name}");
    }
}

#[test]
fn a_ring_that_cannot_be_made_is_an_error() {
    // More entries than any kernel allows.
    assert!(Uring::new(1 << 20, BUF).is_err());
    assert!(Uring::new(usize::MAX, BUF).is_err());
}

#[test]
fn the_eighth_refusal_retires_the_ring() {
    let (tree, names) = forty_files();
    for errno in REFUSALS {
        for is_wanted in [|op: &Op| matches!(op, Op::Open { .. }), |op: &Op| matches!(op, Op::Read { .. })] {
            let mut script = Script::new(7);
            script.fault = Box::new(move |_, op| is_wanted(op).then_some(errno));
            let script = script.shared();
            let mut reader = Fake::reader(&script, 4);
            assert_all_are_read(&tree, &names, &mut reader);
            assert!(script.borrow().is_closed, "{errno:?}: the ring is still used");
            // Eight are refused, and at most three more were in flight. Each file needs at least two
            // operations.
            assert!(script.borrow().performed <= 2 * (8 + 3), "{errno:?}");
            assert!(script.borrow().orphans.is_empty(), "{errno:?}");
        }
    }
}

#[test]
fn seven_refusals_do_not_retire_the_ring() {
    let (tree, names) = forty_files();
    let mut script = Script::new(3);
    script.fault = Box::new(|nth, _| (nth < 7).then_some(Errno::INVAL));
    let script = script.shared();
    let mut reader = Fake::reader(&script, 4);
    assert_all_are_read(&tree, &names, &mut reader);
    assert!(!script.borrow().is_closed);
}

#[test]
fn an_error_of_one_file_leaves_the_ring_in_use() {
    let tree = Tree::new();
    tree.file("a", b"abc").file("b", b"abc");
    let outcomes = |fault: fn(usize, &Op) -> Option<Errno>| {
        let mut script = Script::new(1);
        script.fault = Box::new(fault);
        let script = script.shared();
        let mut reader = Fake::reader(&script, 1);
        let outcomes = read_all(&mut reader, &tree.open(), &["a", "b", "none"]);
        assert!(!script.borrow().is_closed, "the error of a file retired the ring");
        outcomes.into_iter().map(bytes_of).collect::<Vec<_>>()
    };
    let abc = Ok(b"abc".to_vec());
    let none = Err(format!("open: {:?}", ErrorKind::NotFound));
    let eio = |op: &str| Err(format!("{op}: {:?}", std::io::Error::from(Errno::IO).kind()));
    let first_read = |nth, op: &Op| (nth == 1 && matches!(op, Op::Read { .. })).then_some(Errno::IO);
    assert_eq!(outcomes(first_read), [eio("read"), abc.clone(), none.clone()]);
    let first_open = |nth, op: &Op| (nth == 0 && matches!(op, Op::Open { .. })).then_some(Errno::IO);
    assert_eq!(outcomes(first_open), [eio("open"), abc.clone(), none.clone()]);
    // After EPERM and EMFILE, the plain system call succeeds.
    for fault in
        [|nth, _: &Op| (nth == 0).then_some(Errno::PERM), |nth, _: &Op| (nth == 0).then_some(Errno::MFILE)]
    {
        assert_eq!(outcomes(fault), [abc.clone(), abc.clone(), none.clone()]);
    }
}

#[test]
fn files_of_size_0_are_not_read_through_the_ring() {
    let tree = Tree::new();
    tree.file("empty", b"");
    let mut script = Script::new(1);
    script.fault = Box::new(|_, op| match op {
        Op::Read { .. } => panic!("the ring would block on /proc/kmsg"),
        _ => None,
    });
    let mut reader = Fake::reader(&script.shared(), 2);
    assert_eq!(bytes_of(read_all(&mut reader, &tree.open(), &["empty"]).remove(0)), Ok(Vec::new()));
}

#[test]
fn a_broken_ring_does_not_change_what_is_read() {
    let (tree, names) = forty_files();
    let mut is_orphaned = false;
    for broken_from in 0..60 {
        for errno in [Errno::IO, Errno::BADF, Errno::BUSY, Errno::AGAIN] {
            let mut script = Script::new(broken_from as u64);
            script.submit_fault = Box::new(move |nth| (nth >= broken_from).then_some(errno));
            let script = script.shared();
            let mut reader = LateWrites { reader: Fake::reader(&script, 5), script: Rc::clone(&script) };
            assert_all_are_read(&tree, &names, &mut reader);
            is_orphaned |= script.borrow().orphans.iter().any(|op| matches!(op, Op::Read { .. }));
        }
    }
    assert!(is_orphaned, "no read was ever in flight when the ring broke down");
}

/// A reader whose closed ring writes to its old buffers after every call.
struct LateWrites {
    reader: Uring,
    script: super::fake::Shared,
}

impl Reader for LateWrites {
    fn slots(&self) -> usize {
        self.reader.slots()
    }
    fn buf_len(&self) -> usize {
        self.reader.buf_len()
    }
    fn start(&mut self, slot: u32, file: crate::Open<'_>, buf: crate::Buf) {
        self.reader.start(slot, file, buf);
        write_to_orphans(&self.script);
    }
    fn more(&mut self, slot: u32, buf: crate::Buf) {
        self.reader.more(slot, buf);
        write_to_orphans(&self.script);
    }
    fn poll(&mut self, wait: bool) -> Option<crate::Ready> {
        let ready = self.reader.poll(wait);
        write_to_orphans(&self.script);
        ready
    }
    fn stat(&self, slot: u32) -> &ftk_file::Stat {
        self.reader.stat(slot)
    }
    fn file(&self, slot: u32) -> Option<&ftk_file::File> {
        self.reader.file(slot)
    }
    fn is_written_back(&self, slot: u32) -> bool {
        self.reader.is_written_back(slot)
    }
    fn finish(&mut self, slot: u32) -> Result<ftk_file::Stat, ftk_file::Failure> {
        self.reader.finish(slot)
    }
    fn cancel(&mut self, slot: u32) {
        self.reader.cancel(slot);
    }
}

#[test]
fn interrupted_and_busy_submissions_are_retried() {
    let (tree, names) = forty_files();
    for errno in [Errno::INTR, Errno::BUSY, Errno::AGAIN] {
        let mut script = Script::new(11);
        script.submit_fault = Box::new(move |nth| (nth % 3 != 2).then_some(errno));
        let script = script.shared();
        let mut reader = Fake::reader(&script, 5);
        assert_all_are_read(&tree, &names, &mut reader);
        assert!(!script.borrow().is_closed, "{errno:?}");
    }
}

#[test]
fn duplicate_completions_are_ignored() {
    let (tree, names) = forty_files();
    let mut repeated = 0;
    for seed in 0..20 {
        let script = Script::new(seed).with_repeated_completions();
        assert_all_are_read(&tree, &names, &mut Fake::reader(&script, 1 + seed as usize % 7));
        repeated += script.borrow().repeated;
    }
    assert!(repeated > 500, "{repeated}");
}

/// If a single operation fails, its file has the right bytes or an error, all other files have the right
/// bytes, and the reader reaches the end.
#[test]
fn a_failed_operation_affects_only_its_file() {
    let (tree, names) = forty_files();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for errno in [Errno::IO, Errno::AGAIN, Errno::CANCELED, Errno::NOENT, Errno::STALE] {
        for failing in (0..110).step_by(3) {
            let mut script = Script::new(failing as u64);
            script.fault = Box::new(move |nth, _| (nth == failing).then_some(errno));
            let script = script.short_reads();
            let outcomes = read_all(&mut Fake::reader(&script, 6), &tree.open(), &names);
            let mut failed = 0;
            for (name, outcome) in names.iter().zip(outcomes) {
                match bytes_of(outcome) {
                    Ok(bytes) => {
                        assert!(bytes == fs::read(tree.path(name)).unwrap(), "{errno:?} {failing} {name}")
                    }
                    Err(_) => failed += 1,
                }
            }
            let is_file_error = matches!(errno, Errno::IO | Errno::NOENT | Errno::STALE);
            assert_eq!(failed, usize::from(is_file_error), "{errno:?} {failing}");
        }
    }
}

#[test]
fn drop_waits_for_every_completion() {
    let (tree, names) = forty_files();
    let dir = tree.open();
    let mut cancelled = 0;
    for seed in 0..50 {
        let script = Script::new(seed).shared();
        let mut reader = Fake::reader(&script, 32);
        for (slot, file) in names.iter().take(32).enumerate() {
            start(&mut reader, slot as u32, &dir, &name(file));
        }
        for _ in 0..seed % 10 {
            reader.poll(seed % 2 == 0);
        }
        drop(reader);
        let script = script.borrow();
        assert!(script.is_closed && script.orphans.is_empty(), "seed {seed}");
        cancelled += script.cancelled;
    }
    assert!(cancelled > 0, "nothing was in flight");
    assert_eq!(Rc::strong_count(&dir), 1, "a directory is still held");
}

#[test]
fn after_the_ring_broke_drop_leaks_its_buffers() {
    let (tree, names) = forty_files();
    let dir = tree.open();
    let mut broken = 0;
    for seed in 0..10 {
        let mut script = Script::new(seed);
        script.submit_fault = Box::new(|nth| (nth > 4).then_some(Errno::IO));
        let script = script.shared();
        let mut reader = Fake::reader(&script, 32);
        for (slot, file) in names.iter().take(32).enumerate() {
            start(&mut reader, slot as u32, &dir, &name(file));
        }
        reader.poll(false);
        drop(reader);
        broken += usize::from(!script.borrow().orphans.is_empty());
        write_to_orphans(&script);
    }
    assert!(broken > 0, "the ring never broke down");
    assert_eq!(Rc::strong_count(&dir), 1);
}
