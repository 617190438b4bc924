//! Damaged or hostile manifests must be refused, and every change must be detected.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, lchown};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags, lsetxattr, makedev, mknodat, utimensat,
};

use crate::harness::{Dir, Paused, bytes, has_read, needs, records, sha256, skip};
use crate::manifest::records::{Manifest, create, lines, seal, verdicts, verify};

const KINDS: [&str; 4] = ["file", "dir", "link", "fifo"];

/// Creates an entry of each kind, named after the kind, a further file, and their manifest.
fn of_each_kind() -> Dir {
    let dir = Dir::new();
    dir.file("file", b"content").dir("dir").symlink("file", "link").fifo("fifo").file("other", b"other");
    create(&dir, &[]);
    dir
}

/// Checks that `verify` reports exactly the `expected` verdicts.
#[track_caller]
fn assert_verdicts(dir: &Dir, what: &str, expected: &[String]) {
    assert_eq!(verdicts(dir, &[]), expected, "{what}");
    for threads in ["mono", "4"] {
        verify(dir, &["-j", threads]).status(i32::from(!expected.is_empty()));
    }
}

/// Moves the mtime by this many nanoseconds.
fn shift_mtime(path: &Path, by: i64) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let before = fs::symlink_metadata(path)?;
    let nanos = before.mtime() * 1_000_000_000 + before.mtime_nsec() + by;
    let time = Timespec { tv_sec: nanos.div_euclid(1_000_000_000), tv_nsec: nanos.rem_euclid(1_000_000_000) };
    let times = Timestamps { last_access: time, last_modification: time };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn flip_mode(path: &Path, bit: u32) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode() & 0o7777;
    fs::set_permissions(path, Permissions::from_mode(mode ^ bit))
}

/// Each change of metadata is reported for each kind of entry, as a change of this member and of no other.
#[test]
fn h28_metadata() {
    type Change = fn(&Path) -> io::Result<()>;
    let changes: [(&str, Change); 9] = [
        ("mode", |path| flip_mode(path, 0o4000)),
        ("mode", |path| flip_mode(path, 0o1000)),
        ("mode", |path| flip_mode(path, 0o020)),
        ("mode", |path| flip_mode(path, 0o001)),
        ("uid", |path| lchown(path, Some(12), None)),
        ("gid", |path| lchown(path, None, Some(34))),
        ("mtime_ns", |path| shift_mtime(path, 1)),
        ("mtime_ns", |path| shift_mtime(path, -1_000_000_000)),
        // The ctime changes with every other change, so a change of ctime alone is not reported.
        ("", |path| shift_mtime(path, 5).and_then(|()| shift_mtime(path, -5))),
    ];
    for (nth, (member, change)) in changes.into_iter().enumerate() {
        for kind in KINDS.into_iter().filter(|kind| member != "mode" || *kind != "link") {
            let dir = of_each_kind();
            if change(&dir.path(kind)).is_err() {
                skip("only root can give files away");
                continue;
            }
            // The mtime of directories is not compared: every copy and every new manifest in them changes it.
            let is_reported = !member.is_empty() && (kind, member) != ("dir", "mtime_ns");
            let expected = [format!("metadata {kind}: {member}")];
            let expected = if is_reported { &expected[..] } else { &[] };
            assert_verdicts(&dir, &format!("{kind} {member}, change {nth}"), expected);
        }
    }
}

