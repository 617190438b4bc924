//! Stores that cannot be used. The run continues without them and says so.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::PathBuf;
use std::thread;

use super::{CACHE, cached, place, settle, stored, with_env};
use crate::harness::{Dir, Ftk, Mounted, Run, bytes, has_open, is_root, set_mode, skip, wait_until};

const OTHER_USER: u32 = 65534;

/// Returns a tree of three files that are old enough.
fn tree() -> Option<Dir> {
    let dir = place()?;
    dir.file("t/a", b"a").file("t/b", b"b").file("t/c/d", b"d");
    settle();
    Some(dir)
}

fn store(dir: &Dir) -> PathBuf {
    dir.aside("cache").join("ftk/digests")
}

/// Makes the directory of the store, without a store.
fn make_place(dir: &Dir) -> PathBuf {
    let place = dir.aside("cache").join("ftk");
    fs::create_dir_all(&place).unwrap();
    for path in [&dir.aside("cache"), &place] {
        fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    }
    place
}

/// Checks that a run says once that its store is not used, and why, and is otherwise like one without a cache.
#[track_caller]
fn refused(dir: &Dir, run: Run, why: &str) {
    let expected = dir.ftk(["hash", "t", "-q"]).run().status(0);
    let run = run.status(0).stdout(&expected.out).stderr_has(why).stderr_has("cache");
    run.check(run.err.lines().count() == 1, "one line says so");
}

/// Runs with a store that was prepared at the usual place.
#[track_caller]
fn refuses(dir: &Dir, why: &str) {
    let named = format!("ftk: cache '{}' not used: {why}", store(dir).display());
    for _ in 0..2 {
        refused(dir, dir.ftk(["hash", "t", "-q"]).args(CACHE).run(), &named);
    }
    let run = dir.ftk(["cache", "stats"]).run().status(2).stdout("");
    run.stderr_has(&store(dir).display().to_string()).stderr_has(why);
}

#[test]
fn a_damaged_store_is_not_used() {
    let Some(dir) = tree() else { return };
    let place = make_place(&dir);
    for content in [bytes(1, 8192), b"text, which is no database".to_vec()] {
        fs::write(place.join("digests"), content).unwrap();
        set_mode(&place.join("digests"), 0o600);
        refuses(&dir, "it is damaged");
    }
    dir.ftk(["cache", "clear"]).run().status(0);
    assert_eq!((cached(&dir, &["hash", "t"]), cached(&dir, &["hash", "t"])), (0, 3));
}

/// Some pages and bytes of a store are damaged in turn.
#[test]
fn a_store_with_damaged_pages_never_changes_the_output() {
    let Some(dir) = tree() else { return };
    dir.file("t/e", &bytes(1, 300_000)).file("t/f", &bytes(1, 300_000));
    settle();
    cached(&dir, &["hash", "t"]);
    let good = fs::read(store(&dir)).unwrap();
    let expected = dir.ftk(["hash", "t", "-q"]).run().status(0);
    let copies = dir.ftk(["dup", "t", "-q"]).run().status(0);
    // `dup` has several passes, each of which could say that the store is damaged.
    let check = |damaged: &[u8], what: &str| {
        for (args, expected) in [(["hash", "t", "-q"], &expected), (["dup", "t", "-q"], &copies)] {
            fs::write(store(&dir), damaged).unwrap();
            let run = dir.ftk(args).args(CACHE).run().status(0).stdout(&expected.out);
            run.check(run.err.lines().count() <= 1, what);
        }
    };
    for page in 0..good.len() / 4096 {
        let mut damaged = good.clone();
        damaged[page * 4096..][..4096].fill([0, 0xff, 0x55][page % 3]);
        check(&damaged, &format!("page {page}"));
    }
    for len in [0, 1000, 4096, good.len() / 4096 / 2 * 4096 + 1000] {
        check(&good[..len], "cut off");
    }
    for nth in 0..10 {
        let mut damaged = good.clone();
        let at = usize::from_le_bytes(bytes(nth, 8).try_into().unwrap()) % good.len();
        damaged[at] ^= 1 << (nth % 8);
        check(&damaged, &format!("byte {at}"));
    }
}

