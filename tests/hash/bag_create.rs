//! `hash --bag --create`, compared with bagit-python.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::harness::{Dir, Mounted, Run, gnu_find, has, is_root};

fn create(dir: &Dir) -> Run {
    dir.ftk(["hash", "--bag", "--create", "bag"]).run()
}

/// Returns the paths of all files below a directory.
fn files(dir: &Dir, top: &str) -> BTreeSet<String> {
    let found = gnu_find(dir, &[top, "-not", "-type", "d"]);
    found.into_iter().map(|path| String::from_utf8_lossy(&path).into_owned()).collect()
}

fn lines(path: &Path) -> BTreeSet<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// A directory with an entry `data`, hidden files, empty files and directories, and names with blanks and accents.
fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("bag/a", b"1").file("bag/data/b c", b"22").file("bag/.hidden/x", b"").dir("bag/sub/empty");
    dir.file("bag/sub/\u{e9}t\u{e9}", b"333").file("bag/data/bagit.txt", b"not a bag");
    dir
}

#[test]
fn a_directory_becomes_the_bag_that_bagit_python_makes() {
    let dir = tree();
    fs::set_permissions(dir.path("bag"), fs::Permissions::from_mode(0o750)).unwrap();
    assert!(
        Command::new("cp").arg("-a").arg(dir.path("bag")).arg(dir.path("theirs")).status().unwrap().success()
    );
    let before = files(&dir, "bag");
    let run = create(&dir).status(0).stdout("");
    run.stderr_has("1 empty directory not recorded").stderr_has("'bag' is a bag of 5 files, 15 B in ");
    for path in &before {
        let moved = path.replacen("bag/", "bag/data/", 1);
        assert!(files(&dir, "bag").contains(&moved), "{moved}");
    }
    assert!(dir.path("bag/data/sub/empty").is_dir() && !dir.path("bag/.ftk-bag").exists());
    assert_eq!(fs::metadata(dir.path("bag/data")).unwrap().permissions().mode() & 0o7777, 0o750);
    let info = fs::read_to_string(dir.path("bag/bag-info.txt")).unwrap();
    assert!(info.contains("Payload-Oxum: 15.5\n"), "{info}");
    dir.ftk(["hash", "--bag", "bag"]).run().status(0).stderr_has("9 ok");
    create(&dir).status(2).stderr_has("cannot make a bag of 'bag': it is a bag already");
    if has("bagit") {
        let script = "import bagit, sys; bagit.Bag('bag').validate(); bagit.make_bag('theirs')";
        let python = Command::new("python3").args(["-c", script]).current_dir(dir.path("")).output().unwrap();
        assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
        for algorithm in ["sha256", "sha512"] {
            let manifest = |bag: &str| lines(&dir.path(bag).join(format!("manifest-{algorithm}.txt")));
            assert_eq!(manifest("bag"), manifest("theirs"), "{algorithm}");
            let tags = |bag: &str| lines(&dir.path(bag).join(format!("tagmanifest-{algorithm}.txt"))).len();
            assert_eq!(tags("bag"), tags("theirs"));
        }
        assert_eq!(
            files(&dir, "bag"),
            files(&dir, "theirs").iter().map(|it| it.replacen("theirs", "bag", 1)).collect()
        );
        dir.ftk(["hash", "--bag", "theirs"]).run().status(0);
    }
}

