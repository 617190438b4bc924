//! The ring reader on a ring that refuses, fails, breaks down, or is dropped with work in flight.

use std::fs;
use std::io::ErrorKind;
use std::rc::Rc;

use rustix::io::Errno;

use super::fake::{Fake, Script, haunt};
use super::harness::{BUF, Tree, bytes_of, content, name, read_all, start};
use crate::ring::Op;
use crate::{Reader, Uring};

const REFUSALS: [Errno; 6] =
    [Errno::INVAL, Errno::OPNOTSUPP, Errno::NOMEM, Errno::AGAIN, Errno::INTR, Errno::CANCELED];

/// 40 files of up to three buffers, and their names.
fn forty() -> (Tree, Vec<String>) {
    let tree = Tree::new();
    let names: Vec<String> = (0..40).map(|i| format!("file {i}")).collect();
    for (i, name) in names.iter().enumerate() {
        tree.file(name, &content(i * 3 * BUF / 39, i as u64));
    }
    (tree, names)
}

/// Reads all files, and requires that each comes out as it is.
fn all_come_out(tree: &Tree, names: &[String], reader: &mut dyn Reader) {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (name, outcome) in names.iter().zip(read_all(reader, &tree.open(), &names)) {
        assert_eq!(bytes_of(outcome), Ok(fs::read(tree.path(name)).unwrap()), "{name}");
    }
}

#[test]
fn a_ring_that_cannot_be_made_is_an_error() {
    // More entries than any kernel gives.
    assert!(Uring::new(1 << 20, BUF).is_err());
    assert!(Uring::new(usize::MAX, BUF).is_err());
}

#[test]
fn the_eighth_refusal_retires_the_ring() {
    let (tree, names) = forty();
    for errno in REFUSALS {
        for is_wanted in [|op: &Op| matches!(op, Op::Open { .. }), |op: &Op| matches!(op, Op::Read { .. })] {
            let mut script = Script::new(7);
            script.fault = Box::new(move |_, op| is_wanted(op).then_some(errno));
            let script = script.shared();
            let mut reader = Fake::reader(&script, 4);
            all_come_out(&tree, &names, &mut reader);
            assert!(script.borrow().is_closed, "{errno:?}: the ring is still used");
            // Eight are refused; at most three more were in flight, and a file takes two operations at least.
            assert!(script.borrow().performed <= 2 * (8 + 3), "{errno:?}");
            assert!(script.borrow().orphans.is_empty(), "{errno:?}");
        }
    }
}

#[test]
fn seven_refusals_do_not() {
    let (tree, names) = forty();
    let mut script = Script::new(3);
    script.fault = Box::new(|nth, _| (nth < 7).then_some(Errno::INVAL));
    let script = script.shared();
    let mut reader = Fake::reader(&script, 4);
    all_come_out(&tree, &names, &mut reader);
    assert!(!script.borrow().is_closed);
}

#[test]
fn an_error_of_the_file_is_the_files() {
    let tree = Tree::new();
    tree.file("a", b"abc").file("b", b"abc");
    let outcomes = |fault: fn(usize, &Op) -> Option<Errno>| {
        let mut script = Script::new(1);
        script.fault = Box::new(fault);
        let script = script.shared();
        let mut reader = Fake::reader(&script, 1);
        let outcomes = read_all(&mut reader, &tree.open(), &["a", "b", "none"]);
        assert!(!script.borrow().is_closed, "an error of a file is no reason to retire");
        outcomes.into_iter().map(bytes_of).collect::<Vec<_>>()
    };
    let abc = Ok(b"abc".to_vec());
    let none = Err(format!("open: {:?}", ErrorKind::NotFound));
    let eio = |op: &str| Err(format!("{op}: {:?}", std::io::Error::from(Errno::IO).kind()));
    let first_read = |nth, op: &Op| (nth == 1 && matches!(op, Op::Read { .. })).then_some(Errno::IO);
    assert_eq!(outcomes(first_read), [eio("read"), abc.clone(), none.clone()]);
    let first_open = |nth, op: &Op| (nth == 0 && matches!(op, Op::Open { .. })).then_some(Errno::IO);
    assert_eq!(outcomes(first_open), [eio("open"), abc.clone(), none.clone()]);
    // Not permitted and no descriptor: the plain system call does better.
    for fault in
        [|nth, _: &Op| (nth == 0).then_some(Errno::PERM), |nth, _: &Op| (nth == 0).then_some(Errno::MFILE)]
    {
        assert_eq!(outcomes(fault), [abc.clone(), abc.clone(), none.clone()]);
    }
}