#[test]
fn a_store_of_another_version_is_not_used() {
    let Some(dir) = tree() else { return };
    cached(&dir, &["hash", "t"]);
    // `user_version` and `application_id` are at these places of an SQLite file (www.sqlite.org/fileformat.html).
    for at in [60, 68] {
        let good = fs::read(store(&dir)).unwrap();
        let mut other = good.clone();
        other[at + 3] ^= 9;
        fs::write(store(&dir), &other).unwrap();
        refuses(&dir, "it was made by another version or program (remove it with: ftk cache clear)");
        assert_eq!(fs::read(store(&dir)).unwrap(), other, "it is not changed");
        dir.ftk(["cache", "clear"]).run().status(0);
        assert_eq!(cached(&dir, &["hash", "t"]), 0, "it was cleared");
        fs::write(store(&dir), &good).unwrap();
    }
    assert_eq!(cached(&dir, &["hash", "t"]), 3);
}

#[test]
fn a_store_that_is_no_regular_file_is_not_used() {
    let Some(dir) = tree() else { return };
    let path = make_place(&dir).join("digests");
    fs::create_dir(&path).unwrap();
    refuses(&dir, "it is not a regular file");
    fs::remove_dir(&path).unwrap();
    for to in ["elsewhere", "/dev/null", "/"] {
        symlink(to, &path).unwrap();
        refuses(&dir, "it is not a regular file");
        fs::remove_file(&path).unwrap();
    }
    assert!(!path.with_file_name("elsewhere").exists());
    dir.fifo("fifo");
    fs::rename(dir.path("fifo"), &path).unwrap();
    refuses(&dir, "it is not a regular file");
}

#[test]
fn a_store_that_others_can_write_is_not_used() {
    let Some(dir) = tree() else { return };
    cached(&dir, &["hash", "t"]);
    let why = "other users could have written to it";
    for mode in [0o620, 0o602] {
        set_mode(&store(&dir), mode);
        refuses(&dir, why);
    }
    set_mode(&store(&dir), 0o600);
    let place = store(&dir).with_file_name("");
    for mode in [0o770, 0o707, 0o1777] {
        set_mode(&place, mode);
        refuses(&dir, why);
    }
    set_mode(&place, 0o700);
    assert_eq!(cached(&dir, &["hash", "t"]), 3);
    if !is_root() {
        return skip("only root gives files to other users");
    }
    for path in [&store(&dir), &place] {
        chown(path, Some(OTHER_USER), None).unwrap();
        refuses(&dir, why);
        chown(path, Some(0), None).unwrap();
    }
    assert_eq!(cached(&dir, &["hash", "t"]), 3);
}

/// Gives the cache directory, and what is in it, to the unprivileged user.
fn give_away(dir: &Dir) {
    if is_root() {
        for path in [dir.aside("cache"), dir.aside("cache").join("ftk"), store(dir)] {
            _ = chown(path, Some(OTHER_USER), Some(OTHER_USER));
        }
    }
}

#[test]
fn a_store_that_cannot_be_written_is_not_used() {
    let Some(dir) = tree() else { return };
    let place = make_place(&dir);
    give_away(&dir);
    let run = || dir.ftk(["hash", "t", "-q"]).args(CACHE).unprivileged(&dir).run();
    set_mode(&place, 0o500);
    refused(&dir, run(), &store(&dir).display().to_string());
    assert!(!store(&dir).exists());
    set_mode(&place, 0o700);
    run().status(0).stderr("");
    assert!(store(&dir).exists());
    // The digests in it could be read, but not new ones be stored.
    set_mode(&store(&dir), 0o400);
    let expected = dir.ftk(["hash", "t", "-q", "-a", "md5"]).run().status(0);
    let args = ["hash", "t", "-q", "-a", "md5", "--cache"];
    let run = dir.ftk(args).unprivileged(&dir).run().status(0).stdout(&expected.out);
    run.check(run.err.lines().count() == 1, "one line says so");
}

#[test]
fn a_full_disk_does_not_end_the_run() {
    let Some(dir) = tree() else { return };
    for nth in 0..2000 {
        dir.file(format!("t/many/{nth}"), &bytes(nth, 10));
    }
    settle();
    // Not even a new store fits into the first; into the others, some of the digests.
    for size in ["size=4k,nr_inodes=3", "size=4k", "size=8k", "size=24k", "size=64k", "size=100k"] {
        dir.dir("../small");
        let options = ["-t", "tmpfs", "-o", &format!("{size},mode=0700"), "none"];
        let Some(_mounted) = Mounted::at(&dir.aside("small"), options) else { return };
        let home = format!("XDG_CACHE_HOME={}", dir.aside("small").display());
        let ftk = || with_env(&dir, dir.ftk(["hash", "t", "-q"]).args(CACHE), &[&home]);
        for _ in 0..2 {
            refused(&dir, ftk().run(), "");
        }
    }
}