#[test]
fn h28_extended_attributes() {
    let mut n = 0;
    for kind in KINDS {
        // `user` attributes are possible on files and directories, `trusted` ones (root only) on every kind.
        for name in ["user.name", "trusted.name"] {
            let dir = of_each_kind();
            let set = |value: &[u8]| lsetxattr(dir.path(kind), name, value, XattrFlags::empty()).is_ok();
            if !set(b"value") {
                continue;
            }
            n += 1;
            let expected = [format!("metadata {kind}: xattrs")];
            assert_verdicts(&dir, &format!("{kind} gets {name}"), &expected);
            create(&dir, &[]);
            assert_verdicts(&dir, &format!("{kind} keeps {name}"), &[]);
            assert!(set(b"valuf"));
            assert_verdicts(&dir, &format!("{kind} with another {name}"), &expected);
            rustix::fs::lremovexattr(dir.path(kind), name).unwrap();
            assert_verdicts(&dir, &format!("{kind} loses {name}"), &expected);
            assert_eq!(verdicts(&dir, &["--ignore", "xattrs"]), [] as [&str; 0]);
        }
    }
    if n == 0 {
        skip("this file system has no extended attributes");
    }
}

#[test]
fn h28_content() {
    let size = 300_000;
    for at in [0, 4096, 16384, size / 2, size - 4096, size - 1] {
        let dir = Dir::new();
        dir.file("file", &bytes(3, size as usize));
        create(&dir, &[]);
        let file = File::options().read(true).write(true).open(dir.path("file")).unwrap();
        let before = file.metadata().unwrap().modified().unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x10], at).unwrap();
        file.set_modified(before).unwrap();
        assert_verdicts(&dir, &format!("a bit at {at}"), &["corrupted file: digests".into()]);
        file.set_len(size - 1).unwrap();
        file.set_modified(before).unwrap();
        assert_verdicts(&dir, "one byte less", &["modified file: size_bytes, digests".into()]);
    }
}

#[test]
fn h28_link_target() {
    let dir = of_each_kind();
    let change = ": > ../stamp; touch -h -r link ../stamp; ln -sfn fifo link; touch -h -r ../stamp link";
    dir.ftk([""; 0]).instead(&dir, ["sh", "-c", change]).run().status(0);
    let found = verdicts(&dir, &[]);
    assert!(found.len() == 1 && found[0].ends_with(" link: target"), "{found:?}");
}

#[test]
fn h28_device_number() {
    let dir = Dir::new();
    let device = |minor| {
        let mode = Mode::from_raw_mode(0o666);
        mknodat(CWD, dir.path("device"), FileType::CharacterDevice, mode, makedev(1, minor))
    };
    if device(3).is_err() {
        return skip("devices, which only root can make");
    }
    create(&dir, &[]);
    assert_verdicts(&dir, "as it was", &[]);
    fs::remove_file(dir.path("device")).unwrap();
    device(5).unwrap();
    assert_eq!(verdicts(&dir, &["--ignore", "mtime"]).len(), 1);
}

#[test]
fn h28_type() {
    for kind in KINDS {
        for other in KINDS.into_iter().filter(|other| *other != kind) {
            let dir = of_each_kind();
            let path = dir.path(kind);
            if kind == "dir" { fs::remove_dir(&path) } else { fs::remove_file(&path) }.unwrap();
            match other {
                "file" => _ = dir.file(kind, b"content"),
                "dir" => _ = dir.dir(kind),
                "link" => _ = dir.symlink("file", kind),
                _ => _ = dir.fifo(kind),
            }
            let found = verdicts(&dir, &[]);
            let expected = format!("modified {kind}: type");
            assert!(found.len() == 1 && found[0].starts_with(&expected), "{kind} to {other}: {found:?}");
        }
    }
}

#[test]
fn h28_added_removed_and_renamed() {
    for kind in KINDS {
        let dir = of_each_kind();
        fs::rename(dir.path(kind), dir.path("renamed")).unwrap();
        let moved = ["moved file -> renamed".to_owned()];
        let (gone, come) = (format!("missing {kind}"), "new renamed".to_owned());
        let both = if gone[8..] < come[4..] { [gone.clone(), come] } else { [come, gone.clone()] };
        assert_verdicts(&dir, &format!("{kind} renamed"), if kind == "file" { &moved } else { &both });
        if kind == "dir" {
            fs::remove_dir(dir.path("renamed"))
        } else {
            fs::remove_file(dir.path("renamed"))
        }
        .unwrap();
        assert_verdicts(&dir, &format!("{kind} removed"), &[gone]);
    }
    let dir = of_each_kind();
    dir.file("x", b"x").dir("y").symlink("x", "z").fifo("zz");
    assert_verdicts(&dir, "added", &["x", "y", "z", "zz"].map(|path| format!("new {path}")));
}

