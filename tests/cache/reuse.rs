//! What is reused, by which commands, and `ftk cache`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::{CACHE, cached, counted, place, settle, stored};
use crate::harness::{Dir, bytes, is_root, needs, sha256, skip, uring};

/// Returns a tree with duplicates, hard links, links and files of all sizes.
fn tree() -> Option<Dir> {
    let dir = place()?;
    let sizes = [0, 1, 100, 4096, 70_000, 300_000, 3_000_000];
    for (nth, size) in sizes.into_iter().enumerate() {
        dir.file(format!("t/{nth}"), &bytes(nth as u64, size));
        dir.file(format!("t/copies/of {nth}"), &bytes(nth as u64, size));
    }
    dir.file("t/copies/odd", &[&bytes(6, 2_999_999)[..], b"!"].concat());
    dir.hard_link("t/3", "t/link").hard_link("t/3", "t/copies/link").symlink("3", "t/symlink");
    dir.raw_file(b"t/\xff\n", b"a name").fifo("t/fifo");
    settle();
    Some(dir)
}

/// Files in [`tree`], and the names of one file count once.
const FILES: u64 = 16;
const NAMES: u64 = 18;

#[test]
fn every_algorithm_and_reader_prints_what_it_prints_without_the_cache() {
    let Some(dir) = tree() else { return };
    let readers: &[&str] = if uring() { &["sync", "uring"] } else { &["sync"] };
    for algorithms in ["sha256", "blake3", "md5,sha1,xxh3", "sha512,blake2b,xxh64,xxh128"] {
        for reader in readers {
            dir.ftk(["cache", "clear"]).run().status(0);
            for threads in ["mono", "1", "4"] {
                let args = ["hash", "t", "-a", algorithms, "--io", reader, "-j", threads];
                let expected = if threads == "mono" { 0 } else { NAMES };
                assert_eq!(cached(&dir, &args), expected, "{args:?}");
            }
            assert_eq!(stored(&dir), FILES);
        }
    }
}

#[test]
fn all_algorithms_share_one_row() {
    let Some(dir) = tree() else { return };
    assert_eq!(cached(&dir, &["hash", "t", "-a", "md5,sha256"]), 0);
    for algorithm in ["sha256", "md5", "sha256,md5", "md5,sha256"] {
        assert_eq!(cached(&dir, &["hash", "t", "-a", algorithm]), NAMES, "{algorithm}");
    }
    assert_eq!(cached(&dir, &["hash", "t", "-a", "sha256,sha1"]), 0, "one is missing");
    assert_eq!(cached(&dir, &["hash", "t", "-a", "sha256,sha1"]), NAMES);
    assert_eq!(cached(&dir, &["hash", "t", "-a", "md5,sha1"]), NAMES, "the others are kept");
    assert_eq!(stored(&dir), FILES);
}

#[test]
fn duplicates_are_those_of_a_run_without_the_cache() {
    let Some(dir) = tree() else { return };
    let formats: [&[&str]; 3] = [&[], &["--min-size", "0"], &["--min-size", "50k"]];
    for args in formats {
        for json in [false, true] {
            for nth in 0..3 {
                let mut plain = vec!["dup", "t"];
                plain.extend(args);
                plain.extend(json.then_some("--json"));
                let expected = dir.ftk(&plain).run();
                if expected.code() == 2 {
                    panic!("{plain:?}: {}", expected.err);
                }
                let (run, reused) = counted(&dir, dir.ftk(&plain).args(CACHE));
                let (expected_text, text) = (timeless(expected.text()), timeless(run.text()));
                let run = run.status(expected.code());
                run.check(text == expected_text, &format!("stdout is not {expected_text}"));
                run.check(nth == 0 || reused > Some(0), "it reuses");
            }
        }
    }
    // The whole digests of `hash` serve `dup`, and the other way round.
    let (_, reused) = counted(&dir, dir.ftk(["hash", "t", "-a", "blake3", "-q"]).args(CACHE));
    assert!(reused.is_some());
}

