//! Damaged or foreign manifests, reports, journals and checksum lists, for every command that reads one.

use std::fs;

use proptest::prelude::*;

use crate::harness::{Dir, Run, sha256};
use crate::manifest::records::{lines, seal};

/// Commands that read a list from the file `LIST`, and the kind of that list.
const READERS: [(&[&str], &str); 12] = [
    (&["hash", "--check", "LIST"], "list"),
    (&["hash", "--diff", "LIST", "../list"], "list"),
    (&["hash", "--diff", "../list", "LIST"], "list"),
    (&["manifest", "verify", "t", "LIST"], "manifest"),
    (&["manifest", "update", "t", "LIST"], "manifest"),
    (&["manifest", "diff", "LIST", "../manifest"], "manifest"),
    (&["manifest", "diff", "../manifest", "LIST"], "manifest"),
    (&["manifest", "unique", "LIST", "../manifest"], "manifest"),
    (&["manifest", "unique", "../manifest", "LIST"], "manifest"),
    (&["dup", "apply", "--yes", "--action", "delete", "LIST"], "report"),
    (&["dup", "apply", "--yes", "--action", "delete", "--edited", "LIST"], "report"),
    (&["dup", "undo", "LIST"], "journal"),
];

/// Creates a tree with copies, and next to it a valid list of each kind. The journal belongs to a run in
/// another tree.
fn scene() -> Dir {
    let dir = Dir::new();
    for (path, content) in [("t/a", "same"), ("t/b", "same"), ("v/a", "more"), ("v/b", "more")] {
        dir.file(path, content.as_bytes());
    }
    dir.ftk(["hash", "t", "-o", "../list"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
    dir.ftk(["dup", "--json", "t", "-o", "../report"]).run().status(0);
    dir.ftk(["dup", "prune", "--yes", "--action", "hardlink", "v", "--journal", "../journal"])
        .run()
        .status(0);
    dir
}

/// Gives `bytes` to a reader. Whatever the bytes are, the copies must still exist afterwards.
fn read(dir: &Dir, reader: &[&str], bytes: &[u8]) -> Run {
    fs::write(dir.aside("bad"), bytes).unwrap();
    let args = reader.iter().map(|arg| if *arg == "LIST" { "../bad" } else { arg });
    let run = dir.ftk(args).run();
    run.check(dir.path("t/a").exists() && dir.path("t/b").exists(), "the copies are there");
    run
}

/// Every reader fails on a file that is not its kind of list.
#[test]
fn h26_files_that_are_not_lists_are_errors_of_every_reader() {
    let dir = scene();
    let all: Vec<_> = ["list", "manifest", "report", "journal"]
        .map(|kind| (kind, fs::read(dir.aside(kind)).unwrap()))
        .into();
    for (reader, kind) in READERS {
        let good = &all.iter().find(|(name, _)| *name == kind).unwrap().1;
        let text = String::from_utf8(good.clone()).unwrap();
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut bad = vec![
            ("nothing", Vec::new()),
            ("an empty line", b"\n".to_vec()),
            ("a word", b"nonsense\n".to_vec()),
            ("NUL bytes", vec![0; 4096]),
            ("a program", fs::read(env!("CARGO_BIN_EXE_ftk")).unwrap()[..20_000].to_vec()),
            ("UTF-16", utf16.clone()),
            ("marked UTF-16", [b"\xff\xfe", &utf16[..]].concat()),
            ("an empty object", b"{}\n".to_vec()),
            ("an array", b"[]\n".to_vec()),
        ];
        if !reader.contains(&"--edited") && kind != "journal" {
            bad.push(("a byte order mark", [b"\xef\xbb\xbf", &good[..]].concat()));
            // Checksum lists may have DOS line ends.
            if kind != "list" {
                bad.push(("line ends of DOS", text.replace('\n', "\r\n").into_bytes()));
            }
        }
        // Checksum lists and manifests may be compared with each other.
        let is_diff = reader[1] == "diff";
        bad.extend(all.iter().filter(|(name, _)| *name != kind && !(is_diff && *name == "list")).cloned());
        for (what, bytes) in bad {
            let run = read(&dir, reader, &bytes);
            run.check(run.code() == 2, what);
            run.check(run.err.lines().any(|line| line.starts_with("ftk: ")), "the reason is printed");
        }
        if kind != "journal" {
            let run = read_plan(&dir, reader, good);
            run.check(run.code() < 2, "the good one is read");
        }
    }
}

/// Reading a device may never end, and opening it may have effects: every command refuses a device as a list
/// at once. A FIFO is read, except as a journal.
#[test]
fn h84_a_device_is_refused_as_a_list() {
    let dir = scene();
    dir.fifo("fifo");
    for (reader, kind) in READERS {
        for device in ["/dev/zero", "/dev/null"] {
            let args = reader.iter().map(|arg| if *arg == "LIST" { device } else { arg });
            let run = dir.ftk(args).run().status(2).stdout("");
            let why = match kind {
                "journal" => format!("ftk: cannot undo '{device}': it is not a regular file\n"),
                _ => format!("ftk: cannot open '{device}': it is a device\n"),
            };
            run.stderr(&why);
        }
        // A journal must be a regular file, whose owner can be checked.
        if kind == "journal" {
            continue;
        }
        let args = reader.iter().filter(|arg| **arg != "--yes");
        let args = args.map(|arg| if *arg == "LIST" { "fifo" } else { arg });
        let good = fs::read(dir.aside(kind)).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| fs::write(dir.path("fifo"), &good).unwrap());
            let run = dir.ftk(args).run();
            run.check(run.code() < 2, "it is read");
        });
    }
}