/// The plan is what happens then, and changes nothing.
#[test]
fn a_dry_run_prints_what_a_run_does() {
    let dir = tree();
    for (args, manifests) in [(&[][..], "sha256 sha512"), (&["-a", "md5"], "md5")] {
        let before = (files(&dir, "bag"), fs::metadata(dir.path("bag")).unwrap().modified().unwrap());
        let run = dir.ftk(["hash", "--bag", "--create", "--dry-run", "bag"]).args(args).run().status(0);
        let now = (files(&dir, "bag"), fs::metadata(dir.path("bag")).unwrap().modified().unwrap());
        assert_eq!(now, before);
        let mut expected = String::new();
        for entry in [".hidden", "data", "sub"] {
            expected += &format!("move   {entry}/ \u{2192} data/{entry}/\n");
        }
        expected = expected.replacen("move   data/", "move   a \u{2192} data/a\nmove   data/", 1);
        expected += "write  bag-info.txt\nwrite  bagit.txt\n";
        for kind in ["manifest", "tagmanifest"] {
            for algorithm in manifests.split(' ') {
                expected += &format!("write  {kind}-{algorithm}.txt\n");
            }
        }
        let run = run.stdout(expected);
        run.stderr_has(
            "  would make 'bag' a bag of 5 files, 15 B. Nothing was changed: omit --dry-run to do it.\n",
        );
    }
    let planned = dir.ftk(["hash", "--bag", "--create", "--dry-run", "bag"]).run().status(0);
    create(&dir).status(0);
    for line in planned.text().lines() {
        let made = line.split(['\u{2192}', ' ']).next_back().unwrap();
        assert!(dir.path("bag").join(made).exists(), "{line}");
    }
    let there: Vec<_> = fs::read_dir(dir.path("bag")).unwrap().collect();
    assert_eq!(there.len(), planned.text().matches("write").count() + 1);
    // What a run refuses, its plan refuses.
    let run = dir.ftk(["hash", "--bag", "--create", "--dry-run", "bag"]).run().status(2).stdout("");
    run.stderr_has("it is a bag already");
    dir.file("links/file", b"1").symlink("target", "links/link");
    let run = dir.ftk(["hash", "--bag", "--create", "--dry-run", "links"]).run().status(2).stdout("");
    run.stderr_has("'links/link' cannot be in a bag: it is a symbolic link");
    for args in [&["--bag"][..], &["--check"], &[], &["--update=x"]] {
        dir.ftk(["hash", "--dry-run"])
            .args(args)
            .arg("bag")
            .run()
            .status(2)
            .stderr_has("--dry-run needs --bag --create");
    }
}

/// The summary says it in a word, as `bagit.py --validate` does.
#[test]
fn the_summary_says_whether_a_bag_is_valid() {
    let dir = tree();
    create(&dir).status(0);
    dir.ftk(["hash", "--bag", "bag"]).run().status(0).stderr_has("  'bag' is a valid bag\n");
    dir.ftk(["hash", "--bag", "-q", "bag"]).run().status(0).stdout("").stderr("");
    dir.file("bag/data/extra", b"1");
    let not = "  'bag' is NOT a valid bag   (status 1)\n";
    dir.ftk(["hash", "--bag", "bag"]).run().status(1).stderr_has(not);
    fs::remove_file(dir.path("bag/data/extra")).unwrap();
    dir.file("bag/data/a", b"2");
    dir.ftk(["hash", "--bag", "bag"]).run().status(1).stderr_has(not);
    fs::remove_file(dir.path("bag/data/a")).unwrap();
    dir.dir("bag/data/a");
    let run = dir.ftk(["hash", "--bag", "bag"]).run().status(2);
    run.stderr_has("  'bag' is NOT known to be a valid bag: not all could be checked   (status 2)\n");
}

#[test]
fn algorithms_and_names_with_line_ends() {
    let dir = Dir::new();
    dir.file("bag/a\nb", b"1").file("bag/c\rd", b"2");
    dir.ftk(["hash", "--bag", "--create", "-a", "md5,sha1", "bag"]).run().status(0);
    let manifest = fs::read_to_string(dir.path("bag/manifest-md5.txt")).unwrap();
    assert!(manifest.contains("  data/a%0Ab\n") && manifest.contains("  data/c%0Dd\n"), "{manifest}");
    assert!(dir.path("bag/tagmanifest-sha1.txt").exists() && !dir.path("bag/manifest-sha256.txt").exists());
    dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    if has("bagit") {
        let script = "import bagit; bagit.Bag('bag').validate()";
        assert!(
            Command::new("python3")
                .args(["-c", script])
                .current_dir(dir.path(""))
                .status()
                .unwrap()
                .success()
        );
    }
    // RFC 8493 encodes `%`, and bagit-python does not.
    let dir = Dir::new();
    dir.file("bag/100%", b"1").file("bag/%0A", b"2");
    create(&dir).status(0);
    let manifest = fs::read_to_string(dir.path("bag/manifest-sha256.txt")).unwrap();
    assert!(manifest.contains("  data/100%25\n") && manifest.contains("  data/%250A\n"), "{manifest}");
    dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    dir.ftk(["hash", "--bag", "--create", "-a", "blake3", "x"])
        .run()
        .status(2)
        .stderr_has("bags have md5, sha1");
    for args in [&["--create", "x"][..], &["--bag", "--create"], &["--bag", "--create", "x", "-o", "y"]] {
        dir.ftk(["hash"]).args(args).run().status(2);
    }
}

