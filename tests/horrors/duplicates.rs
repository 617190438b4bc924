//! Groups must not contain different files or two names of one file.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use data_encoding::HEXLOWER;

use super::pruning::ACTIONS;
use crate::harness::{Dir, Mounted, Paused, bytes, has_read, needs, uring};

/// A file that is reached twice is no duplicate, by whatever paths.
#[test]
fn h02_a_file_is_no_copy_of_itself() {
    let dir = Dir::new();
    dir.file("d/x", b"content").dir("y").symlink("d", "link");
    for args in [
        &[".", "."][..],
        &["d", "d"],
        &["d/x", "d/x"],
        &["d/x", "./y/../d/x"],
        &["d", "d/x"],
        &["d/x", "d"],
        &["d", "link"],
        &["link", "d"],
        &["d", "link/x"],
        &[".", "d", "d/x", "link"],
        &["-L", "."],
        &["-L", "d", "link"],
    ] {
        dir.ftk(["dup"]).args(args).run().status(0).stdout("");
        for action in ["hardlink", "symlink", "delete", "move=away"] {
            let run = dir.ftk(["dup", "prune", "--yes", "--action", action]).args(args).run();
            run.check(run.code() != 1 && fs::read(dir.path("d/x")).is_ok(), "the file is there");
        }
    }
}

/// A bind mount within one file system, and two bind mounts of a directory on another.
#[test]
fn h02_a_bind_mount_makes_no_copies() {
    let Some(other) = Mounted::new("tmpfs") else { return };
    let dir = Dir::new();
    dir.file("d/x", b"content").dir("e").dir("f").dir("g").file("y", b"content");
    std::fs::create_dir(other.path("h")).unwrap();
    fs::write(other.path("h/x"), b"elsewhere").unwrap();
    let bind = |from: &Path, to: &str| Mounted::at(&dir.path(to), ["--bind".as_ref(), from.as_os_str()]);
    let binds = [bind(&dir.path("d"), "e"), bind(&other.path("h"), "f"), bind(&other.path("h"), "g")];
    if binds.iter().any(Option::is_none) {
        return;
    }
    for action in ACTIONS {
        for args in [&["d", "e"][..], &["e", "d/x"], &["d/x", "e/x"], &["f", "g"], &["f/x", "g"]] {
            let run = dir.ftk(["dup", "prune", "--yes", "--action", action]).args(args).run();
            run.check(fs::read(dir.path("d/x")).is_ok(), "the file is there");
            run.check(fs::read(other.path("h/x")).is_ok(), "the other file is there");
            run.check(run.out.is_empty(), "there are no copies");
        }
        let args = ["dup", "prune", "--yes", "--action", action, "--keep", "path=*y"];
        dir.ftk(args).run();
        assert!(["d/x", "y"].iter().all(|path| fs::read(dir.path(path)).is_ok_and(|it| it == b"content")));
    }
}

/// Inode numbers repeat in the subvolumes of btrfs: equal numbers do not mean equal files.
#[test]
fn h37_inodes_of_subvolumes_repeat() {
    let Some(mounted) = Mounted::new("btrfs") else { return };
    for name in ["one", "two"] {
        let mut btrfs = std::process::Command::new("btrfs");
        assert!(
            btrfs.args(["-q", "subvolume", "create"]).arg(mounted.path(name)).status().unwrap().success()
        );
    }
    for (file, contents) in [("a", [b"one", b"two"]), ("b", [b"xyz", b"xyz"])] {
        for (volume, content) in ["one", "two"].iter().zip(contents) {
            fs::write(mounted.path(&format!("{volume}/{file}")), content).unwrap();
        }
    }
    let ino = |path: &str| fs::metadata(mounted.path(path)).unwrap().ino();
    assert!(ino("one/a") == ino("two/a") && ino("one/b") == ino("two/b"));
    let dir = Dir::new();
    let [one, two] = ["one", "two"].map(|name| mounted.path(name).into_os_string().into_string().unwrap());
    let both = format!("{one}/b\n{two}/b\n\n");
    dir.ftk(["dup", &one, &two]).run().status(0).stdout(&both);
    let run = dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", &one, &two]).run().status(2);
    run.check(run.says("another file system"), "no hard link is made");
    dir.ftk(["cmp", &one, &two]).run().status(1).stdout("content differs\ta\tfirst at byte 1\n");
    dir.ftk(["dup", "prune", "--action", "delete", "--yes", &one, &two]).run().status(0);
    assert!(mounted.path("one/b").exists() && !mounted.path("two/b").exists());
    assert!(mounted.path("one/a").exists() && mounted.path("two/a").exists());
}