#[test]
fn without_a_home_there_is_no_store() {
    let Some(dir) = tree() else { return };
    let ftk = |env: &[&str]| with_env(&dir, dir.ftk(["hash", "t", "-q"]).args(CACHE), env).run();
    let unset = ["-u", "HOME", "-u", "XDG_CACHE_HOME"];
    let why = "ftk: cache not used: no cache directory: set XDG_CACHE_HOME or HOME to an absolute path\n";
    refused(&dir, ftk(&unset), why);
    refused(&dir, ftk(&["HOME=relative", "XDG_CACHE_HOME=relative"]), why);
    refused(&dir, ftk(&["HOME=", "XDG_CACHE_HOME="]), why);
    with_env(&dir, dir.ftk(["cache", "stats"]), &unset).run().status(2).stderr_has("no cache directory");
    // Without XDG_CACHE_HOME, it is in the home directory.
    let home = format!("HOME={}", dir.aside("home").display());
    ftk(&["-u", "XDG_CACHE_HOME", &home]).status(0).stderr("");
    assert!(dir.aside("home").join(".cache/ftk/digests").exists());
}

#[test]
fn a_cache_directory_that_cannot_be_made_is_reported() {
    let Some(dir) = tree() else { return };
    fs::write(dir.aside("cache"), "a file").unwrap();
    refused(&dir, dir.ftk(["hash", "t", "-q"]).args(CACHE).run(), "not used: not a directory\n");
    let named = format!("ftk: cannot use '{}': not a directory\n", store(&dir).display());
    for args in [&["cache", "stats"][..], &["cache", "forget", "t"], &["cache", "trim", "--max-size", "1G"]] {
        dir.ftk(args).run().status(2).stdout("").stderr(&named);
    }
}

/// The directory of the store may be a link, which others must not be able to change.
#[test]
fn a_store_in_a_linked_directory_is_used_if_the_directory_belongs_to_the_user() {
    let Some(dir) = tree() else { return };
    let place = make_place(&dir);
    fs::remove_dir(&place).unwrap();
    symlink("ftk", &place).unwrap();
    refused(&dir, dir.ftk(["hash", "t", "-q"]).args(CACHE).run(), "not used: ");
    fs::remove_file(&place).unwrap();
    symlink(dir.path("elsewhere"), &place).unwrap();
    refused(&dir, dir.ftk(["hash", "t", "-q"]).args(CACHE).run(), "not used: ");
    dir.dir("elsewhere");
    set_mode(&dir.path("elsewhere"), 0o700);
    assert_eq!((cached(&dir, &["hash", "t"]), cached(&dir, &["hash", "t"])), (0, 3));
    assert!(dir.path("elsewhere/digests").exists());
    set_mode(&dir.path("elsewhere"), 0o777);
    refuses(&dir, "other users could have written to it");
}

/// The run waits some seconds for the other process.
#[test]
fn a_store_that_another_process_keeps_locked_is_not_used() {
    let Some(dir) = tree() else { return };
    cached(&dir, &["hash", "t"]);
    let file = fs::File::options().write(true).open(store(&dir)).unwrap();
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let named = format!("ftk: cache '{}' not used: another process is using it\n", store(&dir).display());
    refused(&dir, dir.ftk(["hash", "t", "-q"]).args(CACHE).run(), &named);
    drop(file);
    assert_eq!(cached(&dir, &["hash", "t"]), 3);
}

#[test]
fn digests_are_stored_even_if_the_output_cannot_be_written() {
    let Some(dir) = tree() else { return };
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for args in [&["hash", "t", "--cache"][..], &["hash", "t", "--cache", "-a", "md5", "-o", "/dev/full"]] {
        dir.ftk(args).stdout(full()).run().status(2).stderr_has("no space left on device");
    }
    assert_eq!(cached(&dir, &["hash", "t", "-a", "sha256,md5"]), 3);
    dir.ftk(["cache", "stats"]).stdout(full()).run().status(2).stderr_has("no space left on device");
}

/// Starts a slow run, and returns it when it reads.
fn slow(dir: &Dir) -> std::process::Child {
    for nth in 0..20 {
        dir.file(format!("t/slow/{nth}"), &bytes(nth, 50_000));
    }
    settle();
    let ftk: Ftk = dir.ftk(["hash", "t", "-q", "--cache", "--limit-rate", "500K"]);
    let child = ftk.spawn();
    wait_until(|| (0..20).any(|nth| has_open(&child, &nth.to_string())));
    child
}