/// Whatever cannot be in a bag is named, and nothing changes.
#[test]
fn what_cannot_be_in_a_bag_is_refused() {
    let refused = |change: &dyn Fn(&Dir), why: &str| {
        let dir = tree();
        change(&dir);
        let before = files(&dir, "bag");
        create(&dir).status(2).stderr_has(why);
        assert_eq!(files(&dir, "bag"), before, "{why}");
    };
    refused(
        &|dir| symlink("a", dir.path("bag/sub/link")).unwrap(),
        "'bag/sub/link' cannot be in a bag: it is a symbolic",
    );
    refused(&|dir| _ = dir.raw_file(b"bag/\xff", b""), "the name is not UTF-8");
    refused(&|dir| _ = dir.file("bag/blank ", b""), "begins or ends with a blank");
    refused(
        &|dir| assert!(Command::new("mkfifo").arg(dir.path("bag/p")).status().unwrap().success()),
        "it is not a regular file",
    );
    refused(&|dir| _ = dir.file("bag/bagit.txt", b""), "it is a bag already");
    refused(
        &|dir| _ = fs::create_dir(dir.path("bag/.ftk-bag")),
        ".ftk-bag' is not a directory that ftk made for the caller",
    );
    if is_root() {
        let dir = tree();
        fs::create_dir(dir.path("bag/mnt")).unwrap();
        if let Some(_mounted) = Mounted::at(&dir.path("bag/mnt"), ["-t", "tmpfs", "tmpfs"]) {
            create(&dir).status(2).stderr_has("'bag/mnt' cannot be in a bag: it is on another file system");
            assert!(dir.path("bag/a").exists());
        }
    }
    let dir = tree();
    let run = dir.ftk(["hash", "--bag", "--create", "none"]).run().status(2);
    run.stderr_has("cannot make a bag of 'none': cannot open 'none': no such file");
    let log = fs::File::create(dir.path("bag/log")).unwrap();
    dir.ftk(["hash", "--bag", "--create", "bag"])
        .stdout(log)
        .run()
        .status(2)
        .stderr_has("'bag' is both input and output");
    assert!(dir.path("bag/a").exists());
}

#[test]
fn unreadable_files_stop_it() {
    let dir = tree();
    dir.file("bag/secret", b"x");
    fs::set_permissions(dir.path("bag/secret"), fs::Permissions::from_mode(0o000)).unwrap();
    let run = dir.ftk(["hash", "--bag", "--create", "bag"]).unprivileged(&dir).run().status(2);
    run.stderr_has("cannot open 'bag/secret'").stderr_has("nothing was changed");
    assert!(dir.path("bag/a").exists() && !dir.path("bag/data/data").exists());
}