/// Unreadable files have no digest and are in no group.
#[test]
fn h03_h44_unreadable_files_are_in_no_group() {
    let dir = Dir::new();
    for nth in 0..30 {
        dir.file(format!("same/{nth}"), b"one content").file(format!("locked/{nth}"), b"one content");
        dir.lock(&format!("locked/{nth}"));
    }
    let mut readers = vec!["auto", "sync"];
    readers.extend(uring().then_some("uring"));
    for io in readers {
        for threads in ["1", "4"] {
            let args = ["dup", "locked", "same", "--io", io, "-j", threads];
            let run = dir.ftk(args).unprivileged(&dir).run().status(2);
            run.check(
                run.text().lines().filter(|line| !line.is_empty()).count() == 30,
                "the files that were read",
            );
            run.check(!run.text().contains("locked"), "no unreadable files");
            run.stderr_has("ftk: cannot open 'locked/29': permission denied\n");
        }
        let args = ["dup", "prune", "--action", "delete", "--yes", "locked", "same", "--io", io];
        dir.ftk(args).arg("--journal").arg(dir.aside("none/j")).unprivileged(&dir).run().status(2);
    }
    assert_eq!(fs::read_dir(dir.path("same")).unwrap().count(), 30);
}

/// Files that vanish between the walk and their reading.
#[test]
fn h44_vanished_files_are_in_no_group() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..20 {
        dir.file(format!("{nth}"), b"the same");
    }
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-o", log.to_str().unwrap(), "-e", "trace=openat", "-P", "7", "-P", "8"];
    let run = dir.ftk(["dup", "--io", "sync", "-j", "1"]);
    let run =
        run.under(&dir, strace.iter().copied().chain(["-e", "inject=openat:error=ENOENT"])).run().status(2);
    run.check(
        !run.text().lines().any(|line| line == "./7" || line == "./8"),
        "vanished files are not listed",
    );
    run.check(run.text().lines().filter(|line| !line.is_empty()).count() == 18, "the others are listed");
    run.stderr_has("ftk: cannot open './7': no such file or directory\n");
}

/// Files with equal parts are different files: swapped blocks, equal ends, one differing byte at each
/// boundary.
#[test]
fn h32_files_with_equal_parts_are_not_duplicates() {
    let dir = Dir::new();
    let (a, b, c) = (bytes(1, 1 << 20), bytes(2, 1 << 20), bytes(3, 1 << 20));
    dir.file("a..b", &[&a[..], &c, &b].concat()).file("b..a", &[&b[..], &c, &a].concat());
    dir.file("a..a", &[&a[..], &c, &a].concat()).file("a.b.a", &[&a[..], &b, &a].concat());
    dir.file("zeros", &vec![0; 3 << 20]).file("zeros but one", &{
        let mut zeros = vec![0; 3 << 20];
        zeros[(3 << 20) / 2 + 7] = 1;
        zeros
    });
    let small = bytes(4, 20_000);
    for at in [0, 4095, 4096, 10_000, 16_383, 16_384, 20_000 - 4096, 19_999] {
        let mut other = small.clone();
        other[at] ^= 1;
        dir.file(format!("small but {at}"), &other);
    }
    dir.file("small", &small);
    for at in [0, 1, 4095, 4096, 16_384, 131_072, a.len() / 2, a.len() - 131_073, a.len() - 4096, a.len() - 1]
    {
        let mut other = a.clone();
        other[at] ^= 0x80;
        dir.file(format!("large but {at}"), &other);
    }
    dir.file("large", &a);
    dir.ftk(["dup", "--min-size", "0"]).run().status(0).stdout("");
}