#[test]
fn a_store_that_disappears_or_is_replaced_does_not_change_the_output() {
    type Change = fn(&Dir);
    let changes: [(&str, Change); 6] = [
        ("removed", |dir| fs::remove_file(store(dir)).unwrap()),
        ("cleared", |dir| drop(dir.ftk(["cache", "clear"]).run().status(0))),
        ("all removed", |dir| fs::remove_dir_all(dir.aside("cache")).unwrap()),
        ("damaged", |dir| fs::write(store(dir), bytes(1, 9000)).unwrap()),
        ("emptied", |dir| fs::write(store(dir), "").unwrap()),
        ("another", |dir| {
            fs::write(dir.aside("other"), bytes(1, 9000)).unwrap();
            fs::rename(dir.aside("other"), store(dir)).unwrap();
        }),
    ];
    thread::scope(|scope| {
        for (what, change) in changes {
            scope.spawn(move || {
                let Some(dir) = tree() else { return };
                cached(&dir, &["hash", "t"]);
                let child = slow(&dir);
                let expected = dir.ftk(["hash", "t", "-q"]).run().status(0);
                change(&dir);
                let output = child.wait_with_output().unwrap();
                let err = String::from_utf8(output.stderr).unwrap();
                assert!(output.status.success(), "{what}: {err}");
                assert_eq!(output.stdout, expected.out, "{what}");
                assert!(err.lines().count() <= 1, "{what}: {err}");
                assert_eq!(err.is_empty(), !["damaged", "another"].contains(&what), "{what}: {err}");
                dir.ftk(["cache", "clear"]).run().status(0);
                assert_eq!((cached(&dir, &["hash", "t"]), stored(&dir)), (0, 23), "{what}");
            });
        }
    });
}

/// `ftk cache clear` between two commits of a run: the run makes a new store for the rest.
#[test]
fn a_store_that_is_cleared_between_two_commits_is_made_again() {
    let Some(dir) = place() else { return };
    for nth in 0..100 {
        dir.file(format!("t/{nth}"), &bytes(nth, 40_000));
    }
    settle();
    let child = dir.ftk(["hash", "t", "-q", "--cache", "--limit-rate", "400K"]).spawn();
    wait_until(|| stored(&dir) > 0);
    let before = stored(&dir);
    dir.ftk(["cache", "clear"]).run().status(0);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
    assert_eq!(output.stdout, dir.ftk(["hash", "t", "-q"]).run().status(0).out);
    let after = stored(&dir);
    assert!(0 < after && after <= 100 - before, "{before}, then {after}");
    assert_eq!((cached(&dir, &["hash", "t"]), cached(&dir, &["hash", "t"])), (after, 100));
}

/// Root has a copy of a user's store, and the link to it is in a directory of that user.
#[test]
fn a_store_that_a_link_of_another_user_leads_to_is_not_used() {
    if !is_root() {
        return skip("only root changes owners");
    }
    let Some(dir) = tree() else { return };
    assert_eq!(cached(&dir, &["hash", "t"]), 0);
    let (cache, copy) = (dir.aside("cache"), dir.aside("copy"));
    fs::rename(cache.join("ftk"), &copy).unwrap();
    symlink("../copy", cache.join("ftk")).unwrap();
    chown(&cache, Some(OTHER_USER), None).unwrap();
    let is_refused = || {
        let run = dir.ftk(["hash", "t", "-q"]).args(CACHE).run();
        refused(&dir, run, "not used: other users could have written to it");
        for change in [&["clear"][..], &["forget", "t"], &["trim", "--max-size", "1G"]] {
            let run = dir.ftk(["cache"]).args(change).run().status(2);
            run.stderr_has("other users could have written to it");
        }
    };
    is_refused();
    // Nothing is made through such a link either.
    fs::remove_file(cache.join("ftk")).unwrap();
    symlink("../new", cache.join("ftk")).unwrap();
    is_refused();
    assert!(!dir.aside("new").exists());
    chown(&cache, Some(0), None).unwrap();
    fs::remove_file(cache.join("ftk")).unwrap();
    symlink("../copy", cache.join("ftk")).unwrap();
    assert_eq!(cached(&dir, &["hash", "t"]), 3);
}