/// A run is killed before each change of a name. The next one completes the bag, and no file is lost or recorded twice.
#[test]
fn h06_a_killed_run_is_completed_by_the_next() {
    if !has("strace") || crate::harness::is_too_slow("injected faults") {
        return;
    }
    let complete = {
        let dir = tree();
        create(&dir).status(0);
        files(&dir, "bag")
    };
    let mut killed = 0;
    for call in ["renameat2", "mkdirat", "unlinkat", "syncfs"] {
        for nth in 1..20 {
            let dir = tree();
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let trace = format!("trace={call}");
            let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
            let run = dir.ftk(["hash", "--bag", "--create", "-j", "1", "bag"]).under(&dir, strace).run();
            if run.code() == 0 {
                break;
            }
            killed += 1;
            let is_bag = dir.path("bag/bagit.txt").exists() && !dir.path("bag/.ftk-bag").exists();
            let again = create(&dir).status(if is_bag { 2 } else { 0 });
            again.check(files(&dir, "bag") == complete, &format!("{call} {nth}: {:?}", files(&dir, "bag")));
            dir.ftk(["hash", "--bag", "bag"]).run().status(0);
        }
    }
    assert!(killed > 12, "{killed}");
}

/// Each call fails in turn. The directory is as it was, or the next run completes the bag.
#[test]
fn h06_a_run_that_fails_leaves_a_clear_state() {
    if !has("strace") || crate::harness::is_too_slow("injected faults") {
        return;
    }
    let mut failed = 0;
    for (call, error) in [
        ("renameat2", "EBUSY"),
        ("mkdirat", "ENOSPC"),
        ("fsync", "EIO"),
        ("syncfs", "EIO"),
        ("write", "ENOSPC"),
    ] {
        for nth in 1..30 {
            let dir = tree();
            let before = files(&dir, "bag");
            let inject = format!("inject={call}:error={error}:when={nth}");
            let trace = format!("trace={call}");
            let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
            let run =
                dir.ftk(["hash", "--bag", "--create", "-q", "-j", "1", "bag"]).under(&dir, strace).run();
            let is_bag = dir.path("bag/bagit.txt").exists() && !dir.path("bag/.ftk-bag").exists();
            if run.code() == 0 {
                assert!(is_bag);
                break;
            }
            failed += 1;
            let now = files(&dir, "bag");
            let is_prepared = dir.path("bag/.ftk-bag").exists();
            run.check(now == before || is_prepared || is_bag, &format!("{call} {nth}: {now:?}"));
            if !is_bag {
                create(&dir).status(0);
            }
            dir.ftk(["hash", "--bag", "bag"]).run().status(0);
        }
    }
    assert!(failed > 12, "{failed}");
}

/// A file that another program writes meanwhile stops the run before the bag is complete.
#[test]
fn h08_a_file_that_changes_is_detected() {
    if !has("strace") {
        return;
    }
    let dir = tree();
    let strace = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=syncfs",
        "-e",
        "inject=syncfs:delay_enter=700000:when=1",
    ];
    let ftk = dir.ftk(["hash", "--bag", "--create", "bag"]).under(&dir, strace);
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| ftk.run());
        let start = std::time::Instant::now();
        while !dir.path("bag/.ftk-bag/tagmanifest-sha512.txt").exists() && start.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        fs::write(dir.path("bag/a"), "rewritten").unwrap();
        run.join().unwrap()
    });
    let run = run.status(2);
    run.stderr_has("'a' has changed").stderr_has("repeat this command to complete it");
    // The tag files of the first run are not in the payload.
    let oxum = |run: crate::harness::Run| {
        let info = fs::read_to_string(dir.path("bag/bag-info.txt")).unwrap();
        let (_, files) = info.trim_end().rsplit_once('.').unwrap();
        run.stderr_has(&format!("'bag' is a bag of {files} files"));
    };
    oxum(create(&dir).status(0));
    dir.ftk(["hash", "--bag", "bag"]).run().status(0);
}

/// RFC 8493 wants `%25`, which bagit-python does not decode.
#[test]
fn a_percent_sign_in_a_name_is_noted() {
    let dir = Dir::new();
    dir.file("bag/50% off", b"1").file("bag/x", b"2");
    let note =
        "  1 name with `%`, which is `%25` in manifests (RFC 8493): bagit-python takes the bag for invalid\n";
    create(&dir).status(0).stderr_has(note);
    dir.ftk(["hash", "--bag", "bag"]).run().status(0);
}