/// The number of workers and the digest kernel do not change the groups.
#[test]
fn h43_workers_and_kernels_do_not_change_the_groups() {
    for files in [2, 31, 33, 70, 400] {
        let dir = Dir::new();
        for nth in 0..files {
            // Equal in size and at both ends: only the whole digest tells them apart.
            let mut content = bytes(5, 9000);
            content[4500] = (nth % 7) as u8;
            dir.file(format!("{nth:03}"), &content);
        }
        let expected = dir.ftk(["dup", "-j", "1", "--io", "sync", "--verify"]).run().status(0).out;
        for threads in ["1", "2", "4", "auto"] {
            for simd in ["portable", "avx2"] {
                let ftk = dir.ftk(["dup", "-j", threads]);
                let run = ftk.under(&dir, ["env", &format!("FTK_SIMD={simd}")]).run();
                if run.code() != 0 && run.err.contains("FTK_SIMD") {
                    continue; // this CPU lacks it
                }
                run.status(0).stdout(&expected);
            }
        }
    }
}

/// A report with equal digests for two files whose bytes differ is not trusted.
#[test]
fn h33_digests_in_a_report_are_not_trusted() {
    let dir = Dir::new();
    dir.file("a", b"content").file("b", b"content");
    let report = dir.aside("report");
    dir.ftk(["dup", "--json", "-o"]).arg(&report).run().status(0);
    let times = |path: &str| fs::metadata(dir.path(path)).unwrap().modified().unwrap();
    let before = times("b");
    let file = fs::File::options().write(true).open(dir.path("b")).unwrap();
    std::io::Write::write_all(&mut &file, b"CONTENT").unwrap();
    file.set_modified(before).unwrap();
    // As if ctime had been forged too: the report gets the new ctime.
    let ctime = |path: &str| {
        let metadata = fs::metadata(dir.path(path)).unwrap();
        format!("{}", i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec()))
    };
    let text = fs::read_to_string(&report).unwrap();
    let old = text.rfind("\"ctime_ns\":").unwrap() + 11;
    let end = old + text[old..].find('}').unwrap();
    fs::write(&report, format!("{}{}{}", &text[..old], ctime("b"), &text[end..])).unwrap();
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        let run =
            dir.ftk(["dup", "apply", "--edited", "--yes", "--action", action]).arg(&report).run().status(2);
        run.check(
            run.err.contains("ftk: './b': refused: ") && run.err.contains("content differs"),
            "refused",
        );
        assert_eq!(fs::read(dir.path("b")).unwrap(), b"CONTENT");
    }
}

/// Two contents with the same XXH3 of 64 and of 128 bits. In its long form, XXH3 adds each word of a 64-byte
/// stripe to the neighbour's sum, and to its own sum the product of both halves of the word after mixing with
/// a constant (below: the constants of the first words of the first two stripes). If the lower half equals
/// that of the constant, the product is zero and the upper half counts for the neighbour only. So what is
/// added in one stripe can be subtracted in the other.
fn xxh3_collision() -> [Vec<u8>; 2] {
    const SECRET: [u64; 2] = [0xbe4b_a423_396c_feb8, 0x1cad_21f7_2c81_017c];
    [[3_u32, 9], [8, 4]].map(|upper| {
        let mut content = bytes(77, 2000);
        for (stripe, upper) in upper.into_iter().enumerate() {
            let word = u64::from(SECRET[stripe] as u32) | u64::from(upper) << 32;
            content[stripe * 64..][..8].copy_from_slice(&word.to_le_bytes());
        }
        content
    })
}

/// Two contents with the same MD5, published by Wang, Feng, Lai and Yu in 2004.
fn md5_collision() -> [Vec<u8>; 2] {
    const ONE: &str = "d131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f8955ad340609f4b30283e488832571415a\
        085125e8f7cdc99fd91dbdf280373c5bd8823e3156348f5bae6dacd436c919c6dd53e2b487da03fd02396306d248cda0\
        e99f33420f577ee8ce54b67080a80d1ec69821bcb6a8839396f9652b6ff72a70";
    let one = HEXLOWER.decode(ONE.as_bytes()).unwrap();
    let mut two = one.clone();
    for at in [19, 45, 59, 83, 109, 123] {
        two[at] ^= 0x80;
    }
    [one, two]
}