#[test]
fn h28_swapped() {
    let dir = Dir::new();
    dir.file("a", b"one").file("b", b"two");
    let shell = |script: &str| dir.ftk([""; 0]).instead(&dir, ["sh", "-c", script]).run().status(0);
    shell("touch -d @1000000000 a b");
    create(&dir, &[]);
    shell("mv a t; mv b a; mv t b");
    // Size and mtime are equal, so only the content differs.
    assert_verdicts(&dir, "swapped", &["a", "b"].map(|path| format!("corrupted {path}: digests")));
}

/// A truncated manifest is refused, and nothing is compared with it.
#[test]
fn h29_a_truncated_manifest_is_refused() {
    let dir = Dir::new();
    dir.raw_file(b"\xff", b"abc");
    let path = create(&dir, &["-a", "xxh64"]);
    let whole = fs::read(&path).unwrap();
    let lines = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let ends: Vec<_> = lines.filter(|end| *end < whole.len()).collect();
    for len in [0, 1, ends[0] - 1, whole.len() / 2, whole.len() - 1].into_iter().chain(ends) {
        fs::write(&path, &whole[..len]).unwrap();
        let run = verify(&dir, &[]).status(2).stdout("");
        run.check(run.err.starts_with("ftk: '"), "it says which file");
    }
    fs::write(&path, &whole).unwrap();
    verify(&dir, &[]).status(0);
    fs::write(&path, [&whole[..], b"\n"].concat()).unwrap();
    verify(&dir, &[]).status(2).stdout("");
    fs::write(&path, [&whole[..], &whole[..]].concat()).unwrap();
    verify(&dir, &[]).status(2).stdout("");
}

/// A manifest with one flipped bit is refused.
#[test]
fn h29_a_manifest_with_one_flipped_bit_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    let path = create(&dir, &[]);
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, &damaged).unwrap();
        verify(&dir, &[]).status(2).stdout("");
    }
}

/// A manifest inside its own tree is skipped by create and by verify.
#[test]
fn h17_the_manifest_inside_the_tree() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("list", b"an old file");
    for args in [&["-o", "list"][..], &["-o", "./sub/../list"]] {
        dir.dir("sub");
        dir.ftk(["manifest", "create", ".", "--force"])
            .args(args)
            .run()
            .status(0)
            .stderr_has("skipped: 1 own output file");
        assert_eq!(Manifest::read(&dir.path("list")).paths, [&b"."[..], b"a", b"sub"]);
        dir.ftk(["manifest", "verify", ".", "list"]).run().status(0).stdout("");
    }
    let out = File::create(dir.path("list")).unwrap();
    dir.ftk(["manifest", "create", "."]).stdout(out).run().status(0);
    dir.ftk(["manifest", "verify", ".", "list"]).run().status(0).stdout("");
    // Also if it is read from standard input.
    let stdin = File::open(dir.path("list")).unwrap();
    dir.ftk(["manifest", "verify", ".", "-"]).stdin_from(stdin).run().status(0).stdout("");
    // The output of verify and the file of --stats are skipped, too.
    let out = File::create(dir.path("verdicts")).unwrap();
    dir.ftk(["manifest", "verify", ".", "list", "--stats", "stats"]).stdout(out).run().status(0);
    assert_eq!(fs::read(dir.path("verdicts")).unwrap(), b"");
}