/// A manifest with one path twice, or with digests that do not fit the algorithm, is refused by every
/// command.
#[test]
fn h03_h26_a_manifest_that_contradicts_itself_is_refused() {
    let dir = scene();
    let good = lines(&dir.aside("manifest"));
    let (header, file) = (&good[0], good.iter().find(|line| line.contains("\"path\":\"a\"")).unwrap());
    let (digest, other) = (sha256(b"same"), sha256(b"other"));
    let with = |from: &str, to: &str| vec![header.clone(), file.replace(from, to)];
    let member = format!("\"digests\":{{\"sha256\":\"{digest}\"}}");
    assert!(file.contains(&member));
    let cases = [
        ("a path twice", vec![header.clone(), file.clone(), file.replace(&digest, &other)]),
        ("no digest", with(&format!(",{member}"), "")),
        ("no digests", with(&member, "\"digests\":{}")),
        ("an empty digest", with(&digest, "")),
        ("a short digest", with(&digest, &digest[..62])),
        ("a long digest", with(&digest, &format!("{digest}00"))),
        ("a digest of another algorithm", with("\"sha256\":", "\"sha1\":")),
        ("another algorithm", vec![header.replace("sha256", "md5"), file.clone()]),
        ("an unknown algorithm", vec![header.replace("sha256", "crc32"), file.replace("sha256", "crc32")]),
        ("a digest without hexadecimal digits", with(&digest, &"x".repeat(64))),
        ("a negative size", with("\"size_bytes\":4,", "\"size_bytes\":-4,")),
        ("no type", with("\"type\":\"file\",", "")),
        ("no path", with("\"path\":\"a\",", "")),
        ("no header", vec![file.clone()]),
    ];
    for (what, lines) in cases {
        for (reader, _) in READERS.iter().filter(|(_, kind)| *kind == "manifest") {
            let run = read(&dir, reader, seal(&lines).as_bytes());
            run.check(run.code() == 2 && run.err.starts_with("ftk: "), what);
        }
    }
}