/// A list without the moment at which it was made and without its own digest.
fn timeless(list: &str) -> String {
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            for header in ["header", "ftk", "manifest"] {
                if let Some(header) = value.get_mut(header).and_then(Value::as_object_mut) {
                    header.retain(|name, _| !name.contains("start") && !name.contains("time"));
                }
            }
            if let Some(footer) = value.get_mut("footer").and_then(Value::as_object_mut) {
                footer.remove("sha256");
            }
            if let Some(all) = value.as_object_mut() {
                all.retain(|name, _| !["start_ns", "arguments"].contains(&&**name));
            }
            value.to_string()
        }
        Err(_) => line.to_owned(),
    };
    list.lines().map(|it| line(it) + "\n").collect()
}

#[test]
fn manifests_are_those_of_a_run_without_the_cache() {
    let Some(dir) = tree() else { return };
    for args in [&[][..], &["--no-xattrs"], &["-a", "md5,blake3"], &["-a", "md5", "--no-xattrs"]] {
        for nth in 0..3 {
            let expected = dir.ftk(["manifest", "create", "t"]).args(args).run().status(0);
            let (run, reused) = counted(&dir, dir.ftk(["manifest", "create", "t"]).args(args).args(CACHE));
            let run = run.status(0);
            run.check(timeless(run.text()) == timeless(expected.text()), expected.text());
            if nth > 0 {
                assert_eq!(reused, Some(NAMES), "{args:?}");
            }
            fs::write(dir.aside("manifest"), &run.out).unwrap();
            dir.ftk(["manifest", "verify", "t"]).arg(dir.aside("manifest")).run().status(0);
        }
    }
}

#[test]
fn single_files_are_reused() {
    let Some(dir) = tree() else { return };
    let args = ["hash", "t/3", "t/copies/odd", "t/link", "t/symlink"];
    assert_eq!((cached(&dir, &args), cached(&dir, &args)), (0, 4));
    assert_eq!(stored(&dir), 2);
    assert_eq!(cached(&dir, &["hash", "t/copies/link"]), 1, "another name of the same file");
    assert_eq!(cached(&dir, &["hash", "t"]), 4);
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_others_from_being_reused() {
    let Some(dir) = place() else { return };
    dir.file("a", b"a").file("b", b"b").file("c", b"c").lock("a");
    settle();
    for args in [&["hash", "a", "b", "c", "--cache"][..], &["hash", ".", "--cache"]] {
        let home = dir.aside("cache");
        _ = fs::remove_dir_all(&home);
        fs::create_dir(&home).unwrap();
        if is_root() {
            std::os::unix::fs::chown(&home, Some(65534), Some(65534)).unwrap();
        }
        let run = || dir.ftk(args).arg("-v").unprivileged(&dir).run().status(2);
        run().stderr_has("2 files, 0 digests reused");
        run().stderr_has("2 files, 2 digests reused");
    }
}

/// Leaving a group changes nothing of the file.
#[test]
fn h96_a_file_that_the_caller_may_no_longer_read_is_not_reused() {
    const GROUP: u32 = 1234;
    let Some(dir) = place() else { return };
    if !is_root() {
        return skip("only root changes owners");
    }
    dir.file("t/a", b"same").file("t/b", b"same").file("t/free", b"for everyone");
    for name in ["t/a", "t/b"] {
        std::os::unix::fs::chown(dir.path(name), None, Some(GROUP)).unwrap();
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o640)).unwrap();
    }
    fs::create_dir(dir.aside("cache")).unwrap();
    std::os::unix::fs::chown(dir.aside("cache"), Some(65534), Some(65534)).unwrap();
    settle();
    for args in [&["hash", "t"][..], &["hash", "--tree", "t"], &["manifest", "create", "t"], &["dup", "t"]] {
        for extra in [&["-j", "mono"][..], &["-j", "4"]] {
            let run = |group| dir.ftk(args).args(extra).arg("--cache").unprivileged(&dir).group(group).run();
            run(GROUP).status(0);
            run(GROUP).status(0).stderr_lacks(" 0 digests reused");
            let left = run(65534).status(2).stderr_has("permission denied");
            for secret in [sha256(b"same"), "t/a\n".into()] {
                left.check(!left.text().contains(&secret), "nothing is disclosed");
            }
        }
    }
    // The others are reused as before.
    let run = dir.ftk(["hash", "t", "--cache"]).unprivileged(&dir).run().status(2);
    run.stdout(format!("{}  t/free\n", sha256(b"for everyone"))).stderr_has("1 digest reused");
}

