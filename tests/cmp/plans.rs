//! Every method and number of workers gives the same result.

use super::dice::pair;
use crate::harness::{Dir, bytes};

const BLOCKS: [&str; 5] = ["512", "4095", "16K", "128K", "1M"];

/// Runs with one to three and with more workers, and with every size of blocks.
fn same_for_all(dir: &Dir, args: &[&str]) {
    let expected = dir.ftk(["cmp", "-j", "mono"]).args(args).run();
    for threads in [1, 2, 3, 8] {
        for block in BLOCKS {
            for method in ["mapped", "stream"] {
                let plan = ["-j", &threads.to_string(), "--block-size", block, "--method", method];
                let run = dir.ftk(["cmp"]).args(plan).args(args).run();
                run.check(run.out == expected.out, "stdout is another one");
                run.check(run.code() == expected.code(), "the status is another one");
                let said = |err: &str| {
                    err.lines().filter(|line| !line.contains("/s)")).collect::<Vec<_>>().join("\n")
                };
                run.check(said(&run.err) == said(&expected.err), "something else is said");
            }
        }
    }
}

/// Some megabytes with changes in a few places.
fn changed(dir: &Dir, places: &[usize]) {
    let a = bytes(1, (5 << 20) + 77);
    let mut b = a.clone();
    for &place in places {
        b[place] ^= 1;
    }
    dir.file("a", &a).file("b", &b);
}

#[test]
fn h43_scattered_mismatches() {
    let dir = Dir::new();
    changed(&dir, &[3, 4, 5, 511, 512, 65_536, 1 << 20, (1 << 20) + 1, 3_000_000, (5 << 20) + 76]);
    for args in [&["a", "b"][..], &["-l", "a", "b"], &["--ranges", "a", "b"], &["--json", "a", "b"]] {
        same_for_all(&dir, args);
    }
    for most in ["1", "2", "7", "10", "11"] {
        dir.ftk(["cmp", "a", "b"]).run().status(1);
        same_for_all(&dir, &["--max-mismatches", most, "a", "b"]);
    }
    same_for_all(&dir, &["-i", "1:3", "--bytes", "100K", "--max-mismatches", "3000", "a", "b"]);
}

#[test]
fn h43_a_mismatch_late_and_one_early() {
    let dir = Dir::new();
    changed(&dir, &[5 << 20]);
    same_for_all(&dir, &["a", "b"]);
    changed(&dir, &[0]);
    same_for_all(&dir, &["a", "b"]);
    same_for_all(&dir, &["-s", "a", "b"]);
}

#[test]
fn h43_all_bytes_differ() {
    let dir = Dir::new();
    dir.file("a", &bytes(1, 256 << 10)).file("b", &bytes(2, (256 << 10) + 1));
    for args in [&["a", "b"][..], &["--ranges", "--json", "a", "b"], &["-s", "a", "b"]] {
        same_for_all(&dir, args);
    }
}

#[test]
fn small_pairs() {
    let dir = Dir::new();
    for nth in 0..3 {
        let [a, b] = pair(9000 + nth);
        dir.file("a", &a).file("b", &b);
        same_for_all(&dir, &["-l", "a", "b"]);
    }
}

#[test]
fn equal_files() {
    let dir = Dir::new();
    changed(&dir, &[]);
    same_for_all(&dir, &["a", "b"]);
    same_for_all(&dir, &["--no-shortcuts", "a", "a"]);
}

/// The chosen method can be shown and forced.
#[test]
fn the_method_is_said() {
    let dir = Dir::new();
    changed(&dir, &[]);
    for (method, word) in [("mapped", "mapped"), ("stream", "streamed")] {
        let run = dir.ftk(["cmp", "-v", "-j", "2", "--method", method, "a", "b"]).run().status(0);
        run.stderr_has(&format!("ftk: plan    {word}, ")).stderr_has(": as requested\n");
    }
    let run = dir.ftk(["cmp", "-v", "a", "a"]).run().status(0);
    run.stderr("ftk: plan    nothing is read: both are the same file\n  equal: both are the same file\n");
}