/// A truncated report or list is not treated as complete, wherever it was cut.
#[test]
fn h29_truncated_reports_and_lists_are_incomplete() {
    let dir = scene();
    let report = fs::read(dir.aside("report")).unwrap();
    let first = report.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for len in [0, 1, first - 1, first, report.len() / 2, report.len() - 1] {
        for edited in [&[][..], &["--edited"]] {
            let reader = [&["dup", "apply", "--yes", "--action", "delete", "LIST"], edited].concat();
            // An editor may remove the last newline.
            if !edited.is_empty() && len == report.len() - 1 {
                continue;
            }
            read(&dir, &reader, &report[..len]).status(2).stdout("");
        }
    }
    let list = fs::read(dir.aside("list")).unwrap();
    let first = list.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for len in [first + 1, first + 63, first + 64, first + 65, list.len() - 2] {
        for reader in [["hash", "--diff", "LIST", "../list"], ["hash", "--diff", "../list", "LIST"]] {
            let run = read(&dir, &reader, &list[..len]);
            run.check(run.code() != 0, "half a line is an error");
        }
    }
}

/// Lengths, depths and numbers that would exhaust the memory of a careless parser.
#[test]
fn h23_hostile_lengths_for_every_reader() {
    let dir = scene();
    let header = |kind: &str| {
        let path = if kind == "list" { "manifest" } else { kind };
        fs::read_to_string(dir.aside(path)).unwrap().lines().next().unwrap().to_owned() + "\n"
    };
    for (reader, kind) in READERS {
        let header = header(kind);
        for bytes in [
            vec![b'a'; 9 << 20],
            vec![b'['; 1 << 20],
            (header.clone() + &"[".repeat(1 << 20)).into_bytes(),
            (header.clone() + &"{\"a\":".repeat(1 << 18)).into_bytes(),
            (header.clone() + "{\"path\":\"" + &"a".repeat(9 << 20)).into_bytes(),
            (header.clone() + "{\"group\":99999999999999999999999999,\"size_bytes\":1e999}\n").into_bytes(),
            (header + "{\"footer\":{\"records\":18446744073709551616}}\n").into_bytes(),
        ] {
            // With --edited, the number of records in the footer is not checked.
            if reader.contains(&"--edited") && bytes.ends_with(b"}}\n") {
                continue;
            }
            fs::write(dir.aside("bad"), &bytes).unwrap();
            let args = reader.iter().map(|arg| if *arg == "LIST" { "../bad" } else { arg });
            let run = dir.ftk(args).args(["-j", "mono", "--memory", "64M"]).limit(&dir, "-d 200000").run();
            // A killed run leaves half a last line in its journal.
            run.check(run.code() == 2 || (kind == "journal" && run.code() == 0), "it is refused");
            run.stderr_lacks("panic");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random bytes, and valid lists with some bytes replaced.
    #[test]
    fn h23_any_bytes_for_every_reader(
        bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let dir = scene();
        for (reader, kind) in READERS {
            let run = read(&dir, reader, &bytes);
            prop_assert_eq!(run.code(), 2, "{:?}: {}", reader, run.err);
            let good = fs::read(dir.aside(kind)).unwrap();
            let mut damaged = good.clone();
            damage.iter().for_each(|(at, byte)| damaged[at.index(good.len())] = *byte);
            // Damage may go unnoticed in a checksum list, which has no footer, in a report read with
            // `--edited`, whose footer need not match, and in a journal, which a killed run leaves
            // without its end.
            if damaged == good || kind == "list" || kind == "journal" || reader.contains(&"--edited") {
                continue;
            }
            let run = read(&dir, reader, &damaged);
            prop_assert_eq!(run.code(), 2, "{:?}: {}", reader, run.err);
        }
    }
}

/// The same without `--yes`, which only prints the plan.
fn read_plan(dir: &Dir, reader: &[&str], bytes: &[u8]) -> Run {
    let reader: Vec<_> = reader.iter().copied().filter(|arg| *arg != "--yes").collect();
    read(dir, &reader, bytes)
}