/// The store needs descriptors too.
#[test]
fn few_descriptors_are_enough() {
    let Some(dir) = place() else { return };
    for nth in 0..2000 {
        dir.file(format!("t/{}/{nth}", nth % 40), &bytes(nth, 100));
    }
    settle();
    let readers: &[&str] = if uring() { &["sync", "uring"] } else { &["sync"] };
    let expected = dir.ftk(["hash", "t"]).run().status(0);
    for reader in readers {
        dir.ftk(["cache", "clear"]).run().status(0);
        for reused in ["0 digests reused", "2,000 digests reused"] {
            let ftk = dir.ftk(["hash", "t", "--cache", "-j", "8", "--io", reader]).limit(&dir, "-n 16");
            ftk.run().status(0).stdout(&expected.out).stderr_has(reused).stderr_lacks("ftk: ");
        }
    }
}

#[test]
fn without_io_uring_the_other_reader_stores_and_reuses_digests() {
    needs!("strace");
    let Some(dir) = tree() else { return };
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=io_uring_setup:error=ENOSYS"];
    let expected = dir.ftk(["hash", "t", "-q"]).run().status(0);
    let run = || dir.ftk(["hash", "t", "-q"]).args(CACHE).under(&dir, strace);
    run().run().status(0).stdout(&expected.out).stderr("");
    let (run, reused) = counted(&dir, run());
    run.status(0).stdout(&expected.out).stderr("");
    assert_eq!(reused, Some(NAMES));
}

/// After the clock was set back, files may have times in the future. They could change without a visible difference.
#[test]
fn files_with_times_in_the_future_are_read_every_time() {
    let Some(dir) = place() else { return };
    dir.file("file", b"content");
    let (now, year) = (SystemTime::now(), Duration::from_secs(365 * 86_400));
    for (time, reused) in [(now + year, 0), (now - year, 1)] {
        let file = fs::File::options().write(true).open(dir.path("file")).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
        settle();
        assert_eq!((cached(&dir, &["hash", "file"]), cached(&dir, &["hash", "file"])), (0, reused));
    }
}

#[test]
fn the_store_itself_is_not_hashed() {
    let Some(dir) = tree() else { return };
    cached(&dir, &["hash", "t"]);
    let home = dir.aside("cache");
    fs::write(home.join("other"), b"other").unwrap();
    settle();
    for algorithm in ["sha256", "md5", "md5"] {
        let run = dir.ftk(["hash", "-q", "-a", algorithm, "--cache"]).arg(&home).run().status(0).stderr("");
        run.check(run.text().lines().all(|line| !line.contains("ftk/digests")), "neither it nor its journal");
        run.check(run.text().contains("/other"), "other files are");
    }
    let journal = home.join("ftk/digests-journal");
    dir.ftk(["hash", "-a", "sha1", "--cache"]).args([home.join("ftk/digests"), journal]).run();
    assert_eq!(cached(&dir, &["hash", "t"]), NAMES);
}

#[test]
fn two_runs_share_one_store() {
    let Some(dir) = place() else { return };
    for nth in 0..400 {
        dir.file(format!("{}/{nth}", nth % 10), &bytes(nth, 3000));
    }
    settle();
    let expected = dir.ftk(["hash", "."]).run().status(0);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                dir.ftk(["hash", ".", "--cache", "-q"]).run().status(0).stderr("").stdout(&expected.out)
            });
        }
        for algorithm in ["md5", "sha1", "xxh3"] {
            scope.spawn(|| {
                dir.ftk(["hash", ".", "-q", "--cache", "-a", algorithm]).run().status(0).stderr("")
            });
            scope.spawn(|| stored(&dir));
        }
    });
    assert_eq!(stored(&dir), 400);
    assert_eq!(cached(&dir, &["hash", ".", "-a", "md5,sha1,sha256,xxh3"]), 400);
}