#[test]
fn a_file_that_says_it_is_empty_is_not_waited_for() {
    let tree = Tree::new();
    tree.file("empty", b"");
    let mut script = Script::new(1);
    script.fault = Box::new(|_, op| match op {
        Op::Read { .. } => panic!("the ring would wait with /proc/kmsg"),
        _ => None,
    });
    let mut reader = Fake::reader(&script.shared(), 2);
    assert_eq!(bytes_of(read_all(&mut reader, &tree.open(), &["empty"]).remove(0)), Ok(Vec::new()));
}

#[test]
fn a_ring_that_breaks_down_anywhere_changes_nothing() {
    let (tree, names) = forty();
    let mut is_orphaned = false;
    for broken_from in 0..60 {
        for errno in [Errno::IO, Errno::BADF, Errno::BUSY, Errno::AGAIN] {
            let mut script = Script::new(broken_from as u64);
            script.submit_fault = Box::new(move |nth| (nth >= broken_from).then_some(errno));
            let script = script.shared();
            let mut reader = Haunted { reader: Fake::reader(&script, 5), script: Rc::clone(&script) };
            all_come_out(&tree, &names, &mut reader);
            is_orphaned |= script.borrow().orphans.iter().any(|op| matches!(op, Op::Read { .. }));
        }
    }
    assert!(is_orphaned, "no read was ever in flight when the ring broke down");
}

/// A reader whose closed ring writes into its old buffers between any two calls.
struct Haunted {
    reader: Uring,
    script: super::fake::Shared,
}

impl Reader for Haunted {
    fn slots(&self) -> usize {
        self.reader.slots()
    }
    fn buf_len(&self) -> usize {
        self.reader.buf_len()
    }
    fn start(&mut self, slot: u32, file: crate::Open<'_>, buf: crate::Buf) {
        self.reader.start(slot, file, buf);
        haunt(&self.script);
    }
    fn more(&mut self, slot: u32, buf: crate::Buf) {
        self.reader.more(slot, buf);
        haunt(&self.script);
    }
    fn poll(&mut self, wait: bool) -> Option<crate::Ready> {
        let ready = self.reader.poll(wait);
        haunt(&self.script);
        ready
    }
    fn stat(&self, slot: u32) -> &crate::Stat {
        self.reader.stat(slot)
    }
    fn finish(&mut self, slot: u32) -> Result<crate::Stat, crate::Failure> {
        self.reader.finish(slot)
    }
    fn cancel(&mut self, slot: u32) {
        self.reader.cancel(slot);
    }
}

#[test]
fn interrupted_and_busy_submissions_are_tried_again() {
    let (tree, names) = forty();
    for errno in [Errno::INTR, Errno::BUSY, Errno::AGAIN] {
        let mut script = Script::new(11);
        script.submit_fault = Box::new(move |nth| (nth % 3 != 2).then_some(errno));
        let script = script.shared();
        let mut reader = Fake::reader(&script, 5);
        all_come_out(&tree, &names, &mut reader);
        assert!(!script.borrow().is_closed, "{errno:?}");
    }
}

#[test]
fn a_completion_that_comes_twice_counts_once() {
    let (tree, names) = forty();
    let mut echoes = 0;
    for seed in 0..20 {
        let script = Script::new(seed).stuttering();
        all_come_out(&tree, &names, &mut Fake::reader(&script, 1 + seed as usize % 7));
        echoes += script.borrow().echoes;
    }
    assert!(echoes > 500, "{echoes}");
}

/// Whatever single operation fails, and however: its file has the right bytes or an error, all others are right, and it
/// comes to an end.
#[test]
fn any_operation_that_fails_is_the_files_alone() {
    let (tree, names) = forty();
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
            let is_told = matches!(errno, Errno::IO | Errno::NOENT | Errno::STALE);
            assert_eq!(failed, usize::from(is_told), "{errno:?} {failing}");
        }
    }
}

#[test]
fn dropped_in_flight_it_waits_for_every_completion() {
    let (tree, names) = forty();
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
fn dropped_on_a_broken_ring_it_leaves_the_buffers_to_it() {
    let (tree, names) = forty();
    let dir = tree.open();
    let mut script = Script::new(5);
    script.submit_fault = Box::new(|nth| (nth > 4).then_some(Errno::IO));
    let script = script.shared();
    let mut reader = Fake::reader(&script, 32);
    for (slot, file) in names.iter().take(32).enumerate() {
        start(&mut reader, slot as u32, &dir, &name(file));
    }
    reader.poll(false);
    drop(reader);
    assert!(!script.borrow().orphans.is_empty(), "the ring did not break down");
    haunt(&script);
    assert_eq!(Rc::strong_count(&dir), 1);
}