/// Contents that were made to collide: even if they appear as a group, no action changes them.
#[test]
fn h33_colliding_contents_are_never_treated_as_copies() {
    for (algorithms, pair) in [(&["xxh3", "xxh128"][..], xxh3_collision()), (&["md5"], md5_collision())] {
        let dir = Dir::new();
        dir.file("a", &pair[0]).file("b", &pair[1]);
        assert_ne!(pair[0], pair[1]);
        for algorithm in algorithms {
            let run = dir.ftk(["hash", "-a", algorithm, "a", "b"]).run().status(0);
            let digests: Vec<_> = run.text().lines().map(|line| line.split(' ').next()).collect();
            run.check(digests[0] == digests[1], "the digests collide");
        }
        // Comparing bytes, or a digest without known collisions, tells them apart.
        for args in [&["dup", "--verify"][..], &["dup", "-a", "sha256"], &["dup", "-a", "blake3"]] {
            dir.ftk(args).run().status(0).stdout("");
        }
        dir.ftk(["cmp", "-s", "a", "b"]).run().status(1);
        let run = dir.ftk(["hash", "a", "b"]).run().status(0);
        run.check(run.out[..64] != run.out[run.out.len() / 2..][..64], "by default they differ");
        dir.ftk(["dup", "--json", "-o", "../report"]).run().status(0);
        for action in ACTIONS {
            for args in [&["prune"][..], &["prune", "--verify"], &["apply", "../report"]] {
                let run = dir.ftk(["dup"]).args(args).args(["--yes", "--action", action]).run();
                run.check(run.code() != 1, "refused or nothing to do");
                for (name, content) in ["a", "b"].iter().zip(&pair) {
                    let metadata = fs::symlink_metadata(dir.path(name)).unwrap();
                    run.check(metadata.is_file() && metadata.nlink() == 1, "both are files");
                    run.check(fs::read(dir.path(name)).unwrap() == *content, "their content is unchanged");
                }
            }
            let script = dir.ftk(["dup", "prune", "--script", "--action", action]).run();
            fs::write(dir.aside("script"), &script.out).unwrap();
            dir.ftk([""; 0]).instead(&dir, ["sh", "../script"]).run();
            assert_eq!(fs::read(dir.path("b")).unwrap(), pair[1]);
            assert!(fs::symlink_metadata(dir.path("b")).unwrap().is_file());
        }
        // A manifest with the default digest detects that one replaced the other, even with restored times.
        dir.ftk(["manifest", "create", ".", "-o", "../manifest"]).run().status(0);
        let file = fs::File::options().write(true).open(dir.path("b")).unwrap();
        let before = file.metadata().unwrap().modified().unwrap();
        file.write_all_at(&pair[0], 0).unwrap();
        file.set_modified(before).unwrap();
        let run = dir.ftk(["manifest", "verify", ".", "../manifest"]).run().status(1);
        run.check(run.text().starts_with("corrupted\tb\t"), "the rot is reported");
    }
}

/// A file that changes while it is read is in no group.
#[test]
fn h34_files_that_change_while_being_read_are_in_no_group() {
    const LONG: u64 = 32 << 20;
    for threads in ["mono", "4"] {
        let dir = Dir::on_disk();
        dir.zeros("a", LONG).zeros("b", LONG).file("x", b"abc").file("y", b"abc");
        let ftk = dir.ftk(["dup", "-j", threads, "-a", "sha256", "--limit-rate", "16M"]);
        let paused = Paused::when(ftk, |child| has_read(child) > LONG / 8);
        for name in ["a", "b"] {
            let file = fs::File::options().write(true).open(dir.path(name)).unwrap();
            file.write_all_at(b"x", LONG).unwrap();
        }
        let output = paused.go_on();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert_eq!(output.stdout, b"./x\n./y\n\n", "{err}");
        assert!(err.contains("changed while being read"), "{err}");
    }
}