/// An update in place skips the old manifest, the new one, and every name of both.
#[test]
fn h17_an_update_in_its_own_place() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    dir.ftk(["manifest", "create", ".", "-o", "list"]).run().status(0);
    dir.file("b", b"new");
    for _ in 0..2 {
        dir.ftk(["manifest", "update", ".", "list", "-o", "list"]).run().status(0);
        assert_eq!(Manifest::read(&dir.path("list")).paths, [&b"."[..], b"a", b"b"]);
        dir.ftk(["manifest", "verify", ".", "list"]).run().status(0).stdout("");
    }
    // With another output, the old manifest is a file of the tree.
    dir.ftk(["manifest", "update", ".", "list", "-o", "new"]).run().status(0);
    assert_eq!(Manifest::read(&dir.path("new")).paths, [&b"."[..], b"a", b"b", b"list"]);
    dir.ftk(["manifest", "verify", ".", "new"]).run().status(0).stdout("");
}

/// Every possible file name is recorded byte for byte.
#[test]
fn h51_every_name_is_preserved() {
    let dir = Dir::new();
    let mut names: Vec<Vec<u8>> =
        (1..=255_u8).filter(|byte| *byte != b'/').map(|byte| vec![b'x', byte]).collect();
    names.extend([vec![b'n'; 255], vec![0xff; 255], b"\n".to_vec(), b"-".to_vec(), b"...".to_vec()]);
    names.extend([b"a\n{\"footer\":{}}".to_vec(), "\u{202e}".into(), b"\xed\xa0\x80".to_vec()]);
    for name in &names {
        dir.raw_file(name, name);
    }
    let manifest = Manifest::read(&create(&dir, &[]));
    assert_eq!(manifest.entries.len(), names.len() + 1);
    for name in &names {
        assert_eq!(manifest.entries[name]["digests"]["sha256"], sha256(name), "{name:?}");
    }
    verify(&dir, &[]).status(0).stdout("");
    // Each name is printed without control characters, and no two look alike.
    for name in &names {
        fs::remove_file(dir.path(std::ffi::OsStr::from_bytes(name))).unwrap();
    }
    let run = verify(&dir, &[]).status(1);
    let said = records(&run.out, b'\n');
    let different: std::collections::BTreeSet<_> = said.iter().collect();
    assert_eq!((said.len(), different.len()), (names.len(), names.len()));
    run.check(run.text().chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "no control characters");
    run.check(!run.text().contains('\u{202e}'), "no character reverses the text");
}

/// A tampered and unreadable file is not reported as ok.
#[test]
fn h53_unreadable_is_never_ok() {
    for mode in [&[][..], &["--mode", "content"], &["--sample", "100%"], &["--exit-on-first"]] {
        let dir = Dir::new();
        for nth in 0..100 {
            dir.file(format!("{nth}"), b"as it was");
        }
        create(&dir, &[]);
        dir.file("7", b"tampered!").lock("7");
        let run =
            dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).args(mode).unprivileged(&dir);
        let run = run.run().status(2);
        run.check(
            run.text().lines().any(|line| line.starts_with("unreadable\t7\t")),
            "the file is listed as unreadable",
        );
    }
}

