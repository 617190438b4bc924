//! Files that change, shrink or vanish during a run.

use std::collections::HashSet;
use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::process::Child;
use std::thread;

use crate::harness::{Dir, Paused, bytes, has_read, hash_lines, maps, sha256};

/// Large enough that even the fastest kernel can be paused in the middle.
const LONG: u64 = 256 << 20;

/// A change to a file while it is being read.
type Change = fn(&File);

const CHANGES: [(&str, Change); 5] = [
    ("append", |file| file.write_all_at(b"x", LONG).unwrap()),
    ("truncate", |file| file.set_len(LONG / 2).unwrap()),
    ("to nothing", |file| file.set_len(0).unwrap()),
    ("first byte, read already", |file| file.write_all_at(b"x", 0).unwrap()),
    ("last byte, time restored", |file| {
        let before = file.metadata().unwrap().modified().unwrap();
        file.write_all_at(b"x", LONG - 1).unwrap();
        file.set_times(FileTimes::new().set_modified(before)).unwrap();
    }),
];

/// A file that changes between the reads of its first and its last byte has no digest. Other files have
/// theirs.
fn no_digest_after_a_change(plan: &[&str], is_under_way: fn(&Child) -> bool) {
    for (what, change) in CHANGES {
        let dir = Dir::on_disk();
        dir.zeros("long", LONG).file("other", b"abc");
        let ftk = dir.ftk(["hash", "-q", "long", "other"]).args(plan);
        let paused = Paused::when(ftk, is_under_way);
        change(&File::options().write(true).open(dir.path("long")).unwrap());
        let output = paused.go_on();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{what}: {out}{err}");
        assert!(err.starts_with("ftk: 'long' changed while being read"), "{what}: {err}");
        assert_eq!(out.lines().count(), 1, "{what}: {out}");
        assert!(out.ends_with("  other\n"), "{what}: {out}");
    }
}

#[test]
fn h34_a_change_while_a_stream_is_read() {
    no_digest_after_a_change(&["-a", "xxh64", "-j", "mono"], |child| has_read(child) > LONG / 16);
}

#[test]
fn h34_a_change_while_a_reader_runs_ahead() {
    no_digest_after_a_change(&["-a", "xxh128", "-j", "4"], |child| has_read(child) > LONG / 16);
}

#[test]
fn h34_a_change_while_workers_share_a_file() {
    no_digest_after_a_change(&["-a", "blake3", "-j", "4"], |child| maps(child, "long"));
}

/// Other programs end by SIGBUS when they touch a mapped page past the new end of a file.
#[test]
fn h65_truncating_a_mapped_file_is_an_error() {
    let commands: [&[&str]; 3] = [
        &["hash", "-q", "-a", "blake3", "-j", "4", "long"],
        &["cmp", "--no-shortcuts", "--method", "mapped", "-j", "4", "other", "long"],
        &["cmp", "--no-shortcuts", "--method", "mapped", "-j", "mono", "long", "other"],
    ];
    for args in commands {
        for len in [0, 4096, LONG / 2] {
            let dir = Dir::on_disk();
            dir.zeros("long", LONG).zeros("other", LONG);
            let paused = Paused::when(dir.ftk(args), |child| maps(child, "long"));
            File::options().write(true).open(dir.path("long")).unwrap().set_len(len).unwrap();
            let output = paused.go_on();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?} {len}: {err}");
            assert!(err.contains("'long' changed while being read"), "{args:?} {len}: {err}");
            assert!(output.stdout.is_empty(), "{args:?} {len}");
        }
    }
}

/// A growing log has the digest of one of its states, or none.
#[test]
fn h34_a_growing_file_has_the_digest_of_one_of_its_states() {
    let dir = Dir::new();
    dir.file("log", b"").file("other", b"abc");
    // Longer writes become visible page by page.
    let line = bytes(7, 4096);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut log = File::options().append(true).open(dir.path("log")).unwrap();
            let (mut content, mut states) = (Vec::new(), HashSet::from([sha256(b"")]));
            while content.len() < 4 << 20 {
                log.write_all(&line).unwrap();
                content.extend_from_slice(&line);
                states.insert(sha256(&content));
            }
            states
        });
        let mut seen = Vec::new();
        while !writer.is_finished() {
            let run = dir.ftk(["hash", "-q", "log", "other"]).run();
            let mut lines = hash_lines(&run.out);
            run.check(lines[&b"other"[..]] == sha256(b"abc"), "the other one has its digest");
            match lines.remove(&b"log"[..]) {
                Some(digest) => {
                    run.status(0).stderr("");
                    seen.push(digest);
                }
                None => _ = run.status(2).stderr_has("ftk: 'log' changed while being read"),
            }
        }
        let states = writer.join().unwrap();
        assert!(
            seen.iter().all(|digest| states.contains(digest)),
            "each digest is that of a state of the file"
        );
    });
}

/// Runs a command while 2000 files in the tree `t` are removed, which contain their names. Returns its status, its output,
/// and how many errors report a file there that is gone or was changed. No other error is accepted.
pub(super) fn while_files_vanish(dir: &Dir, args: &[&str]) -> (Option<i32>, Vec<u8>, usize) {
    const FILES: usize = 2000;
    for nth in 0..FILES {
        dir.file(format!("t/{}/{nth}", nth % 20), format!("{nth}").as_bytes());
    }
    let child = dir.ftk(args).spawn();
    for nth in (0..FILES).rev() {
        fs::remove_file(dir.path(format!("t/{}/{nth}", nth % 20))).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let errors = || err.lines().filter(|line| line.starts_with("ftk: "));
    for line in errors() {
        let is_gone =
            line.ends_with(": no such file or directory") || line.contains("changed while being read");
        assert!(line.contains("'t/") && is_gone, "{line}");
    }
    (output.status.code(), output.stdout, errors().count())
}

/// A file that is removed while the tree is hashed has the right digest or an error that names it.
#[test]
fn h44_files_vanish_between_walk_and_read() {
    for plan in [["-j", "mono"], ["-j", "8"], ["--io", "auto"]] {
        let args = [&["hash", "-q", "t"], &plan[..]].concat();
        let (status, out, errors) = while_files_vanish(&Dir::new(), &args);
        let lines = hash_lines(&out);
        for (path, digest) in &lines {
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap();
            assert_eq!(*digest, sha256(name), "{path:?}");
        }
        assert_eq!(status, Some(if errors == 0 { 0 } else { 2 }));
        assert!(lines.len() + errors <= 2000);
    }
}

/// Files that cannot be opened are errors and have no digest, even if a file of the same size was read.
#[test]
fn h44_unreadable_files_have_no_digest() {
    let dir = Dir::new();
    for nth in 0..200 {
        dir.file(format!("{nth}"), b"the same size").lock(&format!("{nth}"));
    }
    dir.file("open", b"the same size");
    for plan in [["-j", "mono"], ["-j", "8"], ["--io", "sync"]] {
        let run = dir.ftk(["hash", "-q", "."]).args(plan).unprivileged(&dir).run().status(2);
        run.check(run.err.lines().count() == 200, "each file is an error");
        run.check(run.err.lines().all(|line| line.ends_with(": permission denied")), "the reason is printed");
        run.stdout(format!("{}  ./open\n", sha256(b"the same size")));
    }
}
