//! The number of system calls that ask for metadata.

use std::fs;

use crate::harness::{Dir, needs};

/// Returns how often metadata of a file `*.txt` or `*.dat` was requested.
fn stats(dir: &Dir, args: &[&str]) -> usize {
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-o", log.to_str().unwrap(), "-e", "trace=%%stat,readlink,readlinkat"];
    dir.ftk(["find"]).args(args).under(dir, strace).run().status(0);
    let log = fs::read_to_string(&log).unwrap();
    log.lines().filter(|line| line.contains(".txt\"") || line.contains(".dat\"")).count()
}

#[test]
fn metadata_is_requested_only_if_needed() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..30 {
        dir.file(format!("{}/{nth}.txt", nth % 4), b"x").file(format!("{}/{nth}.dat", nth % 4), b"x");
    }
    for threads in ["mono", "8"] {
        let stats = |args: &[&str]| stats(&dir, &[args, &["-j", threads]].concat());
        for free in [
            &[][..],
            &["--sort"],
            &["-c"],
            &["-n", "*.txt", "-t", "f"],
            &["--max-results", "9"],
            &["--format", "{path} {name} {dir} {ext} {type} {depth} {relative} {root} {target}"],
            &["--exec-batch", "true"],
        ] {
            assert_eq!(stats(free), 0, "{free:?}");
        }
        for (args, n) in [
            // Once for each entry, for any number of fields, and only for entries that earlier filters match.
            (&["-n", "*.txt", "-S", "+0"][..], 30),
            (&["-n", "*.txt", "--format", "{size}{mode}{mtime}{user}"], 30),
            (&["-n", "*.txt", "-S", "+0", "--json"], 30),
            (&["-n", "*.txt", "--json", "--sort"], 30),
            (&["-n", "*.txt", "--color", "always"], 30),
        ] {
            assert_eq!(stats(args), n, "{args:?}");
        }
    }
}
