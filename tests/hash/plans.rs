//! The output does not depend on decisions about workers and readers.

use super::algorithms::sizes;
use crate::harness::{Dir, bytes, needs, sum, uring};

/// Returns every choice of workers with every available reader.
pub(super) fn plans() -> Vec<Vec<&'static str>> {
    let readers = if uring() { &["auto", "sync", "uring"][..] } else { &["auto", "sync"] };
    let threads = ["auto", "mono", "2", "io", "compute", "8"];
    let plan = |&reader| threads.map(|threads| vec!["--io", reader, "--threads", threads]);
    readers.iter().flat_map(plan).collect()
}

/// Checks that every plan prints `expected`.
fn all_print(dir: &Dir, args: &[&str], expected: &[u8]) {
    for plan in plans() {
        dir.ftk(["hash"]).args(args).args(plan).run().status(0).stdout(expected);
    }
}

/// The sample has 32 files: some trees are smaller, some larger, and some leave only a few files after the
/// sample.
#[test]
fn trees_around_the_size_of_the_sample() {
    needs!("find", "xargs", "sha256sum");
    let dir = Dir::new();
    let mut made = 0;
    for count in [1, 2, 10, 31, 32, 33, 64, 65, 100, 2000] {
        for nth in made..count {
            dir.file(format!("{}/{nth}", nth % 17), &bytes(nth, (nth * 37 % 5000) as usize));
        }
        made = count;
        all_print(&dir, &["."], &sum(&dir, &["sha256sum", "--"], &["."]));
    }
}

#[test]
fn digests_in_lanes() {
    needs!("find", "xargs", "sha256sum");
    let dir = sizes();
    let expected = sum(&dir, &["sha256sum", "--"], &["."]);
    let without_the_largest = ["-S", "-2M", "."];
    let expected = String::from_utf8(expected).unwrap();
    let small = |line: &&str| !["/3145728", "/20971520"].iter().any(|large| line.ends_with(large));
    let expected: String = expected.lines().filter(small).map(|line| format!("{line}\n")).collect();
    all_print(&dir, &without_the_largest, expected.as_bytes());
}

#[test]
fn a_tree_hash_that_workers_share() {
    needs!("find", "xargs", "b3sum");
    let dir = sizes();
    all_print(&dir, &["-a", "blake3", "."], &sum(&dir, &["b3sum", "--"], &["."]));
}

#[test]
fn a_serial_digest() {
    needs!("find", "xargs", "xxhsum");
    let dir = sizes();
    all_print(&dir, &["-a", "xxh128", "."], &sum(&dir, &["xxhsum", "-q", "-H2"], &["."]));
}

/// Large files are read last and in another order than they were found.
#[test]
fn large_files_among_small_ones() {
    needs!("find", "xargs", "xxhsum");
    let dir = Dir::new();
    for nth in 0..60 {
        let len = if nth % 12 == 5 { 5_000_000 + nth * 1000 } else { nth * 10 };
        dir.file(format!("{}/{nth}", nth % 4), &bytes(nth as u64, len));
    }
    all_print(&dir, &["-a", "xxh64", "."], &sum(&dir, &["xxhsum", "-q", "-H1"], &["."]));
}

/// A memory limit only makes buffers smaller or fewer.
#[test]
fn little_memory_does_not_change_the_output() {
    needs!("find", "xargs", "b3sum");
    let dir = sizes();
    let expected = sum(&dir, &["b3sum", "--"], &["."]);
    for memory in ["16M", "100m", "1T"] {
        for threads in ["mono", "8"] {
            let plan = ["-a", "blake3", "--memory", memory, "-j", threads];
            dir.ftk(["hash", "."]).args(plan).run().status(0).stdout(&expected);
        }
    }
}

/// If the memory limit is too small, it is an error before any output.
#[test]
fn too_little_memory_is_an_error() {
    let dir = sizes();
    for plan in [["-j", "mono"], ["-j", "8"]] {
        let run =
            dir.ftk(["hash", ".", "--memory", "1K", "-o", "list"]).args(plan).run().status(2).stdout("");
        run.stderr_has("--memory");
        assert!(!dir.path("list").exists());
    }
}
