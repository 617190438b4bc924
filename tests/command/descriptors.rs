//! The descriptor table is enlarged before it is shared between threads: growing a shared one takes the
//! kernel 10 to 30 ms.

use std::collections::HashSet;
use std::fs;

use crate::harness::{Dir, needs, uring};

/// Runs ftk under strace and returns the thread and the beginning of each call.
fn trace(dir: &Dir, args: &[&str]) -> Vec<(String, String)> {
    let log = dir.aside("log");
    let calls = "trace=openat,fcntl,clone,clone3,io_uring_setup";
    let strace = ["strace", "-f", "-qq", "-e", calls, "-o", log.to_str().unwrap()];
    dir.ftk(args).under(dir, strace).run().status(0);
    let log = fs::read_to_string(log).unwrap();
    let call =
        |line: &str| line.split_once(' ').map(|(thread, call)| (thread.to_owned(), call.trim().to_owned()));
    log.lines().filter_map(call).collect()
}

/// Returns the size of the descriptor table that this call requests, if it does.
fn room(call: &str) -> Option<u64> {
    let (_, number) = call.strip_prefix("fcntl(")?.split_once(", F_DUPFD_CLOEXEC, ")?;
    // strace prints a call in two parts if another thread runs during it.
    number.split([')', ' ']).next()?.parse().ok()
}

/// Returns the descriptor that this call opened.
fn opened(call: &str) -> Option<u64> {
    let (_, number) = call.contains("openat").then(|| call.rsplit_once(" = ")).flatten()?;
    number.split(' ').next()?.parse().ok()
}

fn is_clone(call: &str) -> bool {
    call.starts_with("clone")
}

#[test]
fn a_walk_enlarges_the_table_before_its_first_thread() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..400 {
        dir.dir(format!("{}/{nth}/a/b/c", nth % 20));
    }
    let calls = trace(&dir, &["find", "-j", "2"]);
    let calls: Vec<_> = calls.iter().map(|(_, call)| call.as_str()).collect();
    let thread = calls.iter().position(|call| is_clone(call)).expect("a second thread starts");
    let room = calls[..thread].iter().find_map(|call| room(call)).expect("room is made before");
    let most = calls.iter().filter_map(|call| opened(call)).max().unwrap();
    assert!(most <= room, "{most} is beyond {room}");
}

#[test]
fn a_small_tree_does_not_enlarge_the_table() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("a/b/c", b"");
    let calls = trace(&dir, &["find"]);
    assert!(calls.iter().any(|(_, call)| opened(call).is_some()));
    assert!(calls.iter().all(|(_, call)| !is_clone(call) && room(call).is_none()), "{calls:?}");
}

#[test]
fn rings_are_created_after_the_table_is_enlarged() {
    needs!("strace");
    if !uring() {
        return;
    }
    let dir = Dir::new();
    for nth in 0..600 {
        dir.file(format!("{}/{nth}", nth % 20), b"x");
    }
    let calls = trace(&dir, &["hash", "--io", "uring", "-j", "3", "."]);
    let mut with_room = HashSet::new();
    let mut rings = 0;
    for (thread, call) in &calls {
        if room(call).is_some_and(|number| number >= 256) {
            with_room.insert(thread);
        }
        // The first ring, with one entry, only tests whether io_uring works.
        if call.starts_with("io_uring_setup(") && !call.starts_with("io_uring_setup(1,") {
            rings += 1;
            assert!(with_room.contains(thread), "{call}");
        }
    }
    assert!(rings > 0, "{calls:?}");
    // The table that the workers share is enlarged, too: after the last such test.
    let probe = calls.iter().rposition(|(_, call)| call.starts_with("io_uring_setup(1,")).unwrap();
    let mut rest = calls[probe..].iter().map(|(_, call)| call.as_str());
    let first = rest.find(|call| is_clone(call) || room(call).is_some());
    assert!(first.is_some_and(|call| room(call).is_some()), "{first:?}");
}