/// Files that vanish during a verification are ok, missing or unreadable.
#[test]
fn h53_files_that_vanish() {
    let dir = Dir::new();
    for nth in 0..1000 {
        dir.file(format!("{nth:03}"), b"abc");
    }
    let manifest = create(&dir, &[]);
    let child = dir.ftk(["manifest", "verify", ".", "--json", "--all"]).arg(&manifest).spawn();
    for nth in (0..1000).rev() {
        fs::remove_file(dir.path(format!("{nth:03}"))).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let said = records(&output.stdout, b'\n');
    assert_eq!(said.len(), 1001, "each has a verdict");
    let verdict =
        |line: &Vec<u8>| serde_json::from_slice::<serde_json::Value>(line).unwrap()["verdict"].clone();
    let worst = |verdict: serde_json::Value| match verdict.as_str().unwrap() {
        "ok" => 0,
        "missing" => 1,
        "unreadable" => 2,
        other => panic!("{other}"),
    };
    assert_eq!(output.status.code(), said.iter().map(verdict).map(worst).max());
}

/// A file that changes while it is read is neither recorded nor verified.
#[test]
fn h34_a_change_while_it_is_read() {
    const LONG: u64 = 32 << 20;
    let append = |dir: &Dir| {
        let file = File::options().write(true).open(dir.path("long")).unwrap();
        file.write_all_at(b"x", LONG).unwrap();
    };
    let dir = Dir::on_disk();
    dir.zeros("long", LONG).file("other", b"abc");
    let paused = |args: &[&str]| {
        let ftk = dir.ftk(["manifest"]).args(args).args(["-j", "mono", "--limit-rate", "16M"]);
        Paused::when(ftk, |child| has_read(child) > LONG / 16)
    };
    let manifest = create(&dir, &["-a", "xxh64"]);
    let creating = paused(&["create", ".", "-a", "xxh64"]);
    append(&dir);
    let output = creating.go_on();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(Manifest::parse(&output.stdout).paths, [&b"."[..], b"other"]);
    dir.zeros("long", LONG);
    let verifying = paused(&["verify", ".", manifest.to_str().unwrap(), "--ignore", "mtime"]);
    append(&dir);
    let output = verifying.go_on();
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(2), &b"unreadable\tlong\tit changed while being read\n"[..])
    );
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("ftk: './long' changed while being read"), "{err}");
}

/// If the memory limit is too small, the run fails at once without output.
#[test]
fn h23_too_little_memory() {
    let dir = Dir::new();
    for nth in 0..2000 {
        dir.file(format!("{nth}"), b"abc");
    }
    let manifest = create(&dir, &[]);
    let manifest = manifest.to_str().unwrap();
    for args in [&["create", "."][..], &["verify", ".", manifest], &["update", ".", manifest]] {
        let run = dir.ftk(["manifest"]).args(args).args(["--memory", "1K"]).run().status(2).stdout("");
        run.stderr_has("--memory");
    }
    let run =
        dir.ftk(["manifest", "unique", manifest, manifest, "--memory", "1K"]).run().status(2).stdout("");
    run.stderr_has("--memory");
}

/// Verifying a manifest opens nothing outside the tree, and no FIFO inside it.
#[test]
fn h25_a_hostile_manifest() {
    needs!("strace");
    let dir = Dir::new();
    fs::write(dir.aside("secret"), b"secret").unwrap();
    dir.file("a", b"abc").fifo("fifo").symlink("..", "up").symlink("../secret", "out");
    let good = lines(&create(&dir, &[]));
    let file = good.iter().find(|line| line.contains("\"path\":\"a\"")).unwrap();
    for path in
        ["../secret", "/etc/passwd", "up/secret", "out", "fifo", "sub/../../secret", "a/", "a//b", "./a", ""]
    {
        let hostile = file.replace("\"path\":\"a\"", &format!("\"path\":\"{path}\""));
        fs::write(dir.aside("hostile"), seal(&[&good[0], &hostile])).unwrap();
        let log = dir.aside("log");
        let ftk = dir.ftk(["manifest", "verify", "."]).arg(dir.aside("hostile"));
        let strace = ["strace", "-f", "-e", "trace=open,openat,openat2,stat,lstat,newfstatat,statx", "-o"];
        let run = ftk.under(&dir, strace.iter().map(|arg| arg.as_ref()).chain([log.as_os_str()])).run();
        run.check(run.code() != 0, path);
        let calls = fs::read_to_string(log).unwrap();
        let opened = |what: &str| calls.lines().any(|call| call.contains(what));
        run.check(!opened("secret\"") && !opened("passwd\""), "nothing outside is looked at");
        let open =
            |call: &&str| call.contains("open") && (call.contains("\"fifo\"") || call.contains("/fifo\""));
        run.check(calls.lines().find(open).is_none(), "no FIFO is opened");
    }
}