#[test]
fn summaries_say_how_many_digests_were_reused() {
    let Some(dir) = tree() else { return };
    for command in [&["hash", "t"][..], &["manifest", "create", "t"]] {
        dir.ftk(["cache", "clear"]).run().status(0);
        dir.ftk(command).run().status(0).stderr_lacks("reused");
        dir.ftk(command).args(CACHE).run().status(0).stderr_has(", 0 digests reused, ");
        dir.ftk(command).args(CACHE).run().status(0).stderr_has(", 18 digests reused, ");
    }
}

#[test]
fn forgotten_files_are_read_again() {
    let Some(dir) = tree() else { return };
    cached(&dir, &["hash", "t"]);
    dir.ftk(["cache", "forget", "t/0"]).run().status(0).stdout("").stderr_has("forgot 1 file");
    assert_eq!(cached(&dir, &["hash", "t"]), NAMES - 1);
    dir.ftk(["cache", "forget", "t/copies", "t/1"]).run().status(0).stderr_has("forgot 10 files");
    assert_eq!(stored(&dir), FILES - 10);
    dir.ftk(["cache", "forget", "t"]).run().status(0).stderr_has("forgot 6 files");
    assert_eq!((stored(&dir), cached(&dir, &["hash", "t"])), (0, 0));
    dir.ftk(["cache", "forget", "missing"]).run().status(2).stderr_has("missing");
    dir.ftk(["cache", "forget"]).run().status(2).stdout("");
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_others_from_being_forgotten() {
    let Some(dir) = place() else { return };
    dir.file("a", b"a").file("b", b"b").file("c", b"c");
    settle();
    if is_root() {
        fs::create_dir(dir.aside("cache")).unwrap();
        std::os::unix::fs::chown(dir.aside("cache"), Some(65534), Some(65534)).unwrap();
    }
    dir.ftk(["hash", ".", "--cache"]).unprivileged(&dir).run().status(0);
    dir.lock("a").lock("b").lock("c");
    let run = dir.ftk(["cache", "forget", "a", "."]).unprivileged(&dir).run();
    run.status(0).stderr_has("forgot 3 files");
}

#[test]
fn a_trimmed_store_keeps_to_its_size() {
    let Some(dir) = place() else { return };
    for nth in 0..3000 {
        dir.file(format!("{}/{nth}", nth % 10), &bytes(nth, 10));
    }
    settle();
    cached(&dir, &["hash", "."]);
    let size = || fs::metadata(dir.aside("cache").join("ftk/digests")).unwrap().len();
    assert!(size() > 100_000);
    let run = dir.ftk(["cache", "trim", "--max-size", "100kB", "--json"]).run().status(0).stderr("");
    let contents: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(contents["max_size_bytes"], 100_000);
    assert!(contents["size_bytes"].as_u64().unwrap() <= 100_000 && size() <= 100_000);
    for _ in 0..2 {
        cached(&dir, &["hash", "."]);
        assert!(size() <= 100_000, "{}", size());
    }
    dir.ftk(["cache", "trim"]).run().status(2);
}

#[test]
fn a_cleared_store_is_gone() {
    let Some(dir) = tree() else { return };
    let store = dir.aside("cache").join("ftk/digests");
    let absent = format!("there is no '{}'", store.display());
    dir.ftk(["cache", "clear"]).run().status(0).stdout("").stderr_has(&absent);
    cached(&dir, &["hash", "t"]);
    dir.ftk(["cache", "clear"])
        .run()
        .status(0)
        .stdout("")
        .stderr_has(&format!("removed '{}'", store.display()));
    assert!(fs::metadata(&store).unwrap().len() <= 8 << 10, "a store without tables");
    assert_eq!(stored(&dir), 0);
    dir.ftk(["cache", "clear"]).run().status(0).stdout("").stderr_has(&absent);
    assert_eq!((cached(&dir, &["hash", "t"]), cached(&dir, &["hash", "t"])), (0, NAMES));
    let run = dir.ftk(["cache", "stats"]).run().status(0);
    run.check(run.text().starts_with("16 files on 1 file system, "), "what it contains");
}
