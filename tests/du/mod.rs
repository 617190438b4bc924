//! `ftk du`.

mod changes;
mod exclusive;
mod free;
mod gnu;
mod huge;
mod links;
mod mounts;
mod ncdu;
mod outputs;
mod races;
mod read_back;
mod since;

use crate::harness::{Dir, bytes};

/// A tree with entries of all types, odd names, holes, hard links, and directories of several sizes.
fn tree() -> Dir {
    let dir = Dir::new();
    for (nth, len) in [0, 1, 4095, 4096, 4097, 100_000].into_iter().enumerate() {
        dir.file(format!("sizes/{len}"), &bytes(nth as u64, len));
    }
    dir.raw_file(b"odd/\xff", b"1")
        .raw_file(b"odd/new\nline/tab\t", b"22")
        .raw_file(b"odd/\x1b[31m\"\\", b"333");
    dir.file("d/x", b"1").file("d-e", b"2").file("d-f/y", &bytes(3, 9000)).file("d.g", b"4").dir("empty");
    for nth in 0..300 {
        dir.file(format!("wide/a rather long name of a file, number {nth}"), b"");
    }
    dir.hole("hole", 1 << 40).symlink("sizes", "to_dir").symlink(&"x".repeat(200), "broken").fifo("fifo");
    dir.hard_link("sizes/100000", "d/linked")
        .hard_link("sizes/100000", "d-f/linked")
        .hard_link("d-e", "empty-not");
    dir.socket("socket");
    dir
}
